"""What strategies that walk from node to node share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from shoal.privacy.distinct_diversity import DistinctDiversity
from shoal.privacy.k_anonymity import KAnonymity
from shoal.search.incumbent import Incumbent, Limits
from shoal.search.objective import ClassObjective

if TYPE_CHECKING:
    from shoal.events import Progress
    from shoal.search.partition import Partition
    from shoal.search.problem import Problem
    from shoal.values import Node


def hopeless(problem: Problem) -> bool:
    """Whether even the top of the lattice, and so every node, suppresses too many records."""
    return problem.least_suppressed(problem.lattice.top) > problem.limit


def safe_upwards(problem: Problem) -> bool:
    """Whether every node above a safe one is safe.

    Above a node classes are unions of its classes. k-anonymity and distinct diversity hold for
    every class that contains one they hold for, so no record that is kept is dropped further up.
    Other models that are closed under union promise this only where nothing is suppressed at all:
    then every class of the safe node is good, and so is each union of them. With suppression a good
    class may be spoiled by the dropped one that it is merged with. Where persons are counted, a
    union of good classes need not be good (privacy/base.py).
    """
    if all(type(model) in (KAnonymity, DistinctDiversity) for model in problem.models):
        return True
    if problem.table.persons is not None:
        return False
    return problem.limit == 0 and all(model.closed_under_union for model in problem.models)


def floor_of(problem: Problem, node: Node, classes: Partition) -> float:
    """At most the loss of this node and of every node above it.

    The classes above are unions of these, which is what the bound of a class loss asks for, and
    its factor never falls as a level rises; nor does the bound of any other loss.
    """
    objective = problem.objective
    if isinstance(objective, ClassObjective):
        finest, records = classes.counts.sizes, problem.table.records
        return objective.factor(node) * objective.loss.least(finest, 0, records)
    return objective.lower_bound(node)


def climb(
    problem: Problem, limits: Limits, step: Callable[[Node], Node | None]
) -> Iterator[Progress]:
    """One path from the bottom, by `step` until a node is safe or no step is left.

    Nothing is known of nodes beside the path, so the bound is that of the bottom.
    """
    incumbent = Incumbent(limits)
    if hopeless(problem):
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
