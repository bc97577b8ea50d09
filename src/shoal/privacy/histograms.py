"""Counts and shares of sensitive values in many classes at once, for the models that look at them.

The first half sums over the classes of a histogram. The second half caps shares: no value may have
more than a share of a class, as alpha, beta and delta demand. A cap on shares is linear in counts,
so it is closed under union.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shoal.values import Bools, Histogram, Ints

    Floats: TypeAlias = NDArray[np.float64]


TOLERANCE = 1e-12
"""Sums of floats are compared with this tolerance, so that a value on the limit satisfies."""


def classes(histogram: Histogram) -> int:
    """How many classes the histogram has."""
    return len(histogram.starts) - 1


def owners(histogram: Histogram) -> Ints:
    """The class of each entry."""
    return np.repeat(np.arange(classes(histogram)), np.diff(histogram.starts))


def per_class(histogram: Histogram, entries: NDArray[Any]) -> Floats:
    """The sum of a number per entry over each class; 0 for a class without entries."""
    sums = np.bincount(owners(histogram), weights=entries, minlength=classes(histogram))
    return sums.astype(np.float64)


def totals(histogram: Histogram) -> Ints:
    """The records of each class that have a value."""
    return per_class(histogram, histogram.counts).astype(np.int64)


def distinct(histogram: Histogram) -> Ints:
    """The number of different values in each class."""
    return np.diff(histogram.starts)


def largest(histogram: Histogram, entries: NDArray[Any]) -> Floats:
    """The largest of a number per entry in each class; 0 for a class without entries."""
    found = np.zeros(classes(histogram))
    np.maximum.at(found, owners(histogram), entries)
    return found


def descending(histogram: Histogram) -> tuple[Ints, Ints]:
    """The counts sorted downwards within each class, and each one's rank there, from 0."""
    owner = owners(histogram)
    order = np.lexsort((-histogram.counts, owner))
    ranks = np.arange(len(owner)) - histogram.starts[owner]
    return histogram.counts[order], ranks


def ceiling(numbers: Floats) -> Ints:
    """Rounded up, but not for a rounding error: never above the true number."""
    return np.maximum(np.ceil(numbers - 1e-9), 0).astype(np.int64)


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
