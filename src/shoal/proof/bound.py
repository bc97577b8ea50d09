"""What every node of a box costs at least, from the classes of its highest node.

Classes only split towards lower levels. So of a class `C` of `hi` at least `r(C)` records, its
least removal, are suppressed at every node of the box. Demands on the whole table may say that
some further records are, but not of which class.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from shoal.loss.base import CellLoss, ClassLoss, LevelLoss

if TYPE_CHECKING:
    from shoal.privacy.base import Removal
    from shoal.proof.instance import Classes, Instance
    from shoal.values import Node


@dataclass(frozen=True, eq=False)
class Bounds:
    """Lower bounds of the loss in boxes of one instance."""

    instance: Instance

    def reaches(self, lo: Node, hi: Node, threshold: float) -> bool:
        """Whether every node between `lo` and `hi` is shown to cost more than `threshold`.

        By the bound of the box, or for some attribute by the bounds of its slabs, one for each
        level: every node is in one of them, and a slab, where that level is fixed, has a higher
        bound.
        """
        if self.least(lo, hi, threshold) > threshold:
            return True
        return any(
            all(
                self.least(_at(lo, j, level), _at(hi, j, level), threshold) > threshold
                for level in range(lo[j], hi[j] + 1)
            )
            for j in range(len(lo))
            if lo[j] < hi[j]
        )

    def least(self, lo: Node, hi: Node, threshold: float) -> float:
        """A lower bound of the loss in the box, improved only until it is above `threshold`."""
        instance, loss = self.instance, self.instance.loss
        if isinstance(loss, LevelLoss):
            return sum(
                min(costs[low : high + 1])
                for costs, low, high in zip(instance.level_costs, lo, hi, strict=True)
            )
        classes = instance.classes(hi)
        if isinstance(loss, CellLoss):
            return self._cells(lo, hi, classes, threshold)
        return instance.priority_factor(lo) * self._classes(loss, lo, classes)

    def _classes(self, loss: ClassLoss, lo: Node, classes: Classes) -> float:
        """What classes of the box cost at least: they are unions of those of `lo`.

        Records of a class of `hi` that is removed whole are in none of them.
        """
        instance, removed = self.instance, self.instance.certain_removals(classes)
        stays = (removed.each < classes.counts.sizes)[classes.of]
        finest = np.bincount(instance.classes(lo).of[stays], weights=instance.rows.weights[stays])
        sizes = finest[finest > 0].astype(np.int64)
        return loss.least(sizes, removed.records, instance.rows.records)

    def _cells(self, lo: Node, hi: Node, classes: Classes, threshold: float) -> float:
        """The sum over the attributes of the least that each pays at a level of the box.

        At a node with level `l` in attribute `j` all classes are parts of those of `hi`, and of
        those of `hi` split at level `l` of `j`: both give a lower bound of what `j` pays there.
        Splitting takes time, so it is done for one attribute after the other, and only until the
        sum is above the threshold.
        """
        instance, removed = self.instance, self.instance.certain_removals(classes)
        levels = [range(low, high + 1) for low, high in zip(lo, hi, strict=True)]
        paid = [
            [self._least_paid(j, level, classes, removed) for level in each]
            for j, each in enumerate(levels)
        ]
        least = [min(each) for each in paid]
        for j in sorted(range(len(lo)), key=lambda j: least[j] - paid[j][-1]):
            if instance.combined_loss(least) > threshold:
                break
            for i, level in enumerate(levels[j][:-1]):
                finer = instance.split_at(classes, j, level)
                more = self._least_paid(j, level, finer, instance.certain_removals(finer))
                paid[j][i] = max(paid[j][i], more)
            least[j] = min(paid[j])
        return instance.combined_loss(least)

    def _least_paid(self, j: int, level: int, classes: Classes, removed: Removal) -> float:
        """What all records pay for attribute `j` at a level, at least.

        Every record pays its cell, and `r` suppressed records of each class pay 1 instead. So they
        pay at least 1 minus the dearest cell of the class in addition. Further suppressed records
        may be any others: those that pay least in addition.
        """
        rows = self.instance.rows
        cells = self.instance.cell_costs[j][level][rows.attributes[j].codes]
        dearest = np.zeros(len(removed.each))
        np.maximum.at(dearest, classes.of, cells)
        more = 1.0 - dearest
        paid = float((rows.weights * cells).sum() + (removed.each * more).sum())
        left, further = classes.counts.sizes - removed.each, removed.further
        for c in np.argsort(more) if further else ():
            taken = min(further, int(left[c]))
            paid += taken * float(more[c])
            further -= taken
            if not further:
                break
        return paid


def _at(node: Node, j: int, level: int) -> Node:
    """The node with another level in attribute `j`."""
    return (*node[:j], level, *node[j + 1 :])
