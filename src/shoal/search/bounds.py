"""What every node of a box costs at least, for any privacy model and any loss.

Slower than the compiled search, and general: it relies on `least_removal` of the models alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from shoal.search.objective import CellObjective, ClassObjective

if TYPE_CHECKING:
    from shoal.search.partition import Partition
    from shoal.search.problem import Problem
    from shoal.values import Ints, Node


@dataclass(frozen=True, eq=False)
class Bounds:
    """Bounds for boxes of one problem."""

    problem: Problem

    def cost(self, lo: Node, hi: Node, partition: Partition, removal: Ints) -> float:
        """At most the loss of every node between `lo` and `hi`.

        `partition` is that of `hi` and `removal` the records that its classes lose at least.
        """
        objective = self.problem.objective
        if isinstance(objective, CellObjective):
            return self._cells(objective, lo, hi, partition, removal)
        if isinstance(objective, ClassObjective):
            return self._classes(objective, lo, partition, removal)
        return objective.lower_bound(lo)

    def _cells(
        self, objective: CellObjective, lo: Node, hi: Node, partition: Partition, removal: Ints
    ) -> float:
        """Costs never fall as a level rises: a record that stays costs an attribute at least its
        cell at `lo`. A removed one costs 1, which is above its cell at every level up to `hi` by at
        least 1 minus the dearest cell of its class at `hi`."""
        table, losses = self.problem.table, []
        for j, codes in enumerate(table.codes):
            dearest = np.zeros(len(partition.counts.sizes))
            np.maximum.at(dearest, partition.class_of, objective.costs[j][hi[j]][codes])
            above = float(removal @ (1.0 - dearest)) / table.records
            losses.append(objective.floors[j][lo[j]] + above)
        return objective.join(losses)

    def _classes(
        self, objective: ClassObjective, lo: Node, partition: Partition, removal: Ints
    ) -> float:
        """The classes of a node in the box are unions of those of `lo`, its levels not below.

        Those within a class of `hi` that is removed whole are released at no node of the box.
        """
        table, whole = self.problem.table, removal >= partition.counts.sizes
        stay = np.where(whole[partition.class_of], 0, table.weights)
        finest = np.bincount(self.problem.partition(lo).class_of, weights=stay).astype(np.int64)
        least = objective.loss.least(finest[finest > 0], int(removal.sum()), table.records)
        return objective.factor(lo) * least

    @cached_property
    def rise(self) -> list[float]:
        """How much more the top of each attribute costs than its bottom: where to branch."""
        objective, lattice = self.problem.objective, self.problem.lattice
        bottom = lattice.bottom
        return [
            objective.lower_bound((*bottom[:j], top, *bottom[j + 1 :]))
            - objective.lower_bound(bottom)
            for j, top in enumerate(lattice.top)
        ]
