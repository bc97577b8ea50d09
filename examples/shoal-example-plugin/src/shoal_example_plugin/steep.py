"""A steep loss: the first steps up a hierarchy are cheap, the last ones dear."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shoal.loss.base import Domain


@dataclass(frozen=True)
class Steep:
    """A kept cell costs (level / height) to the power of `power`; a missing one costs 0."""

    power: float = 2.0
    name: ClassVar[str] = "steep"

    def __post_init__(self) -> None:
        if not self.power >= 1:
            raise ValueError("power must be at least 1")

    def cell_costs(self, domain: Domain) -> tuple[NDArray[np.float64], ...]:
        """One array for each level: the cost of each value, missing last."""
        costs = []
        for level, groups in enumerate(domain.groups):
            cost = np.full(len(groups), (level / max(domain.height, 1)) ** self.power)
            cost[-1] = 0.0
            costs.append(cost)
        return tuple(costs)

    def plain_loss(self, domain: Domain, level: int, code: int) -> float:
        """The same for one cell in plain Python, for the conformance suite."""
        missing = code == len(domain.groups[0]) - 1
        share = level / domain.height if domain.height else 0.0
        return 0.0 if missing else float(share**self.power)
