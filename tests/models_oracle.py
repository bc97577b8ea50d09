"""Privacy models in plain Python, on one class at a time: lists of values, nothing clever."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

Values = Sequence[int]
Judge = Callable[[Values, Values], bool]


def distinct(l: int) -> Judge:
    return lambda values, table: len(set(values)) >= l


def entropy(l: float) -> Judge:
    def judge(values: Values, table: Values) -> bool:
        counts = [n for _, n in sorted(Counter(values).items())]
        weighted = sum(n * math.log(n) for n in counts)
        return bool(values) and math.log(len(values)) - weighted / len(values) >= math.log(l)

    return judge


def recursive(c: Fraction, l: int) -> Judge:
    def judge(values: Values, table: Values) -> bool:
        counts = sorted(Counter(values).values(), reverse=True)
        return bool(counts) and counts[0] < c * sum(counts[l - 1 :])

    return judge


def shares(values: Values, domain: int) -> list[Fraction]:
    counted = Counter(values)
    return [Fraction(counted[value], len(values)) for value in range(domain)]


def equal_distance(p: list[Fraction], q: list[Fraction]) -> Fraction:
    return sum((abs(a - b) for a, b in zip(p, q, strict=True)), Fraction(0)) / 2


def ordered_distance(p: list[Fraction], q: list[Fraction]) -> Fraction:
    running, moved = Fraction(0), Fraction(0)
    for a, b in zip(p, q, strict=True):
        running += a - b
        moved += abs(running)
    return moved / max(len(p) - 1, 1)


def tree_distance(levels: Sequence[Sequence[int]]) -> Callable[..., Fraction]:
    """The cheapest transport, found greedily from the lowest common ancestors upwards."""

    def distance(p: list[Fraction], q: list[Fraction]) -> Fraction:
        surplus = [a - b for a, b in zip(p, q, strict=True)]
        cost, top = Fraction(0), len(levels) - 1
        for height in range(1, top + 1):
            for i, j in itertools.permutations(range(len(p)), 2):
                if levels[height][i] == levels[height][j] and surplus[i] > 0 > surplus[j]:
                    moved = min(surplus[i], -surplus[j])
                    surplus[i] -= moved
                    surplus[j] += moved
                    cost += moved * Fraction(height, top)
        return cost

    return distance


def closeness(t: Fraction, domain: int, distance: Callable[..., Fraction]) -> Judge:
    return lambda values, table: (
        bool(values) and (distance(shares(values, domain), shares(table, domain)) <= t)
    )


def alpha(limit: Fraction) -> Judge:
    return lambda values, table: (
        bool(values) and (max(Counter(values).values()) <= limit * len(values))
    )


def beta(limit: Fraction, domain: int, enhanced: bool) -> Judge:
    def judge(values: Values, table: Values) -> bool:
        for q, p in zip(shares(values, domain), shares(table, domain), strict=True):
            allowed = min(float(limit), -math.log(p)) if enhanced and p else float(limit)
            if p and float((q - p) / p) > allowed + 1e-9:
                return False
        return True

    return lambda values, table: bool(values) and judge(values, table)


def delta(limit: float, domain: int) -> Judge:
    def judge(values: Values, table: Values) -> bool:
        for q, p in zip(shares(values, domain), shares(table, domain), strict=True):
            if p and (q == 0 or abs(math.log(q / p)) >= limit - 1e-9):
                return False
        return True

    return lambda values, table: bool(values) and judge(values, table)


def sub_multisets(values: Values) -> Iterator[list[int]]:
    """Every non-empty part of a class, as a multiset."""
    counted = sorted(Counter(values).items())
    for counts in itertools.product(*(range(count + 1) for _, count in counted)):
        part = [v for (v, _), n in zip(counted, counts, strict=True) for _ in range(n)]
        if part:
            yield part


def least_removal(values: Values, table: Values, judge: Judge) -> int:
    """The fewest records to take away so that the rest satisfies; all when nothing does."""
    kept = [len(part) for part in sub_multisets(values) if judge(part, table)]
    return len(values) - max(kept, default=0)
