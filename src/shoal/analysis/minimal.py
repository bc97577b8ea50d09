"""All minimal safe nodes: those with no safe node below them. No list of the lattice is made.

The search keeps the safe nodes that it found, none above another. Every node is in a box and is
closed for one of these reasons:

- *Covered*: it is above a safe node, so it is not minimal. A safe node that is found later below
  that one covers it too.
- *Empty*: at the `hi` of its box, or at a node above that, so many records are certainly removed
  that no node below is safe (`Problem.removal`). That holds for every privacy model.
- *Checked*: it was the only node of its box, and is not safe.

So in the end every safe node is above or equal to a kept one, and no kept one is above another:
the kept nodes are exactly the minimal ones. This also holds for models that can fail further up,
such as t-closeness.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from shoal.search.antichain import Antichain
from shoal.search.walks import safe_upwards

if TYPE_CHECKING:
    from shoal.analysis.nodes import Clock
    from shoal.search.problem import Problem
    from shoal.values import Best, Node

Box: TypeAlias = "tuple[Node, Node]"


class Unsafe(Enum):
    """A node that is not safe: nothing below it is safe either, or a node below it may be."""

    EMPTY_BELOW = auto()
    ITSELF = auto()


@dataclass
class MinimalNodes:
    """The search for all minimal safe nodes.

    `found` are safe nodes, none above another. After `search` returns True they are all of the
    minimal ones. After it returns False, because time was over or `most` were found, `certain`
    says whether each of them is minimal.
    """

    problem: Problem
    clock: Clock
    most: int
    found: dict[Node, Best] = field(default_factory=dict)
    checked: int = 0

    def __post_init__(self) -> None:
        self._empty = Antichain(len(self.problem.lattice.top), "down")
        self._known: dict[Node, Best | Unsafe] = {}
        self._open: list[Box] = [(self.problem.lattice.bottom, self.problem.lattice.top)]
        self._array = np.zeros((0, len(self.problem.lattice.top)), np.int64)

    @property
    def certain(self) -> bool:
        """Whether each node found is minimal, even if the search ended early.

        Where every node above a safe one is safe, a node whose direct neighbours below are unsafe
        has no safe node below it at all.
        """
        return safe_upwards(self.problem)

    def search(self) -> bool:
        """Find the minimal nodes; whether all were found."""
        while self._open:
            if self.clock.over or len(self.found) > self.most:
                return False
            self.clock.say(
                f"Searching minimal nodes: {len(self.found):,} found, "
                f"{self.checked:,} nodes checked, {len(self._open):,} boxes open"
            )
            self._open.extend(self._rest_of(*self._open.pop()))
        return True

    def _rest_of(self, lo: Node, hi: Node) -> Iterator[Box]:
        """The boxes that are left of a box, after its covered and empty nodes are closed."""
        below = self._found_below(hi)
        if below is not None:
            yield from not_above(lo, hi, below)
            return
        known = self._examine(hi)
        if known is Unsafe.EMPTY_BELOW:
            return
        if not isinstance(known, Unsafe):
            yield from not_above(lo, hi, self._keep(known))
        elif lo != hi:
            j = max(range(len(hi)), key=lambda i: hi[i] - lo[i])
            yield _with(lo, j, hi[j]), hi
            yield lo, _with(hi, j, hi[j] - 1)

    def _found_below(self, node: Node) -> Node | None:
        """A safe node that was found below or at this one."""
        below = np.flatnonzero((self._array <= np.array(node)).all(axis=1))
        return tuple(self._array[below[0]].tolist()) if len(below) else None

    def _keep(self, safe: Best) -> Node:
        """Go down from a safe node while a neighbour below is safe, and keep the last one.

        No found node is below or at the safe one, so none is below or at the last; those above it
        are not minimal and go.
        """
        bottom, best = self.problem.lattice.bottom, safe
        j = unchanged = 0
        while unchanged < len(bottom):
            node, lower = best.node, None
            if node[j] > bottom[j]:
                lower = self._examine(_with(node, j, node[j] - 1))
            if lower is None or isinstance(lower, Unsafe):
                j, unchanged = (j + 1) % len(bottom), unchanged + 1
            else:
                best, unchanged = lower, 0
        above = (self._array >= np.array(best.node)).all(axis=1)
        for node in self._array[above].tolist():
            del self.found[tuple(node)]
        self.found[best.node] = best
        self._array = np.vstack((self._array[~above], [best.node]))
        return best.node

    def _examine(self, node: Node) -> Best | Unsafe:
        """Whether a node is safe, and if not, whether one below it may be."""
        if node in self._known:
            return self._known[node]
        if self._empty.covers(node):
            return Unsafe.EMPTY_BELOW
        classes = self.problem.partition(node)
        self.checked += 1
        removed = self.problem.removal(classes).records
        if removed > self.problem.limit or removed == self.problem.table.records:
            self._empty.insert(node)
            return Unsafe.EMPTY_BELOW
        self._known[node] = self.problem.judge(node, classes) or Unsafe.ITSELF
        return self._known[node]


def not_above(lo: Node, hi: Node, node: Node) -> Iterator[Box]:
    """Disjoint boxes of all nodes between `lo` and `hi` that are not above or equal to a node.

    The node is not above `hi`. What is not above it is lower in some attribute; each box has the
    nodes of which that attribute is the first.
    """
    join = tuple(map(max, lo, node))
    for j, level in enumerate(join):
        if lo[j] < level:
            yield (*join[:j], *lo[j:]), _with(hi, j, level - 1)


def _with(node: Node, j: int, level: int) -> Node:
    """The node with another level of one attribute."""
    return (*node[:j], level, *node[j + 1 :])
