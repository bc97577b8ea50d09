"""Boxes of nodes, and what comes of exploring one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from shoal.values import Closed, Node


class Box(NamedTuple):
    """The nodes between `lo` and `hi`; none of them costs less than `bound`."""

    bound: float
    lo: Node
    hi: Node


class Candidate(NamedTuple):
    """A node that may be the best: its cost, exact or at least, its removed records, its levels."""

    cost: float
    removed: int
    node: Node


@dataclass
class Explored:
    """What came of exploring a box."""

    candidates: list[Candidate] = field(default_factory=list)
    closed: list[Closed] = field(default_factory=list)
    opened: int = 0
