"""The problem a strategy solves: check one node exactly, and bound it for free."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from shoal.search.lattice import Lattice
from shoal.search.partition import Partition, partition
from shoal.values import Best

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
        """All nodes within the limits of the attributes."""
        return Lattice(tuple(attribute.limit for attribute in self.table.attributes))

    def partition(self, node: Node) -> Partition:
        """The classes at a node, each judged by every model."""
        return partition(self.table, self.models, node)

    def least_suppressed(self, node: Node) -> int:
        """At most the suppressed records of any node below this one, itself included.

        Below it classes only split, and of each class at least the least removal of every model
        that is closed under union is suppressed, however it is split.
        """
        return int(self.removal(self.partition(node)).sum())

    def removal(self, partition: Partition) -> Ints:
        """Records of each class that are suppressed however the class is split."""
        counts = partition.counts
        least = np.zeros(len(counts.sizes), dtype=np.int64)
        for model in self.models:
            if model.closed_under_union:
                least = np.maximum(least, model.least_removal(counts))
        return least

    def check(self, node: Node) -> Best | None:
        """What the node costs, or None when it is not safe within the suppression limit.

        A node that keeps no record releases nothing and is no solution.
        """
        classes = self.partition(node)
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
