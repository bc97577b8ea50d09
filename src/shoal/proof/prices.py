"""Check that prices of records bound the loss of every local recoding: plain Python, exact.

Every record has a price. A class of a local recoding has at least `k` records with the same label.
Suppose that under every label no `k` records are priced in sum above what they cost there. Take
the records of a class by falling price less cost. The first `k` sum to at most 0. So the last of
them is at most 0, and so are all that follow: the class costs at least its prices. A suppressed
record costs 1 in every attribute, which no price may exceed. So the prices of all records are a
lower bound.

Nothing here is shared with the code that finds the prices. Numbers are fractions.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class Column:
    """A quasi-identifier: `groups[level][code]` is a label, `costs[level][code]` what it costs.

    It may have the levels from `lowest` to `limit`. Its costs count `share` in those of a record.
    """

    groups: Sequence[Sequence[int]]
    costs: Sequence[Sequence[Fraction]]
    lowest: int
    limit: int
    share: Fraction


@dataclass(frozen=True)
class Violation:
    """Why prices are no bound: `tuples` that are priced too high, at these levels.

    Without levels a single price is below 0 or above what a suppressed record costs.
    """

    levels: tuple[int, ...] | None
    tuples: tuple[int, ...]


def check_prices(
    columns: Sequence[Column],
    tuples: Sequence[Sequence[int]],
    weights: Sequence[int],
    prices: Sequence[Fraction],
    k: int,
) -> Violation | None:
    """The first violation, None if the prices are a bound.

    `tuples[t][j]` is the code of column `j`; tuple `t` stands for `weights[t]` records, each at
    `prices[t]`.
    """
    most = sum((column.share for column in columns), Fraction(0))
    for t, price in enumerate(prices):
        if not 0 <= price <= most:
            return Violation(None, (t,))
    for levels in itertools.product(*(range(c.lowest, c.limit + 1) for c in columns)):
        labels: dict[tuple[int, ...], list[int]] = {}
        for t, codes in enumerate(tuples):
            label = tuple(
                column.groups[level][code]
                for column, level, code in zip(columns, levels, codes, strict=True)
            )
            labels.setdefault(label, []).append(t)
        for members in labels.values():
            over = {t: prices[t] - _cost(columns, levels, tuples[t]) for t in members}
            if _highest(over, weights, k) > 0:
                return Violation(levels, tuple(members))
    return None


def _cost(columns: Sequence[Column], levels: Sequence[int], codes: Sequence[int]) -> Fraction:
    """What a record costs at these levels."""
    cells = zip(columns, levels, codes, strict=True)
    return sum((c.share * c.costs[level][code] for c, level, code in cells), Fraction(0))


def _highest(over: dict[int, Fraction], weights: Sequence[int], k: int) -> Fraction:
    """The sum over the `k` records with the highest numbers; 0 if there are fewer records."""
    total, left = Fraction(0), k
    for t in sorted(over, key=lambda each: -over[each]):
        taken = min(weights[t], left)
        total += taken * over[t]
        left -= taken
    return total if left == 0 else Fraction(0)
