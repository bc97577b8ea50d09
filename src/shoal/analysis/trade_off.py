"""The proved optimum of each point of a grid of demands, from what its neighbours know.

Demand B is *harder* than A when its k is not smaller and its suppression limit not larger, and all
else is the same. Each class that A drops is dropped by B too. So for every node:

- B suppresses at least as many records as A. What is safe for B is safe for A.
- B loses at least as much as A. By a cell loss a suppressed record pays 1 per attribute, which is
  at least what its cells cost. A level loss looks at the levels alone. By discernibility a dropped
  class pays its size times all records, not times its size. By average class size there are fewer
  classes for the same records. Priorities multiply both sides alike.

Nodes are ranked by loss, then suppressed records, then levels, so the rank of a node for B is never
before its rank for A. Now let a search for A end with a list of the best nodes, and let a node that
is known and safe for B rank, for B, not after the last of that list. A node that no search has
found ranks for A after the last of the list, hence for B too. So the best of the known nodes is the
optimum of B, and no search is needed. In particular, if no node is safe for A, none is for B.

`comparable` says where this holds. A class loss of a plug-in may fall when more is suppressed, and
a model of the table, such as the average risk, may drop other classes when k drops some. With such
a loss or model every point is searched, starting from the nodes of its neighbours; what these cost
there is checked exactly.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING

from shoal.events import Progress, Proved
from shoal.loss.builtin import ClassSize, Discernibility
from shoal.privacy.base import TableModel
from shoal.privacy.k_anonymity import KAnonymity
from shoal.search.incumbent import Incumbent, Limits
from shoal.search.objective import ClassObjective
from shoal.search.strategies.box import BoxSearch

if TYPE_CHECKING:
    from shoal.analysis.nodes import Clock
    from shoal.search.problem import Problem
    from shoal.values import Best, Node

MOST_LISTED = 8
"""A search lists at most so many of the best nodes, for the points after it."""


@dataclass(frozen=True)
class Optimum:
    """What is known of a point: `status` is optimal, feasible, infeasible or unknown.

    `searched` is False where the neighbours were enough. No safe node loses less than `bound`.
    """

    status: str
    best: Best | None
    bound: float
    searched: bool


@dataclass(frozen=True)
class Listed:
    """A search for (k, limit) found all nodes that rank before `last`, or all if that is None."""

    k: int
    limit: int
    last: Best | None


@dataclass
class TradeOff:
    """Solves one point after the other; by rising k, and for each k by falling limit.

    `problem` is that of the easiest point. `measured[node]` is what a node costs for the k at which
    it was counted last, with any number of suppressed records. `count` is the length of the lists,
    by default `length_of_list`.
    """

    problem: Problem
    clock: Clock
    threads: int | None = None
    strategy: BoxSearch = field(default_factory=BoxSearch)
    measured: dict[Node, tuple[int, Best]] = field(default_factory=dict)
    lists: list[Listed] = field(default_factory=list)
    count: int | None = None
    searches: int = 0

    def solve(self, k: int, limit: int, said: str) -> Optimum:
        """The optimum of a point, by its neighbours if they are enough, else by a search."""
        if self.comparable:
            easier = [each for each in self.lists if each.k <= k and each.limit >= limit]
            best = next(self._by_rank(k, limit), None)
            if any(settles(each, best) for each in easier):
                status = "infeasible" if best is None else "optimal"
                return Optimum(status, best, 0.0 if best is None else best.loss, searched=False)
        return self._search(k, limit, said)

    @cached_property
    def comparable(self) -> bool:
        """Whether a harder demand never suppresses or loses less (see above)."""
        objective = self.problem.objective
        known = not isinstance(objective, ClassObjective) or isinstance(
            objective.loss, ClassSize | Discernibility
        )
        return known and not any(isinstance(model, TableModel) for model in self.problem.models)

    def _by_rank(self, k: int, limit: int) -> Iterator[Best]:
        """The known nodes that are safe at a point, the best first.

        What a node cost for a smaller k ranks not after what it costs now. So only the node that
        may be the best is counted for this k, until the first one is.
        """
        if not self.comparable:
            checked = (self.at(k, limit).check(node) for node in self.measured)
            yield from sorted(filter(None, checked), key=lambda best: best.rank)
            return
        safe = [best for _, best in self.measured.values() if best.suppressed <= limit]
        heap = [(best.rank, best) for best in safe]
        heapq.heapify(heap)
        while heap:
            _, best = heapq.heappop(heap)
            if self.measured[best.node][0] == k:
                yield best
            elif (now := self._measure(k, best.node)) is not None and now.suppressed <= limit:
                heapq.heappush(heap, (now.rank, now))

    def _measure(self, k: int, node: Node) -> Best | None:
        """What a node costs for a k, however many records it suppresses; None if it keeps none."""
        now = self.at(k, self.problem.table.records).check(node)
        if now is None:
            del self.measured[node]
        else:
            self.measured[node] = (k, now)
        return now

    def at(self, k: int, limit: int) -> Problem:
        """The problem of a point."""
        models = (KAnonymity(k), *self.problem.models[1:])
        return replace(self.problem, models=models, limit=limit)

    def _search(self, k: int, limit: int, said: str) -> Optimum:
        """Search a point, from the nodes that are known."""
        problem, count = self.at(k, limit), self.count or length_of_list(k)
        start = list(islice(self._by_rank(k, limit), count))
        incumbent = Incumbent(Limits(self.clock.left, threads=self.threads), count, start)
        last = Progress(None, 0.0, 0, 0, 0.0)
        self.searches += 1
        for event in self.strategy.improve(problem, incumbent):
            last = event
            self.clock.say(f"{said}: {last.boxes:,} boxes, gap {last.gap:.1%}")
        for best in incumbent.found:
            self.measured[best.node] = (k, best)
        if not isinstance(last, Proved):
            status = "unknown" if last.best is None else "feasible"
            return Optimum(status, last.best, incumbent.bound, searched=True)
        self.lists.append(Listed(k, limit, incumbent.last))
        status = "infeasible" if last.best is None else "optimal"
        return Optimum(status, last.best, last.bound, searched=True)


def length_of_list(k: int) -> int:
    """How many of the best nodes a search lists: longer lists take longer and settle more points.

    The step from one k to the next costs the less the larger k is, so lists reach further.
    """
    return max(1, min(MOST_LISTED, k // 4))


def settles(easier: Listed, best: Best | None) -> bool:
    """Whether no node that an easier point does not list can be before the best known one."""
    if easier.last is None:
        return True
    return best is not None and best.rank <= easier.last.rank


def solve_grid(
    trade_off: TradeOff, ks: tuple[int, ...], limits: Mapping[float, int]
) -> Iterator[tuple[int, float, Optimum]]:
    """Each point with its optimum, the easier ones first; stops when the time is over."""
    shares = sorted(limits, reverse=True)
    total, number = len(ks) * len(shares), 0
    for k in ks:
        for share in shares:
            if trade_off.clock.over:
                return
            number += 1
            said = f"Point {number:,} of {total:,} (k {k}, {share:.3%} suppression)"
            trade_off.clock.say(said)
            yield k, share, trade_off.solve(k, limits[share], said)
