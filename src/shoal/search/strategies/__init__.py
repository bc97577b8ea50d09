"""Ways to search the lattice, all on the same problem, limits and events."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, cast

from shoal.plugins import make

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shoal.definition.model import Search
    from shoal.events import Progress
    from shoal.search.incumbent import Limits
    from shoal.search.problem import Problem


class Strategy(Protocol):
    """A way to search: it yields events and never prints; a caller may stop it at any event.

    A bound that it tells is never above the least loss there is. It ends with `Proved` only where
    no node loses less than its best, and where it can tell nothing of the kind with
    `Incumbent.concluded`.
    """

    @property
    def name(self) -> str:
        """Its name in definitions and results."""

    def search(self, problem: Problem, limits: Limits) -> Iterator[Progress]:
        """Yields progress, each improvement, and at last Proved or Stopped."""


def strategy_of(options: Search) -> Strategy:
    """The strategy that a definition asks for; no other is imported."""
    return cast("Strategy", make("strategy", options.strategy, options.of_strategy))
