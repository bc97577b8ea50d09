"""The searches of the pruning paper's experiments, each run once and shared by the scripts.

Adult with its nine columns, as in the paper, and the first 3 to 16 columns of mach2019 in place of
the paper's survey table, which is not public. k = 5, 5 % suppression, Iyengar's loss, one thread.
Lattices that no method can search in time are searched until the limit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, TypeAlias
from unittest.mock import patch

from benchmarks.seeds.searching import Search, watch

from benchmarks import box
from shoal.search.antichain import Antichain, Direction
from shoal.search.strategies.bfs import BranchAndBound
from shoal.search.strategies.box import BoxSearch
from shoal.search.strategies.flash import Flash
from shoal.search.strategies.igreedy import IGreedy

if TYPE_CHECKING:
    from shoal.search.problem import Problem
    from shoal.search.strategies import Strategy
    from shoal.values import Node

ADULT, MACH = "adult", "mach2019"
LIMIT, LARGE_LIMIT, QUICK_LIMIT = 60.0, 8.0, 1.0
LARGE = 10
"""From so many attributes on a search may take less time: Flash and bfs cannot prove anything."""

STRATEGIES: Mapping[str, Callable[[], Strategy]] = {
    "flash": Flash,
    "bfs": BranchAndBound,
    "box": BoxSearch,
    "igreedy": IGreedy,
}
Operation: TypeAlias = "tuple[Direction, bool, Node]"
"""What was asked of which antichain: whether to insert, else to look up, and which node."""


@dataclass(frozen=True)
class Watched:
    """A search, and all it asked of the antichains of its pruning."""

    search: Search
    operations: tuple[Operation, ...]


def sizes(quick: bool) -> range:
    """How many columns of mach2019 are quasi-identifiers."""
    return range(3, 6) if quick else range(3, 17)


def limit_of(size: int, quick: bool) -> float:
    """The most seconds of one search."""
    if quick:
        return QUICK_LIMIT
    return LIMIT if size < LARGE else LARGE_LIMIT


@cache
def problem(data: str, size: int) -> Problem:
    """The first columns of a table as quasi-identifiers."""
    return box.Case(data, size).problem()


@cache
def warm() -> float:
    """Load the compiled kernels of the box search, once."""
    return box.warm_up()


@cache
def searched(strategy: str, data: str, size: int, quick: bool) -> Watched:
    """One search, until its proof or its limit."""
    made = STRATEGIES[strategy]()
    if strategy == "box" and not quick:
        warm()
        made = BoxSearch()
    with recorded() as operations:
        found = watch(made, problem(data, size), limit_of(size, quick))
    return Watched(found, tuple(operations))


@contextmanager
def recorded() -> Iterator[list[Operation]]:
    """What searches ask of the antichains of their pruning, in its order.

    An insert that changes nothing, since the node was covered, is not among it.
    """
    operations: list[Operation] = []

    class Recorder(Antichain):
        def insert(self, node: Node) -> None:
            before = self.statistics.inserts
            super().insert(node)
            if self.statistics.inserts > before:
                operations.append((self.direction, True, node))

        def covers(self, node: Node) -> bool:
            operations.append((self.direction, False, node))
            return super().covers(node)

    with patch("shoal.search.pruning.Antichain", Recorder):
        yield operations
