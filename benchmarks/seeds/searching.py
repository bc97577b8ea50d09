"""One search, watched: what it checked, what it knew when, and how it pruned.

Seconds are those of the processor, so that other work on the machine does not count. Many searches
of one experiment check the same nodes. Within `checks_remembered` the classes of a node are counted
once, and each later search that checks the node is charged the seconds that it took.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from unittest.mock import patch

from shoal.events import Proved
from shoal.search.incumbent import Limits
from shoal.search.pruning import CheckedNode, Pruning

if TYPE_CHECKING:
    from shoal.search.antichain import AntichainStatistics
    from shoal.search.problem import Problem
    from shoal.search.strategies import Strategy
    from shoal.values import Best, Node


@dataclass(frozen=True)
class Known:
    """A better loss: when it was reported, and after how many looks at classes."""

    seconds: float
    looks: int
    loss: float


@dataclass(frozen=True)
class Search:
    """What one search did.

    `known` are the losses it knew, one after the other. `statistics` are those of the antichains,
    by their properties, of a strategy that has some.
    """

    seconds: float
    proved: bool
    best: Best | None
    checked: int
    boxes: int
    known: tuple[Known, ...]
    statistics: Mapping[str, AntichainStatistics]

    @property
    def found(self) -> float | None:
        """When the best was known, in seconds."""
        return self.known[-1].seconds if self.known else None

    @property
    def looks(self) -> int:
        """How often classes were counted: nodes checked and boxes opened."""
        return self.checked + self.boxes

    def loss_after(self, looks: int) -> float | None:
        """The least loss known after so many looks, None before the first safe node."""
        return next((each.loss for each in reversed(self.known) if each.looks <= looks), None)

    def loss_within(self, seconds: float) -> float | None:
        """The least loss known after so many seconds, None before the first safe node."""
        return next((each.loss for each in reversed(self.known) if each.seconds <= seconds), None)


@dataclass
class Memory:
    """Checks of nodes with the seconds that each took, and the seconds charged for those reused."""

    checks: dict[tuple[int, Node], tuple[CheckedNode, float]] = field(default_factory=dict)
    charged: float = 0.0

    def seconds(self) -> float:
        """A clock: the seconds of the processor, as if every check had been made."""
        return time.process_time() + self.charged


MEMORY = Memory()


@contextmanager
def checks_remembered() -> Iterator[None]:
    """Searches by `Pruning` count the classes of a node of a problem only once."""
    original = Pruning.count

    def count(self: Pruning, node: Node) -> CheckedNode:
        key = (id(self.problem), node)
        if key in MEMORY.checks:
            found, taken = MEMORY.checks[key]
            MEMORY.charged += taken
            return found
        started = time.process_time()
        found = original(self, node)
        MEMORY.checks[key] = (found, time.process_time() - started)
        return found

    with patch.object(Pruning, "count", count):
        yield


def watch(strategy: Strategy, problem: Problem, seconds: float | None = None) -> Search:
    """Search on one thread, for about so many seconds at most."""
    known: list[Known] = []
    started = MEMORY.seconds()
    events = strategy.search(problem, Limits(threads=1))
    for event in events:
        now = MEMORY.seconds() - started
        if event.best is not None and (not known or event.best.loss < known[-1].loss):
            known.append(Known(now, event.checked + event.boxes, event.best.loss))
        last = event
        if seconds is not None and now > seconds:
            break
    taken = MEMORY.seconds() - started
    close = getattr(events, "close", None)
    if close is not None:
        close()
    return Search(
        taken,
        isinstance(last, Proved),
        last.best,
        last.checked,
        last.boxes,
        tuple(known),
        dict(getattr(strategy, "statistics", {})),
    )
