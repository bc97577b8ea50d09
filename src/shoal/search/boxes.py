"""Boxes of nodes, and what is known of them on the way through one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from shoal.values import Closed, Node

NEW, FIRST, SECOND, DONE = range(4)
"""Steps of a box on the stack: not looked at, its first or second child to come, both done."""


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

    candidates: set[Candidate] = field(default_factory=set)
    left: list[Box] = field(default_factory=list)
    closed: list[Closed] = field(default_factory=list)
    opened: int = 0


@dataclass
class Frame:
    """A box on the stack: its levels, what is known of them, and where its tuples and classes lie.

    `told` are the levels from which on its tuples can be told apart, `fresh` the attributes looked
    at since `hi` fell. Tuples, class numbers and samples are stretches of Rows that end at `end`,
    `end_class` and `end_sample`; a deeper box begins its own there.
    """

    lo: NDArray[np.int64]
    hi: NDArray[np.int64]
    told: NDArray[np.int64]
    fresh: NDArray[np.bool_]
    paid: NDArray[np.float64]
    extra: NDArray[np.float64]
    due: NDArray[np.float64]
    dropped: NDArray[np.int64]
    first: int = 0
    tuples: int = 0
    at_class: int = 0
    at_sample: int = 0
    classes: int = 1
    end: int = 0
    end_class: int = 0
    end_sample: int = 1
    removed: int = 0
    bound: float = 0.0
    bound_at: float = 0.0
    bound_below: float = 0.0
    step: int = NEW
    attribute: int = 0
    goes_below_first: bool = False

    def inherit(self, parent: Frame) -> None:
        """Become a box inside the parent's, with all that is known of it."""
        for name in ("lo", "hi", "told", "fresh", "paid", "extra", "due", "dropped"):
            getattr(self, name)[:] = getattr(parent, name)
        self.first, self.tuples = parent.first, parent.tuples
        self.at_class, self.at_sample = parent.at_class, parent.at_sample
        self.classes, self.removed, self.bound = parent.classes, parent.removed, parent.bound
        self.end, self.end_class = parent.end, parent.end_class
        self.end_sample, self.step = parent.end_sample, NEW
