"""Demands against a table of the population, of which the records are a part.

Somebody who does not know whether a person is in the release can search that table. Its records
are generalized like the released ones, so every class has a number of records there, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from shoal.privacy.risk import RISK_TOLERANCE, within

if TYPE_CHECKING:
    from shoal.values import Bools, Counts, Ints


@dataclass(frozen=True)
class KMap:
    """Every class has at least `k` records in the population."""

    k: int
    name: ClassVar[str] = "k-map"
    attribute: ClassVar[None] = None
    closed_under_union: ClassVar[bool] = True
    higher_is_safer: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.k < 2:
            raise ValueError("k must be at least 2")

    def demanded(self) -> str:
        """The demand in a line."""
        return f"k >= {self.k} in the population"

    def satisfied(self, counts: Counts) -> Bools:
        """Enough records in the population."""
        return _population(counts) >= self.k

    def least_removal(self, counts: Counts) -> Ints:
        """All of a class below k: its parts have no more records in the population."""
        return counts.sizes * (_population(counts) < self.k)

    def reached(self, counts: Counts) -> float:
        """The records of the population in the class with the fewest."""
        found = _population(counts)
        return float(found.min()) if len(found) else float("inf")


@dataclass(frozen=True)
class DeltaPresence:
    """In every class the released records are a share from `least` to `most` of the population.

    Nobody concludes from the two tables that a person is in the release with a higher probability
    than `most`, nor that they are with a lower one than `least`.

    Both are closed under union: the share of a union lies between the lowest and the highest share
    of its parts. With a `least` above 0 every class of the population must be released: people of
    one that is not are certainly not in the release. So then nothing is suppressed, and no class of
    the population may be without records.
    """

    least: float
    most: float
    name: ClassVar[str] = "delta-presence"
    attribute: ClassVar[None] = None
    closed_under_union: ClassVar[bool] = True
    higher_is_safer: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not 0 <= self.least <= self.most <= 1:
            raise ValueError("the shares must rise from 0 to 1")
        if self.most == 0:
            raise ValueError("the largest share must be above 0")

    def demanded(self) -> str:
        """The demand in a line."""
        return f"{self.least:g} <= share of the population <= {self.most:g}"

    def satisfied(self, counts: Counts) -> Bools:
        """The share is neither too low nor too high."""
        population = _population(counts)
        too_few = self.least * population > counts.sizes + RISK_TOLERANCE * population
        return within(counts.sizes, self.most, population) & ~too_few

    def least_removal(self, counts: Counts) -> Ints:
        """All but `most` of the population.

        Below, the kept parts of a class have at most this share of their own population, and so of
        that of the whole class.
        """
        most = self.most * _population(counts)
        kept = np.floor(most + RISK_TOLERANCE * np.maximum(most, 1)).astype(np.int64)
        removed: Ints = np.maximum(counts.sizes - kept, 0)
        return removed

    def keep(self, counts: Counts, kept: Bools) -> Bools:
        """Nothing, where a class of the population is not released but must be."""
        lacking = self.least > 0 and (counts.absent > 0 or not kept.all())
        return np.zeros_like(kept) if lacking else kept

    def most_released(self, counts: Counts, most: Ints) -> int:
        """Nothing, where a class must be suppressed in part, or has a wrong share.

        With a `least` above 0 all classes of a safe node have a right share, and so have their
        unions, which are the classes here; and none of the population is without records.
        """
        whole = bool((most == counts.sizes).all()) and bool(self.satisfied(counts).all())
        return 0 if self.least > 0 and (counts.absent > 0 or not whole) else int(most.sum())

    def reached(self, counts: Counts) -> float:
        """The highest share of a class; 0 where there is none."""
        return float((counts.sizes / np.maximum(_population(counts), 1)).max(initial=0.0))


def _population(counts: Counts) -> Ints:
    """The records of each class in the population."""
    assert counts.population is not None  # the table has one where this is demanded  # noqa: S101
    return counts.population
