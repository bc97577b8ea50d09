"""beta-likeness: no sensitive value is much more frequent in a class than in the whole table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from shoal.privacy.base import (
    kept_at_most,
    largest,
    owners,
    reference_shares,
    removal,
    totals,
    within,
)

if TYPE_CHECKING:
    from shoal.privacy.base import Floats
    from shoal.values import Bools, Counts, Histogram, Ints


@dataclass(frozen=True)
class BetaLikeness:
    """With share p in the table and q in a class: (q - p) / p at most `beta` for every value.

    Enhanced likeness also demands at most -ln p. That limits frequent values too, whose q can never
    be many times p.
    """

    attribute: str
    beta: float
    enhanced: bool = False
    name: ClassVar[str] = "beta-likeness"
    closed_under_union: ClassVar[bool] = True
    higher_is_safer: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not self.beta > 0:
            raise ValueError("beta must be above 0")

    def demanded(self) -> str:
        """The demand in a line."""
        return f"{'enhanced' if self.enhanced else 'basic'} beta <= {self.beta:g}"

    def satisfied(self, counts: Counts) -> Bools:
        """The share of no value grew too much."""
        histogram = counts.histograms[self.attribute]
        return within(histogram, self.caps(histogram))

    def least_removal(self, counts: Counts) -> Ints:
        """All but the largest part that is within the caps (base.kept_at_most)."""
        histogram = counts.histograms[self.attribute]
        kept = kept_at_most(histogram, self.caps(histogram))
        return removal(counts.sizes, totals(histogram), kept, self.satisfied(counts))

    def reached(self, counts: Counts) -> float:
        """The largest gain of any value.

        It is infinite where the enhanced limit -ln p is passed, or a class has no value.
        """
        histogram = counts.histograms[self.attribute]
        p = reference_shares(histogram)[histogram.values]
        records = totals(histogram)
        q = histogram.counts / records[owners(histogram)]
        gain = np.maximum((q - p) / p, 0.0)
        if self.enhanced:
            gain = np.where(gain > -np.log(p) + 1e-12, np.inf, gain)
        worst = np.where(records == 0, np.inf, largest(histogram, gain))
        return float(worst.max(initial=0.0))

    def caps(self, histogram: Histogram) -> Floats:
        """The largest share that each value may have of a class."""
        p = np.maximum(reference_shares(histogram), 1e-300)
        gain = np.minimum(self.beta, -np.log(p)) if self.enhanced else self.beta
        return (1 + gain) * p
