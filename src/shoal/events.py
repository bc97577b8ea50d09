"""Events of a run. Front ends render them; nothing here prints."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from shoal.values import Moment

if TYPE_CHECKING:
    from shoal.values import Best, Result

NO_PROOF = "no proof"
"""The reason of a search that ended by itself without proving that its best is the optimum."""


@dataclass(frozen=True)
class Phase:
    """A step of the pipeline begins: read, search, warn, ask, release, verify, publish.

    A data mart has two more: it links sources, and compares a release with earlier ones.
    """

    name: str
    detail: str = ""


@dataclass(frozen=True)
class Working:
    """The engine runs a long query of the present step; `share` of it is done."""

    share: float


@dataclass(frozen=True)
class Progress:
    """The state of the search: no safe node costs less than `bound`; `best` is safe.

    `checked` are the nodes that were checked exactly, `boxes` those that were opened. In local
    recoding they are the recodings that were judged, and the sweeps over all groups.
    """

    best: Best | None
    bound: float
    checked: int
    boxes: int
    seconds: float

    @property
    def gap(self) -> float:
        """How far the best can be from the optimum, as a share of it; 1 while there is none."""
        if self.best is None:
            return 1.0
        if self.best.loss <= 0.0:
            return 0.0
        return max(0.0, (self.best.loss - self.bound) / self.best.loss)


@dataclass(frozen=True)
class Improved(Progress):
    """A better safe node was found."""


@dataclass(frozen=True)
class Proved(Progress):
    """No node is better than `best`; with no best, no node is safe."""


@dataclass(frozen=True)
class Stopped(Progress):
    """The search ended without a proof: a limit or the user stopped it, or it gives none."""

    reason: str = ""


@dataclass(frozen=True)
class Released:
    """The output was verified and published.

    `other` finds what the other recoding would have lost, as a sentence; None where it does not
    know. That can take seconds.
    """

    result: Result
    other: Callable[[], str | None] = field(default=lambda: None, compare=False, repr=False)


Event: TypeAlias = Phase | Working | Progress | Released


@dataclass(eq=False)
class History:
    """Passes the events of a search on, and remembers when its best or its bound changed."""

    observe: Callable[[Progress], None]
    most: int = 200
    _moments: list[Moment] = field(default_factory=list)

    def __call__(self, event: Progress) -> None:
        best = None if event.best is None else event.best.loss
        last = self._moments[-1] if self._moments else None
        if last is None or (last.best, last.bound) != (best, event.bound):
            self._moments.append(Moment(round(event.seconds, 6), best, event.bound))
        self.observe(event)

    def recall(self, moments: Iterable[Moment]) -> None:
        """Remember an earlier search; nobody is called."""
        self._moments.extend(moments)

    def moments(self) -> tuple[Moment, ...]:
        """All of them where they are few, else some, evenly, the first and the last included."""
        every = len(self._moments)
        if every <= self.most:
            return tuple(self._moments)
        return tuple(self._moments[i * (every - 1) // (self.most - 1)] for i in range(self.most))
