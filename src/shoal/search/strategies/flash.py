"""Flash: paths through the lattice, checked by bisection, with both facts of pruning."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from shoal.search.antichain import Antichain, AntichainStatistics
from shoal.search.incumbent import Incumbent, Limits
from shoal.search.pruning import Pruning
from shoal.search.strategies.flash_published import PublishedFlash
from shoal.search.walks import is_infeasible

if TYPE_CHECKING:
    from shoal.events import Progress
    from shoal.search.problem import Problem
    from shoal.values import Node


@dataclass(frozen=True, eq=False)
class Flash:
    """Takes nodes by rising bound, and finds on paths up from them where these become safe.

    After F. Kohlmayer and others, 2012, with the implicit lattice of F. Prasser and others, 2016:
    what is known is kept in antichains, never in the nodes of a lattice. A path is checked by
    bisection, which finds good solutions early. A node above a safe one is left out of further
    paths, but with suppression it may still lose less. So it is checked later, in the order of
    bounds, unless a fact of pruning.py rules it out. When the next bound is above the best loss,
    the best is the optimum, ties included, for every model and loss.

    With `published` nodes are taken by their heights and no bound is known before a check, as in
    the papers (flash_published.py): the same answer after more checks.

    After a search `statistics` says how the antichains were used.
    """

    published: bool = False
    name: ClassVar[str] = "flash"
    statistics: dict[str, AntichainStatistics] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        if not isinstance(self.published, bool):
            raise ValueError("published must be true or false")

    def search(self, problem: Problem, limits: Limits) -> Iterator[Progress]:
        """Yields progress, each improvement, and at last Proved or Stopped."""
        run = PublishedFlash(problem, limits) if self.published else _Run(problem, limits)
        try:
            yield from run.search()
        finally:
            self.statistics.update(run.pruning.statistics)


class _Run:
    """One search."""

    def __init__(self, problem: Problem, limits: Limits) -> None:
        self.problem = problem
        self.incumbent = Incumbent(limits)
        self.pruning = Pruning(problem, self.incumbent)
        self.safe = Antichain(len(problem.lattice.top), "up")
        self.checked: set[Node] = set()

    def search(self) -> Iterator[Progress]:
        incumbent = self.incumbent
        if is_infeasible(self.problem):
            yield incumbent.proved()
            return
        for bound, node in self.problem.lattice.ascending(self.problem.objective.lower_bound):
            if incumbent.beaten_by(bound):
                break
            incumbent.bound = max(incumbent.bound, bound)
            yield from self._follow(node)
            reason = incumbent.stop_reason()
            if reason is not None:
                yield incumbent.stopped(reason)
                return
            if node not in self.checked and not self._ruled_out(node):
                yield from self._check(node)
            elif incumbent.due():
                yield incumbent.progress()
        yield incumbent.proved()

    def _follow(self, start: Node) -> Iterator[Progress]:
        """Check the path of a node, then those that begin above its unsafe nodes."""
        starts = [start]
        pending: list[tuple[float, Node]] = []
        while starts:
            for node in starts:
                if not self._settled(node):
                    yield from self._bisect(self._path(node), pending)
                if self.incumbent.stop_reason() is not None:
                    return
            starts = self._by_bound(heapq.heappop(pending)[1]) if pending else []

    def _path(self, node: Node) -> list[Node]:
        """From a node up, each time to the cheapest node above that is not settled."""
        path = [node]
        while True:
            rest = (above for above in self._by_bound(path[-1]) if not self._settled(above))
            above = next(rest, None)
            if above is None:
                return path
            path.append(above)

    def _bisect(self, path: list[Node], pending: list[tuple[float, Node]]) -> Iterator[Progress]:
        """Find where a path becomes safe; its unsafe nodes are pending, by their bounds."""
        low, high = 0, len(path) - 1
        while low <= high and self.incumbent.stop_reason() is None:
            middle = (low + high) // 2
            node = path[middle]
            if self.pruning.poor(node):
                high = middle - 1
                continue
            yield from self._check(node)
            if self.safe.covers(node):
                high = middle - 1
            else:
                heapq.heappush(pending, (self.problem.objective.lower_bound(node), node))
                low = middle + 1

    def _check(self, node: Node) -> Iterator[Progress]:
        self.checked.add(node)
        checked = self.pruning.check(node)
        yield from self.incumbent.weigh(checked.best)
        self.pruning.is_beaten(node, checked.floor)
        if checked.best is not None:
            self.safe.insert(node)

    def _settled(self, node: Node) -> bool:
        """Whether a node need not be on a path."""
        return node in self.checked or self.safe.covers(node) or self._ruled_out(node)

    def _ruled_out(self, node: Node) -> bool:
        return self.pruning.poor(node) or self.pruning.unsafe(node)

    def _by_bound(self, node: Node) -> list[Node]:
        """The nodes one step above, the cheapest first."""
        bound = self.problem.objective.lower_bound
        return sorted((above for _, above in self.problem.lattice.above(node)), key=bound)
