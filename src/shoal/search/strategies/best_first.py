"""Best-first search by weighted information loss: the ANON report's algorithms 1 to 3."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from shoal.loss.builtin import Weighted
from shoal.search.incumbent import Incumbent, Limits
from shoal.search.objective import LevelObjective
from shoal.search.walks import is_infeasible

if TYPE_CHECKING:
    from shoal.events import Progress
    from shoal.search.problem import Problem


@dataclass(frozen=True)
class BestFirst:
    """Tests nodes by rising weighted information loss; the first safe one is the answer.

    The open list gives the nodes in the order of their priorities times quantifiers (without
    quantifiers level / height), each once, and the privacy test of a node ends as soon as too many
    records are suppressed. Every node before the first safe one is unsafe, every later one costs as
    much or more. So the answer is proved where the loss of the definition is `weighted`. Any other
    loss orders the nodes differently: then the answer is safe, but not proved, and the only bound
    is that of the bottom of the lattice.
    """

    name: ClassVar[str] = "best-first"

    def search(self, problem: Problem, limits: Limits) -> Iterator[Progress]:
        """Yields progress, the first safe node, and at last Proved or Stopped."""
        incumbent = Incumbent(limits)
        if is_infeasible(problem):
            yield incumbent.proved()
            return
        weighted = LevelObjective(problem.table, Weighted())
        objective = problem.objective
        is_the_loss = isinstance(objective, LevelObjective) and objective.loss == weighted.loss
        incumbent.bound = objective.lower_bound(problem.lattice.bottom)
        for cost, node in problem.lattice.ascending(weighted.lower_bound):
            if is_the_loss:
                incumbent.bound = cost
            reason = incumbent.stop_reason()
            if reason is not None:
                yield incumbent.stopped(reason)
                return
            yield from incumbent.weigh(problem.check(node))
            if incumbent.best is not None:
                yield incumbent.concluded()
                return
        yield incumbent.proved()
