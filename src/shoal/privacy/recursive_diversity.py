"""Recursive (c,l)-diversity: the most frequent value is not too frequent beside the rare ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from shoal.privacy.base import TOLERANCE, classes, descending, owners, per_class

if TYPE_CHECKING:
    from shoal.privacy.base import Floats
    from shoal.values import Bools, Counts, Histogram, Ints


@dataclass(frozen=True)
class RecursiveDiversity:
    """With counts r_1 >= r_2 >= ... in a class: r_1 < c (r_l + r_(l+1) + ...).

    Closed under union by the proof of Machanavajjhala et al.: the tail of a union is at least the
    sum of the tails, its largest count at most the sum of the largest.
    """

    attribute: str
    c: float
    l: int
    name: ClassVar[str] = "recursive-diversity"
    closed_under_union: ClassVar[bool] = True
    higher_is_safer: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not self.c > 0:
            raise ValueError("c must be above 0")
        if self.l < 2:
            raise ValueError("l must be at least 2")

    def demanded(self) -> str:
        """The demand in a line."""
        return f"recursive ({self.c:g},{self.l})-diversity"

    def satisfied(self, counts: Counts) -> Bools:
        """The largest count below c times the tail."""
        top, tail = self._top_and_tail(counts.histograms[self.attribute])
        return top < self.c * tail - TOLERANCE

    def least_removal(self, counts: Counts) -> Ints:
        """Exact: cut the counts above the highest level `x` that satisfies.

        A kept part with largest count `x` has counts at most min(r_i, x), so its tail is at most
        that of min(r, x): if any part with largest count `x` satisfies, min(r, x) does, and it cuts
        least. c * tail(min(r, x)) - x is concave in `x` and 0 at 0, so the levels that satisfy are
        1 to some x*, found by bisection; without any, all records go.
        """
        histogram = counts.histograms[self.attribute]
        satisfied = self.satisfied(counts)
        one = np.ones(classes(histogram), dtype=np.int64)
        low, high = one, np.maximum(self._top_and_tail(histogram)[0], 1).astype(np.int64)
        hopeless = ~self._enough(histogram, one)
        while (high - low > 1).any():
            middle = (low + high) // 2
            enough = self._enough(histogram, middle)
            low, high = np.where(enough, middle, low), np.where(enough, high, middle)
        cut = per_class(histogram, np.maximum(histogram.counts - low[owners(histogram)], 0))
        return np.where(satisfied, 0, np.where(hopeless, counts.sizes, cut.astype(np.int64)))

    def reached(self, counts: Counts) -> float:
        """The smallest c, with this l, that all classes meet: the largest of r_1 / tail."""
        histogram = counts.histograms[self.attribute]
        if not classes(histogram):
            return 0.0
        top, tail = self._top_and_tail(histogram)
        return float((top / np.where(tail > 0, tail, np.nan)).max()) if tail.all() else float("inf")

    def _enough(self, histogram: Histogram, caps: Ints) -> Bools:
        top, tail = self._top_and_tail(histogram, caps)
        return top < self.c * tail - TOLERANCE

    def _top_and_tail(
        self, histogram: Histogram, caps: Ints | None = None
    ) -> tuple[Floats, Floats]:
        """The largest count and the sum from the l-th on, of each class cut down to `caps`."""
        counts, ranks = descending(histogram)
        if caps is not None:
            counts = np.minimum(counts, caps[owners(histogram)])
        top = per_class(histogram, counts * (ranks == 0))
        return top, per_class(histogram, counts * (ranks >= self.l - 1))
