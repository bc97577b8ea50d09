"""What every node of a box costs at least, from the classes of its highest node.

Classes only split on the way down, so of a class `C` of `hi` at least `r(C)` records, its least
removal, are suppressed at every node of the box.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from shoal.loss.base import CellLoss, ClassLoss, LevelLoss

if TYPE_CHECKING:
    from shoal.proof.instance import Classes, Instance
    from shoal.values import Ints, Node


@dataclass(frozen=True, eq=False)
class Bounds:
    """Lower bounds of the loss in boxes of one instance."""

    instance: Instance

    def reaches(self, lo: Node, hi: Node, wanted: float) -> bool:
        """Whether every node between `lo` and `hi` is shown to cost more than `wanted`.

        By the bound of the box, or for some attribute by those of its slabs, one for each level:
        every node is in one of them, and more is known of a slab, where that level is fixed.
        """
        if self.least(lo, hi, wanted) > wanted:
            return True
        return any(
            all(
                self.least(_at(lo, j, level), _at(hi, j, level), wanted) > wanted
                for level in range(lo[j], hi[j] + 1)
            )
            for j in range(len(lo))
            if lo[j] < hi[j]
        )

    def least(self, lo: Node, hi: Node, wanted: float) -> float:
        """At most the loss of every node of the box; no better than needed once above `wanted`."""
        instance, loss = self.instance, self.instance.loss
        if isinstance(loss, LevelLoss):
            return sum(
                min(costs[low : high + 1])
                for costs, low, high in zip(instance.level_costs, lo, hi, strict=True)
            )
        classes = instance.classes(hi)
        if isinstance(loss, CellLoss):
            return self._cells(lo, hi, classes, wanted)
        return instance.dearer(lo) * self._classes(loss, lo, classes)

    def _classes(self, loss: ClassLoss, lo: Node, classes: Classes) -> float:
        """What classes of the box cost at least: they are unions of those of `lo`.

        Records of a class of `hi` that goes whole are in none of them.
        """
        instance, going = self.instance, self.instance.going(classes)
        stays = (going < classes.counts.sizes)[classes.of]
        finest = np.bincount(instance.classes(lo).of[stays], weights=instance.rows.weights[stays])
        sizes = finest[finest > 0].astype(np.int64)
        return loss.least(sizes, int(going.sum()), instance.rows.records)

    def _cells(self, lo: Node, hi: Node, classes: Classes, wanted: float) -> float:
        """The sum over the attributes of the least that each pays at a level of the box.

        At a node with level `l` in attribute `j` all classes are parts of those of `hi`, and of
        those of `hi` lowered to `l` in `j`: both tell what `j` pays there at least. Lowering takes
        time, so it is done for one attribute after the other, and only until the sum will do.
        """
        instance, going = self.instance, self.instance.going(classes)
        levels = [range(low, high + 1) for low, high in zip(lo, hi, strict=True)]
        paid = [
            [self._paid(j, level, classes, going) for level in each]
            for j, each in enumerate(levels)
        ]
        least = [min(each) for each in paid]
        for j in sorted(range(len(lo)), key=lambda j: least[j] - paid[j][-1]):
            if instance.joined_cost(least) > wanted:
                break
            for i, level in enumerate(levels[j][:-1]):
                lowered = instance.lowered(classes, j, level)
                more = self._paid(j, level, lowered, instance.going(lowered))
                paid[j][i] = max(paid[j][i], more)
            least[j] = min(paid[j])
        return instance.joined_cost(least)

    def _paid(self, j: int, level: int, classes: Classes, going: Ints) -> float:
        """What all records pay for attribute `j` at a level, at least.

        Every record pays its cell, and of each class `r` suppressed ones pay 1 instead: 1 minus the
        dearest cell of the class more, or above.
        """
        rows = self.instance.rows
        cells = self.instance.cell_costs[j][level][rows.attributes[j].codes]
        dearest = np.zeros(len(going))
        np.maximum.at(dearest, classes.of, cells)
        return float((rows.weights * cells).sum() + (going * (1.0 - dearest)).sum())


def _at(node: Node, j: int, level: int) -> Node:
    """The node with another level in attribute `j`."""
    return (*node[:j], level, *node[j + 1 :])
