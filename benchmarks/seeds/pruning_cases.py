"""The searches of the pruning paper's experiments, each run once and shared by the scripts.

Adult with its nine columns and Fars with its eight, as in the paper, and the first 3 to 13 columns
of mach2019 in place of the paper's survey table, which is public, but not among our tables. k = 5,
5 % suppression, one thread; seconds are those of the processor (searching.py). The loss is
Iyengar's with the geometric mean of the attributes: the authors' program
(github.com/arx-deidentifier/pruning-benchmark) says so, the paper does not.

`flash` and `bfs` are searched as published, where the bound of a node is known after its check
only, and once more with the bound known before. What no method can search in time is searched until
the limit.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, TypeAlias
from unittest.mock import patch

from benchmarks.seeds.searching import Search, checks_remembered, watch

from benchmarks import box
from shoal.search.antichain import Antichain, Direction
from shoal.search.objective import CellObjective, objective_of
from shoal.search.pruning import Pruning
from shoal.search.strategies.bfs import BranchAndBound
from shoal.search.strategies.box import BoxSearch
from shoal.search.strategies.flash import Flash
from shoal.search.strategies.flash_published import PublishedFlash
from shoal.search.strategies.igreedy import IGreedy

if TYPE_CHECKING:
    from shoal.search.incumbent import Incumbent
    from shoal.search.problem import Problem
    from shoal.search.strategies import Strategy
    from shoal.values import Node

ADULT, FARS, MACH = "adult", "fars", "mach2019"
PAPER_NAMES = {ADULT: "Adult", FARS: "Fars"}
ALL_COLUMNS = {ADULT: 9, FARS: 8}
LIMIT, LARGE_LIMIT, QUICK_LIMIT = 60.0, 5.0, 1.0
LARGE = 9
"""With so many attributes of mach2019 and more, flash and bfs are left out, since they would take
minutes, and box may take less time."""

FLASH, BFS = "flash, as published", "bfs, as published"
FLASH_BOUND, BFS_BOUND = "flash, bound known before", "bfs, bound known before"
STRATEGIES: Mapping[str, Callable[[], Strategy]] = {
    FLASH: lambda: Flash(published=True),
    BFS: lambda: BranchAndBound(published=True),
    FLASH_BOUND: Flash,
    BFS_BOUND: BranchAndBound,
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
    return range(3, 6) if quick else range(3, 14)


def limit_of(data: str, size: int, quick: bool) -> float:
    """The most seconds of one search."""
    if quick:
        return QUICK_LIMIT
    return LARGE_LIMIT if data == MACH and size >= LARGE else LIMIT


@cache
def problem(data: str, size: int) -> Problem:
    """The first columns of a table as quasi-identifiers."""
    plain = box.Case(data, size).problem()
    if not isinstance(plain.objective, CellObjective):
        raise TypeError("Iyengar's loss is one of cells")
    objective = objective_of(plain.table, plain.objective.loss, "geometric")
    return replace(plain, objective=objective)


@cache
def searched(strategy: str, data: str, size: int, quick: bool) -> Watched:
    """One search, until its proof or its limit."""
    made = STRATEGIES[strategy]()
    with recorded() as operations, checks_remembered():
        found = watch(made, problem(data, size), limit_of(data, size, quick))
    _report(f"{strategy}, {data}, {size} attributes", found)
    return Watched(found, tuple(operations))


@cache
def timed(strategy: str, data: str, size: int, quick: bool) -> Search:
    """The same search, unless it is box, without the time that recording takes."""
    if strategy == "box":
        return searched(strategy, data, size, quick).search
    with checks_remembered():
        found = watch(STRATEGIES[strategy](), problem(data, size), limit_of(data, size, quick))
    _report(f"{strategy}, {data}, {size} attributes", found)
    return found


@cache
def without(store: Direction, strategy: str, data: str, size: int, quick: bool) -> Search:
    """The same search when the antichain of this direction covers nothing.

    `up` is insufficient quality, `down` insufficient protection.
    """

    class Forgetful(Antichain):
        def insert(self, node: Node) -> None:
            if self.direction != store:
                super().insert(node)

    with patch("shoal.search.pruning.Antichain", Forgetful), checks_remembered():
        found = watch(STRATEGIES[strategy](), problem(data, size), limit_of(data, size, quick))
    _report(f"{strategy}, {data}, {size} attributes, no antichain {store}", found)
    return found


def mixed(published_order: bool, bound_before_check: bool, data: str, size: int) -> int:
    """Checks of Flash in one of its two orders, with the bound known before the check or after."""

    class Set(Pruning):
        def __init__(self, problem: Problem, incumbent: Incumbent, **_: bool) -> None:
            super().__init__(problem, incumbent, bound_before_check=bound_before_check)

    with ExitStack() as patches:
        for module in ("flash", "flash_published"):
            patches.enter_context(patch(f"shoal.search.strategies.{module}.Pruning", Set))
        patches.enter_context(checks_remembered())
        return watch(Flash(published=published_order), problem(data, size)).checked


def with_random_ties(seed: int, data: str, size: int) -> int:
    """Checks of Flash as published when nodes with equal criteria come in a random order."""
    chance = random.Random(seed)
    drawn: dict[Node, float] = {}
    original = PublishedFlash._criteria

    def criteria(self: PublishedFlash, node: Node) -> tuple[float, ...]:
        return (*original(self, node), drawn.setdefault(node, chance.random()))

    with patch.object(PublishedFlash, "_criteria", criteria), checks_remembered():
        return watch(Flash(published=True), problem(data, size)).checked


def _report(name: str, search: Search) -> None:
    """Say on standard error that a search is done, since many take a while."""
    ended = "proved" if search.proved else "ended"
    text = f"  {name}: {ended} after {search.looks:,} looks, {search.seconds:.1f} s"
    print(text, file=sys.stderr, flush=True)


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


@contextmanager
def antichains_made_by(make: Callable[[int, Direction], object]) -> Iterator[None]:
    """Searches keep all that is known of nodes in other stores."""
    with ExitStack() as patches:
        for module in ("pruning", "strategies.flash_published"):
            patches.enter_context(patch(f"shoal.search.{module}.Antichain", make))
        yield
