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

FIRST_SLICE, LARGEST_SLICE = 20_000_000, 250_000_000
"""Tuples passed over in one exploration, a nanosecond each or two; then it tells what it found."""

FIRST_TURN, LARGEST_TURN = 250_000_000, 4_000_000_000
"""Tuples passed over before an explorer gives its boxes back, for that of the least bound."""

CLIMB_AFTER = 0.4
"""Seconds after which the neighbours of the best node are looked at."""


@dataclass(eq=False)
class Pool:
    """The open boxes, the explorers, and the best cost that all threads see.

    An explorer is at work, in `working` with a bound of its boxes; or it has boxes left and waits
    for a thread, in `waiting`; or it is `idle`.
    """

    problem: Problem
    prepared: Prepared
    incumbent: Incumbent
    threads: int
    open: list[Box] = field(default_factory=list)
    working: dict[Future[Explored], tuple[Explorer, float]] = field(default_factory=dict)
    waiting: list[Explorer] = field(default_factory=list)
    idle: list[Explorer] = field(default_factory=list)
    shared: np.ndarray = field(default_factory=lambda: np.array([math.inf, 0.0, 0.0]))
    slice: int = FIRST_SLICE
    turn: int = FIRST_TURN
    climbed: Node | None = None

    def run(self, executor: ThreadPoolExecutor) -> Iterator[Progress]:
        """Work until nothing is open, or a limit ends it.

        Candidates are checked while the threads work on.
        """
        lattice = self.problem.lattice
        self.open.append(Box(0.0, lattice.bottom, lattice.top))
        found: set[Candidate] = set()
        while found or self.open or self.waiting or self.working:
            self._submit(executor)
            improved = self._check(found)
            self.incumbent.bound = max(self.incumbent.bound, self._bound())
            if improved:
                yield self.incumbent.improved()
            elif self.incumbent.due():
                yield self.incumbent.progress()
            reason = self.incumbent.stop_reason()
            if reason is not None and (self.open or self.waiting or self.working):
                yield self.incumbent.stopped(reason)
                return
            done, _ = wait(self.working, timeout=0.1, return_when=FIRST_COMPLETED)
            found = {candidate for future in done for candidate in self._take(future)}
        yield self.incumbent.proved()

    def _submit(self, executor: ThreadPoolExecutor) -> None:
        """Give work to every thread, as far as there is any; say how many have none."""
        if self._may_climb():
            self._submit_climb(executor)
        while len(self.working) < self.threads and (self.waiting or self.open):
            explorer = self.waiting.pop() if self.waiting else self._begun()
            if explorer is None:
                continue
            best = self.incumbent.best
            known = (math.inf, 0) if best is None else (self._cost(best.loss), best.suppressed)
            bound = explorer.bound
            self.working[executor.submit(explorer.explore, known, self.slice)] = explorer, bound
            self.slice = min(self.slice * 3 // 2, LARGEST_SLICE)
        self.shared[2] = self.threads - len(self.working)

    def _begun(self) -> Explorer | None:
        """An explorer with the open box of the least bound, unless the best is below it."""
        box = heapq.heappop(self.open)
        if box.bound > self.shared[0] + SLACK:
            self._log(Closed("bound", box.lo, box.hi))
            return None
        explorer = self._explorer()
        explorer.take(box)
        return explorer

    def _explorer(self) -> Explorer:
        """One that has no boxes."""
        if self.idle:
            return self.idle.pop()
        return Explorer(self.prepared, self.shared, log=self.incumbent.limits.log is not None)

    def _may_climb(self) -> bool:
        """Whether the best is new and the search long enough that its neighbours are worth a look.

        Costs of neighbours are exact only where costs are, and joined by their sum.
        """
        best, tables = self.incumbent.best, self.prepared.tables
        return (
            best is not None
            and best.node != self.climbed
            and tables.exact
            and not tables.geometric
            and len(self.working) < self.threads
            and self.incumbent.seconds > CLIMB_AFTER
        )

    def _submit_climb(self, executor: ThreadPoolExecutor) -> None:
        """Look around the best node."""
        best = self.incumbent.best
        assert best is not None  # _may_climb says so  # noqa: S101
        self.climbed = best.node
        if self.waiting:
            self._give_back(self.waiting.pop())
        start = Candidate(self._cost(best.loss), best.suppressed, best.node)
        explorer = self._explorer()
        self.working[executor.submit(explorer.climb, start)] = explorer, math.inf

    def _take(self, future: Future[Explored]) -> list[Candidate]:
        """Take in what a thread did; the candidates it found."""
        explorer, _ = self.working.pop(future)
        explored = future.result()
        self.incumbent.boxes += explored.opened
        for closed in explored.closed:
            self._log(closed)
        if not explorer.open:
            self.idle.append(explorer)
        elif explorer.worked >= self.turn:
            self._give_back(explorer)
            self.turn = min(self.turn * 2, LARGEST_TURN)
        else:
            self.waiting.append(explorer)
            others = len(self.working) + len(self.waiting) + len(self.open)
            if others < self.threads and (box := explorer.give()) is not None:
                heapq.heappush(self.open, box)
        return explored.candidates

    def _give_back(self, explorer: Explorer) -> None:
        """Open the boxes of an explorer to all."""
        for box in explorer.give_all():
            heapq.heappush(self.open, box)
        self.idle.append(explorer)

    def _log(self, closed: Closed) -> None:
        if self.incumbent.limits.log is not None:
            self.incumbent.limits.log(closed)

    def _check(self, candidates: set[Candidate]) -> bool:
        """Check candidates exactly, best first, as long as they can be better than the best."""
        improved = False
        for cost, removed, node in sorted(candidates):
            best, loss = self.incumbent.best, round(self._loss(cost), 9)
            if best is not None:
                rank = (round(best.loss, 9), best.suppressed, best.node)
                if loss > rank[0] or (self.prepared.tables.exact and (loss, removed, node) >= rank):
                    continue
            improved |= self.incumbent.offer(self.problem.check(node))
            if self.incumbent.best is not None:
                self.shared[0] = min(self.shared[0], self._cost(self.incumbent.best.loss))
        return improved

    def _bound(self) -> float:
        """What no open box can be below."""
        bounds = [box.bound for box in self.open[:1]]
        bounds += [explorer.bound for explorer in self.waiting]
        bounds += [bound for _, bound in self.working.values()]
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
