"""Exhaustive search: checks every node that could be better. The oracle of the tests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from shoal.search.incumbent import Incumbent, Limits

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shoal.events import Progress
    from shoal.search.problem import Problem


@dataclass(frozen=True)
class Exhaustive:
    """Checks nodes by rising lower bound until the next bound is above the best loss.

    All nodes after that have a bound, and so a loss, above the best: the best is the optimum. The
    bound of the next node is a bound for all that is left, so the gap is known at any time. The top
    of the lattice is checked first: if even there too many records are suppressed, nothing is
    feasible; if it is safe, a stop at any time leaves a safe node.
    """

    name: ClassVar[str] = "exhaustive"

    def search(self, problem: Problem, limits: Limits) -> Iterator[Progress]:
        """Yields progress, each improvement, and at last Proved or Stopped."""
        incumbent = Incumbent(limits)
        if incumbent.offer(problem.check(problem.lattice.top)):
            yield incumbent.improved()
        elif problem.least_suppressed(problem.lattice.top) > problem.limit:
            yield incumbent.proved()
            return
        for bound, node in problem.lattice.ascending(problem.objective.lower_bound):
            if incumbent.beaten_by(bound):
                break
            incumbent.bound = bound
            reason = incumbent.stop_reason()
            if reason is not None:
                yield incumbent.stopped(reason)
                return
            if node != problem.lattice.top and incumbent.offer(problem.check(node)):
                yield incumbent.improved()
            elif incumbent.due():
                yield incumbent.progress()
        yield incumbent.proved()
