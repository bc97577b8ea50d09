"""Threads that share open boxes: each explores the box of the least bound for a while."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterator, Set
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.search.compiled.boxes import Box, Candidate, Explored
from shoal.search.compiled.explorer import Explorer
from shoal.values import Closed

if TYPE_CHECKING:
    from shoal.events import Progress
    from shoal.search.compiled.layout import Prepared
    from shoal.search.incumbent import Incumbent
    from shoal.search.problem import Problem
    from shoal.values import Best, Node

COST_TOLERANCE = 1e-10
"""Tolerance when costs are compared, relative where they are above 1 (bounds.h)."""

TIE = 1e-13
"""Costs that differ by less are equal, and removed records decide (bounds.h)."""

FIRST_SLICE, LARGEST_SLICE = 20_000_000, 50_000_000
"""Tuples visited in one exploration, one or two nanoseconds each; then it returns what it found."""

TURN = 2000
"""Passes over the table before an explorer gives its boxes back, for that of the least bound.

Setting up a box takes a few passes for each attribute, which is little compared with a turn. The
global bound rises with every turn, since each starts with the box that has it.
"""

MOST_UNCHECKED = 64
"""Candidates that may wait for a check while several best nodes are searched: until they are
checked, the threads do not know that worse nodes need not be found."""

LAST_CHECKS = 1.0
"""Seconds for the checks of candidates that wait when a limit is reached."""

LOCAL_SEARCH_AFTER = 0.25
"""Seconds after which the neighbours of the best node are searched."""


@dataclass(eq=False)
class Pool:
    """The open boxes, the explorers, and the best cost that all threads see.

    An explorer is at work, in `working` with a bound of its boxes; or it has boxes left and waits
    for a thread, in `waiting`; or it is `idle`.

    The C code takes the cost of each node it finds as the cost to beat. Where several nodes are
    wanted that is wrong, so costs count as not exact: only what was checked here is shared.
    """

    problem: Problem
    prepared: Prepared
    incumbent: Incumbent
    threads: int
    open: list[Box] = field(default_factory=list)
    working: dict[Future[Explored], tuple[Explorer, float]] = field(default_factory=dict)
    waiting: list[Explorer] = field(default_factory=list)
    idle: list[Explorer] = field(default_factory=list)
    candidates: list[Candidate] = field(default_factory=list)
    checking: dict[Future[Best | None], Candidate] = field(default_factory=dict)
    shared: np.ndarray = field(default_factory=lambda: np.array([math.inf, 0.0, 0.0]))
    slice: int = FIRST_SLICE
    turn: int = TURN
    searched_around: Node | None = None
    dive: Future[Explored] | None = None

    def __post_init__(self) -> None:
        if self.incumbent.count > 1:
            tables = self.prepared.tables._replace(exact=False)
            self.prepared = replace(self.prepared, tables=tables)

    def run(self, executor: ThreadPoolExecutor) -> Iterator[Progress]:
        """Work until no box is open or a limit is reached; candidates are checked at the same time.

        Those that were found before a limit are checked for a moment after it: the best come first.
        """
        self._share()
        lattice = self.problem.lattice
        self.open.append(Box(0.0, lattice.bottom, lattice.top))
        self.dive = self._submit_search_for_nodes(executor, Explorer.dive)
        while self._is_open() or self.candidates or self.checking:
            self._submit(executor)
            self._submit_check(executor)
            self.incumbent.bound = max(self.incumbent.bound, self._bound())
            if self.incumbent.due():
                yield self.incumbent.progress()
            reason = self.incumbent.stop_reason()
            if reason is not None and self._is_open():
                yield from self._last_checks(executor)
                yield self.incumbent.stopped(reason)
                return
            under_way: list[Future[Any]] = [*self.working, *self.checking]
            done, _ = wait(under_way, timeout=0.1, return_when=FIRST_COMPLETED)
            self._take_candidates(self.working.keys() & done)
            if self._improved():
                yield self.incumbent.improved()
        yield self.incumbent.proved()

    def _last_checks(self, executor: ThreadPoolExecutor) -> Iterator[Progress]:
        """Stop all threads, take what they found, and check the candidates, the best first.

        Many nodes can have the same loss, so the time for this is limited once a safe node is
        known. A bound counts what is not checked, so the one that was known stays right.
        """
        self.shared[1] = 1.0
        wait(self.working)
        self._take_candidates(set(self.working))
        end = self.incumbent.seconds + LAST_CHECKS
        while self.candidates or self.checking:
            if self.incumbent.best is None or self.incumbent.seconds < end:
                self._submit_check(executor)
            elif not self.checking:
                break
            wait(self.checking)
            if self._improved():
                yield self.incumbent.improved()

    def _is_open(self) -> bool:
        """Whether a box may be left open."""
        return bool(self.open or self.waiting or self.working)

    def _submit(self, executor: ThreadPoolExecutor) -> None:
        """Give work to every thread while there is any, and share how many are idle.

        Boxes wait for the dive: with its nodes known more of them close, and a short search needs
        the memory of one explorer only.
        """
        if self.dive in self.working:
            return
        if self._may_search_around():
            self._submit_local_search(executor)
        while len(self.working) < self.threads and (self.waiting or self.open):
            if self.incumbent.count > 1 and len(self.candidates) > MOST_UNCHECKED:
                break
            explorer = self.waiting.pop() if self.waiting else self._next_explorer()
            if explorer is None:
                continue
            last = self.incumbent.last
            known = (math.inf, 0) if last is None else (self._cost(last.loss), last.suppressed)
            bound = explorer.bound
            self.working[executor.submit(explorer.explore, known, self.slice)] = explorer, bound
            self.slice = min(self.slice * 3 // 2, LARGEST_SLICE)
        self.shared[2] = self.threads - len(self.working)

    def _next_explorer(self) -> Explorer | None:
        """An explorer with the open box of the least bound; None if that is above the best cost."""
        box = heapq.heappop(self.open)
        if box.bound > self.shared[0] + COST_TOLERANCE * max(1.0, self.shared[0]):
            self._log(Closed("bound", box.lo, box.hi))
            return None
        explorer = self._explorer()
        explorer.take(box)
        return explorer

    def _explorer(self) -> Explorer:
        """An explorer without boxes."""
        if self.idle:
            return self.idle.pop()
        return Explorer(self.prepared, self.shared, log=self.incumbent.limits.log is not None)

    def _may_search_around(self) -> bool:
        """Whether the best is new and the search long enough to search its neighbours.

        Costs of neighbours are exact only where costs are, and if they are summed.
        """
        best, tables = self.incumbent.best, self.prepared.tables
        return (
            best is not None
            and best.node != self.searched_around
            and tables.exact
            and not tables.geometric
            and len(self.working) < self.threads
            and self.incumbent.seconds > LOCAL_SEARCH_AFTER
        )

    def _submit_local_search(self, executor: ThreadPoolExecutor) -> None:
        """Start a local search at the best node."""
        best = self.incumbent.best
        assert best is not None  # _may_search_around says so  # noqa: S101
        self.searched_around = best.node
        if self.waiting:
            self._give_back(self.waiting.pop())
        start = Candidate(self._cost(best.loss), best.suppressed, best.node)
        self._submit_search_for_nodes(executor, Explorer.local_search, start)

    def _submit_search_for_nodes(
        self, executor: ThreadPoolExecutor, way: Callable[..., Explored], *start: Candidate
    ) -> Future[Explored]:
        """Search for better nodes, in whatever boxes they are."""
        explorer = self._explorer()
        future = executor.submit(way, explorer, *start)
        self.working[future] = explorer, math.inf
        return future

    def _take_candidates(self, finished: Set[Future[Explored]]) -> None:
        """Process the results of threads, and keep the candidates they found."""
        for future in finished:
            for candidate in self._take(future):
                heapq.heappush(self.candidates, candidate)

    def _take(self, future: Future[Explored]) -> list[Candidate]:
        """Process the result of a thread; the candidates it found."""
        explorer, _ = self.working.pop(future)
        explored = future.result()
        self.incumbent.boxes += explored.opened
        for closed in explored.closed:
            self._log(closed)
        if not explorer.open:
            self.idle.append(explorer)
        elif explorer.worked >= self.turn * self.problem.table.tuples:
            self._give_back(explorer)
        else:
            self.waiting.append(explorer)
            others = len(self.working) + len(self.waiting) + len(self.open)
            if others < self.threads and (box := explorer.give()) is not None:
                heapq.heappush(self.open, box)
        return explored.candidates

    def _give_back(self, explorer: Explorer) -> None:
        """Return the boxes of an explorer to the open ones."""
        for box in explorer.give_all():
            heapq.heappush(self.open, box)
        self.idle.append(explorer)

    def _log(self, closed: Closed) -> None:
        if self.incumbent.limits.log is not None:
            self.incumbent.limits.log(closed)

    def _submit_check(self, executor: ThreadPoolExecutor) -> None:
        """Start an exact check of the best candidate, one at a time, if it can be a new best."""
        while self.candidates and not self.checking:
            candidate = heapq.heappop(self.candidates)
            while self.candidates and self.candidates[0] == candidate:
                heapq.heappop(self.candidates)
            if self._may_be_best(candidate):
                check = executor.submit(self.problem.check, candidate.node)
                self.checking[check] = candidate

    def _improved(self) -> bool:
        """Process finished checks; whether there is a new best."""
        improved = False
        for check in [each for each in self.checking if each.done()]:
            del self.checking[check]
            improved |= self.incumbent.offer(check.result())
        self._share()
        return improved

    def _share(self) -> None:
        """Let all threads know the loss that a node must not exceed."""
        last = self.incumbent.last
        if last is not None:
            self.shared[0] = min(self.shared[0], self._cost(last.loss))

    def _may_be_best(self, candidate: Candidate) -> bool:
        """Whether an exact check of a candidate can change the best."""
        last = self.incumbent.last
        if any(candidate.node == known.node for known in self.incumbent.found):
            return False
        if last is None:
            return True
        above = (self._loss(candidate.cost) - last.loss) / max(1.0, last.loss)
        if above < -TIE or not self.prepared.tables.exact:
            return above <= COST_TOLERANCE
        rank = (candidate.removed, candidate.node)
        return above <= COST_TOLERANCE and rank < (last.suppressed, last.node)

    def _bound(self) -> float:
        """A lower bound of all open boxes, and of the candidates that are not checked yet."""
        bounds = [box.bound for box in self.open[:1]]
        unchecked = (*self.candidates[:1], *self.checking.values())
        bounds += [candidate.cost for candidate in unchecked]
        bounds += [explorer.bound for explorer in self.waiting]
        bounds += [bound for _, bound in self.working.values()]
        return self._loss(min(bounds)) if bounds else self.incumbent.bound

    def _cost(self, loss: float) -> float:
        """A loss as the C code counts it."""
        if self.prepared.tables.geometric:
            return len(self.prepared.top) * math.log1p(loss)
        return loss

    def _loss(self, cost: float) -> float:
        """What the C code counts, as a loss."""
        if self.prepared.tables.geometric:
            return math.expm1(cost / len(self.prepared.top))
        return cost
