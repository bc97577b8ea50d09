"""k-anonymity: every class has at least k records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from shoal.values import Bools, Counts, Ints


@dataclass(frozen=True)
class KAnonymity:
    """Every record shares its quasi-identifiers with at least `k - 1` others."""

    k: int
    name: ClassVar[str] = "k-anonymity"
    attribute: ClassVar[None] = None
    closed_under_union: ClassVar[bool] = True
    higher_is_safer: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.k < 2:
            raise ValueError("k must be at least 2")

    def demanded(self) -> str:
        return f"k >= {self.k}"

    def satisfied(self, counts: Counts) -> Bools:
        return counts.sizes >= self.k

    def least_removal(self, counts: Counts) -> Ints:
        """All of a class below k: its parts are smaller still. None of a larger one."""
        return counts.sizes * (counts.sizes < self.k)

    def reached(self, counts: Counts) -> float:
        return float(counts.sizes.min()) if len(counts.sizes) else float("inf")
