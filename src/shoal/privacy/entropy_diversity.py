"""Entropy l-diversity: the Shannon entropy of every class is at least log l."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from shoal.privacy.base import TOLERANCE, distinct, largest, owners, per_class, totals

if TYPE_CHECKING:
    from shoal.privacy.base import Floats
    from shoal.values import Bools, Counts, Histogram, Ints


@dataclass(frozen=True)
class EntropyDiversity:
    """Entropy of `attribute` at least that of `l` values in equal shares.

    Entropy is concave, so a union of disjoint classes has at least the smallest entropy of them:
    the model is closed under union. Floats are compared as they are, like ARX does: a class that is
    exactly on the limit can be refused for a rounding error. Bounds have a tolerance for that.
    """

    attribute: str
    l: float
    name: ClassVar[str] = "entropy-diversity"
    closed_under_union: ClassVar[bool] = True
    higher_is_safer: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not self.l > 1:
            raise ValueError("l must be above 1")

    def demanded(self) -> str:
        """The demand in a line."""
        return f"entropy l >= {self.l:g}"

    def satisfied(self, counts: Counts) -> Bools:
        """Entropy at least log l; a class without any value fails."""
        histogram = counts.histograms[self.attribute]
        return (entropies(histogram) >= math.log(self.l)) & (totals(histogram) > 0)

    def least_removal(self, counts: Counts) -> Ints:
        """Exact, by water-filling.

        Of all parts with the same number of records, the one that cuts the most frequent values
        down to a common level is majorized by every other, so its entropy, which is Schur-concave,
        is the largest. Cutting the largest count raises the entropy, since its derivative by a
        count n_j is (mean of log n_i - log n_j) / n, at most 0 for the largest. So the least cut is
        found by bisection: first the level (`cap`), then how many of the values at `cap + 1` are
        lowered to `cap`. With fewer than l values no part satisfies; then all records go.
        """
        histogram = counts.histograms[self.attribute]
        demand = math.log(self.l) - TOLERANCE
        hopeless = distinct(histogram) < self.l - TOLERANCE
        failing = ~self.satisfied(counts) & ~hopeless
        high = np.where(failing, largest(histogram, histogram.counts), 1).astype(np.int64)
        low = np.ones_like(high)
        while (high - low > 1).any():
            middle = (low + high) // 2
            enough = entropies(histogram, middle) >= demand
            low, high = np.where(enough, middle, low), np.where(enough, high, middle)
        removed = self._cut(histogram, low, demand)
        return np.where(hopeless, counts.sizes, np.where(failing, removed, 0))

    def _cut(self, histogram: Histogram, cap: Ints, demand: float) -> Ints:
        """Records to cut when level `cap` is enough and `cap + 1` is not.

        With `q` values lowered from `cap + 1` to `cap`, records and sum of n log n fall by a fixed
        amount each, so the entropy is a formula of `q`, rising, and is bisected.
        """
        owner = owners(histogram)
        counts = np.minimum(histogram.counts, cap[owner] + 1)
        records = per_class(histogram, counts)
        weight = per_class(histogram, counts * np.log(counts))
        step = (cap + 1) * np.log(cap + 1) - cap * np.log(cap)
        high = per_class(histogram, histogram.counts > cap[owner]).astype(np.int64)
        low = np.zeros_like(high)
        while (high - low > 1).any():
            middle = (low + high) // 2
            left = np.maximum(records - middle, 1)
            enough = np.log(left) - (weight - middle * step) / left >= demand
            low, high = np.where(enough, low, middle), np.where(enough, middle, high)
        return totals(histogram) - records.astype(np.int64) + high

    def reached(self, counts: Counts) -> float:
        """The smallest exp(entropy) of any class: the l that all of them meet."""
        found = np.exp(entropies(counts.histograms[self.attribute]))
        return float(found.min()) if len(found) else float("inf")


def entropies(histogram: Histogram, caps: Ints | None = None) -> Floats:
    """The entropy of each class, its counts cut down to `caps`; 0 for a class without values."""
    counts = histogram.counts
    if caps is not None:
        counts = np.minimum(counts, caps[owners(histogram)])
    records = np.maximum(per_class(histogram, counts), 1)
    return np.log(records) - per_class(histogram, counts * np.log(counts)) / records
