"""The problem a strategy solves: exact checks of nodes, and bounds that need no counting."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from shoal.privacy.base import certain_removal
from shoal.search.lattice import Lattice
from shoal.search.partition import Partition, partition
from shoal.values import Best, Closed

if TYPE_CHECKING:
    from shoal.encode.table import Table
    from shoal.privacy.base import PrivacyModel
    from shoal.search.objective import Objective
    from shoal.values import Ints, Node


@dataclass(frozen=True, eq=False)
class Problem:
    """A table, the demands on its classes, the objective to minimise, the suppression limit."""

    table: Table
    models: tuple[PrivacyModel, ...]
    objective: Objective
    limit: int

    @cached_property
    def lattice(self) -> Lattice:
        """All nodes of the table, within the limits of the attributes."""
        top = tuple(attribute.limit for attribute in self.table.attributes)
        return Lattice(top, self.table.bottom)

    @property
    def nodes(self) -> int:
        """How many nodes the attributes allow, those below the tuples of the table included."""
        return math.prod(each.limit - each.lowest + 1 for each in self.table.attributes)

    def below(self) -> Iterator[Closed]:
        """The boxes of nodes below the lattice: no solution uses their levels.

        Even with all other attributes at their highest levels too many records are suppressed.
        """
        lowest = tuple(attribute.lowest for attribute in self.table.attributes)
        top = self.lattice.top
        for j, level in enumerate(self.lattice.bottom):
            if level > lowest[j]:
                yield Closed("infeasible", lowest, (*top[:j], level - 1, *top[j + 1 :]))

    def partition(self, node: Node) -> Partition:
        """The classes at a node, each judged by every model."""
        return partition(self.table, self.models, node)

    def least_suppressed(self, node: Node) -> int:
        """At most the suppressed records of any node below this one, itself included.

        Below it classes only split, and each class loses at least its certain removal by every
        model, however it is split.
        """
        return int(self.removal(self.partition(node)).sum())

    def removal(self, partition: Partition) -> Ints:
        """Records of each class that are suppressed however the class is split."""
        counts = partition.counts
        least = np.zeros(len(counts.sizes), dtype=np.int64)
        for model in self.models:
            least = np.maximum(least, certain_removal(model, counts))
        return least

    def check(self, node: Node) -> Best | None:
        """What the node costs, or None when it is not safe within the suppression limit.

        Where the sizes of classes alone rule a node out, its sensitive values are not counted.
        """
        if self.table.histograms and self._sizes(node).suppressed > self.limit:
            return None
        return self.judge(node, self.partition(node))

    def judge(self, node: Node, classes: Partition) -> Best | None:
        """The same, for a node whose classes are known.

        A node that keeps no record releases nothing and is no solution.
        """
        suppressed = classes.suppressed
        if suppressed > self.limit or not classes.kept.any():
            return None
        return Best(
            node,
            self.objective.measure(node, classes),
            suppressed,
            int(classes.kept.sum()),
            int(classes.counts.sizes[classes.kept].min()),
        )

    def _sizes(self, node: Node) -> Partition:
        """The classes at a node without their sensitive values, judged by their sizes alone."""
        return partition(self._without_values, self._models_of_sizes, node)

    @cached_property
    def _without_values(self) -> Table:
        return replace(self.table, histograms={})

    @cached_property
    def _models_of_sizes(self) -> tuple[PrivacyModel, ...]:
        return tuple(model for model in self.models if model.attribute is None)
