"""Sums over the classes of a histogram, shared by the models of sensitive attributes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shoal.values import Histogram, Ints

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
