"""Optimal lattice anonymization (OLA): all k-minimal nodes by bisection of sub-lattices."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from shoal.errors import UserError
from shoal.search.incumbent import Incumbent, Limits
from shoal.search.problem import Lattice
from shoal.search.walks import floor_of, is_infeasible, safe_upwards

if TYPE_CHECKING:
    from shoal.events import Progress
    from shoal.search.problem import Problem
    from shoal.values import Best, Node

MOST_NODES = 2**29
"""The largest lattice, which takes half a gibibyte: a tag is a byte."""

SAFE, UNSAFE = 1, 2


@dataclass(frozen=True)
class Ola:
    """Finds the k-minimal nodes, the safe ones with no safe node below, and the best of them.

    After K. El Emam and others, 2009, whose algorithm *Kmin* is `_Run.bisect`. A safe node tags all
    above it as safe, one that is not safe all below it as unsafe, and tagged nodes are not checked.

    Every safe node is above a k-minimal one (walks.safe_upwards says when the tags are true), so
    the least of their floors is a bound. It proves the best where the loss cannot fall on the way
    up: with a loss that ignores suppression, or where the best nodes suppress nothing. Elsewhere a
    node further up may lose less since it suppresses less: the answer is safe, but not proved.
    """

    name: ClassVar[str] = "ola"

    def search(self, problem: Problem, limits: Limits) -> Iterator[Progress]:
        """Yields progress, each improvement, and at last Proved or Stopped."""
        run = _Run(problem, limits)
        yield from run.search()


def minimal_nodes(problem: Problem) -> tuple[Best, ...]:
    """The k-minimal nodes with their losses, the best first; none where no node is safe."""
    run = _Run(problem, Limits())
    for _ in run.search():
        pass
    return tuple(sorted(run.solutions.values(), key=lambda best: best.rank))


class _Run:
    """One search. `solutions` are the least safe nodes so far, at the end the k-minimal ones."""

    def __init__(self, problem: Problem, limits: Limits) -> None:
        self.problem = problem
        self.incumbent = Incumbent(limits)
        self.tags = Tags(problem.lattice)
        self.solutions: dict[Node, Best] = {}
        self.reported: set[Node] = set()

    def search(self) -> Iterator[Progress]:
        problem, incumbent = self.problem, self.incumbent
        lattice = problem.lattice
        if is_infeasible(problem):
            yield incumbent.proved()
            return
        incumbent.bound = problem.objective.lower_bound(lattice.bottom)
        monotone = safe_upwards(problem)
        # An unsafe top says nothing of the nodes below it where models may fail further up.
        yield from self.check(lattice.top, tag_below=monotone)
        yield from self.bisect(lattice.bottom, lattice.top)
        yield from self.report(lattice.top)
        reason = incumbent.stop_reason()
        if reason is not None and not self.tags.complete(lattice):
            yield incumbent.stopped(reason)
            return
        if monotone:
            if incumbent.best is None:
                yield incumbent.proved()
                return
            floors = [floor_of(problem, node, problem.partition(node)) for node in self.solutions]
            incumbent.bound = max(incumbent.bound, min(floors))
        yield incumbent.concluded()

    def bisect(self, bottom: Node, top: Node) -> Iterator[Progress]:
        """Tag every node of the sub-lattice between two nodes.

        Each node of the middle height is checked unless it has a tag. Below a safe one lies a
        sub-lattice down to the bottom, above an unsafe one a sub-lattice up to the top, and each is
        bisected in turn. Of two neighbours the lower is checked; the upper is the top of the
        lattice or was found safe. A sub-lattice in which every node has a tag needs no check and
        is left out.

        Why every node gets a tag: a greatest unsafe node of the sub-lattice, and in the same way a
        least safe one, is either at the middle height, or below a safe node or above an unsafe node
        of that height, so it is in one of the parts.
        """
        sub_lattice = Lattice(top, bottom)
        if self.tags.complete(sub_lattice) or self.incumbent.stop_reason() is not None:
            return
        height = sum(top) - sum(bottom)
        if height <= 1:
            if bottom != self.problem.lattice.top and self.tags.of(bottom) is None:
                yield from self.check(bottom)
            return
        for node in sub_lattice.at_rank(sum(bottom) + height // 2):
            if self.incumbent.stop_reason() is not None:
                return
            if self.tags.of(node) is None:
                yield from self.check(node)
            if self.tags.of(node) == UNSAFE:
                yield from self.bisect(node, top)
                continue
            yield from self.bisect(bottom, node)
            if bottom == self.problem.lattice.bottom:
                yield from self.report(node)

    def check(self, node: Node, *, tag_below: bool = True) -> Iterator[Progress]:
        """Check a node that has no tag, tag what follows from it, and keep it as a solution."""
        found = self.problem.check(node)
        self.incumbent.checked += 1
        if found is not None:
            self.tags.put(node, SAFE)
            self._add(found)
        elif tag_below:
            self.tags.put(node, UNSAFE)
        if self.incumbent.due():
            yield self.incumbent.progress()

    def _add(self, found: Best) -> None:
        """Add a solution, and drop those above it, which are not k-minimal."""
        for node in [node for node in self.solutions if _is_below(found.node, node)]:
            del self.solutions[node]
        if not any(_is_below(node, found.node) for node in self.solutions):
            self.solutions[found.node] = found

    def report(self, top: Node) -> Iterator[Progress]:
        """Offer the solutions below a node; where everything below it has a tag, all are k-minimal.

        The answer is the best of the k-minimal nodes, so other safe nodes are not offered.
        """
        new = [node for node in self.solutions if node not in self.reported]
        for node in new:
            if _is_below(node, top):
                self.reported.add(node)
                checked = self.incumbent.checked
                better = self.incumbent.offer(self.solutions[node])
                self.incumbent.checked = checked
                if better:
                    yield self.incumbent.improved()


class Tags:
    """The tag of every node of a lattice: safe above a safe node, unsafe below an unsafe one.

    The attributes that can rise are the axes of an array, so all nodes above or below a node are
    one slice of it.
    """

    def __init__(self, lattice: Lattice) -> None:
        if lattice.nodes > MOST_NODES:
            raise UserError(
                f"the lattice has {lattice.nodes:,} nodes, and `ola` keeps a tag for each of at "
                f"most {MOST_NODES:,}",
                code="lattice-too-large",
                hint="search with `strategy: box`, which takes lattices of any size",
            )
        pairs = list(zip(lattice.bottom, lattice.top, strict=True))
        self._axes = [j for j, (low, high) in enumerate(pairs) if low < high]
        self._lowest = lattice.bottom
        self._tags = np.zeros([pairs[j][1] - pairs[j][0] + 1 for j in self._axes], np.uint8)

    def of(self, node: Node) -> int | None:
        """The tag of a node, None where it has none."""
        return int(self._tags[tuple(self._levels(node))]) or None

    def put(self, node: Node, tag: int) -> None:
        """Tag a node, and all above it if it is safe, all below it if it is not.

        A node that has a tag keeps it. Tags differ only where a model may fail further up.
        """
        levels = self._levels(node)
        slices = [slice(i, None) if tag == SAFE else slice(None, i + 1) for i in levels]
        part = self._tags[(*slices, ...)]
        part[part == 0] = tag

    def complete(self, part: Lattice) -> bool:
        """Whether every node of a sub-lattice has a tag."""
        pairs = zip(self._levels(part.bottom), self._levels(part.top), strict=True)
        return bool(self._tags[tuple(slice(low, high + 1) for low, high in pairs)].all())

    def _levels(self, node: Node) -> list[int]:
        """Where a node is in the array."""
        return [node[j] - self._lowest[j] for j in self._axes]


def _is_below(x: Node, y: Node) -> bool:
    """Whether x is below y or is y."""
    return all(a <= b for a, b in zip(x, y, strict=True))
