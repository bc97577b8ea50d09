"""Discernibility: every record pays for those it can be confused with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

if TYPE_CHECKING:
    from shoal.values import Ints


@dataclass(frozen=True)
class Discernibility:
    """A released record pays the size of its class, a suppressed one the size of the table.

    The sum is divided by records squared, what it costs to suppress everything, so it is in [0, 1].
    """

    name: ClassVar[str] = "discernibility"

    def class_loss(self, sizes: Ints, suppressed: int, records: int) -> float:
        return float((sizes.astype(float) ** 2).sum() + records * suppressed) / records**2

    def least(self, finest: Ints, dropped: int, records: int) -> float:
        """Each record pays at least its finest class; each dropped one pays `records` instead.

        Which are dropped is not known: the least is paid when those of the largest finest classes
        are. So a bound never falls as finest classes merge, for then no record pays less.
        """
        sizes = np.sort(finest).astype(float)
        stay = np.clip(records - dropped - (np.cumsum(sizes) - sizes), 0, sizes)
        return float((stay * sizes).sum() + dropped * records) / records**2
