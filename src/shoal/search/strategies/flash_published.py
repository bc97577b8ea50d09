"""Flash in the order of its papers: by heights, and no bound is known before a check."""

from __future__ import annotations

import heapq
from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING, TypeAlias

from shoal.search.antichain import Antichain
from shoal.search.incumbent import Incumbent, Limits
from shoal.search.pruning import Pruning
from shoal.search.walks import is_infeasible

if TYPE_CHECKING:
    from shoal.events import Progress
    from shoal.search.problem import Problem
    from shoal.values import Node

Criteria: TypeAlias = tuple[int, float, float]
"""What orders the nodes: height, mean share of the levels, mean share of the values lost."""


class PublishedFlash:
    """One search, after F. Kohlmayer and others, 2012, and F. Prasser and others, 2016.

    Nodes are taken by their heights, and among equals by their criteria. *First phase*: from a node
    a path leads up, each time to the first node above of which nothing is known. A bisection of the
    path finds where it becomes safe, and the nodes above its unsafe ones begin further paths.
    *Second phase*: with suppression a node above a safe one may lose less, so what is above the
    least safe node of a path is searched depth first. A node is left out if it is known to lose too
    much or to suppress too much (pruning.py).

    Why the best is the optimum: every node is a start, on a path or above a safe node, so it is
    checked, or a fact rules it out. With models that may fail further up a bisection can pass over
    a start; it is checked after its path.
    """

    def __init__(self, problem: Problem, limits: Limits) -> None:
        self.problem = problem
        self.incumbent = Incumbent(limits)
        self.pruning = Pruning(problem, self.incumbent, bound_before_check=False)
        self.safe = Antichain(len(problem.lattice.top), "up")
        self.checked: set[Node] = set()
        self.visited: set[Node] = set()
        self.candidates: list[tuple[float, Node]] = []

    def search(self) -> Iterator[Progress]:
        incumbent, lattice = self.incumbent, self.problem.lattice
        if is_infeasible(self.problem):
            yield incumbent.proved()
            return
        incumbent.bound = self.problem.objective.lower_bound(lattice.bottom)
        for height in range(sum(lattice.bottom), sum(lattice.top) + 1):
            starts = (node for node in lattice.at_rank(height) if not self._is_known(node))
            for start in sorted(starts, key=self._criteria):
                yield from self._follow(start)
                if not self._is_known(start):
                    yield from self._check(start)
                reason = incumbent.stop_reason()
                if reason is not None:
                    yield incumbent.stopped(reason)
                    return
        yield incumbent.proved()

    def _follow(self, start: Node) -> Iterator[Progress]:
        """Check the path of a start and those that begin above its unsafe nodes; first phase."""
        queue = [(self._criteria(start), start)]
        while queue and self.incumbent.stop_reason() is None:
            _, node = heapq.heappop(queue)
            if not self._is_known(node):
                least_safe = yield from self._bisect(self._path(node), queue)
                if least_safe is not None:
                    yield from self._search_above(least_safe)

    def _path(self, node: Node) -> list[Node]:
        """From a node up, each time to the first node above of which nothing is known."""
        path = [node]
        while True:
            above = next((each for each in self._above(path[-1]) if not self._is_known(each)), None)
            if above is None:
                return path
            path.append(above)

    def _bisect(
        self, path: list[Node], queue: list[tuple[Criteria, Node]]
    ) -> Generator[Progress, None, Node | None]:
        """The least safe node of a path, by bisection; what is above its unsafe ones is queued."""
        low, high, least_safe = 0, len(path) - 1, None
        while low <= high and self.incumbent.stop_reason() is None:
            middle = (low + high) // 2
            node = path[middle]
            if self._is_known(node):
                high = middle - 1
                continue
            yield from self._check(node)
            if self.safe.covers(node):
                least_safe, high = node, middle - 1
            else:
                low = middle + 1
                for above in self._above(node):
                    if not self._is_known(above):
                        heapq.heappush(queue, (self._criteria(above), above))
        return least_safe

    def _search_above(self, start: Node) -> Iterator[Progress]:
        """Check what is above a safe node, depth first, unless it is ruled out; second phase."""
        stack = [start]
        while stack and self.incumbent.stop_reason() is None:
            node = stack.pop()
            if node in self.visited or self._is_ruled_out(node):
                continue
            self.visited.add(node)
            if node not in self.checked:
                yield from self._check(node)
            if not self.pruning.poor(node):
                stack.extend(reversed(self._above(node)))

    def _check(self, node: Node) -> Iterator[Progress]:
        """Check a node, and rule out what is above the checked nodes that the best now beats."""
        self.checked.add(node)
        checked = self.pruning.check(node)
        yield from self.incumbent.weigh(checked.best)
        if checked.best is not None:
            self.safe.insert(node)
        heapq.heappush(self.candidates, (-checked.floor, node))
        while self.candidates and self.pruning.is_beaten(
            self.candidates[0][1], -self.candidates[0][0]
        ):
            heapq.heappop(self.candidates)

    def _is_known(self, node: Node) -> bool:
        """Whether the first phase has nothing to do with a node."""
        return node in self.checked or self.safe.covers(node) or self._is_ruled_out(node)

    def _is_ruled_out(self, node: Node) -> bool:
        return self.pruning.unsafe(node) or self.pruning.poor(node)

    def _above(self, node: Node) -> list[Node]:
        """The nodes one step above, in the order of their criteria."""
        return sorted((above for _, above in self.problem.lattice.above(node)), key=self._criteria)

    def _criteria(self, node: Node) -> Criteria:
        levels = list(zip(self.problem.table.attributes, node, strict=True))
        generalized = sum(level / max(each.limit, 1) for each, level in levels)
        labels = [each.hierarchy.labels for each, _ in levels]
        kept = sum(
            len(of[level]) / max(len(of[0]), 1) for of, level in zip(labels, node, strict=True)
        )
        return sum(node), generalized / len(levels), 1 - kept / len(levels)
