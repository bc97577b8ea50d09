"""What would have to give for a solution to exist: the smallest relaxations of limits."""

from __future__ import annotations

import heapq
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from shoal.search.problem import Problem
    from shoal.values import Node

FOUND = 3
"""So many relaxations are told."""
SECONDS = 5.0
"""So long they are looked for: an answer that says no may take longer than one that says yes."""


@dataclass(frozen=True)
class Raises:
    """Sets of limits to raise, each of which makes the demand feasible, the smallest first.

    `complete` when no smaller set of raises was left unlooked at. Without any, and complete, no
    limit stands in the way.
    """

    found: tuple[Mapping[str, int], ...]
    complete: bool


def smallest_raises(problem: Problem, seconds: float = SECONDS) -> Raises:
    """The limits to raise, by as few levels as possible, so that a safe node comes within reach.

    Nodes above the limits are checked by rising number of levels that they exceed them by, so the
    first safe one needs the fewest. A node above one that was found needs more and is not told.
    Where even the top of all hierarchies must suppress too much, every node must: then there is
    nothing to find.
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
    while waiting and len(safe) < FOUND:
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
    return Raises(found, complete=not waiting or len(safe) == FOUND)


def _above(node: Node, other: Node) -> bool:
    return all(level >= least for level, least in zip(node, other, strict=True))
