"""Random small tables with typed columns, and what every store of them has in common.

Values look alike, repeat and are missing.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from random import Random
from typing import Any

SERIAL = "serial"
"""The column that numbers the records, so that the judge finds each released record again."""

DAY, MOMENT = datetime.date, datetime.datetime
POOLS: dict[str, tuple[Any, ...]] = {
    "integer": (0, 1, -1, 7, 10, 18, 39, 40, 41, 99, 100, 2**53, 2**53 + 1, -(2**40)),
    "number": (0.0, -0.0, 0.3, 0.1 + 0.2, 1.0, 1.5, -2.5, 1e22, 1e-7, 1e5, float("nan"), 37.25),
    "decimal": tuple(map(Decimal, ("0.00", "1.50", "1.51", "2.00", "-7.25", "19.99", "100.00"))),
    "truth": (True, False),
    "day": (DAY(2020, 1, 1), DAY(2020, 1, 2), DAY(2020, 2, 29), DAY(1999, 12, 31), DAY(1900, 2, 9)),
    "moment": (
        *(MOMENT(2020, 1, 1), MOMENT(2020, 1, 1, 0, 0, 0, 500_000), MOMENT(2020, 1, 1, 12, 30)),
        *(MOMENT(2020, 1, 1, 0, 0, 0, 500_001), MOMENT(1969, 12, 31, 23, 59), MOMENT(2024, 2, 29)),
    ),
    "text": (
        *("a", "A", "a ", " a", "b", "ab", "é", "e\u0301", "ß", "ss", "日本", "İ", "", "*", "?"),
        *("0", "-0", "00", "1", "01", "1.0", "1e0", "true", "t", "nan", "NULL", "NA", "=1+1"),
        *("a,b", 'a"b', "a;b", "a\nb", "a\tb", "'", "\\N", " ", "2020-01-01", "2020-01-01 00:00"),
    ),
}  # fmt: skip


@dataclass(frozen=True)
class Column:
    """A named column; `kind` is the key of its pool."""

    name: str
    kind: str
    values: tuple[Any, ...]


@dataclass(frozen=True)
class Table:
    """Columns of one length."""

    columns: tuple[Column, ...]

    @property
    def rows(self) -> list[tuple[Any, ...]]:
        return list(zip(*(column.values for column in self.columns), strict=True))


@dataclass(frozen=True)
class Grid:
    """A table as some other library than Shoal reads it."""

    names: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]

    def at(self, name: str) -> int:
        return self.names.index(name)

    def cells(self, row: Sequence[Any], names: Iterable[str]) -> tuple[Any, ...]:
        return tuple(row[self.at(name)] for name in names)


@dataclass(frozen=True)
class Store:
    """Where a table is stored: what a definition calls it, and how to write and read it."""

    location: Any
    write: Callable[[Random, Table], None]
    read: Callable[[], Grid]


def empty(cell: Any) -> bool:
    """Null, empty text, NaN, NaT and pandas' NA."""
    if type(cell).__name__ in ("NoneType", "NAType", "NaTType"):
        return True
    return bool(cell == "" or cell != cell)


def column(rng: Random, name: str, size: int) -> Column:
    """A column of a random kind with few values, so that records share them, and some missing."""
    kind = rng.choice(sorted(POOLS))
    pool = rng.sample(POOLS[kind], min(len(POOLS[kind]), rng.randint(2, 5)))
    weights = [rng.choice([1, 3, 9]) for _ in pool]
    absent = rng.choice([0, 0, 0.1, 0.4])
    drawn = rng.choices(pool, weights, k=size)
    return Column(name, kind, tuple(None if rng.random() < absent else v for v in drawn))


def table(rng: Random, names: list[str], persons: bool) -> Table:
    """A numbered table with these columns, and of whom each record is, where persons repeat."""
    size = rng.randint(8, 40)
    columns = [Column(SERIAL, "integer", tuple(range(size)))]
    if persons:
        some = [*(f"p{i}" for i in range(rng.randint(3, size))), None]
        columns.append(Column("person", "text", tuple(rng.choices(some, k=size))))
    columns += [column(rng, name, size) for name in names]
    return Table(tuple(columns))
