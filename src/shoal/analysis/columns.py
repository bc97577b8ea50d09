"""What a release kept of each column and of each pair of columns, from counts of both tables.

Quasi-identifiers are counted from the encoded table. Sensitive and kept columns are counted by the
engines, in the source and in the release: one query each, together with the quasi-identifiers.

How strongly two columns depend on each other is measured by Cramer's V and by their mutual
information, from the counts of their pairs of values. Both are 0 for independent columns. V is 1
where each value of the column with more values has its own value of the other one. The mutual
information is how many bits of the one column the other one tells. Generalization never raises it;
suppression can change both either way.

In a column of many rare values, such as dates of birth, chance alone makes V large. The corrected V
(Bergsma 2013) subtracts what independent columns of so many values would show on average.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from shoal.analysis.distributions import compare_counts, distribution_of
from shoal.analysis.mixed_release import MixedRelease
from shoal.collapse.read import budget
from shoal.encode.rows import column_of, number_rows, weights_of

if TYPE_CHECKING:
    from shoal.analysis.distributions import Distribution
    from shoal.analysis.released import Measured
    from shoal.values import Ints


@dataclass(frozen=True)
class Strength:
    """How strongly two columns depend on each other."""

    cramers_v: float
    corrected_v: float
    mutual_information: float


@dataclass(frozen=True)
class Dependence:
    """Two columns: in the source with its original values, and in the release."""

    columns: tuple[str, str]
    before: Strength
    after: Strength

    @property
    def kept(self) -> float | None:
        """The share of the mutual information that is left; None where there was none."""
        before, after = self.before.mutual_information, self.after.mutual_information
        return after / before if before > 1e-12 else None


def strength_of(first: Ints, second: Ints, weights: Ints) -> Strength:
    """The strength for rows with these numbers as values, each of which counts `weights` times.

    A missing value is a value like any other. Columns of one value depend on nothing. Sums are
    rounded once (`fsum`), so the order of the rows, which engines do not promise, changes nothing.
    """
    there = weights > 0
    first, second, weights = first[there], second[there], weights[there].astype(float)
    if not len(weights):
        return Strength(0.0, 0.0, 0.0)
    a, rows = number_rows([first], [int(first.max()) + 1])
    b, columns = number_rows([second], [int(second.max()) + 1])
    pair, pairs = number_rows([a, b], [rows, columns])
    total = weights.sum()
    together = np.bincount(pair, weights=weights, minlength=pairs) / total
    row_of, column_of = np.zeros(pairs, dtype=np.int64), np.zeros(pairs, dtype=np.int64)
    row_of[pair], column_of[pair] = a, b
    share_a = np.bincount(a, weights=weights) / total
    share_b = np.bincount(b, weights=weights) / total
    expected = share_a[row_of] * share_b[column_of]
    information = math.fsum(together * np.log2(together / expected))
    chi_square = math.fsum(together**2 / expected) - 1
    smaller = min(rows, columns) - 1
    v = (max(0.0, chi_square) / smaller) ** 0.5 if smaller else 0.0
    corrected = _corrected(chi_square, rows, columns, total)
    return Strength(min(1.0, v), corrected, max(0.0, information))


def _corrected(chi_square: float, rows: int, columns: int, total: float) -> float:
    """Bergsma's V, from chi square divided by the number of records."""
    if total <= 1:
        return 0.0
    left = max(0.0, chi_square - (rows - 1) * (columns - 1) / (total - 1))
    smaller = min(each - (each - 1) ** 2 / (total - 1) for each in (rows, columns)) - 1
    return min(1.0, (left / smaller) ** 0.5) if smaller > 0 else 0.0


MOST_VALUES = 1_000
"""Columns that are released as they are and have more distinct values are not measured."""


@dataclass(frozen=True)
class Columns:
    """The distributions of columns and the dependence of pairs; and why others have none."""

    distributions: tuple[Distribution, ...]
    dependences: tuple[Dependence, ...]
    left_out: dict[str, str]


def compare_columns(measured: Measured | MixedRelease) -> Columns:
    """Every quasi-identifier and every other released column, before and after."""
    table, k = measured.table, measured.prepared.definition.k
    distributions = [
        measured.distribution_of(index, k)
        if isinstance(measured, MixedRelease)
        else distribution_of(table, index, measured.node, measured.classes, k)
        for index in range(len(table.attributes))
    ]
    dependences = list(_among_quasi_identifiers(measured))
    left_out = {}
    for name in measured.prepared.definition.names("sensitive", "keep"):
        if _has_many_values(measured, name):
            left_out[name] = f"it has more than {MOST_VALUES:,} values"
            continue
        counts = _Counts.of(measured, name)
        before, after = counts.values_of(name)
        if any(number > before.get(value, 0) for value, number in after.items()):
            left_out[name] = "its values have another form in the release"
            continue
        persons = table.persons is not None
        distributions.append(compare_counts(name, before, after, k, persons=persons))
        dependences += counts.dependences(name)
    return Columns(tuple(distributions), tuple(dependences), left_out)


def _among_quasi_identifiers(measured: Measured | MixedRelease) -> Iterator[Dependence]:
    """Each pair of quasi-identifiers: by original values, and by the labels of the release."""
    table = measured.table
    names = [attribute.name for attribute in table.attributes]
    if isinstance(measured, MixedRelease):
        released = measured.sizes
        groups = [measured.label_numbers(j) for j in range(len(names))]
    else:
        released = table.weights * measured.classes.kept[measured.classes.class_of]
        groups = [
            attribute.groups[level][codes]
            for attribute, codes, level in zip(
                table.attributes, table.codes, measured.node, strict=True
            )
        ]
    for i, j in itertools.combinations(range(len(names)), 2):
        before = strength_of(table.codes[i], table.codes[j], table.weights)
        after = strength_of(groups[i], groups[j], released)
        yield Dependence((names[i], names[j]), before, after)


def _has_many_values(measured: Measured | MixedRelease, name: str) -> bool:
    missing = measured.prepared.definition.missing.values
    return measured.source.count_distinct([name], missing, at_most=MOST_VALUES) > MOST_VALUES


@dataclass(frozen=True, eq=False)
class _Counts:
    """Combinations of the quasi-identifiers and one more column, in the source and the release.

    `quasi_identifiers` is empty where there are too many combinations: then the column is counted
    alone. `blank_after` are the marked records, which have no sensitive value in the release.
    """

    quasi_identifiers: tuple[str, ...]
    before: pa.Table
    after: pa.Table
    blank_after: int

    @classmethod
    def of(cls, measured: Measured | MixedRelease, name: str) -> _Counts:
        """Count both tables, one query each."""
        definition = measured.prepared.definition
        names, missing = definition.quasi_identifiers, definition.missing.values
        complete = names if definition.missing.match == "basic" else ()
        most = budget(definition)
        blank = 0
        if definition.suppressed == "mark" and name in definition.sensitive:
            blank = measured.suppressed
        for others in (names, ()):
            columns = (*others, name)
            before = measured.source.count_by(columns, missing, complete=complete, at_most=most)
            if before.num_rows <= most:
                break
        return cls(others, before, measured.release.count_by(columns, missing), blank)

    def values_of(self, name: str) -> tuple[dict[str | None, int], dict[str | None, int]]:
        """The records of each value, before and after; marked records have none after."""
        before, after = (_counts_of(table, name) for table in (self.before, self.after))
        after[None] = after.get(None, 0) - self.blank_after
        return before, {value: number for value, number in after.items() if number}

    def dependences(self, name: str) -> Iterator[Dependence]:
        """Each quasi-identifier with the column; records without any are not in the release."""
        empty = np.ones(self.after.num_rows, dtype=bool)
        for other in self.quasi_identifiers:
            empty &= self.after[other].is_null().to_numpy()
        after = self.after.filter(pa.array(~empty))
        for other in self.quasi_identifiers:
            yield Dependence(
                (other, name), _strength(self.before, other, name), _strength(after, other, name)
            )


def _counts_of(table: pa.Table, name: str) -> dict[str | None, int]:
    """The records of each value of a column; None are those without."""
    column = column_of(table, name)
    counts: dict[str | None, int] = {}
    counts.update(column.counts.items())
    missing: Ints = weights_of(table)[column.rows == len(column.counts)]
    if len(missing):
        counts[None] = int(missing.sum())
    return counts


def _strength(table: pa.Table, first: str, second: str) -> Strength:
    return strength_of(
        column_of(table, first).rows, column_of(table, second).rows, weights_of(table)
    )
