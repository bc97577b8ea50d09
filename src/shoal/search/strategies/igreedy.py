"""IGreedy, a baseline: always take the step that makes the smallest class largest."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from shoal.search.incumbent import Incumbent, Limits
from shoal.search.strategies.datafly import distinct_values
from shoal.search.walks import is_infeasible

if TYPE_CHECKING:
    from shoal.events import Progress
    from shoal.search.problem import Problem
    from shoal.values import Node


@dataclass(frozen=True)
class IGreedy:
    """Checks every step up, and takes the one whose smallest class is largest, until one is safe.

    The improved greedy heuristic of K. Babu and others, 2013. Of equal steps, the one that raises
    the attribute with the most different values is taken, as Datafly would. Of several safe nodes
    one step above, the one with the least loss is the answer; it is safe, but not proved.
    """

    name: ClassVar[str] = "igreedy"

    def search(self, problem: Problem, limits: Limits) -> Iterator[Progress]:
        """Yields progress, each improvement, and at last Proved or Stopped."""
        incumbent = Incumbent(limits)
        if is_infeasible(problem):
            yield incumbent.proved()
            return
        distinct = distinct_values(problem)
        node: Node | None = problem.lattice.bottom
        incumbent.bound = problem.objective.lower_bound(problem.lattice.bottom)
        yield from incumbent.weigh(problem.check(problem.lattice.bottom))
        while node is not None and incumbent.best is None:
            ranked = []
            for j, above in problem.lattice.above(node):
                reason = incumbent.stop_reason()
                if reason is not None:
                    yield incumbent.stopped(reason)
                    return
                classes = problem.partition(above)
                yield from incumbent.weigh(problem.judge(above, classes))
                smallest = int(classes.counts.of(None).sizes.min())
                ranked.append((-smallest, -distinct[j][node[j]], j, above))
            node = min(ranked)[-1] if ranked else None
        yield incumbent.concluded()
