"""What alpha, beta and delta have in common: no value may have more than a share of a class.

A cap on shares is linear in counts, so it is closed under union.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shoal.privacy.histograms import owners, per_class, totals

if TYPE_CHECKING:
    from shoal.privacy.histograms import Floats
    from shoal.values import Bools, Histogram, Ints

SHARE_TOLERANCE = 1e-9
"""Shares times records are compared with this tolerance."""


def reference_shares(histogram: Histogram) -> Floats:
    """The share of each value in the whole table."""
    return histogram.reference.counts / max(int(histogram.reference.counts.sum()), 1)


def within(histogram: Histogram, caps: Floats, tolerance: float = SHARE_TOLERANCE) -> Bools:
    """The classes in which every value has at most its cap of the records; an empty one fails."""
    records = totals(histogram)
    over = histogram.counts > caps[histogram.values] * records[owners(histogram)] + tolerance
    fits: Bools = (per_class(histogram, over) == 0) & (records > 0)
    return fits


def kept_at_most(histogram: Histogram, caps: Floats) -> Ints:
    """No part of a class with more records than this is within the caps.

    A part of `M` records has at most min(n_v, caps[v] * M) of each value, so M is at most the sum
    of these. The sum minus M is concave in M and 0 at 0: the M that pass are 0 to some M*, found by
    bisection.
    """
    owner = owners(histogram)
    low = np.zeros(len(histogram.starts) - 1, dtype=np.int64)
    high = totals(histogram) + 1
    while (high - low > 1).any():
        middle = (low + high) // 2
        most = np.minimum(histogram.counts, caps[histogram.values] * middle[owner])
        enough = per_class(histogram, most) >= middle - SHARE_TOLERANCE
        low, high = np.where(enough, middle, low), np.where(enough, high, middle)
    return low


def removal(sizes: Ints, records: Ints, kept: Ints, satisfied: Bools) -> Ints:
    """The least removal: 0 for a class that satisfies, all of one of which nothing can stay."""
    return np.where(satisfied, 0, np.where(kept == 0, sizes, records - kept))
