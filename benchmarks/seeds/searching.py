"""One search, watched: what it checked, what it knew when, and how it pruned."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shoal.events import Proved
from shoal.search.incumbent import Limits

if TYPE_CHECKING:
    from shoal.search.antichain import AntichainStatistics
    from shoal.search.problem import Problem
    from shoal.search.strategies import Strategy
    from shoal.values import Best


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


def watch(strategy: Strategy, problem: Problem, seconds: float | None = None) -> Search:
    """Search on one thread, for so many seconds at most."""
    known: list[Known] = []
    started = time.perf_counter()
    for event in strategy.search(problem, Limits(seconds=seconds, threads=1)):
        if event.best is not None and (not known or event.best.loss < known[-1].loss):
            looks = event.checked + event.boxes
            known.append(Known(time.perf_counter() - started, looks, event.best.loss))
        last = event
    return Search(
        time.perf_counter() - started,
        isinstance(last, Proved),
        last.best,
        last.checked,
        last.boxes,
        tuple(known),
        dict(getattr(strategy, "statistics", {})),
    )
