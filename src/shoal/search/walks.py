"""What the strategies that go from node to node share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from shoal.privacy.distinct_diversity import DistinctDiversity
from shoal.privacy.k_anonymity import KAnonymity
from shoal.privacy.population import KMap
from shoal.privacy.risk import AverageRisk
from shoal.search.incumbent import Incumbent, Limits
from shoal.search.objective import ClassObjective

if TYPE_CHECKING:
    from shoal.events import Progress
    from shoal.search.problem import Partition, Problem
    from shoal.values import Node


_MONOTONE = (KAnonymity, DistinctDiversity, AverageRisk, KMap)
"""With these models alone a node above a safe one is safe."""


def is_infeasible(problem: Problem) -> bool:
    """Whether even the top of the lattice, and so every node, suppresses too many records."""
    return problem.least_suppressed(problem.lattice.top) > problem.limit


def safe_upwards(problem: Problem) -> bool:
    """Whether every node above a safe one is safe.

    Above a node classes are unions of its classes. k-anonymity, k-map and distinct diversity hold
    for every class that contains one they hold for, so no kept record is suppressed further up.
    With them the average risk suppresses as few records as possible, and never more further up
    (privacy/risk.py).
    Other models that are closed under union promise this only where nothing is suppressed at all:
    then every class of the safe node satisfies them, and so does each union. With suppression a
    class may fail after it is merged with a suppressed one. Where persons are counted, a union of
    classes that satisfy a model need not satisfy it (privacy/base.py).
    """
    if all(type(model) in _MONOTONE for model in problem.models):
        return True
    if problem.table.persons is not None:
        return False
    return problem.limit == 0 and all(model.closed_under_union for model in problem.models)


def floor_of(problem: Problem, node: Node, classes: Partition) -> float:
    """At most the loss of this node and of every node above it.

    The classes above are unions of these, as the bound of a class loss requires, and its factor
    never falls as a level rises; nor does the bound of any other loss.
    """
    objective = problem.objective
    if isinstance(objective, ClassObjective):
        finest, records = classes.counts.sizes, problem.table.records
        return objective.factor(node) * objective.loss.least(finest, 0, records)
    return objective.lower_bound(node)


def follow_path(
    problem: Problem, limits: Limits, step: Callable[[Node], Node | None]
) -> Iterator[Progress]:
    """One path from the bottom, by `step` until a node is safe or no step is left.

    Nothing is known of nodes beside the path, so the bound is that of the bottom.
    """
    incumbent = Incumbent(limits)
    if is_infeasible(problem):
        yield incumbent.proved()
        return
    node: Node | None = problem.lattice.bottom
    incumbent.bound = problem.objective.lower_bound(problem.lattice.bottom)
    while node is not None and incumbent.best is None:
        reason = incumbent.stop_reason()
        if reason is not None:
            yield incumbent.stopped(reason)
            return
        yield from incumbent.weigh(problem.check(node))
        node = step(node)
    yield incumbent.concluded()
