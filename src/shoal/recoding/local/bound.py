"""A lower bound of the loss of every local recoding, from whole costs of records.

The costs of a record add up over the attributes where these are joined by their mean. The
geometric join is not a sum; it is bounded by one. Let L be the loss of an attribute of priority p,
which is at most U in any recoding that is as good as the best known. The logarithm is concave, so
log(1 + p L) >= L * log(1 + p U) / U, and exp(sum / m) - 1 is at most the loss.
"""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from shoal.recoding.local.labels import Labels, work
from shoal.recoding.local.prepare import UNIT, costs_of
from shoal.recoding.local.prices import GIVEN_UP, VISITED, Prices
from shoal.recoding.local.records import Records
from shoal.recoding.local.solution import SUPPRESSED, PricedBound
from shoal.search.objective import CellObjective

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from shoal.recoding.local.prepare import Prepared
    from shoal.recoding.local.solution import Recoding
    from shoal.values import Ints

    Floats = NDArray[np.float64]

ROUNDING = 1e-12
"""Bounds are lowered by this share: sums and powers of floats have rounding errors."""

LEAST_SLOPE_AT = 1e-6
"""Chords of the logarithm end here at least: a longer chord is a lower bound, too."""

DISTANCES = 1000
"""Distances that are measured for a tuple at most, unless the caller says otherwise."""

FEW_DISTANCES = 200
"""The same for a first bound, where a closer one follows."""

BRANCHES = 300
"""Branches over levels that are followed for a tuple at most, unless the caller says otherwise."""

LABEL_WORK = 5 * 10**9
"""Words that are added up to find near tuples at most, unless the caller says otherwise: three or
four in a nanosecond."""

VISITS = 3 * 10**8
"""Tuples that are visited for one capping of prices at most, unless the caller says otherwise."""

RAISES = tuple(max(0.05, 0.5 * 0.7**i) for i in range(7))
"""How much prices are raised, as a share, before they are capped again."""


@dataclass(frozen=True, eq=False)
class Scale:
    """How much each attribute counts in the cost of a record, in shares, and from cost to loss."""

    shares: Floats
    factor: float
    geometric: bool

    def loss(self, units: int, records: int) -> float:
        """A loss that is at most that of records which cost so many units at least."""
        total = self.factor * units / (UNIT * records) * (1 - ROUNDING)
        return math.expm1(total) * (1 - ROUNDING) if self.geometric else total


def scale_of(objective: CellObjective, best: float) -> Scale:
    """The scale for a bound, where a recoding with the loss `best` is known."""
    priorities = np.array([each.priority for each in objective.table.attributes], np.float64)
    if objective.aggregate != "geometric":
        return Scale(priorities / priorities.sum(), 1.0, geometric=False)
    count = len(priorities)
    most, counts = np.ones(count), priorities > 0
    highest = ((1 + best) ** count - 1) * (1 + ROUNDING) / priorities[counts]
    most[counts] = np.clip(highest, LEAST_SLOPE_AT, 1.0)
    slopes = np.log1p(priorities * most) / most / count
    return Scale(slopes / slopes.sum(), float(slopes.sum()), geometric=True)


def fewest(prepared: Prepared) -> int:
    """The fewest records that a class can have: `k`, or as many as it needs different values.

    Counted in persons, it has at least as many records as persons.
    """
    different = 1 if prepared.values is None else int(prepared.values.different.max())
    return max(prepared.k, different, 1)


@dataclass(eq=False)
class Bound:
    """What records cost at least, improved step by step. `prices` are always a proof."""

    prepared: Prepared
    best: float
    pool: ThreadPoolExecutor
    prices: Ints = field(init=False)
    loss: float = 0.0
    gave_up: bool = False

    def __post_init__(self) -> None:
        objective = self.prepared.problem.objective
        assert isinstance(objective, CellObjective)  # noqa: S101
        self.scale = scale_of(objective, self.best)
        self.costs = costs_of(self.prepared.problem, self.scale.shares, by_label=False)
        self.prices = np.zeros(self.prepared.problem.table.tuples, np.int64)
        self._each = self.prices

    @property
    def work(self) -> int:
        """The words that `by_labels` adds up."""
        return work(self.prepared)

    def _offer(self, prices: Ints) -> None:
        table = self.prepared.problem.table
        loss = self.scale.loss(int(prices @ table.weights), table.records)
        if loss > self.loss:
            self.loss, self.prices = loss, prices

    def priced(self) -> PricedBound:
        """The prices and what they mean."""
        shares = tuple(self.scale.shares.tolist())
        return PricedBound(self.loss, self.best, shares, self.scale.factor, self.prices)

    def by_records(self, distances: int = DISTANCES) -> Iterator[None]:
        """Record by record: always affordable, often half of the loss. What is not done is 0."""
        tree = Records(self.prepared, self.costs, fewest(self.prepared))
        for found in tree.least(distances, self.pool):
            self._each = found
            self._offer(found.copy())
            yield

    def by_labels(
        self, recoding: Recoding, most_work: int = LABEL_WORK, branches: int = BRANCHES
    ) -> Iterator[None]:
        """Record by record, too: the cheapest label that a record shares with enough others.

        It is closer, but takes time by the square of the tuples; nothing where that is too long.
        """
        if self.work > most_work:
            return
        labels = Labels(self.prepared, self.costs, fewest(self.prepared))
        for found in labels.least(self._paid(recoding), branches, self.pool):
            self._offer(np.maximum(self._each, found))
            yield

    def _paid(self, recoding: Recoding) -> Ints:
        """What a record of each tuple costs in a recoding, in these units."""
        table, costs = self.prepared.problem.table, self.costs
        kept = recoding.class_of != SUPPRESSED
        levels = recoding.levels[recoding.class_of[kept]]
        paid = np.full(table.tuples, UNIT, np.int64)
        paid[kept] = sum(
            costs.cost[costs.start[j] + levels[:, j] * costs.codes[j] + table.codes[j][kept]]
            for j in range(len(table.attributes))
        )
        return paid

    def by_prices(self, paid: Ints, visits: int = VISITS) -> Iterator[None]:
        """Prices that start at what records pay now, capped, raised and capped again.

        It ends early where the labels are too many to visit.
        """
        dual = Prices(self.prepared, self.costs, fewest(self.prepared))
        prices = paid
        for raised in RAISES:
            yield from dual.cap(prices, visits, self.pool)
            prices = dual.capped
            self._offer(prices)
            yield
            self.gave_up = bool(dual.done[GIVEN_UP]) or bool(dual.done[VISITED] > visits)
            if self.gave_up:
                return
            prices = (prices * (1 + raised)).astype(np.int64)
