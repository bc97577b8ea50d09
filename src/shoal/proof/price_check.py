"""Are prices of records a lower bound for every local recoding of a source?

`prices.py` has the argument and a check that visits every node in plain Python. Here the same is
checked on large tables, list by list: tuples that agree in the attributes fixed so far. A list is
left where its `k` records of the highest price less cost sum to at most 0: with more attributes
fixed, lists only shrink and costs only rise. Costs are rounded down to whole numbers from exact
fractions, so prices that pass here are a bound.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from shoal.loss.base import CellLoss
from shoal.privacy.delta_disclosure import DeltaDisclosure
from shoal.privacy.distinct_diversity import DistinctDiversity
from shoal.privacy.entropy_diversity import EntropyDiversity
from shoal.privacy.k_anonymity import KAnonymity
from shoal.privacy.recursive_diversity import RecursiveDiversity
from shoal.proof.price_file import UNIT
from shoal.values import Finding

if TYPE_CHECKING:
    from shoal.proof.instance import Instance
    from shoal.proof.price_file import PriceClaim
    from shoal.values import Ints

ROUNDING = 1e-11
"""Relative tolerance where stated floats are compared with those computed here."""

MOST_ENTRIES = 4_000_000
"""Tuples of lists that are looked at together."""

MOST_VISITED = 4 * 10**9
"""Tuples of lists that are looked at in all. Prices for which that is not enough are refused."""


@dataclass(frozen=True, eq=False)
class PricedColumn:
    """An attribute: `groups[i]` and `costs[i]` by code, for each level that is allowed."""

    groups: tuple[Ints, ...]
    costs: tuple[Ints, ...]
    codes: Ints


@dataclass(frozen=True, eq=False)
class _Lists:
    """Lists of tuples: of each entry the list, the tuple, and its price less what it costs."""

    number: Ints
    tuples: Ints
    over: Ints


def check_price_claim(instance: Instance, claim: PriceClaim) -> list[Finding]:
    """Whether the scale of the prices, the prices and the bound are right."""
    findings = [_scale(instance, claim)]
    if findings[0].holds:
        findings.append(_prices(instance, claim))
    if all(each.holds for each in findings):
        findings.append(_bound(instance, claim))
    return findings


def _scale(instance: Instance, claim: PriceClaim) -> Finding:
    """Whether no attribute counts more in a price than it does in the loss."""
    name = "prices: scale"
    if not isinstance(instance.loss, CellLoss):
        return Finding(name, False, "the loss does not charge cells")
    most = _most_counted(instance, claim.loss)
    if len(claim.shares) != len(most) or min(claim.shares, default=-1) < 0 or claim.factor < 0:
        return Finding(name, False, "not a share for each attribute")
    if any(
        share * claim.factor > counted * (1 + ROUNDING)
        for share, counted in zip(claim.shares, most, strict=True)
    ):
        return Finding(name, False, "an attribute counts more than in the loss")
    return Finding(name, True, f"{len(most)} attributes count no more than in the loss")


def _most_counted(instance: Instance, loss: float) -> list[float]:
    """How much the loss of each attribute counts at most.

    The geometric join is bounded by a sum. Let L be the loss of an attribute of priority p, at most
    U in a recoding that loses at most `loss`. The logarithm is concave, so
    log(1 + p L) >= L * log(1 + p U) / U. No recoding loses more than the highest priority.
    """
    priorities = [attribute.levels.priority for attribute in instance.rows.attributes]
    if instance.aggregate != "geometric":
        return [priority / sum(priorities) for priority in priorities]
    loss, count, found = min(loss, max(priorities)), len(priorities), []
    for priority in priorities:
        most = 1.0
        if priority > 0:
            most = min(1.0, max(((1 + loss) ** count - 1) / priority, 1e-6))
        found.append(math.log1p(priority * most) / most / count)
    return found


def _prices(instance: Instance, claim: PriceClaim) -> Finding:
    """Whether no label has `k` records that are priced above what they cost there."""
    name, least = "prices: labels", least_size(instance)
    columns, weights = _tuples(instance, claim.shares)
    if len(weights) != len(claim.prices):
        return Finding(name, False, f"{len(claim.prices):,} prices of {len(weights):,} tuples")
    highest = math.floor(UNIT * sum(map(Fraction, claim.shares)))
    if claim.prices.min() < 0 or claim.prices.max() > highest:
        return Finding(name, False, "a price is below 0 or above that of a suppressed record")
    try:
        too_high = priced_too_high(columns, weights, claim.prices, least)
    except TooManyLabelsError:
        return Finding(name, False, f"not checked: more than {MOST_VISITED:,} tuples of labels")
    if too_high:
        return Finding(name, False, f"{least} records of a label are priced above their cost")
    return Finding(name, True, f"no {least} records of a label are priced above their cost")


def _bound(instance: Instance, claim: PriceClaim) -> Finding:
    """Whether the prices sum to the bound.

    The sum for the geometric join is below the loss of those recodings alone that lose at most what
    the proof says of the best known one. All others lose more than that.
    """
    _, weights = _tuples(instance, claim.shares)
    found = claim.factor * int(claim.prices @ weights) / (UNIT * instance.rows.records)
    if instance.aggregate == "geometric":
        found = min(math.expm1(found), claim.loss)
    holds = claim.bound <= found * (1 + ROUNDING)
    return Finding("prices: bound", holds, f"every local recoding loses at least {found:.6g}")


def least_size(instance: Instance) -> int:
    """The fewest records that a class can have: `k`, or as many as it needs different values."""
    sizes = [1]
    for model in instance.models:
        if isinstance(model, KAnonymity):
            sizes.append(model.k)
        if isinstance(model, DistinctDiversity | RecursiveDiversity):
            sizes.append(model.l)
        if isinstance(model, EntropyDiversity):
            sizes.append(math.ceil(model.l - 1e-9))
        if isinstance(model, DeltaDisclosure):
            counts = instance.rows.sensitive[model.attribute].reference.counts
            sizes.append(int(np.count_nonzero(counts)))
    return max(sizes)


def _tuples(instance: Instance, shares: Sequence[float]) -> tuple[list[PricedColumn], Ints]:
    """The distinct tuples by rising codes, as columns, and the records of each."""
    attributes = instance.rows.attributes
    codes = np.stack([attribute.codes for attribute in attributes])
    distinct, of = np.unique(codes, axis=1, return_inverse=True)
    weights = np.bincount(of.reshape(-1), weights=instance.rows.weights).astype(np.int64)
    columns = []
    for j, attribute in enumerate(attributes):
        levels = range(attribute.levels.lowest, attribute.levels.limit + 1)
        share = Fraction(shares[j])
        costs = tuple(
            np.array([math.floor(UNIT * share * Fraction(cost)) for cost in each.tolist()])
            for each in (instance.cell_costs[j][level] for level in levels)
        )
        columns.append(PricedColumn(tuple(attribute.groups[x] for x in levels), costs, distinct[j]))
    return sorted(columns, key=_rise), weights


def _rise(column: PricedColumn) -> float:
    """Attributes come first whose first generalisation costs most: then lists end early."""
    return -float(column.costs[min(1, len(column.costs) - 1)][column.codes].mean())


class TooManyLabelsError(Exception):
    """Prices cannot be checked: there is too much to look at."""


def priced_too_high(
    columns: Sequence[PricedColumn], weights: Ints, prices: Ints, k: int, most: int = MOST_VISITED
) -> bool:
    """Whether `k` records of a label are priced in sum above what they cost there."""
    every = np.arange(len(weights))
    check = _Check(weights, k, most)
    return check.too_high(columns, _Lists(np.zeros_like(every), every, prices))


@dataclass(eq=False)
class _Check:
    """A check that ends when it has looked at too many tuples of lists."""

    weights: Ints
    k: int
    most: int
    visited: int = 0

    def too_high(self, columns: Sequence[PricedColumn], lists: _Lists) -> bool:
        """Whether `k` records of a label under these lists are priced too high.

        At a level a list can have the same tuples as at the level below. They cost no less there.
        """
        self.visited += len(lists.number)
        if self.visited > self.most:
            raise TooManyLabelsError
        lists = _above(lists, self.weights, self.k)
        if len(lists.number) == 0:
            return False
        if not columns:
            return True
        for part in _parts(lists):
            before = np.zeros(len(part.number), np.int64)
            for groups, costs in zip(columns[0].groups, columns[0].costs, strict=True):
                codes = columns[0].codes[part.tuples]
                key = part.number * (int(groups.max()) + 1) + groups[codes]
                numbers = np.unique(key, return_inverse=True)[1].reshape(-1)
                lengths = np.bincount(numbers)[numbers]
                wider, before = lengths != before, lengths
                paid = part.over - costs[codes]
                inner = _Lists(numbers[wider], part.tuples[wider], paid[wider])
                if self.too_high(columns[1:], inner):
                    return True
        return False


def _above(lists: _Lists, weights: Ints, k: int) -> _Lists:
    """The lists with `k` records that are priced in sum above what they cost so far."""
    order = np.lexsort((-lists.over, lists.number))
    number, over = lists.number[order], lists.over[order]
    first = np.flatnonzero(np.diff(number, prepend=-1))
    records = np.minimum(weights[lists.tuples[order]], k)
    until = np.cumsum(records)
    lengths = np.diff(np.append(first, len(number)))
    start = np.repeat(until[first] - records[first], lengths)
    taken = np.clip(k - (until - records - start), 0, records)
    sums = np.add.reduceat(taken * over, first) if len(first) else np.zeros(0)
    enough = np.add.reduceat(taken, first) == k if len(first) else np.zeros(0, np.bool_)
    chosen = order[np.repeat((sums > 0) & enough, lengths)]
    return _Lists(lists.number[chosen], lists.tuples[chosen], lists.over[chosen])


def _parts(lists: _Lists) -> Iterator[_Lists]:
    """The lists in parts of not too many entries; their numbers rise and are renumbered."""
    numbers = np.unique(lists.number, return_inverse=True)[1].reshape(-1)
    first = np.flatnonzero(np.diff(numbers, prepend=-1))
    part_of = (first // MOST_ENTRIES)[numbers]
    for part in np.unique(part_of).tolist():
        chosen = part_of == part
        yield _Lists(numbers[chosen], lists.tuples[chosen], lists.over[chosen])
