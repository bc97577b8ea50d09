"""Sweeney's precision, as a loss: how far up its hierarchy each cell went."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

if TYPE_CHECKING:
    from shoal.loss.base import Domain, Floats


@dataclass(frozen=True)
class Precision:
    """A kept cell costs level / height; a missing one, which has no value to lose, 0."""

    name: ClassVar[str] = "precision"

    def cell_costs(self, domain: Domain) -> tuple[Floats, ...]:
        costs = []
        for level, groups in enumerate(domain.groups):
            cost = np.full(len(groups), level / max(domain.height, 1))
            cost[-1] = 0.0
            costs.append(cost)
        return tuple(costs)
