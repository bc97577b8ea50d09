"""Who has records in which tuple: what is counted where one person may have several records.

The persons of a class are not the sum of those of its tuples, since a person may be in several of
them. So pairs of person and tuple are kept, and triples with the person's values. Persons are
numbers here; what identifies them stays with the engine's answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from shoal.encode.rows import column_of, merge_histogram, number_rows

if TYPE_CHECKING:
    import pyarrow as pa

    from shoal.values import Histogram, Ints


@dataclass(frozen=True, eq=False)
class Held:
    """Each different triple of person, tuple and value of one sensitive attribute.

    A missing value that counts as none has the number after the last value.
    """

    person: Ints
    tuple_of: Ints
    value: Ints


@dataclass(frozen=True, eq=False)
class Persons:
    """Each pair of person and tuple with its number of records, by rising person.

    Persons are numbered from 0 up to below `number`. `pair_of` is the pair of each row that the
    engine counted; `held` has the values of each sensitive attribute.
    """

    number: int
    person: Ints
    tuple_of: Ints
    records: Ints
    pair_of: Ints
    held: Mapping[str, Held] = field(default_factory=dict)

    def with_values(self, name: str, value: Ints, values: int) -> tuple[Persons, Ints]:
        """The same with one more sensitive attribute, and how many persons have each value.

        `value` is the number of each counted row's value, below `values`.
        """
        rows = distinct_rows([self.pair_of, value], [len(self.person), values])
        pair, value = self.pair_of[rows], value[rows]
        held = Held(self.person[pair], self.tuple_of[pair], value)
        rows = distinct_rows([held.person, value], [self.number, values])
        counts = np.bincount(value[rows], minlength=values)
        return replace(self, held={**self.held, name: held}), counts

    def count(
        self, histograms: Mapping[str, Histogram], class_of: Ints, classes: int
    ) -> tuple[dict[str, Histogram], dict[str | None, Ints]]:
        """The persons' values in each class as histograms, and the members of each class.

        `class_of` is the class of each tuple.
        """
        there = class_of[self.tuple_of]
        rows = distinct_rows([there, self.person], [classes, self.number])
        members: dict[str | None, Ints] = {None: np.bincount(there[rows], minlength=classes)}
        found = {}
        for name in histograms:
            held, reference = self.held[name], histograms[name].reference
            there = class_of[held.tuple_of]
            sizes = [classes, len(reference.values) + 1, self.number]
            rows = distinct_rows([there, held.value, held.person], sizes)
            members[name] = np.bincount(there[rows], minlength=classes)
            rows = rows[held.value[rows] < len(reference.values)]
            ones = np.ones(len(rows), dtype=np.int64)
            found[name] = merge_histogram(there[rows], held.value[rows], ones, classes, reference)
        return found, members


def person_of_rows(counted: pa.Table, columns: Sequence[str]) -> tuple[Ints, int]:
    """The person of each row that an engine counted, and how many persons there are.

    Rows are of the same person where all these columns are equal; missing equals missing.
    """
    found = [column_of(counted, name) for name in columns]
    return number_rows([each.rows for each in found], [len(each.counts) + 1 for each in found])


def persons_of(persons: tuple[Ints, int], tuple_of: Ints, tuples: int, weights: Ints) -> Persons:
    """The persons of counted rows, from the person, the tuple and the records of each row."""
    person, number = persons
    pair_of, pairs = number_rows([person, tuple_of], [number, tuples])
    rows = np.empty(pairs, dtype=np.int64)
    rows[pair_of] = np.arange(len(pair_of))
    records = np.bincount(pair_of, weights=weights, minlength=pairs).astype(np.int64)
    return Persons(number, person[rows], tuple_of[rows], records, pair_of)


def distinct_rows(columns: Sequence[Ints], sizes: Sequence[int]) -> Ints:
    """A row of each combination that the columns have; codes of column `j` are below `sizes[j]`."""
    number_of, found = number_rows(columns, sizes)
    rows = np.empty(found, dtype=np.int64)
    rows[number_of] = np.arange(len(number_of))
    return rows
