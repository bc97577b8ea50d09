"""Discernibility: every record pays for those it can be confused with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

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

        Which records are dropped is not known: those of the largest finest class gain least.
        """
        largest = int(finest.max(initial=0))
        paid = float((finest.astype(float) ** 2).sum()) + dropped * (records - largest)
        return paid / records**2
