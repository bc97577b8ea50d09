"""A table as SQL: what DuckDB reads, with names of our own.

DuckDB's names ignore case, and its readers rename a second `a` to `a_1`. So a relation's columns
are called c0, c1, ... in SQL and their real names are kept here: a table may have the columns `A`
and `a`, and any name works.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from shoal.engines.base import Column
from shoal.engines.duck import literal
from shoal.errors import BadData, did_you_mean, quoted


def check_names(names: Sequence[str], source: str) -> None:
    """Refuse a table without columns, with a column without a name, or with a name twice."""
    if not names:
        raise BadData(
            f"{source} has no columns",
            code="no-columns",
            hint="see that it is the right file, and that its first row has the column names",
        )
    for number, name in enumerate(names, start=1):
        if not name:
            raise BadData(
                f"column {number} of {source} has no name",
                code="unnamed-column",
                hint="name it in the first row, or say header: false if there is no such row",
            )
    for name, count in Counter(names).items():
        if count > 1:
            raise BadData(
                f"{source} has {count} columns named {name!r}",
                code="repeated-column",
                hint="give each column a name of its own",
            )


@dataclass(frozen=True)
class Relation:
    """A query whose columns are c0, c1, ..., with the real name and DuckDB's type of each."""

    name: str
    query: str
    names: tuple[str, ...]
    types: tuple[str, ...]

    def columns(self) -> tuple[Column, ...]:
        """The columns in order."""
        return tuple(
            Column(name, kind == "VARCHAR")
            for name, kind in zip(self.names, self.types, strict=True)
        )

    def position(self, name: str) -> int:
        """Where a column stands; an error that lists the columns when there is none."""
        if name not in self.names:
            raise BadData(
                f"no column {name!r} in {self.name}{did_you_mean(name, self.names)}",
                code="unknown-column",
                hint=f"its columns are {quoted(self.names)}",
            )
        return self.names.index(name)

    def value(self, position: int) -> str:
        """SQL for a column's value in its own type; empty text and NaN are null."""
        column = f"c{position}"
        if self.types[position] == "VARCHAR":
            return f"nullif({column}, '')"
        if self.types[position] in ("FLOAT", "DOUBLE"):
            return f"CASE WHEN isnan({column}) THEN NULL ELSE {column} END"
        return column

    def text(self, position: int) -> str:
        """SQL for a column's value as text."""
        if self.types[position] == "VARCHAR":
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
