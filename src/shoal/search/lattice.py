"""The lattice of nodes: every combination of the allowed levels of the attributes."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from shoal.values import Node


@dataclass(frozen=True)
class Lattice:
    """The nodes `x` with `lowest[j] <= x[j] <= top[j]`; by default the lowest levels are 0."""

    top: Node
    lowest: Node | None = None

    @property
    def nodes(self) -> int:
        """How many nodes there are."""
        return math.prod(high - low + 1 for low, high in zip(self.bottom, self.top, strict=True))

    @property
    def bottom(self) -> Node:
        """The most specific node."""
        return (0,) * len(self.top) if self.lowest is None else self.lowest

    def above(self, node: Node) -> Iterator[tuple[int, Node]]:
        """Each attribute that can rise by a level, and the node where it has."""
        for j, level in enumerate(node):
            if level < self.top[j]:
                yield j, (*node[:j], level + 1, *node[j + 1 :])

    def at_rank(self, rank: int) -> Iterator[Node]:
        """The nodes whose levels add up to `rank`, in their order."""
        return _filled((), self.bottom, self.top, rank)

    def ascending(self, bound: Callable[[Node], float]) -> Iterator[tuple[float, Node]]:
        """Every node once, by rising `bound`, for a bound that never falls as a level rises.

        Each node but the bottom has one parent, the node with its last level above the bottom's
        lowered by one, so raising that level or one after it reaches every node exactly once.
        A parent's bound is at most its child's, so nodes leave the heap by rising bound.
        """
        heap = [(bound(self.bottom), self.bottom, 0)]
        while heap:
            cost, node, last = heapq.heappop(heap)
            yield cost, node
            for j, child in self.above(node):
                if j >= last:
                    heapq.heappush(heap, (bound(child), child, j))


def _filled(prefix: Node, bottom: Node, top: Node, rank: int) -> Iterator[Node]:
    """The nodes with this prefix, then levels from `bottom` to `top` whose sum is `rank`."""
    if not top:
        if rank == 0:
            yield prefix
        return
    least = max(bottom[0], rank - sum(top[1:]))
    for level in range(least, min(top[0], rank - sum(bottom[1:])) + 1):
        yield from _filled((*prefix, level), bottom[1:], top[1:], rank - level)
