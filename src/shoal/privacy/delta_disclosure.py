"""delta-disclosure: every value is about as frequent in each class as in the whole table."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from shoal.privacy.base import (
    SHARE_TOLERANCE,
    classes,
    distinct,
    kept_at_most,
    owners,
    per_class,
    reference_shares,
    removal,
    totals,
    within,
)

if TYPE_CHECKING:
    from shoal.values import Bools, Counts, Ints


@dataclass(frozen=True)
class DeltaDisclosure:
    """With share p in the table and q in a class: |ln(q / p)| below `delta` for every value.

    Every value of the table must occur in every class, since ln 0 is unbounded. Both limits are
    linear in counts, so the model is closed under union.
    """

    attribute: str
    delta: float
    name: ClassVar[str] = "delta-disclosure"
    closed_under_union: ClassVar[bool] = True
    higher_is_safer: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not self.delta > 0:
            raise ValueError("delta must be above 0")

    def demanded(self) -> str:
        """The demand in a line."""
        return f"delta < {self.delta:g}"

    def satisfied(self, counts: Counts) -> Bools:
        """Every value within both limits."""
        histogram = counts.histograms[self.attribute]
        p = reference_shares(histogram)
        records = totals(histogram)[owners(histogram)]
        scarce = (
            histogram.counts
            <= math.exp(-self.delta) * p[histogram.values] * records + SHARE_TOLERANCE
        )
        enough = per_class(histogram, scarce) == 0
        complete = distinct(histogram) == np.count_nonzero(p)
        fits: Bools = (
            within(histogram, math.exp(self.delta) * p, -SHARE_TOLERANCE) & enough & complete
        )
        return fits

    def least_removal(self, counts: Counts) -> Ints:
        """All of a class that lacks a value; else all but the largest part within the limits.

        A part of M records needs more than exp(-delta) * p * M of each value, so M is below
        n_v / (exp(-delta) * p) for every value; the upper limits are as in `kept_at_most`.
        """
        histogram = counts.histograms[self.attribute]
        p = reference_shares(histogram)
        kept = kept_at_most(histogram, math.exp(self.delta) * p)
        limits = histogram.counts / (math.exp(-self.delta) * p[histogram.values]) + SHARE_TOLERANCE
        most = np.full(classes(histogram), np.inf)
        np.minimum.at(most, owners(histogram), limits)
        most[distinct(histogram) < np.count_nonzero(p)] = 0
        kept = np.minimum(kept, np.floor(np.minimum(most, 2.0**62)).astype(np.int64))
        return removal(counts.sizes, totals(histogram), kept, self.satisfied(counts))

    def reached(self, counts: Counts) -> float:
        """The largest |ln(q / p)| of any value in any class; infinite where a class lacks one."""
        histogram = counts.histograms[self.attribute]
        p = reference_shares(histogram)
        records = totals(histogram)
        if (distinct(histogram) < np.count_nonzero(p)).any() or (records == 0).any():
            return math.inf
        q = histogram.counts / records[owners(histogram)]
        return float(np.abs(np.log(q / p[histogram.values])).max(initial=0.0))
