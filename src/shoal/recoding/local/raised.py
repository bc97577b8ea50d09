"""Local recoding of a table that was read from higher levels up, with a bound for all levels.

In full-domain recoding the levels below those of a raised table are excluded by a proof: no safe
node uses them. That is not so in local recoding, where some classes could use a level that others
cannot. Safe classes from the raised levels up can still be found, and so can the best node. But the
bound of that search holds only for recodings from these levels up, and is not reported.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from shoal.events import NO_PROOF, Progress, Proved, Stopped
from shoal.search.incumbent import LOSS_TOLERANCE
from shoal.search.objective import CellObjective

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shoal.recoding.local.run import LocalSearch
    from shoal.search.incumbent import Limits
    from shoal.search.problem import Problem


@dataclass(frozen=True)
class RaisedSearch:
    """The search on a raised table, with the bound of `bound_by_columns` in its events."""

    inner: LocalSearch
    name: ClassVar[str] = "local"

    def search(self, problem: Problem, limits: Limits) -> Iterator[Progress]:
        """The events of the search; it does not stop at a gap, which it does not know."""
        bound = bound_by_columns(problem)
        for event in self.inner.search(problem, replace(limits, gap=0.0)):
            yield _with_bound(event, bound)


def _with_bound(event: Progress, bound: float) -> Progress:
    if event.best is None:
        return replace(event, bound=bound)
    known = min(bound, event.best.loss)
    if isinstance(event, Proved) and known < event.best.loss - LOSS_TOLERANCE:
        return Stopped(event.best, known, event.checked, event.boxes, event.seconds, NO_PROOF)
    return replace(event, bound=known)


def bound_by_columns(problem: Problem) -> float:
    """What any local recoding loses at least, by the numbers of records of each value.

    All records of a class have one label in an attribute, and a class has at least k records. So a
    record can have only a label with at least k records under it. It pays at least the cheapest of
    these, or 1 if it is suppressed. The loss rises with that of every attribute.
    """
    table, objective = problem.table, problem.objective
    assert isinstance(objective, CellObjective)  # noqa: S101
    k = max((model.k for model in problem.models if hasattr(model, "k")), default=1)
    losses = []
    for j, attribute in enumerate(table.attributes):
        records = table.records_of[j]
        cheapest = np.ones(len(records))
        for level in range(attribute.lowest, attribute.limit + 1):
            group = attribute.groups[level]
            enough = np.bincount(group, records)[group] >= k
            costs = np.where(enough, objective.costs[j][level], 1.0)
            cheapest = np.minimum(cheapest, costs)
        losses.append(float(records @ cheapest) / table.records)
    return objective.join(losses)
