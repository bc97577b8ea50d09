"""(alpha,k)-anonymity: no sensitive value has more than a share alpha of any class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from shoal.privacy.base import kept_at_most, largest, owners, removal, totals, within

if TYPE_CHECKING:
    from shoal.privacy.base import Floats
    from shoal.values import Bools, Counts, Ints


@dataclass(frozen=True)
class AlphaAnonymity:
    """The share of each value of `attribute` is at most `alpha` in every class.

    Together with k-anonymity, which every release has, this is (alpha,k)-anonymity.
    """

    attribute: str
    alpha: float
    name: ClassVar[str] = "alpha-anonymity"
    closed_under_union: ClassVar[bool] = True
    higher_is_safer: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not 0 < self.alpha < 1:
            raise ValueError("alpha must be above 0 and below 1")

    def demanded(self) -> str:
        """The demand in a line."""
        return f"alpha <= {self.alpha:g}"

    def satisfied(self, counts: Counts) -> Bools:
        """No value has too large a share."""
        return within(counts.histograms[self.attribute], self._caps(counts))

    def least_removal(self, counts: Counts) -> Ints:
        """All but the largest part that is within the caps (base.kept_at_most)."""
        histogram = counts.histograms[self.attribute]
        kept = kept_at_most(histogram, self._caps(counts))
        return removal(counts.sizes, totals(histogram), kept, self.satisfied(counts))

    def reached(self, counts: Counts) -> float:
        """The largest share of any value in any class; infinite where a class has no value."""
        histogram = counts.histograms[self.attribute]
        records = totals(histogram)
        shares = largest(histogram, histogram.counts / records[owners(histogram)])
        return float(np.where(records == 0, np.inf, shares).max(initial=0.0))

    def _caps(self, counts: Counts) -> Floats:
        return np.full(len(counts.histograms[self.attribute].reference.values), self.alpha)
