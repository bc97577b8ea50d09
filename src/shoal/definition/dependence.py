"""Whether records that share a value of one column are alike in another, beyond chance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

UNLIKE = 0.2
"""Records are alike when they differ at most in this share of the cases they would by chance."""
SPREAD = 0.25
"""And when there are at most so many more pairs with another column than values, as a share."""
ENOUGH = 20
"""So many cases there must be by chance before anything is concluded."""


def alike(
    first: Iterable[int], second: Iterable[int], distinct_pairs: Callable[[int], int]
) -> bool:
    """Whether records with the same value of the first column mostly have one of the second.

    Both columns are given as the records of each of their values. `distinct_pairs` counts distinct
    pairs of the two, or returns one more than its limit.

    If the columns had nothing to do with each other, n records with one value would have
    sum(1 - (1 - p) ** n) different ones of the second column, over its shares p.
    """
    sizes, others = Counter(first), Counter(second)
    values, records = sizes.total(), sum(size * number for size, number in others.items())
    chance = sum(
        number * many * (1 - (1 - count / records) ** size)
        for size, number in sizes.items()
        for count, many in others.items()
    )
    by_chance = chance - values
    most = values + int(min(UNLIKE * by_chance, SPREAD * values))
    return by_chance >= ENOUGH and distinct_pairs(most) <= most
