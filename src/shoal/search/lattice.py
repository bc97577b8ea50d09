"""The lattice of nodes: every combination of levels up to the limits."""

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
    """The nodes `x` with `0 <= x[j] <= top[j]`."""

    top: Node

    @property
    def nodes(self) -> int:
        return math.prod(level + 1 for level in self.top)

    @property
    def bottom(self) -> Node:
        return (0,) * len(self.top)

    def ascending(self, bound: Callable[[Node], float]) -> Iterator[tuple[float, Node]]:
        """Every node once, by rising `bound`, for a bound that never falls as a level rises.

        Each node but the bottom has one parent, the node with its last non-zero level lowered by
        one, so raising a level at or after the last non-zero one reaches every node exactly once.
        A parent's bound is at most its child's, so when a node leaves the heap everything that is
        cheaper has left before.
        """
        heap = [(bound(self.bottom), self.bottom, 0)]
        while heap:
            cost, node, last = heapq.heappop(heap)
            yield cost, node
            for j in range(last, len(node)):
                if node[j] < self.top[j]:
                    child = (*node[:j], node[j] + 1, *node[j + 1 :])
                    heapq.heappush(heap, (bound(child), child, j))
