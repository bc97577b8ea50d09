"""The classes of a table: their labels, their sizes and their sensitive values.

`encoded` and `numbered` turn rows of texts into whole numbers, so that NumPy compares millions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.arrow_arrays import from_numpy, to_numpy

if TYPE_CHECKING:
    from shoal.engines.base import Source
    from shoal.values import Bools, Ints


SIZE = "size"
"""The column of a class table with the number of records of each class."""

Values: TypeAlias = Mapping[str | None, int]
"""How many records have each value of a sensitive attribute, None for missing."""


def counted_values(values: Values, missing_as_value: bool) -> Values:
    """The values that count: all of them, or those that are not missing."""
    if missing_as_value or None not in values:
        return values
    return {value: count for value, count in values.items() if value is not None}


@dataclass(frozen=True)
class ColumnCount:
    """The distinct labels of one column, how many records have each, and how many have none."""

    name: str
    labels: tuple[str, ...]
    counts: tuple[int, ...]
    missing: int


@dataclass(frozen=True)
class ClassName:
    """A class by its labels, None for missing, and its number of records."""

    labels: Mapping[str, str | None]
    size: int

    def __str__(self) -> str:
        shown = ", ".join(
            f"{name}={'missing' if label is None else _short(label)}"
            for name, label in self.labels.items()
        )
        return f"{{{shown}}}"


@dataclass(frozen=True, eq=False)
class ClassTable:
    """The classes of a table: a row of `table` per class, with its labels and its size.

    Missing equals missing. `marked` records are in no class: their quasi-identifiers and sensitive
    values are blanked. `values` has for each sensitive attribute the values of every class, in the
    order of the rows. `blank` records look like marked ones, but are in a class.
    """

    quasi_identifiers: tuple[str, ...]
    table: pa.Table
    marked: int = 0
    values: Mapping[str, Sequence[Values]] = field(default_factory=dict)
    blank: int = 0

    @cached_property
    def sizes(self) -> Ints:
        """The number of records of each class."""
        return _numbers(self.table.column(SIZE))

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

    def by_persons(self, persons: Ints, values: Mapping[str, Sequence[Values]]) -> ClassTable:
        """The same classes with persons for sizes, and with values counted by persons."""
        position = self.table.column_names.index(SIZE)
        table = self.table.set_column(position, SIZE, from_numpy(persons.astype(np.int64)))
        return replace(self, table=table, values={**self.values, **values})

    def without_classes(self) -> ClassTable:
        """The same table with no class left."""
        return replace(
            self, table=self.table.slice(0, 0), values={name: [] for name in self.values}
        )

    def name(self, row: int) -> ClassName:
        """The class of a row, named by its labels."""
        labels = [self.table.column(i)[row].as_py() for i in range(len(self.quasi_identifiers))]
        return ClassName(
            dict(zip(self.quasi_identifiers, labels, strict=True)), int(self.sizes[row])
        )

    def first_of(self, rows: Sequence[int], most: int, order: str = "ascending") -> list[int]:
        """At most `most` of these rows, sorted by size and then by labels, so always the same."""
        chosen = np.asarray(rows, dtype=np.int64)
        classes = self.table.take(from_numpy(chosen))
        keys = [(SIZE, order)] + [(n, "ascending") for n in classes.column_names[:-1]]
        first = pc.sort_indices(classes, sort_keys=keys)[:most]
        return [int(chosen[i]) for i in first.to_pylist()]

    def column(self, position: int) -> ColumnCount:
        """The labels of one quasi-identifier, from the classes: no second pass over records."""
        name = self.table.column_names[position]
        codes, labels = encoded(self.table.column(name))
        sums = _sums(self.sizes, codes, len(labels)).tolist()
        missing = sums.pop(labels.index(None)) if None in labels else 0
        present = tuple(label for label in labels if label is not None)
        return ColumnCount(self.quasi_identifiers[position], present, tuple(sums), missing)


def count_classes(
    source: Source,
    quasi_identifiers: Sequence[str],
    *,
    sensitive: Sequence[str] = (),
    mark: bool = False,
    missing: Sequence[str] = (),
    missing_sensitive: Sequence[str] = (),
    blank: int = 0,
) -> ClassTable:
    """Count the classes of a table, and their sensitive values, with one GROUP BY of the engine.

    With `mark`, records without any quasi-identifier and sensitive value are suppressed ones. The
    `missing` texts mean missing in quasi-identifiers, the `missing_sensitive` ones in sensitive
    values. Those texts are released unchanged, so only an empty sensitive value is a sign of a
    marked record.

    `blank` records of the source have no such value either. Classes are suppressed as a whole: if
    other records without any quasi-identifier are in the table, their class was kept, and the blank
    records belong to it.
    """
    names, columns = tuple(quasi_identifiers), len(quasi_identifiers)
    if not sensitive:
        table = _counted(source, names, missing)
    else:
        table = _counted(source, (*names, *sensitive), ())
        table = _with_nulls(table, range(columns), missing)
    marked = in_class = 0
    if mark:
        marked, table = _without_marked(table, range(columns + len(sensitive)))
        if _missing(table, range(columns)).all(0).any():
            in_class = min(blank, marked)
            table = pa.concat_tables([table, _blank(table.schema, in_class)])
    if not sensitive:
        return ClassTable(names, table, marked)
    table = _with_nulls(table, range(columns, columns + len(sensitive)), missing_sensitive)
    classes, class_of = _classes(table, columns)
    values = {
        name: _values(table.column(columns + i), table.column(SIZE), class_of, len(classes))
        for i, name in enumerate(sensitive)
    }
    return ClassTable(names, classes, marked - in_class, values, in_class)


def _without_marked(table: pa.Table, positions: range) -> tuple[int, pa.Table]:
    """How many records are blank in all these columns, and the table without them."""
    blank: Bools = np.logical_and.reduce(_missing(table, positions))
    return int(_numbers(table.column(SIZE))[blank].sum()), table.filter(from_numpy(~blank))


def _blank(schema: pa.Schema, records: int) -> pa.Table:
    """One row for this number of blank records; no row for none."""
    rows = [{SIZE: records}] if records else []
    return pa.Table.from_pylist(rows, schema)


def _counted(source: Source, columns: Sequence[str], missing: Sequence[str]) -> pa.Table:
    """`count_by` with columns renamed, so that no name of the data clashes with ours."""
    table = source.count_by(columns, missing)
    return table.rename_columns([f"column {i}" for i in range(len(columns))] + [SIZE])


def _with_nulls(table: pa.Table, positions: range, texts: Sequence[str]) -> pa.Table:
    """The table with these texts null in these columns; rows may then be equal."""
    for i in positions if texts else ():
        labels = table.column(i)
        null = pa.scalar(None, labels.type)
        found = pc.is_in(labels, value_set=pa.array(texts, labels.type))
        table = table.set_column(i, table.column_names[i], pc.if_else(found, null, labels))
    return table


def _classes(table: pa.Table, columns: int) -> tuple[pa.Table, Ints]:
    """One row for all rows that are equal in the first `columns` columns; the class of each row.

    Classes are in the order of their first rows.
    """
    labels = table.column_names[:columns]
    numbers, first = numbered([encoded(table.column(name))[0] for name in labels])
    order = np.argsort(first)
    class_of = np.argsort(order)[numbers]
    sizes = _sums(_numbers(table.column(SIZE)), class_of, len(order))
    classes = table.select(labels).take(from_numpy(first[order]))
    return classes.append_column(SIZE, from_numpy(sizes)), class_of


def _sums(numbers: Ints, group_of: Ints, groups: int) -> Ints:
    """The sum of the numbers of each group."""
    sums = np.zeros(groups, np.int64)
    np.add.at(sums, group_of, numbers)
    return sums


def _values(
    column: pa.ChunkedArray, sizes: pa.ChunkedArray, class_of: Ints, classes: int
) -> list[Values]:
    """How many records of each class have each value; -0.0 and 0.0 are one number."""
    labels = column.unique().to_pylist()
    as_one: dict[str | None, str] = {}
    if {"-0.0", "0.0"} <= {*labels}:
        as_one["-0.0"] = "0.0"
    found: list[dict[str | None, int]] = [{} for _ in range(classes)]
    rows = zip(class_of.tolist(), column.to_pylist(), sizes.to_pylist(), strict=True)
    for number, value, size in rows:
        counts = found[number]
        value = as_one.get(value, value)
        counts[value] = counts.get(value, 0) + size
    return list[Values](found)


def _missing(table: pa.Table, positions: Sequence[int]) -> Bools:
    """One row per column: where it is null."""
    flags = [to_numpy(pc.is_null(table.column(i))) for i in positions]
    return np.array(flags, dtype=bool).reshape(len(flags), table.num_rows)


def _numbers(column: pa.ChunkedArray) -> Ints:
    return to_numpy(column).astype(np.int64)


def _short(label: str) -> str:
    return repr(label if len(label) <= 40 else f"{label[:39]}…")


_LARGEST_KEY = 2**62


def encoded(column: pa.ChunkedArray) -> tuple[Ints, list[str | None]]:
    """A code for each cell, and the text of each code, None for missing."""
    found = pc.dictionary_encode(column, null_encoding="encode").combine_chunks()
    return to_numpy(found.indices).astype(np.int64), found.dictionary.to_pylist()


def numbered(columns: Sequence[Ints]) -> tuple[Ints, Ints]:
    """A number for each row from 0 without gaps, equal where all columns are, and a row of each.

    Numbers rise with the first column, then with the second, and so on. The codes are the digits of
    a key; before it grows too large, keys are renumbered.
    """
    keys, bound = np.zeros(len(columns[0]), dtype=np.int64), 1
    for column in columns:
        base = int(column.max(initial=0)) + 1
        if bound * base >= _LARGEST_KEY:
            keys = np.unique(keys, return_inverse=True)[1].ravel()
            bound = int(keys.max(initial=0)) + 1
        keys, bound = keys * base + column, bound * base
    _, rows, numbers = np.unique(keys, return_index=True, return_inverse=True)
    return numbers.ravel(), rows
