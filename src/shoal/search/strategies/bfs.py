"""Best-first branch and bound from the bottom up, by the loss of the nodes."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from shoal.search.incumbent import Incumbent, Limits
from shoal.search.pruning import Pruning
from shoal.search.walks import is_infeasible

if TYPE_CHECKING:
    from shoal.events import Progress
    from shoal.search.antichain import AntichainStatistics
    from shoal.search.problem import Problem
    from shoal.values import Node


@dataclass(frozen=True, eq=False)
class BranchAndBound:
    """Takes the open node of the least loss and checks the nodes one step above it.

    After F. Prasser and others, 2016. A node that suppresses too much has a loss too, and is open
    like any other. Only insufficient quality prunes (pruning.py), and it prunes all nodes above as
    well. So when no node is open, every node that could be as good as the best was
    checked, for every model and loss: the best is the optimum. Until then all unchecked nodes are
    above open ones, and the least floor of those is a bound. With a time limit it is a heuristic,
    which finds good solutions early.

    A node that its bound rules out is not checked. With `published` the bound of a node is known
    only after its check, as in the paper: the same answer after more checks.

    After a search `statistics` says how the antichain was used.
    """

    published: bool = False
    name: ClassVar[str] = "bfs"
    statistics: dict[str, AntichainStatistics] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        if not isinstance(self.published, bool):
            raise ValueError("published must be true or false")

    def search(self, problem: Problem, limits: Limits) -> Iterator[Progress]:
        """Yields progress, each improvement, and at last Proved or Stopped."""
        run = _Run(problem, limits, published=self.published)
        try:
            yield from run.search()
        finally:
            quality = "insufficient quality"
            self.statistics[quality] = run.pruning.statistics[quality]


class _Run:
    """One search: the open nodes by their losses, and once more by their floors.

    The paper's queue may hold a node more than once, and asks the antichain each time. This changes
    no check, but the share of hits, so a `published` search does the same.
    """

    def __init__(self, problem: Problem, limits: Limits, *, published: bool) -> None:
        self.problem = problem
        self.incumbent = Incumbent(limits)
        self.pruning = Pruning(problem, self.incumbent, bound_before_check=not published)
        self.published = published
        self.checked: dict[Node, tuple[float, float]] = {}
        self.expanded: set[Node] = set()
        self.closed: set[Node] = set()
        self.by_loss: list[tuple[float, Node, float]] = []
        self.by_floor: list[tuple[float, Node]] = []

    def search(self) -> Iterator[Progress]:
        incumbent = self.incumbent
        if is_infeasible(self.problem):
            yield incumbent.proved()
            return
        yield from self._open(self.problem.lattice.bottom, 0.0)
        while self.by_loss:
            _, node, floor = heapq.heappop(self.by_loss)
            if not self._is_ruled_out(node, floor):
                for _, above in self.problem.lattice.above(node):
                    self._raise_bound()
                    reason = incumbent.stop_reason()
                    if reason is not None:
                        yield incumbent.stopped(reason)
                        return
                    if self._may_open(above) and not self.pruning.poor(above):
                        yield from self._open(above, floor)
                self.expanded.add(node)
            self.closed.add(node)
        yield incumbent.proved()

    def _is_ruled_out(self, node: Node, floor: float) -> bool:
        """Whether nothing above an open node can be as good as the best, or all is open."""
        if self.published and (node in self.expanded or self.pruning.poor(node)):
            return True
        return self.pruning.is_beaten(node, floor)

    def _may_open(self, node: Node) -> bool:
        """Whether a node is not open yet; a published search opens it until it is expanded."""
        return node not in (self.expanded if self.published else self.checked)

    def _open(self, node: Node, floor_below: float) -> Iterator[Progress]:
        """Check a node once, and open it; the bound of the node below holds for it, too."""
        if node not in self.checked:
            checked = self.pruning.check(node)
            floor = max(checked.floor, floor_below)
            self.checked[node] = (checked.loss, floor)
            heapq.heappush(self.by_floor, (floor, node))
            yield from self.incumbent.weigh(checked.best)
        loss, floor = self.checked[node]
        heapq.heappush(self.by_loss, (loss, node, floor))

    def _raise_bound(self) -> None:
        """The least floor of the open nodes bounds all that is not checked."""
        while self.by_floor and self.by_floor[0][1] in self.closed:
            heapq.heappop(self.by_floor)
        if self.by_floor:
            self.incumbent.bound = max(self.incumbent.bound, self.by_floor[0][0])
