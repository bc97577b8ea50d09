"""Iyengar's loss: how many of the other values a released value could stand for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

if TYPE_CHECKING:
    from shoal.loss.base import Domain, Floats


@dataclass(frozen=True)
class Iyengar:
    """A kept cell costs (leaves under its value - 1) / (leaves of the hierarchy - 1).

    A group above contains the group below, so the cost never falls. A missing cell has no value
    to lose and costs 0, as does every cell of a hierarchy with one leaf.
    """

    name: ClassVar[str] = "iyengar"

    def cell_costs(self, domain: Domain) -> tuple[Floats, ...]:
        costs = []
        others = max(len(domain.leaves[0]) - 1, 1)
        for groups, leaves in zip(domain.groups, domain.leaves, strict=True):
            cost = np.zeros(len(groups))
            cost[:-1] = (leaves[groups[:-1]] - 1) / others
            costs.append(cost)
        return tuple(costs)
