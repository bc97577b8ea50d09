"""Non-uniform entropy: how surprising the original value is, given the released one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

if TYPE_CHECKING:
    from shoal.loss.base import Domain, Floats


@dataclass(frozen=True)
class NonUniformEntropy:
    """A kept cell costs log2(f(b) / f(a)) bits, over the most bits a cell of its column can cost.

    f(a) is how many records of the table have the original value, f(b) how many have the released
    one. Groups only grow, so f(b) and the cost never fall. The most bits are those of the rarest
    value when nothing is known of it, log2(records / f(rarest)), so costs stay within [0, 1]. A
    missing cell costs 0.
    """

    name: ClassVar[str] = "entropy"

    def cell_costs(self, domain: Domain) -> tuple[Floats, ...]:
        weights = domain.weights
        occurring = weights[:-1] > 0
        rarest = weights[:-1][occurring].min(initial=int(weights.sum()) or 1)
        most = np.log2(max(int(weights.sum()), 1) / rarest)
        costs = []
        for groups in domain.groups:
            together = np.bincount(groups, weights=weights)[groups]
            cost = np.zeros(len(groups))
            if most > 0:
                bits = np.log2(together[:-1][occurring] / weights[:-1][occurring])
                cost[:-1][occurring] = np.minimum(bits / most, 1.0)
            costs.append(cost)
        return tuple(costs)
