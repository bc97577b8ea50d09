"""How strongly two columns depend on each other, before and after.

Cramer's V and the mutual information of two columns, from the counts of their pairs of values. Both
are 0 for independent columns. V is 1 where each value of the column with more values has its own
value of the other one. The mutual information is how many bits of the one column the other one
tells. Generalization never raises it; suppression can change both either way.

In a column of many rare values, such as dates of birth, chance alone makes V large. The corrected V
(Bergsma 2013) subtracts what independent columns of so many values would show on average.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from shoal.encode.rows import number_rows

if TYPE_CHECKING:
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

    A missing value is a value like any other. Columns of one value depend on nothing.
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
    information = float(together @ np.log2(together / expected))
    chi_square = float((together**2 / expected).sum()) - 1
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
