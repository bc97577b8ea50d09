"""Distinct l-diversity: every class has at least l different sensitive values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from shoal.privacy.base import distinct

if TYPE_CHECKING:
    from shoal.values import Bools, Counts, Ints


@dataclass(frozen=True)
class DistinctDiversity:
    """At least `l` different values of `attribute` in every class."""

    attribute: str
    l: int
    name: ClassVar[str] = "distinct-diversity"
    closed_under_union: ClassVar[bool] = True
    higher_is_safer: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.l < 2:
            raise ValueError("l must be at least 2")

    def demanded(self) -> str:
        """The demand in a line."""
        return f"distinct l >= {self.l}"

    def satisfied(self, counts: Counts) -> Bools:
        """Enough different values."""
        return distinct(counts.histograms[self.attribute]) >= self.l

    def least_removal(self, counts: Counts) -> Ints:
        """All of a class that fails: no part of it has more values. None of one that does not."""
        return np.where(self.satisfied(counts), 0, counts.sizes)

    def reached(self, counts: Counts) -> float:
        """The fewest different values of any class."""
        found = distinct(counts.histograms[self.attribute])
        return float(found.min()) if len(found) else float("inf")
