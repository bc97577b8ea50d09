"""The path of cheapest steps by priority and quantifier: the data-mart paper's algorithm."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from shoal.loss.builtin import Weighted
from shoal.search.incumbent import Incumbent, Limits
from shoal.search.objective import LevelObjective
from shoal.search.walks import floor_of, follow_path, is_infeasible

if TYPE_CHECKING:
    from shoal.events import Progress
    from shoal.search.problem import Problem
    from shoal.values import Node


@dataclass(frozen=True)
class PriorityPath:
    """Raises the attribute whose next level has the least priority times quantifier, until safe.

    Limits bound each attribute, and of equal steps the first in the definition is taken. One path
    proves nothing, unless its answer costs no more than the bottom of the lattice must.

    With `backtrack` the other steps are tried too, in the order of their cost, from the end of the
    path back to its beginning. A path ends at its first safe node, or where no node further up can
    be better than the best. When all have ended, every safe node that could be better is above the
    first safe node of a path, so the least floor of those is a bound: it proves the best where
    suppression costs nothing or did not happen.
    """

    backtrack: bool = False
    name: ClassVar[str] = "priority-path"

    def __post_init__(self) -> None:
        if not isinstance(self.backtrack, bool):
            raise ValueError("backtrack must be true or false")

    def search(self, problem: Problem, limits: Limits) -> Iterator[Progress]:
        """Yields progress, each improvement, and at last Proved or Stopped."""
        weighted = LevelObjective(problem.table, Weighted())
        if self.backtrack:
            return _all_paths(problem, limits, weighted)
        return follow_path(
            problem, limits, lambda node: next(_steps(problem, weighted, node), None)
        )


def _steps(problem: Problem, weighted: LevelObjective, node: Node) -> Iterator[Node]:
    """The nodes one step above, cheapest step first."""
    costs, attributes = weighted.costs, problem.table.attributes
    ranked = [
        (attributes[j].priority * costs[j][above[j]], j, above)
        for j, above in problem.lattice.above(node)
    ]
    return (above for _, _, above in sorted(ranked))


def path_to(problem: Problem, last: Node) -> Iterator[tuple[int, Node]]:
    """The steps from the bottom to the node where the path ended: the raised attribute, the node.

    Nothing where that is not on the path, as it may be with `backtrack`.
    """
    weighted = LevelObjective(problem.table, Weighted())
    steps, node = [], problem.lattice.bottom
    while node != last:
        above = next(_steps(problem, weighted, node), None)
        if above is None:
            return iter(())
        raised = next(j for j, level in enumerate(above) if level > node[j])
        steps.append((raised, above))
        node = above
    return iter(steps)


def _all_paths(problem: Problem, limits: Limits, weighted: LevelObjective) -> Iterator[Progress]:
    """Every path that can matter, the cheapest next step first."""
    incumbent = Incumbent(limits)
    if is_infeasible(problem):
        yield incumbent.proved()
        return
    stack, visited, floors = [problem.lattice.bottom], set(), []
    incumbent.bound = problem.objective.lower_bound(problem.lattice.bottom)
    while stack:
        reason = incumbent.stop_reason()
        if reason is not None:
            yield incumbent.stopped(reason)
            return
        node = stack.pop()
        if node in visited or incumbent.beaten_by(problem.objective.lower_bound(node)):
            continue
        visited.add(node)
        classes = problem.partition(node)
        found = problem.judge(node, classes)
        yield from incumbent.weigh(found)
        if found is None:
            stack.extend(reversed(list(_steps(problem, weighted, node))))
        else:
            floors.append(floor_of(problem, node, classes))
    if incumbent.best is None:
        yield incumbent.proved()
        return
    incumbent.bound = max(incumbent.bound, min(floors))
    yield incumbent.concluded()
