"""The classes of a table whose records belong to persons: how many persons each class has.

The engine counts the combinations of quasi-identifiers, person and one sensitive attribute. Their
texts are encoded as numbers, and the rest is sorting and counting numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import pyarrow as pa

from shoal.measure.classes import encoded, numbered

if TYPE_CHECKING:
    from shoal.engines.base import Generalization, Source
    from shoal.measure.classes import ClassTable, Values
    from shoal.values import Bools, Ints


@dataclass(frozen=True, eq=False)
class ValuesOfPersons:
    """The values of a sensitive attribute in each class, by records and by persons.

    The cells of class `c` are those from `starts[c]` up to `starts[c + 1]`. A cell has a value, the
    records of the class with that value, and the persons: a person counts once with each of their
    different values. `table` counts the distinct pairs of person and value of the whole table.
    """

    texts: Sequence[str | None]
    starts: Ints
    cells: Ints
    records: Ints
    persons: Ints
    table: Values

    def of_records(self, row: int) -> dict[str | None, int]:
        """The values of a class with their records."""
        return self._of(row, self.records)

    def of_persons(self, row: int) -> dict[str | None, int]:
        """The values of a class with their persons."""
        return self._of(row, self.persons)

    def _of(self, row: int, counts: Ints) -> dict[str | None, int]:
        cells = slice(int(self.starts[row]), int(self.starts[row + 1]))
        pairs = zip(self.cells[cells].tolist(), counts[cells].tolist(), strict=True)
        return {self.texts[value]: count for value, count in pairs}


@dataclass(frozen=True, eq=False)
class Tally:
    """The classes of a table: a row of `labels` for each, with its records and its persons.

    `everybody` is the number of persons of the whole table, and `alone` how many of them have a
    class of their own.
    """

    labels: pa.Table
    records: Ints
    persons: Ints
    everybody: int
    alone: int
    values: ValuesOfPersons | None

    def rows_of(self, found: ClassTable) -> Ints:
        """For each class of `found` the row with the same labels here, -1 where there is none."""
        names, classes = range(self.labels.num_columns), found.classes
        both = [
            pa.chunked_array(
                [*found.table.column(i).chunks, *self.labels.column(i).chunks], pa.string()
            )
            for i in names
        ]
        numbers, rows = numbered([encoded(column)[0] for column in both])
        row_of = np.full(len(rows), -1, dtype=np.int64)
        row_of[numbers[classes:]] = np.arange(self.labels.num_rows)
        return row_of[numbers[:classes]]


Relabel: TypeAlias = "Callable[[pa.Table], tuple[pa.Table, Bools]]"
"""The labels of tuples of quasi-identifiers, row by row, and which of them have any."""


def tally(
    source: Source,
    quasi_identifiers: Sequence[str],
    person: Sequence[str],
    *,
    sensitive: str | None = None,
    missing: Sequence[str] = (),
    generalized: Mapping[str, Generalization] | None = None,
    complete: Sequence[str] = (),
    relabel: Relabel | None = None,
) -> Tally:
    """Count the persons of each class, and of each value of a sensitive attribute there.

    Records are of one person when they are equal in all columns of `person`; missing equals
    missing. A quasi-identifier that is also a column of `person` identifies persons by its values,
    not by its labels: the engine counts the values, and they are generalized here.

    With `relabel`, classes are made of the labels that it gives to the counted tuples. Records
    without labels are in no class, but count in what is said of the whole table.
    """
    labels_of = generalized or {}
    names = tuple(dict.fromkeys((*quasi_identifiers, *person, *filter(None, [sensitive]))))
    in_engine = {name: each for name, each in labels_of.items() if name not in person}
    counted = source.count_by(names, missing, generalized=in_engine, complete=complete)
    columns = {name: encoded(counted.column(i)) for i, name in enumerate(names)}
    records = np.asarray(counted.column(len(names)), dtype=np.int64)
    without = np.zeros(len(records), dtype=np.int64)
    if relabel is None:
        classes = [
            _labelled(*columns[name], labels_of.get(name) if name in person else None)
            for name in quasi_identifiers
        ]
    else:
        table, labelled = relabel(counted.select(range(len(quasi_identifiers))))
        classes = [encoded(column) for column in table.columns]
        without[~labelled] = 1
    del counted
    class_of, first = numbered([without, *(codes for codes, _ in classes)])
    # Numbers rise, so the records without labels, if there are any, are the last class.
    number = len(first) - int(without.any())
    person_of, somebody = numbered([columns[name][0] for name in person])
    _, members = numbered([class_of, person_of])
    labels = [
        pa.array(texts, pa.string()).take(pa.array(codes[first[:number]]))
        for codes, texts in classes
    ]
    persons = np.bincount(class_of[members], minlength=len(first))
    lone = members[persons[class_of[members]] == 1]
    values = None
    if sensitive is not None:
        values = _values(class_of, person_of, records, *columns[sensitive])
    return Tally(
        pa.table(labels, names=[f"column {i}" for i in range(len(labels))]),
        np.bincount(class_of, weights=records, minlength=len(first)).astype(np.int64)[:number],
        persons[:number],
        len(somebody),
        len(np.unique(person_of[lone])),
        values,
    )


@dataclass(frozen=True, eq=False)
class Persons:
    """Classes by persons: `found` has persons for sizes, and as sensitive values the distinct pairs
    of person and value.

    Of the whole table, `reference` has the pairs, `everybody` is the number of persons, and `alone`
    of those who have a class of their own.
    """

    found: ClassTable
    reference: Mapping[str, Values]
    everybody: int
    alone: int


Count: TypeAlias = "Callable[[str | None], tuple[Tally, Ints]]"
"""Tallies a table with a sensitive attribute or without one; also the row of each class in it."""


def persons_in(found: ClassTable, sensitive: Sequence[str], count: Count) -> Persons:
    """The classes of a table by persons, tallied once for each of these sensitive attributes."""
    values: dict[str, Sequence[Values]] = {}
    reference: dict[str, Values] = {}
    for name in sensitive:
        counted, rows = count(name)
        if counted.values is not None:
            values[name] = [counted.values.of_persons(row) for row in rows.tolist()]
            reference[name] = counted.values.table
    if not sensitive:
        counted, rows = count(None)
    persons = found.by_persons(counted.persons[rows], values)
    return Persons(persons, reference, counted.everybody, counted.alone)


def _labelled(
    codes: Ints, texts: Sequence[str | None], generalization: Generalization | None
) -> tuple[Ints, list[str | None]]:
    """The codes and texts of the labels in place of the values."""
    if generalization is None:
        return codes, list(texts)
    label_of: dict[str | None, str | None] = dict(
        zip(generalization.values, generalization.labels, strict=True)
    )
    label_of[None] = generalization.missing
    labels = [label_of[text] if generalization.values or text is None else text for text in texts]
    code_of = {label: code for code, label in enumerate(dict.fromkeys(labels))}
    recoded = np.array([code_of[label] for label in labels], dtype=np.int64)
    return recoded[codes], list(code_of)


def _values(
    class_of: Ints, person_of: Ints, records: Ints, value_of: Ints, texts: Sequence[str | None]
) -> ValuesOfPersons:
    """Numbers rise with the class, so the cells of a class are adjacent."""
    cell_of, cells = numbered([class_of, value_of])
    _, pairs = numbered([class_of, person_of, value_of])
    _, everywhere = numbered([person_of, value_of])
    classes = int(class_of.max(initial=-1)) + 1
    counts = np.bincount(value_of[everywhere], minlength=len(texts)).tolist()
    return ValuesOfPersons(
        texts,
        np.searchsorted(class_of[cells], np.arange(classes + 1)),
        value_of[cells],
        np.bincount(cell_of, weights=records, minlength=len(cells)).astype(np.int64),
        np.bincount(cell_of[pairs], minlength=len(cells)),
        dict(zip(texts, counts, strict=True)),
    )
