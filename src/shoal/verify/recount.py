"""Counting afresh: the classes of a table, their sizes and labels."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from shoal.engines.base import Source
    from shoal.values import Bools, Ints

_SIZE = "size"


@dataclass(frozen=True)
class ColumnCount:
    """The distinct labels of one column, how many records have each, and how many have none."""

    name: str
    labels: tuple[str, ...]
    counts: tuple[int, ...]
    missing: int


@dataclass(frozen=True)
class FailingClass:
    """A class by its labels, None for missing, and its number of records."""

    labels: Mapping[str, str | None]
    size: int

    def __str__(self) -> str:
        shown = ", ".join(
            f"{name}={'missing' if label is None else _short(label)}"
            for name, label in self.labels.items()
        )
        return f"{{{shown}}} has {self.size}"


@dataclass(frozen=True, eq=False)
class Recount:
    """The classes of a table: a row of `table` per class, with its labels and its size.

    Missing equals missing. `marked` records stay out of every class: all that could be said of them
    is blanked.
    """

    quasi_identifiers: tuple[str, ...]
    table: pa.Table
    marked: int = 0

    @cached_property
    def sizes(self) -> Ints:
        """The number of records of each class."""
        return _numbers(self.table.column(_SIZE))

    @property
    def records(self) -> int:
        """Records that are in a class."""
        return int(self.sizes.sum())

    @property
    def classes(self) -> int:
        """The number of classes."""
        return len(self.sizes)

    @property
    def smallest(self) -> int:
        """The size of the smallest class, 0 when there is none."""
        return int(self.sizes.min(initial=self.records))

    @cached_property
    def incomplete(self) -> int:
        """Records with a missing quasi-identifier."""
        return int(
            self.sizes[_missing(self.table, range(len(self.quasi_identifiers))).any(0)].sum()
        )

    def below(self, k: int) -> int:
        """The number of classes of fewer than k records."""
        return int((self.sizes < k).sum())

    def smallest_below(self, k: int, most: int) -> list[FailingClass]:
        """The smallest classes of fewer than k records, at most so many, always the same ones."""
        failing = self.table.filter(pa.array(self.sizes < k))
        keys = [(_SIZE, "ascending")] + [(n, "ascending") for n in failing.column_names[:-1]]
        rows = failing.take(pc.sort_indices(failing, sort_keys=keys)[:most])
        labels = zip(*(column.to_pylist() for column in rows.columns[:-1]), strict=True)
        sizes = rows.column(_SIZE).to_pylist()
        names = self.quasi_identifiers
        return [
            FailingClass(dict(zip(names, row, strict=True)), size)
            for row, size in zip(labels, sizes, strict=True)
        ]

    def column(self, position: int) -> ColumnCount:
        """The labels of one quasi-identifier, from the classes: no second pass over records."""
        name = self.table.column_names[position]
        summed = self.table.group_by(name).aggregate([(_SIZE, "sum")])
        counts = dict(
            zip(
                summed.column(name).to_pylist(),
                summed.column(f"{_SIZE}_sum").to_pylist(),
                strict=True,
            )
        )
        missing = counts.pop(None, 0)
        return ColumnCount(
            self.quasi_identifiers[position], tuple(counts), tuple(counts.values()), missing
        )


def recount(
    source: Source,
    quasi_identifiers: Sequence[str],
    *,
    sensitive: Sequence[str] = (),
    mark: bool = False,
    missing: Sequence[str] = (),
) -> Recount:
    """Count the classes of a table with one GROUP BY of the engine.

    With `mark`, records without any quasi-identifier and sensitive value are suppressed ones. The
    `missing` texts mean missing in quasi-identifiers; a sensitive value is released as it stands.
    """
    seen = (*quasi_identifiers, *sensitive) if mark else tuple(quasi_identifiers)
    if len(seen) == len(quasi_identifiers):
        table = _counted(source, seen, missing)
    else:
        table = _without(_counted(source, seen, ()), len(quasi_identifiers), missing)
    marked = 0
    if mark:
        blank = _missing(table, range(len(seen))).all(0)
        marked = int(_numbers(table.column(_SIZE))[blank].sum())
        table = table.filter(pa.array(~blank))
    if len(seen) > len(quasi_identifiers):
        labels = table.column_names[: len(quasi_identifiers)]
        summed = table.group_by(labels).aggregate([(_SIZE, "sum")])
        table = summed.select([*labels, f"{_SIZE}_sum"]).rename_columns([*labels, _SIZE])
    return Recount(tuple(quasi_identifiers), table, marked)


def distinct_values(counted: pa.Table, names: Sequence[str]) -> dict[str, frozenset[str]]:
    """The values of each of these columns in what `count_by` gave, missing ones left out."""
    return {
        name: frozenset(pc.unique(counted.column(name)).drop_null().to_pylist()) for name in names
    }


def _counted(source: Source, columns: Sequence[str], missing: Sequence[str]) -> pa.Table:
    """`count_by` with columns of our own names, so that no name of the data is in the way."""
    table = source.count_by(columns, missing)
    return table.rename_columns([f"column {i}" for i in range(len(columns))] + [_SIZE])


def _without(table: pa.Table, columns: int, texts: Sequence[str]) -> pa.Table:
    """The table with these texts null in so many first columns; rows may then be equal."""
    for i in range(columns):
        labels = table.column(i)
        null = pa.scalar(None, labels.type)
        found = pc.is_in(labels, value_set=pa.array(texts, labels.type))
        table = table.set_column(i, table.column_names[i], pc.if_else(found, null, labels))
    return table


def _missing(table: pa.Table, positions: Sequence[int]) -> Bools:
    """One row per column: where it is null."""
    flags = [np.asarray(pc.is_null(table.column(i))).astype(bool) for i in positions]
    return np.array(flags, dtype=bool).reshape(len(flags), table.num_rows)


def _numbers(column: pa.ChunkedArray) -> Ints:
    return np.asarray(column, dtype=np.int64)


def _short(label: str) -> str:
    return repr(label if len(label) <= 40 else f"{label[:39]}…")
