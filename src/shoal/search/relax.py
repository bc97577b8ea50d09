"""The smallest relaxations of limits that make a problem feasible."""

from __future__ import annotations

import heapq
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from shoal.search.problem import Problem
    from shoal.values import Node

MOST_FOUND = 3
"""How many relaxations are reported."""
SECONDS = 5.0
"""The time limit of the search for them, which may have to check many unsafe nodes."""


@dataclass(frozen=True)
class Raises:
    """Sets of limits to raise, each of which makes the demand feasible, the smallest first.

    It is `complete` when no smaller set was left unchecked. If it is complete without any set, no
    raise of limits helps.
    """

    found: tuple[Mapping[str, int], ...]
    complete: bool


def smallest_raises(problem: Problem, seconds: float = SECONDS) -> Raises:
    """The limits to raise, by as few levels as possible, so that a node becomes safe.

    Nodes above the limits are checked by rising number of levels that they exceed them by, so the
    first safe one needs the fewest. A node above a found one needs more and is left out. If even
    the top of all hierarchies suppresses too much, every node does, and nothing is found.
    """
    attributes = problem.table.attributes
    limits = problem.lattice.top
    heights = tuple(attribute.height for attribute in attributes)
    if limits == heights or problem.least_suppressed(heights) > problem.limit:
        return Raises((), complete=True)
    until = time.monotonic() + seconds
    safe: list[Node] = []
    waiting: list[tuple[int, Node]] = [(0, limits)]
    seen = {limits}
    while waiting and len(safe) < MOST_FOUND:
        if time.monotonic() > until:
            break
        raised, node = heapq.heappop(waiting)
        if any(_above(node, other) for other in safe):
            continue
        if raised and problem.check(node) is not None:
            safe.append(node)
            continue
        for j, height in enumerate(heights):
            higher = (*node[:j], node[j] + 1, *node[j + 1 :])
            if node[j] < height and higher not in seen:
                seen.add(higher)
                heapq.heappush(waiting, (raised + 1, higher))
    found = tuple(
        {
            attribute.name: level
            for attribute, level, limit in zip(attributes, node, limits, strict=True)
            if level > limit
        }
        for node in safe
    )
    return Raises(found, complete=not waiting or len(safe) == MOST_FOUND)


def _above(node: Node, other: Node) -> bool:
    return all(level >= least for level, least in zip(node, other, strict=True))
