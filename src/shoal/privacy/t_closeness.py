"""t-closeness: the sensitive values of every class are distributed nearly as in the whole table.

The distances are earth mover's distances between the sensitive values of each class and those of
the table. All are normalised to [0, 1]: moving everything between the two values that are farthest
apart costs 1. Work is done in blocks of classes, so that memory does not grow with classes times
values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from shoal.privacy.base import (
    TOLERANCE,
    ceiling,
    classes,
    owners,
    per_class,
    reference_shares,
    totals,
)

if TYPE_CHECKING:
    from shoal.privacy.base import Floats
    from shoal.values import Bools, Counts, Histogram, Ints


BLOCK_CELLS = 4_000_000


def equal(histogram: Histogram) -> Floats:
    """All values are 1 apart: half the sum of |p - q|, the total variation distance.

    Values that a class lacks add their q; together they hold 1 minus the q of those it has.
    """
    q = reference_shares(histogram)[histogram.values]
    p = histogram.counts / np.maximum(totals(histogram), 1)[owners(histogram)]
    return (per_class(histogram, np.abs(p - q)) + 1.0 - per_class(histogram, q)) / 2


def ordered(histogram: Histogram) -> Floats:
    """Values on a line, neighbours 1/(m-1) apart: the mean |sum of p - q up to i| of all steps."""
    steps = max(len(histogram.reference.values) - 1, 1)
    found = np.zeros(classes(histogram))
    for first, surplus in _blocks(histogram):
        moved = np.abs(np.cumsum(surplus, axis=1)[:, :-1]).sum(axis=1)
        found[first : first + len(surplus)] = moved / steps
    return found


def hierarchical(histogram: Histogram) -> Floats:
    """Values in a tree: what two values cost is the height of their lowest common ancestor.

    At each inner node the surplus of some children is moved to others that lack as much, which
    costs its height over that of the root; what is left is passed to its parent. If the hierarchy
    has no single top, a root is added. Where the table has no value, all distances are 0.
    """
    if not histogram.reference.values:
        return np.zeros(classes(histogram))
    levels = list(histogram.reference.parents)
    if len(set(levels[-1].tolist())) > 1:
        levels.append(np.zeros_like(levels[0]))
    found = np.zeros(classes(histogram))
    for first, surplus in _blocks(histogram):
        for height in range(1, len(levels)):
            children, parent_of = _children(levels[height - 1], levels[height])
            extra = surplus @ _indicator(levels[height - 1], children)
            into = _indicator(parent_of, int(parent_of.max()) + 1)
            moved = np.minimum(np.maximum(extra, 0) @ into, np.maximum(-extra, 0) @ into)
            found[first : first + len(surplus)] += moved.sum(axis=1) * height / (len(levels) - 1)
    return found


def _blocks(histogram: Histogram) -> Iterator[tuple[int, Floats]]:
    """Blocks of classes as rows of p - q, each with the number of its first class."""
    values = max(len(histogram.reference.values), 1)
    size = max(BLOCK_CELLS // values, 1)
    q = reference_shares(histogram)
    for first in range(0, classes(histogram), size):
        last = min(first + size, classes(histogram))
        entries = slice(histogram.starts[first], histogram.starts[last])
        owner = np.repeat(np.arange(last - first), np.diff(histogram.starts[first : last + 1]))
        p = np.zeros((last - first, values))
        p[owner, histogram.values[entries]] = histogram.counts[entries]
        p /= np.maximum(p.sum(axis=1, keepdims=True), 1)
        yield first, p - q


def _children(below: Ints, above: Ints) -> tuple[int, Ints]:
    """How many nodes the level below can have, and the parent of each."""
    parent_of = np.zeros(int(below.max()) + 1, dtype=np.int64)
    parent_of[below] = above
    return len(parent_of), parent_of


def _indicator(group_of: Ints, groups: int) -> Floats:
    """A matrix with a 1 where a row belongs to a group."""
    matrix = np.zeros((len(group_of), groups))
    matrix[np.arange(len(group_of)), group_of] = 1.0
    return matrix


DISTANCES: Mapping[str, Callable[[Histogram], Floats]] = {
    "equal": equal,
    "ordered": ordered,
    "hierarchical": hierarchical,
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
