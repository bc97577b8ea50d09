"""t-closeness: the sensitive values of every class are distributed nearly as in the whole table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from shoal.privacy import distances
from shoal.privacy.histograms import TOLERANCE, ceiling, totals

if TYPE_CHECKING:
    from shoal.privacy.histograms import Floats
    from shoal.values import Bools, Counts, Histogram, Ints

DISTANCES: Mapping[str, Callable[[Histogram], Floats]] = {
    "equal": distances.equal,
    "ordered": distances.ordered,
    "hierarchical": distances.hierarchical,
}


@dataclass(frozen=True)
class TCloseness:
    """Earth mover's distance from each class to the table at most `t`.

    The distance to a fixed distribution is convex, so a union of classes is no farther than the
    farthest of them: the model is closed under union.
    """

    attribute: str
    t: float
    distance: str = "equal"
    name: ClassVar[str] = "t-closeness"
    closed_under_union: ClassVar[bool] = True
    higher_is_safer: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not 0 <= self.t <= 1:
            raise ValueError("t must be from 0 to 1")
        if self.distance not in DISTANCES:
            raise ValueError(f"the distance must be one of {', '.join(DISTANCES)}")

    def demanded(self) -> str:
        """The demand in a line."""
        return f"t <= {self.t:g} ({self.distance} distance)"

    def satisfied(self, counts: Counts) -> Bools:
        """Near enough; a class without any value fails, for its distance says nothing."""
        return self._distances(counts) <= self.t + TOLERANCE

    def least_removal(self, counts: Counts) -> Ints:
        """At least n * (distance - t) of n records.

        Taking `r` of `n` records away moves the distribution by at most r/n in total variation, and
        no distance here is above that, since no two values are more than 1 apart.
        """
        records = totals(counts.histograms[self.attribute])
        far = np.where(records == 0, 0.0, self._distances(counts))
        cut = ceiling(records * (far - self.t))
        return np.where(records == 0, counts.sizes, cut)

    def reached(self, counts: Counts) -> float:
        """The largest distance of any class."""
        return float(self._distances(counts).max(initial=0.0))

    def _distances(self, counts: Counts) -> Floats:
        histogram = counts.histograms[self.attribute]
        return np.where(totals(histogram) == 0, np.inf, DISTANCES[self.distance](histogram))
