"""Simpson diversity: two records of a class, drawn at random, seldom have the same value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shoal.values import Bools, Counts, Histogram, Ints

TOLERANCE = 1e-9
"""Both sides of an inequality may differ by this share and count as equal."""


@dataclass(frozen=True)
class SimpsonDiversity:
    """At least `l` effective values of `attribute` in every class: 1 / (sum of squared shares).

    The sum of squares is convex in the shares, and the shares of a union are a mean of those of its
    parts, so a union has at least the fewest effective values of its parts: closed under union.
    """

    attribute: str
    l: float
    name: ClassVar[str] = "simpson-diversity"
    closed_under_union: ClassVar[bool] = True
    higher_is_safer: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not self.l > 1:
            raise ValueError("l must be above 1")

    def demanded(self) -> str:
        """The demand in a line."""
        return f"Simpson l >= {self.l:g}"

    def satisfied(self, counts: Counts) -> Bools:
        """Enough effective values; a class without any value fails."""
        enough: Bools = _effective(counts.histograms[self.attribute]) >= self.l * (1 - TOLERANCE)
        return enough

    def least_removal(self, counts: Counts) -> Ints:
        """What must go of the most frequent value; all of a class with fewer than l values.

        A part of M records with m of them of one value has (m / M)^2 <= 1 / l, so m is at most
        M / sqrt(l). The other n - n_1 records are at least M - m of M, hence M is at most
        (n - n_1) / (1 - 1 / sqrt(l)). This is a bound, not the exact number, and that is enough.
        """
        histogram = counts.histograms[self.attribute]
        records = _sums(histogram, histogram.counts)
        others = records - _largest(histogram)
        most = np.floor(others / (1 - self.l**-0.5) + TOLERANCE)
        cut = np.maximum(records - most, 0).astype(np.int64)
        hopeless = np.diff(histogram.starts) < self.l * (1 - TOLERANCE)
        return np.where(hopeless, counts.sizes, np.where(self.satisfied(counts), 0, cut))

    def reached(self, counts: Counts) -> float:
        """The fewest effective values of any class."""
        found = _effective(counts.histograms[self.attribute])
        return float(found.min(initial=np.inf))

    def holds(
        self,
        size: int,  # noqa: ARG002
        values: Mapping[str | None, int],
        table: Mapping[str | None, int],  # noqa: ARG002
    ) -> bool:
        """The same for one class in plain Python: the verifier judges a release by this."""
        records = sum(values.values())
        squares = sum(count * count for count in values.values())
        return records > 0 and self.l * squares <= records * records * (1 + TOLERANCE)


def _effective(histogram: Histogram) -> NDArray[np.float64]:
    """The effective values of each class, 0 where it has none."""
    records = _sums(histogram, histogram.counts)
    squares = _sums(histogram, histogram.counts.astype(float) ** 2)
    return records**2 / np.maximum(squares, 1)


def _sums(histogram: Histogram, numbers: NDArray[np.generic]) -> NDArray[np.float64]:
    """The sum of a number per entry over each class."""
    classes = len(histogram.starts) - 1
    owners = np.repeat(np.arange(classes), np.diff(histogram.starts))
    return np.bincount(owners, weights=numbers, minlength=classes).astype(np.float64)


def _largest(histogram: Histogram) -> NDArray[np.float64]:
    """The largest count of each class, 0 where it has none."""
    classes = len(histogram.starts) - 1
    found = np.zeros(classes)
    owners = np.repeat(np.arange(classes), np.diff(histogram.starts))
    np.maximum.at(found, owners, histogram.counts)
    return found
