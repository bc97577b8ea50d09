"""Ways to search the lattice, all on the same problem, limits and events."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from shoal.search.strategies.box import BoxSearch
from shoal.search.strategies.exhaustive import Exhaustive

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shoal.events import Progress
    from shoal.search.incumbent import Limits
    from shoal.search.problem import Problem


class Strategy(Protocol):
    """A way to search: it yields events and never prints; a caller may stop it at any event."""

    @property
    def name(self) -> str:
        """Its name in definitions and results."""

    def search(self, problem: Problem, limits: Limits) -> Iterator[Progress]:
        """Yields progress, each improvement, and at last Proved or Stopped."""


def strategy_of(name: str) -> Strategy:
    """The strategy of this name."""
    strategies: tuple[Strategy, ...] = (BoxSearch(), Exhaustive())
    return next(strategy for strategy in strategies if strategy.name == name)
