"""Optimal lattice anonymization: the least safe nodes by bisection, and the best of them."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from shoal.search.antichain import Antichain
from shoal.search.incumbent import Incumbent, Limits
from shoal.search.walks import floor_of, is_infeasible, safe_upwards

if TYPE_CHECKING:
    from shoal.events import Progress
    from shoal.search.problem import Problem
    from shoal.values import Best, Node


@dataclass(frozen=True)
class Ola:
    """Finds the k-minimal nodes, those safe ones with no safe node below, and the best of them.

    After K. El Emam and others, 2009. The heights of the lattice are taken in the order of a
    bisection: the middle one first, then the middle of each half, and so on. A node that is safe
    tags all above it as safe, one that is not tags all below it as unsafe, and tagged nodes are not
    checked. At the end every node has a tag, and the k-minimal nodes are the least that were found.

    Every safe node is above a k-minimal one (walks.safe_upwards says when the tags are true), so
    the least of their floors is a bound. It proves the best where the loss cannot fall on the way
    up: with a loss that ignores suppression, or where the best nodes suppress nothing. Elsewhere a
    node further up may lose less since it suppresses less: the answer is safe, but not proved.
    """

    name: ClassVar[str] = "ola"

    def search(self, problem: Problem, limits: Limits) -> Iterator[Progress]:
        """Yields progress, each improvement, and at last Proved or Stopped."""
        incumbent = Incumbent(limits)
        if is_infeasible(problem):
            yield incumbent.proved()
            return
        incumbent.bound = problem.objective.lower_bound(problem.lattice.bottom)
        tags = Tags(problem)
        for node in bisection(problem):
            reason = incumbent.stop_reason()
            if reason is not None:
                yield incumbent.stopped(reason)
                return
            if not tags.known(node):
                yield from incumbent.weigh(tags.check(node))
            elif incumbent.due():
                yield incumbent.progress()
        if safe_upwards(problem):
            if incumbent.best is None:
                yield incumbent.proved()
                return
            floors = [floor_of(problem, node, problem.partition(node)) for node in tags.safe]
            incumbent.bound = max(incumbent.bound, min(floors))
        yield incumbent.concluded()


class Tags:
    """Tags from the checks so far: safe above a safe node, unsafe below an unsafe one."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.safe = Antichain(len(problem.lattice.top), "up")
        self.unsafe = Antichain(len(problem.lattice.top), "down")

    def known(self, node: Node) -> bool:
        """Whether the node has a tag."""
        return self.safe.covers(node) or self.unsafe.covers(node)

    def check(self, node: Node) -> Best | None:
        """Check a node and tag what follows from it."""
        found = self.problem.check(node)
        (self.unsafe if found is None else self.safe).insert(node)
        return found


def minimal_nodes(problem: Problem) -> tuple[Best, ...]:
    """The k-minimal nodes with their losses, the best first; none where no node is safe."""
    tags = Tags(problem)
    for node in bisection(problem):
        if not tags.known(node):
            tags.check(node)
    found = [problem.check(node) for node in tags.safe]
    return tuple(sorted((best for best in found if best), key=lambda best: best.rank))


def bisection(problem: Problem) -> Iterator[Node]:
    """Every node, by heights: the middle one, then the middle of each half, and so on."""
    halves = deque([(sum(problem.lattice.bottom), sum(problem.lattice.top))])
    while halves:
        low, high = halves.popleft()
        if low <= high:
            middle = (low + high) // 2
            yield from problem.lattice.at_rank(middle)
            halves.extend([(low, middle - 1), (middle + 1, high)])
