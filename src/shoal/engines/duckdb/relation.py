"""A table as SQL: what DuckDB reads, with names of our own.

DuckDB's names ignore case, and its readers rename a second `a` to `a_1`. So a relation's columns
are called c0, c1, ... in SQL and their real names are kept here: a table may have the columns `A`
and `a`, and any name works.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType

import pyarrow as pa

from shoal.engines.base import Column
from shoal.engines.duckdb.session import literal
from shoal.engines.failures import not_releasable, unknown_column
from shoal.errors import BadData


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
        column = f"c{position}"
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
