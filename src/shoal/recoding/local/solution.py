"""A local recoding: classes of tuples, each with its own levels; what it costs, and whether it is
safe by the models themselves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from shoal.encode.rows import number_rows
from shoal.privacy.base import released
from shoal.search.objective import CellObjective
from shoal.search.problem import counts_of, select
from shoal.values import Best

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from shoal.encode.table import Table
    from shoal.search.problem import Problem
    from shoal.values import Counts, Ints, Node

SUPPRESSED = -1
"""The class of a tuple that is not released."""


@dataclass(frozen=True, eq=False)
class Recoding:
    """The class of each tuple, `SUPPRESSED` for none, and the levels of each class.

    Classes are numbered by rising levels and labels. Different classes have different labels in
    some attribute, and all tuples of a class have the same label in every one.
    """

    class_of: Ints
    levels: NDArray[np.int64]

    @property
    def classes(self) -> int:
        return len(self.levels)

    def levels_of_tuples(self, j: int) -> Ints:
        """The level of attribute `j` for each tuple that is released."""
        found: Ints = self.levels[self.class_of[self.class_of != SUPPRESSED], j]
        return found


@dataclass(frozen=True)
class FullDomain:
    """What the full-domain search said beside a local one.

    No node loses less than `bound`. `loss` is that of the best node that it found; None where the
    bound alone said that the local recoding is better.
    """

    bound: float
    loss: float | None


@dataclass(frozen=True, eq=False)
class PricedBound:
    """Prices of records that prove a bound for every local recoding (bound.py).

    `by_tuple` has the price of a record of each tuple, in units. The price is in the `shares` of
    the attributes, which the bound multiplies by `factor`; both may rely on the `known` loss of a
    recoding that was found.
    """

    bound: float
    known: float
    shares: tuple[float, ...]
    factor: float
    by_tuple: Ints


@dataclass(frozen=True)
class LocalBest(Best):
    """A safe local recoding and what it costs; it has no node.

    That of the last event has `full_domain` and `prices`, unless a limit ended the search before.
    """

    recoding: Recoding
    full_domain: FullDomain | None = None
    prices: PricedBound | None = None

    @property
    def rank(self) -> tuple[float, int, Node]:
        """Least loss, then fewest suppressed records."""
        return (round(self.loss, 12), self.suppressed, ())


def recoding_of(table: Table, group_of: Ints, levels: NDArray[np.uint8]) -> Recoding:
    """Groups as classes: those with the same labels become one.

    `group_of` is 0 or less for suppressed tuples; `levels[g]` are the levels of a group. A group
    above the limit of an attribute has no label there: its tuples are suppressed.
    """
    limits = np.array([attribute.limit for attribute in table.attributes])
    kept = np.flatnonzero((group_of > 0) & (levels[group_of] <= limits).all(axis=1))
    class_of = np.full(len(group_of), SUPPRESSED, np.int64)
    if len(kept) == 0:
        return Recoding(class_of, np.zeros((0, len(table.attributes)), np.int64))
    level = levels[group_of[kept]].astype(np.int64)
    columns, sizes = [], []
    for j, attribute in enumerate(table.attributes):
        label = np.zeros(len(kept), np.int64)
        for each in np.unique(level[:, j]):
            chosen = level[:, j] == each
            label[chosen] = attribute.groups[each][table.codes[j][kept[chosen]]]
        columns += [level[:, j], label]
        sizes += [attribute.height + 1, len(attribute.groups[0]) + 1]
    numbers, classes = number_rows(columns, sizes)
    class_of[kept] = numbers
    found = np.zeros((classes, len(table.attributes)), np.int64)
    found[numbers] = level
    return Recoding(class_of, found)


def without(recoding: Recoding, dropped: NDArray[np.bool_]) -> Recoding:
    """The same with some classes suppressed."""
    number = np.append(np.cumsum(~dropped) - 1, SUPPRESSED)
    number[:-1][dropped] = SUPPRESSED
    return Recoding(number[recoding.class_of], recoding.levels[~dropped])


def counts_of_classes(table: Table, recoding: Recoding) -> Counts:
    """What the classes hold."""
    last = recoding.classes
    class_of = np.where(recoding.class_of == SUPPRESSED, last, recoding.class_of)
    counts = counts_of(table, class_of, last + 1)
    return select(counts, np.arange(last + 1) < last)


def attribute_losses(problem: Problem, recoding: Recoding) -> list[float]:
    """What each attribute lost: kept cells pay their cost, suppressed ones 1, on average."""
    table, objective = problem.table, problem.objective
    assert isinstance(objective, CellObjective)  # noqa: S101
    kept = np.flatnonzero(recoding.class_of != SUPPRESSED)
    weights = table.weights[kept].astype(np.float64)
    suppressed, losses = table.records - float(weights.sum()), []
    for j in range(len(table.attributes)):
        level, codes = recoding.levels_of_tuples(j), table.codes[j][kept]
        cost = 0.0
        for each in np.unique(level):
            chosen = level == each
            cost += float(weights[chosen] @ objective.costs[j][each][codes[chosen]])
        losses.append((cost + suppressed) / table.records)
    return losses


def judge(problem: Problem, recoding: Recoding) -> LocalBest | None:
    """What a recoding costs; None if it is not safe within the suppression limit.

    Classes that a model refuses are suppressed. A recoding that keeps no record is none.
    """
    counts = counts_of_classes(problem.table, recoding)
    kept = released(problem.models, counts)
    if not kept.all():
        recoding = without(recoding, ~kept)
    sizes = counts.sizes[kept]
    suppressed = problem.table.records - int(sizes.sum())
    if suppressed > problem.limit or len(sizes) == 0:
        return None
    loss = join(problem, attribute_losses(problem, recoding))
    return LocalBest((), loss, suppressed, len(sizes), int(sizes.min()), recoding)


def unsafe_tuples(problem: Problem, recoding: Recoding) -> Ints:
    """The tuples of the classes that a model refuses."""
    refused = ~released(problem.models, counts_of_classes(problem.table, recoding))
    found: Ints = np.flatnonzero(np.append(refused, False)[recoding.class_of])
    return found


def join(problem: Problem, losses: Sequence[float]) -> float:
    """The loss from those of the attributes, as for a node."""
    objective = problem.objective
    assert isinstance(objective, CellObjective)  # noqa: S101
    return objective.join(losses)
