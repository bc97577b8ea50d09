"""The best node so far, and the events of a search."""

from __future__ import annotations

import time
from bisect import insort
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from shoal.events import NO_PROOF, Improved, Progress, Proved, Stopped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from shoal.values import Best, Closed

LOSS_TOLERANCE = 1e-9
"""Tolerance when a bound is compared with a loss, which are summed in different orders; relative
where losses are above 1."""


@dataclass(frozen=True)
class Limits:
    """When to stop before the proof, by time or by gap, and the number of threads.

    `log` is called with every box that is closed, for a proof that others can check.
    """

    seconds: float | None = None
    gap: float = 0.0
    threads: int | None = None
    log: Callable[[Closed], None] | None = None


@dataclass
class Incumbent:
    """What a strategy has found and counted; it makes the events of all strategies.

    It keeps the `count` best nodes in `found`, the best first. Nodes that are known before the
    search may be in it from the start.
    """

    limits: Limits
    count: int = 1
    found: list[Best] = field(default_factory=list)
    bound: float = 0.0
    checked: int = 0
    boxes: int = 0
    started: float = field(default_factory=time.monotonic)
    reported: float = 0.0

    @property
    def best(self) -> Best | None:
        """The best node so far."""
        return self.found[0] if self.found else None

    @property
    def last(self) -> Best | None:
        """The node that a new one must beat: the last of `count`, None while fewer are known."""
        return self.found[-1] if len(self.found) == self.count else None

    def offer(self, found: Best | None) -> bool:
        """Count an exact check; whether it gave a new best, or one of the `count` best."""
        self.checked += 1
        if found is None or (self.last is not None and found.rank >= self.last.rank):
            return False
        if any(found.node == known.node for known in self.found):
            return False
        insort(self.found, found, key=lambda each: each.rank)
        del self.found[self.count :]
        return True

    def weigh(self, found: Best | None) -> Iterator[Progress]:
        """Count an exact check, and yield an event if it improves the best or one is due."""
        if self.offer(found):
            yield self.improved()
        elif self.due():
            yield self.progress()

    def beaten_by(self, bound: float) -> bool:
        """Whether a node with this lower bound is none of the `count` best, ties included."""
        last = self.last
        return last is not None and bound > last.loss + LOSS_TOLERANCE * max(1.0, last.loss)

    @property
    def seconds(self) -> float:
        """How long the search has run."""
        return time.monotonic() - self.started

    def due(self) -> bool:
        """Whether a progress event is due: ten times a second."""
        if self.seconds - self.reported < 0.1:
            return False
        self.reported = self.seconds
        return True

    def stop_reason(self) -> str | None:
        """Why to stop now, None to go on."""
        if self.limits.seconds is not None and self.seconds >= self.limits.seconds:
            return "time limit"
        if self.best is not None and self.progress().gap <= self.limits.gap > 0:
            return "gap"
        return None

    def progress(self) -> Progress:
        """An event with the current progress."""
        return Progress(*self._numbers())

    def improved(self) -> Improved:
        """An event of a new best."""
        return Improved(*self._numbers())

    def proved(self) -> Proved:
        """The last event: the best is the optimum, or there is no solution."""
        if self.best is not None:
            self.bound = self.best.loss
        return Proved(*self._numbers())

    def stopped(self, reason: str) -> Stopped:
        """The last event of a search that was ended early."""
        return Stopped(*self._numbers(), reason=reason)

    def concluded(self) -> Progress:
        """The last event of a search that ended by itself: proved where the bound meets the best.

        Otherwise a node may be better, or safe where no safe one was found.
        """
        if self.best is not None and self.bound >= self.best.loss - LOSS_TOLERANCE:
            return self.proved()
        return self.stopped(NO_PROOF)

    def _numbers(self) -> tuple[Best | None, float, int, int, float]:
        bound = self.bound if self.best is None else min(self.bound, self.best.loss)
        return (self.best, bound, self.checked, self.boxes, self.seconds)
