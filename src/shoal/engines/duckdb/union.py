"""Several files as one table: the columns of the first, each in a type that holds all values.

Files may hold a column in different types. DuckDB itself would make a double of a long integer and
lose digits, or of two texts of one value two values. Here a type is found that holds every value of
all files as it is, else text.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from shoal.engines.duckdb.relation import SPELLED, Relation
from shoal.engines.duckdb.session import INEXACT, Session, literal
from shoal.engines.failures import check_same_columns

if TYPE_CHECKING:
    from shoal.engines.formats.csv import Dialect

_SIGNED = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT")
_UNSIGNED = ("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT")
_INTEGERS = {*_SIGNED, *_UNSIGNED}
_FLOATS = {"FLOAT", "DOUBLE"}
_WHOLE = "DECIMAL(20,0)"
"""Holds all integers of 64 bits, with a sign and without."""
_EXACT = 2**53
"""Up to here every integer is a double."""


@dataclass(frozen=True)
class FileScan:
    """One file: SQL that reads it, the names of its columns, and its dialect if it is CSV.

    `is_text` says that all its columns are text, `faults` by name which of them DuckDB cannot read
    as they are.
    """

    path: Path
    sql: str
    names: tuple[str, ...]
    dialect: Dialect | None = None
    is_text: bool = False
    faults: Mapping[str, str] = field(default_factory=dict)


def union(session: Session, name: str, scans: Sequence[FileScan], *, stored: bool) -> Relation:
    """All scans as one relation, each with its columns in the order of the first."""
    names = scans[0].names
    for scan in scans[1:]:
        check_same_columns(
            (str(scans[0].path), names),
            (str(scan.path), scan.names),
            "files of one source need the same columns, in any order; narrow or correct the glob",
        )
    kinds = [_kinds(session, scan, names) for scan in scans]
    merged = [_common_type(each, stored=stored) for each in zip(*kinds, strict=True)]
    queries = []
    for number, scan in enumerate(scans):
        columns = ", ".join(f"p{i}" for i in range(len(names)))
        index = {column: i for i, column in enumerate(scan.names)}
        selected = ", ".join(
            f"{merged[i].value(f'p{index[column]}', kinds[number][i])} AS c{i}"
            for i, column in enumerate(names)
        )
        queries.append(f"SELECT {selected} FROM {scan.sql} AS file({columns})")
    types = tuple(each.type for each in merged)
    faults = {name: fault for scan in scans for name, fault in scan.faults.items()}
    return Relation(name, " UNION ALL ".join(queries), names, types, stored, faults)


def _kinds(session: Session, scan: FileScan, names: Sequence[str]) -> tuple[str, ...]:
    """DuckDB's types of a file, in the order of these names."""
    if scan.is_text:
        return ("VARCHAR",) * len(names)
    types = session.types(f"SELECT * FROM {scan.sql}")
    found = dict(zip(scan.names, types, strict=True))
    return tuple(found[name] for name in names)


@dataclass(frozen=True)
class CommonType:
    """How the values of a column in files become values of one type.

    With `names_type` the text of a value begins with the type it is stored in.
    """

    type: str
    names_type: bool = False

    def value(self, value: str, kind: str) -> str:
        """SQL for a value that a file holds in the type `kind`."""
        if self.names_type:
            return f"{literal(kind + ' ')} || CAST({value} AS VARCHAR)"
        if kind == self.type:
            return value
        cast = f"CAST({value} AS {self.type})"
        if self.type == "DOUBLE" and kind in _INTEGERS:
            return f"CASE WHEN abs({value}::HUGEINT) > {_EXACT} THEN {_stop()} ELSE {cast} END"
        return cast


def _stop() -> str:
    return f"error({literal(INEXACT)})"


def _common_type(kinds: Collection[str], *, stored: bool) -> CommonType:
    """One type for values of these types; where it is text and `stored`, texts name their types."""
    present = set(kinds) - {'"NULL"'}
    common = _common(present)
    if common is not None:
        return CommonType(common)
    return CommonType("VARCHAR", names_type=stored)


def _common(kinds: set[str]) -> str | None:
    """A type in which every value of these types stays the same value; None where there is none."""
    if not kinds:
        return '"NULL"'
    if len(kinds) == 1:
        (kind,) = kinds
        return "VARCHAR" if kind in SPELLED else kind
    for widths in (_SIGNED, _UNSIGNED):
        if kinds <= set(widths):
            return max(kinds, key=widths.index)
    if kinds <= _INTEGERS:
        return _WHOLE
    return "DOUBLE" if kinds <= _INTEGERS | _FLOATS else None
