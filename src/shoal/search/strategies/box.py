"""Box search: the proved optimum by branch and bound over boxes of nodes, a gap at any time.

`BoxSearch` is the strategy. Problems go to the compiled search (`search/compiled/`), with the same
steps. Models and losses of plug-ins are searched here in NumPy: `Bounds` says what every node of a
box costs at least, `GeneralBox` takes, closes and splits boxes.
"""

from __future__ import annotations

import heapq
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from shoal.search.antichain import Antichain
from shoal.search.compiled.layout import CELLS_PER_TUPLE, LIST_FROM, fits
from shoal.search.compiled.library import is_compiled
from shoal.search.incumbent import Incumbent, Limits
from shoal.search.objective import CellObjective, ClassObjective
from shoal.values import Closed

if TYPE_CHECKING:
    from shoal.events import Progress
    from shoal.loss.base import Floats
    from shoal.privacy.base import Removal
    from shoal.search.problem import Partition, Problem
    from shoal.values import Ints, Node


@dataclass(frozen=True, eq=False)
class Bounds:
    """Bounds for boxes of one problem."""

    problem: Problem

    def cost(self, lo: Node, hi: Node, partition: Partition, removal: Removal) -> float:
        """At most the loss of every node between `lo` and `hi`.

        `partition` is that of `hi` and `removal` what is suppressed of its classes at least.
        """
        objective = self.problem.objective
        if isinstance(objective, CellObjective):
            return self._cells(objective, lo, hi, partition, removal)
        if isinstance(objective, ClassObjective):
            return self._classes(objective, lo, partition, removal)
        return objective.lower_bound(lo)

    def _cells(
        self, objective: CellObjective, lo: Node, hi: Node, partition: Partition, removal: Removal
    ) -> float:
        """Costs never fall as a level rises: a record that stays costs an attribute at least its
        cell at `lo`. A removed one costs 1, which is above its cell at every level up to `hi` by at
        least 1 minus the dearest cell of its class at `hi`. Further records may be those for which
        that is least."""
        table, losses = self.problem.table, []
        room = partition.counts.sizes - removal.each
        for j, codes in enumerate(table.codes):
            dearest = np.zeros(len(partition.counts.sizes))
            np.maximum.at(dearest, partition.class_of, objective.costs[j][hi[j]][codes])
            above = float(removal.each @ (1.0 - dearest))
            above += _least_sum(1.0 - dearest, room, removal.further)
            losses.append(objective.floors[j][lo[j]] + above / table.records)
        return objective.join(losses)

    def _classes(
        self, objective: ClassObjective, lo: Node, partition: Partition, removal: Removal
    ) -> float:
        """The classes of a node in the box are unions of those of `lo`, its levels not below.

        Those within a class of `hi` that is removed whole are released at no node of the box.
        """
        table, whole = self.problem.table, removal.each >= partition.counts.sizes
        stay = np.where(whole[partition.class_of], 0, table.weights)
        finest = np.bincount(self.problem.partition(lo).class_of, weights=stay).astype(np.int64)
        least = objective.loss.least(finest[finest > 0], removal.records, table.records)
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


def _least_sum(costs: Floats, room: Ints, number: int) -> float:
    """What so many records cost at least, of which each class has `room` at its cost."""
    if not number:
        return 0.0
    order = np.argsort(costs, kind="stable")
    free = room[order]
    taken = np.clip(number - (np.cumsum(free) - free), 0, free)
    return float(taken @ costs[order])


class Top(NamedTuple):
    """What is known of the `hi` of a box, and shared by all boxes with the same one.

    `lowest[j]` is the lowest level of attribute `j`, from that of the first such box on, that the
    classes of `hi` allow.
    """

    partition: Partition
    removal: Removal
    lowest: Node


class OpenBox(NamedTuple):
    """An open box: least bound first and, among equals, the most general."""

    bound: float
    height: int
    lo: Node
    hi: Node
    top: Top | None


@dataclass(frozen=True, eq=False)
class GeneralBox:
    """Takes the open box of the least bound; checks its `hi`, tightens it, and splits it in two.

    Every node is in a box that is closed because even its `hi` suppresses too much, because its
    bound is above the loss of the last node that the incumbent keeps, or because it was the only
    node of a box and was checked.
    """

    problem: Problem

    @cached_property
    def bounds(self) -> Bounds:
        return Bounds(self.problem)

    @cached_property
    def _unsafe(self) -> Antichain:
        """Nodes that suppress too much, and with them all nodes below."""
        return Antichain(len(self.problem.lattice.top), "down")

    def search(self, incumbent: Incumbent) -> Iterator[Progress]:
        """Yields progress, each improvement, and at last Proved or Stopped."""
        limits, lattice = incumbent.limits, self.problem.lattice
        yield from self._dive(incumbent)
        heap = [OpenBox(0.0, 0, lattice.bottom, lattice.top, None)]
        while heap:
            box = heapq.heappop(heap)
            if incumbent.beaten_by(box.bound):
                self._log(limits, "bound", box.lo, box.hi)
                continue
            incumbent.bound = max(incumbent.bound, box.bound)
            reason = incumbent.stop_reason()
            if reason is not None:
                yield incumbent.stopped(reason)
                return
            incumbent.boxes += 1
            if box.top is None and incumbent.offer(self.problem.check(box.hi)):
                yield incumbent.improved()
            elif incumbent.due():
                yield incumbent.progress()
            for child in self._children(box, limits):
                heapq.heappush(heap, child)
        yield incumbent.proved()

    def _dive(self, incumbent: Incumbent) -> Iterator[Progress]:
        """From the top down, one level of each attribute in turn, while nodes get better."""
        node, lowest = self.problem.lattice.top, self.problem.lattice.bottom
        yield from incumbent.weigh(self.problem.check(node))
        falling = sorted(range(len(node)), key=self.bounds.rise.__getitem__, reverse=True)
        while falling and incumbent.best is not None and incumbent.stop_reason() is None:
            for j in list(falling):
                below = _with(node, j, node[j] - 1)
                if node[j] > lowest[j]:
                    yield from incumbent.weigh(self.problem.check(below))
                if incumbent.best is not None and incumbent.best.node == below:
                    node = below
                else:
                    falling.remove(j)

    def _children(self, box: OpenBox, limits: Limits) -> Iterator[OpenBox]:
        """The rest of a box, split in two: at the top of an attribute, and below it.

        First `lo` rises to the lowest levels that the classes of `hi` allow.
        """
        top = box.top or self._examine(box.lo, box.hi)
        if top.removal.records > self.problem.limit:
            self._log(limits, "infeasible", box.lo, box.hi)
            return
        lo = box.lo
        for j, lowest in enumerate(top.lowest):
            if lo[j] < lowest:
                slab = _with(box.hi, j, lowest - 1)
                self._log(limits, "infeasible", lo, slab)
                lo = _with(lo, j, lowest)
        wide = [j for j, level in enumerate(box.hi) if lo[j] < level]
        if not wide:
            self._log(limits, "single", lo, box.hi)
            return
        bound = max(box.bound, self.bounds.cost(lo, box.hi, top.partition, top.removal))
        j = max(wide, key=lambda i: (self.bounds.rise[i], -i))
        below = _with(box.hi, j, box.hi[j] - 1)
        yield OpenBox(bound, -sum(box.hi), _with(lo, j, box.hi[j]), box.hi, top)
        yield OpenBox(bound, -sum(below), lo, below, None)

    def _examine(self, lo: Node, hi: Node) -> Top:
        """The classes of a node, their certain removal, and the levels they allow from `lo` on."""
        partition = self.problem.partition(hi)
        removal = self.problem.removal(partition)
        lowest = list(lo)
        if removal.records <= self.problem.limit:
            for j, top in enumerate(hi):
                while lowest[j] < top and self._infeasible(_with(hi, j, lowest[j])):
                    lowest[j] += 1
        return Top(partition, removal, tuple(lowest))

    def _infeasible(self, node: Node) -> bool:
        """Whether every node up to this one suppresses more than the limit."""
        if self._unsafe.covers(node):
            return True
        infeasible = self.problem.least_suppressed(node) > self.problem.limit
        if infeasible:
            self._unsafe.insert(node)
        return infeasible

    def _log(self, limits: Limits, why: str, lo: Node, hi: Node) -> None:
        if limits.log is not None:
            limits.log(Closed(why, lo, hi))


def _with(node: Node, j: int, level: int) -> Node:
    """The node with another level of one attribute."""
    return (*node[:j], level, *node[j + 1 :])


@dataclass(frozen=True)
class BoxSearch:
    """Explores the open box of the least bound, depth-first for a while, in every thread.

    Each exploration goes depth-first, which finds good solutions early, and returns its unexplored
    boxes; taking the least bound next raises the global bound. When no box is open, every node is
    closed for a reason (compiled/bounds.h), so the best is the optimum; ties included, since only a
    bound above the best cost closes a box. Models and losses of plug-ins are searched the same way
    in NumPy (`GeneralBox`), and so is everything with `in_numpy` or without the compiled search.
    """

    name: ClassVar[str] = "box"
    in_numpy: bool = False
    room: int = CELLS_PER_TUPLE
    list_from: int = LIST_FROM

    def search(self, problem: Problem, limits: Limits) -> Iterator[Progress]:
        """Yields progress, each improvement, and at last Proved or Stopped."""
        return self.improve(problem, Incumbent(limits))

    def improve(self, problem: Problem, incumbent: Incumbent) -> Iterator[Progress]:
        """The same from what an incumbent knows already; afterwards it has the nodes found.

        For an incumbent that keeps several nodes, a box is closed when its bound is above the loss
        of the last of them. So in the end no other node is before the last.
        """
        if self.in_numpy or not fits(problem) or not is_compiled():
            return GeneralBox(problem).search(incumbent)
        return self._compiled(problem, incumbent)

    def _compiled(self, problem: Problem, incumbent: Incumbent) -> Iterator[Progress]:
        from shoal.search.compiled.layout import prepare
        from shoal.search.compiled.pool import Pool

        number = incumbent.limits.threads or os.cpu_count() or 1
        pool = Pool(problem, prepare(problem, self.room, self.list_from), incumbent, number)
        with ThreadPoolExecutor(number + 1) as threads:  # one of them checks what the others find
            try:
                yield from pool.run(threads)
            finally:
                pool.shared[1] = 1.0
