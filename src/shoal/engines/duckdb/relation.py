"""A table as SQL: what DuckDB reads, with names of our own.

DuckDB's names ignore case, and its readers rename a second `a` to `a_1`. So a relation's columns
are called c0, c1, ... in SQL and their real names are kept here: a table may have the columns `A`
and `a`, and any name works.

`union` makes one relation of several files. They may hold a column in different types. DuckDB would
turn a long integer into a double and lose digits, or two texts of one value into two values. Here a
type is found that holds every value of all files as it is, else text.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

import pyarrow as pa

from shoal.engines.base import Column
from shoal.engines.duckdb.session import INEXACT, Session, literal
from shoal.engines.failures import (
    LONGEST_DECIMAL,
    check_same_columns,
    not_releasable,
    unknown_column,
)
from shoal.errors import BadData

if TYPE_CHECKING:
    from shoal.engines.formats.csv import Dialect


@dataclass(frozen=True)
class Relation:
    """A query whose columns are c0, c1, ..., with the real name and DuckDB's type of each.

    The text of a value is DuckDB's, which within one type differs for different values: numbers
    have all their digits, times their fractions, bytes are escaped. Empty text and NaN are missing,
    unless the relation is `stored`. `faults` say by name why a column cannot be read.
    """

    name: str
    query: str
    names: tuple[str, ...]
    types: tuple[str, ...]
    stored: bool = False
    faults: Mapping[str, str] = field(default_factory=dict, hash=False)

    def columns(self) -> tuple[Column, ...]:
        """The columns in order."""
        return tuple(
            Column(name, kind == "VARCHAR", arrow_type(kind), self.faults.get(name, ""))
            for name, kind in zip(self.names, self.types, strict=True)
        )

    def comparable(self) -> tuple[str, ...]:
        """The columns whose values have a text."""
        pairs = zip(self.names, self.types, strict=True)
        return tuple(n for n, kind in pairs if n not in self.faults and not is_nested(kind))

    def position(self, name: str) -> int:
        """The index of a column; an error that lists the columns when there is none."""
        if name not in self._positions:
            raise unknown_column(name, self.name, self.names)
        return self._positions[name]

    @cached_property
    def _positions(self) -> dict[str, int]:
        return {name: position for position, name in enumerate(self.names)}

    def value(self, position: int) -> str:
        """SQL for a value in its own type; unless `stored`, empty text and NaN are null."""
        column = with_leading_zero(f"c{position}", self.types[position])
        if self.stored:
            return column
        if self.types[position] == "VARCHAR":
            return f"nullif({column}, '')"
        if self.types[position] in ("FLOAT", "DOUBLE"):
            return f"CASE WHEN isnan({column}) THEN NULL ELSE {column} END"
        return column

    def text(self, position: int) -> str:
        """SQL for a column's value as text; an error for values that have none to compare."""
        name, kind = self.names[position], self.types[position]
        if name in self.faults:
            raise not_releasable(name, self.name, self.faults[name])
        if is_nested(kind):
            raise BadData(
                f"column {name!r} of {self.name} has lists or records for values, which cannot be"
                " compared as text",
                code="unsupported-type",
                hint="keep or drop the column, or make it text first",
            )
        if kind == "VARCHAR":
            return self.value(position)
        return f"CAST({self.value(position)} AS VARCHAR)"

    def is_missing(self, position: int, missing: Sequence[str]) -> str:
        """SQL that is true where a column has one of the `missing` texts."""
        tokens = ", ".join(literal(token) for token in missing if token)
        return f"{self.text(position)} IN ({tokens})" if tokens else "false"

    def present(self, position: int, missing: Sequence[str]) -> str:
        """SQL for a column's value in its own type, null where it is missing."""
        return _unless(self.is_missing(position, missing), self.value(position))

    def present_text(self, position: int, missing: Sequence[str]) -> str:
        """SQL for a column's value as text, null where it is missing."""
        return _unless(self.is_missing(position, missing), self.text(position))


def with_leading_zero(column: str, kind: str) -> str:
    """SQL for a value that has a digit before its point, as text and in every output.

    DuckDB writes 0.25 as `.25` where a decimal has no place before the point. The same number may
    have one in what was released, and then it is another text.
    """
    decimal = re.fullmatch(r"DECIMAL\((\d+),\s*(\d+)\)", kind)
    if decimal is None or decimal[1] != decimal[2] or int(decimal[1]) == LONGEST_DECIMAL:
        return column
    return f"CAST({column} AS DECIMAL({int(decimal[1]) + 1}, {decimal[2]}))"


def _unless(condition: str, value: str) -> str:
    return value if condition == "false" else f"CASE WHEN {condition} THEN NULL ELSE {value} END"


def is_nested(kind: str) -> bool:
    """Whether the values of a type of DuckDB are made of others."""
    return kind.endswith("]") or kind.startswith(("STRUCT", "MAP", "UNION", "VARIANT"))


def arrow_type(kind: str) -> pa.DataType:
    """The Arrow type that DuckDB gives for a type, of a nested one the outermost kind."""
    if decimal := re.fullmatch(r"DECIMAL\((\d+),\s*(\d+)\)", kind):
        return pa.decimal128(int(decimal[1]), int(decimal[2]))
    if is_nested(kind):
        return pa.list_(pa.null()) if kind.endswith("]") else pa.struct([])
    return _ARROW.get(kind, pa.string())


SPELLED = ("INTERVAL", "TIME WITH TIME ZONE", "JSON")
"""Types that are read as text, since outputs differ in how they hold them.

Parquet rounds intervals to milliseconds, Arrow has no zone in a time of day, and formats differ in
what they make of JSON.
"""

_ARROW: Mapping[str, pa.DataType] = MappingProxyType(
    {
        "BOOLEAN": pa.bool_(),
        "TINYINT": pa.int8(),
        "SMALLINT": pa.int16(),
        "INTEGER": pa.int32(),
        "BIGINT": pa.int64(),
        "UTINYINT": pa.uint8(),
        "USMALLINT": pa.uint16(),
        "UINTEGER": pa.uint32(),
        "UBIGINT": pa.uint64(),
        "FLOAT": pa.float32(),
        "DOUBLE": pa.float64(),
        "BLOB": pa.binary(),
        "DATE": pa.date32(),
        "TIME": pa.time64("us"),
        "TIME_NS": pa.time64("ns"),
        "TIMESTAMP_S": pa.timestamp("s"),
        "TIMESTAMP_MS": pa.timestamp("ms"),
        "TIMESTAMP": pa.timestamp("us"),
        "TIMESTAMP_NS": pa.timestamp("ns"),
        "TIMESTAMP WITH TIME ZONE": pa.timestamp("us", "UTC"),
        "TIMESTAMPTZ_NS": pa.timestamp("ns", "UTC"),
        '"NULL"': pa.null(),
    }
)


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
