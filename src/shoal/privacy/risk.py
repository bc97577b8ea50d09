"""Demands on the risk of the whole release: the average, and the records above a threshold.

The risk of a record is 1 / size of its class. Both demands are about all released classes together.
Where one does not hold, the smallest classes are suppressed until it does: they have the highest
risk. Of classes of one size the first by their labels goes first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

if TYPE_CHECKING:
    from shoal.values import Bools, Counts, Ints

RISK_TOLERANCE = 1e-9
"""Relative tolerance where numbers of records are compared with a share of others."""


@dataclass(frozen=True)
class AverageRisk:
    """Released classes / released records is at most `average`: the marketer's risk.

    Let a node meet it by releasing `u` classes with `n` records, and look at a node above. There at
    most `u` classes have a record that is kept below, and together they have at least `n` records.
    So they meet the demand as well, and all other records are suppressed below.
    """

    average: float
    name: ClassVar[str] = "average-risk"
    attribute: ClassVar[None] = None
    closed_under_union: ClassVar[bool] = True
    higher_is_safer: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not 0 < self.average <= 1:
            raise ValueError("the average must be above 0 and at most 1")

    def demanded(self) -> str:
        """The demand in a line."""
        return f"average risk <= {self.average:g}"

    def satisfied(self, counts: Counts) -> Bools:
        """No class is refused by itself."""
        return np.ones(len(counts.sizes), dtype=np.bool_)

    def least_removal(self, counts: Counts) -> Ints:
        """Nothing is certain of a single class."""
        return np.zeros(len(counts.sizes), dtype=np.int64)

    def keep(self, counts: Counts, kept: Bools) -> Bools:
        """Without the smallest classes, as few of them as possible.

        No other choice suppresses fewer records: of as many classes the smallest have the fewest
        records, and leave the lowest average.
        """
        order = _smallest_first(counts.sizes, kept)
        records = _left(counts.sizes[order])
        classes = np.arange(len(order), -1, -1)
        return _dropped(kept, order, within(classes, self.average, records))

    def most_released(self, counts: Counts, most: Ints) -> int:  # noqa: ARG002
        """The records of the largest classes, as many as meet the demand together.

        Below, each of these classes has at most `most` records left. By the argument above, the
        classes with a kept record meet the demand with those: `classes <= average * records`. The
        most records under this condition are those of the largest classes.
        """
        sizes = np.sort(most[most > 0])[::-1]
        records = np.cumsum(sizes)
        fits = within(np.arange(1, len(sizes) + 1), self.average, records)
        return int(records[fits].max(initial=0))

    def reached(self, counts: Counts) -> float:
        """Classes / records; 0 where there is none."""
        return len(counts.sizes) / max(int(counts.sizes.sum()), 1)


@dataclass(frozen=True)
class RecordsAbove:
    """At most a `share` of the released records has a risk above the `threshold`.

    A class of fewer than 1 / threshold records is *small*. At nodes below, its records are in small
    classes too, so they count there, or are suppressed.
    """

    threshold: float
    share: float
    name: ClassVar[str] = "records-above"
    attribute: ClassVar[None] = None
    closed_under_union: ClassVar[bool] = True
    higher_is_safer: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not 0 < self.threshold < 1:
            raise ValueError("the threshold must be above 0 and below 1")
        if not 0 <= self.share < 1:
            raise ValueError("the share must be at least 0 and below 1")

    def demanded(self) -> str:
        """The demand in a line."""
        return f"records with a risk above {self.threshold:g} <= {100 * self.share:g} %"

    def satisfied(self, counts: Counts) -> Bools:
        """No class is refused by itself."""
        return np.ones(len(counts.sizes), dtype=np.bool_)

    def least_removal(self, counts: Counts) -> Ints:
        """Nothing is certain of a single class."""
        return np.zeros(len(counts.sizes), dtype=np.int64)

    def keep(self, counts: Counts, kept: Bools) -> Bools:
        """Without the smallest classes, as few of them as possible."""
        order = _smallest_first(counts.sizes, kept)
        sizes = counts.sizes[order]
        above = _left(np.where(self._small(sizes), sizes, 0))
        return _dropped(kept, order, within(above, self.share, _left(sizes)))

    def most_released(self, counts: Counts, most: Ints) -> int:
        """All records of large classes, and as many of small ones as these allow.

        Let `p` records of classes that are small here be released below, and `q` others. Then
        p <= share * (p + q), so p <= q * share / (1 - share), and `q` is at most the records of the
        classes that are large here.
        """
        small = self._small(counts.sizes)
        large = int(most[~small].sum())
        allowed = large * self.share / (1 - self.share)
        return large + min(int(most[small].sum()), int(allowed * (1 + RISK_TOLERANCE) + 1e-6))

    def reached(self, counts: Counts) -> float:
        """The share of the records above the threshold; 0 where there is none."""
        above = int(counts.sizes[self._small(counts.sizes)].sum())
        return above / max(int(counts.sizes.sum()), 1)

    def _small(self, sizes: Ints) -> Bools:
        """The classes whose records have a risk above the threshold."""
        small: Bools = sizes * self.threshold < 1 - RISK_TOLERANCE
        return small


def within(numbers: Ints, share: float, records: Ints) -> Bools:
    """Whether each number is at most a share of the records."""
    limits = share * records
    fits: Bools = numbers <= limits + RISK_TOLERANCE * np.maximum(limits, 1)
    return fits


def _smallest_first(sizes: Ints, kept: Bools) -> Ints:
    """The kept classes by rising size, those of one size in their order."""
    classes = np.flatnonzero(kept)
    return classes[np.argsort(sizes[classes], kind="stable")]


def _left(numbers: Ints) -> Ints:
    """The sum of the numbers without the first 0, 1, 2... of them, and at last of none."""
    sums: Ints = np.concatenate((np.cumsum(numbers[::-1])[::-1], [0]))
    return sums


def _dropped(kept: Bools, order: Ints, holds: Bools) -> Bools:
    """The kept classes without the first ones of an order, until the demand holds."""
    left = kept.copy()
    left[order[: int(holds.argmax())]] = False
    return left
