"""Search strategies, one per file, all with the same problem, limits and events.

- Proved optimum: `box.py`, the default; `bfs.py`, `flash.py`, with
  `flash_published.py` for the order of its papers; `exhaustive.py`, the oracle of the tests.
- From the literature: `ola.py`, `best_first.py`, `priority_path.py`.
- Baselines without a proof: `datafly.py`, `igreedy.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shoal.events import Progress
    from shoal.search.incumbent import Limits
    from shoal.search.problem import Problem


class Strategy(Protocol):
    """A way to search: it yields events and never prints; a caller may stop it at any event.

    Its bound is never above the least loss of any node. It ends with `Proved` only if no node loses
    less than its best; a strategy that cannot know that ends with `Incumbent.concluded`.
    """

    @property
    def name(self) -> str:
        """Its name in definitions and results."""

    def search(self, problem: Problem, limits: Limits) -> Iterator[Progress]:
        """Yields progress, each improvement, and at last Proved or Stopped."""
