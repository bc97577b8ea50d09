"""Boxes shared by threads: each explores the open box of the least bound for a while."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from shoal.search.boxes import Box, Candidate, Explored
from shoal.search.cuts import SLACK
from shoal.search.explorer import Explorer
from shoal.values import Closed

if TYPE_CHECKING:
    from shoal.events import Progress
    from shoal.search.incumbent import Incumbent
    from shoal.search.layout import Prepared
    from shoal.search.problem import Problem
    from shoal.values import Node

FIRST_SLICE, LARGEST_SLICE = 0.03, 0.25
"""Seconds of one exploration; what is left of it goes back to the pool, for all threads."""

CLIMB_AFTER = 0.1
"""Seconds after which the neighbours of the best node are looked at."""


@dataclass(eq=False)
class Pool:
    """The open boxes, those at work, and the best cost that all threads see."""

    problem: Problem
    prepared: Prepared
    incumbent: Incumbent
    threads: int
    open: list[Box] = field(default_factory=list)
    working: dict[Future[Explored], tuple[Explorer, Box]] = field(default_factory=dict)
    idle: list[Explorer] = field(default_factory=list)
    shared: np.ndarray = field(default_factory=lambda: np.array([math.inf, 0.0]))
    slice: float = FIRST_SLICE
    climbed: Node | None = None

    def run(self, executor: ThreadPoolExecutor) -> Iterator[Progress]:
        """Work until nothing is open, or a limit ends it."""
        lattice = self.problem.lattice
        self.open.append(Box(0.0, lattice.bottom, lattice.top))
        while self.open or self.working:
            if self._may_climb():
                self._submit_climb(executor)
            while self.open and len(self.working) < self.threads:
                self._submit(executor)
            done, _ = wait(self.working, timeout=0.1, return_when=FIRST_COMPLETED)
            improved = sum(self._take(future) for future in done) > 0
            self.incumbent.bound = max(self.incumbent.bound, self._bound())
            if improved:
                yield self.incumbent.improved()
            elif self.incumbent.due():
                yield self.incumbent.progress()
            reason = self.incumbent.stop_reason()
            if reason is not None and (self.open or self.working):
                yield self.incumbent.stopped(reason)
                return
        yield self.incumbent.proved()

    def _submit(self, executor: ThreadPoolExecutor) -> None:
        """Give the open box of the least bound to a thread, unless the best is below it."""
        box = heapq.heappop(self.open)
        if box.bound > self.shared[0] + SLACK:
            self._log(Closed("bound", box.lo, box.hi))
            return
        explorer = self.idle.pop() if self.idle else self._explorer()
        best = self.incumbent.best
        known = (math.inf, 0) if best is None else (self._cost(best.loss), best.suppressed)
        self.working[executor.submit(explorer.explore, box, known, self.slice)] = (explorer, box)
        self.slice = min(self.slice * 1.5, LARGEST_SLICE)

    def _may_climb(self) -> bool:
        """Whether the best is new and the search long enough that its neighbours are worth a look.

        Costs of neighbours are exact only where costs are, and joined by their sum.
        """
        best = self.incumbent.best
        return (
            best is not None
            and best.node != self.climbed
            and self.prepared.exact
            and not self.prepared.tables.geometric
            and len(self.working) < self.threads
            and self.incumbent.seconds > CLIMB_AFTER
        )

    def _submit_climb(self, executor: ThreadPoolExecutor) -> None:
        """Look around the best node."""
        best = self.incumbent.best
        assert best is not None  # _may_climb says so  # noqa: S101
        self.climbed = best.node
        explorer = self.idle.pop() if self.idle else self._explorer()
        start = Candidate(self._cost(best.loss), best.suppressed, best.node)
        whole = Box(self._cost(self.incumbent.bound), best.node, best.node)
        self.working[executor.submit(explorer.climb, start)] = (explorer, whole)

    def _explorer(self) -> Explorer:
        log = self.incumbent.limits.log is not None
        return Explorer(self.prepared, self.shared, log=log)

    def _take(self, future: Future[Explored]) -> bool:
        """Take in what a thread found; whether the best got better."""
        explorer, _ = self.working.pop(future)
        self.idle.append(explorer)
        explored = future.result()
        self.incumbent.boxes += explored.opened
        for closed in explored.closed:
            self._log(closed)
        for box in explored.left:
            heapq.heappush(self.open, box)
        return self._check(explored)

    def _log(self, closed: Closed) -> None:
        if self.incumbent.limits.log is not None:
            self.incumbent.limits.log(closed)

    def _check(self, explored: Explored) -> bool:
        """Check candidates exactly, best first, as long as they can be better than the best."""
        improved = False
        for cost, removed, node in sorted(explored.candidates):
            best, loss = self.incumbent.best, round(self._loss(cost), 9)
            if best is not None:
                rank = (round(best.loss, 9), best.suppressed, best.node)
                if loss > rank[0] or (self.prepared.exact and (loss, removed, node) >= rank):
                    continue
            improved |= self.incumbent.offer(self.problem.check(node))
            if self.incumbent.best is not None:
                self.shared[0] = min(self.shared[0], self._cost(self.incumbent.best.loss))
        return improved

    def _bound(self) -> float:
        """What no open box can be below."""
        bounds = [box.bound for box in self.open[:1]]
        bounds += [box.bound for _, box in self.working.values()]
        return self._loss(min(bounds)) if bounds else self.incumbent.bound

    def _cost(self, loss: float) -> float:
        """A loss as the kernels count it."""
        if self.prepared.tables.geometric:
            return len(self.prepared.top) * math.log1p(loss)
        return loss

    def _loss(self, cost: float) -> float:
        """What the kernels count, as a loss."""
        if self.prepared.tables.geometric:
            return math.expm1(cost / len(self.prepared.top))
        return cost
