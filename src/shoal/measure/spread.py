"""How diverse the sensitive values of a class are: one number for each privacy model.

Plain Python on dictionaries from values to numbers of records. `values` are those of a class. What
compares a class with the whole table takes the table first, once for all classes. A class without
values, or with one that the table lacks, gets infinity.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from shoal.measure.classes import Values

Measure: TypeAlias = "Callable[[Values], float]"


def entropy(values: Values) -> float:
    """The Shannon entropy in nats; minus infinity for a class without values."""
    records = sum(values.values())
    if not records:
        return -math.inf
    return math.log(records) - sum(n * math.log(n) for n in values.values()) / records


def effective_number(values: Values) -> float:
    """How many values in equal shares have this entropy: the l of entropy diversity."""
    return math.exp(entropy(values))


def top_and_tail(values: Values, l: int) -> tuple[int, int]:
    """The records of the most frequent value, and of all from the l-th on."""
    counts = sorted(values.values(), reverse=True)
    return max(counts, default=0), sum(counts[l - 1 :])


def recursive_ratio(values: Values, l: int) -> float:
    """Top over tail: (c,l)-diversity holds for every c above it."""
    top, tail = top_and_tail(values, l)
    return top / tail if tail else math.inf


def largest_share(values: Values) -> float:
    """The share of the most frequent value: alpha."""
    records = sum(values.values())
    return max(values.values()) / records if records else math.inf


def gain(table: Values) -> Measure:
    """The most that the share of a value grew, relative to its share p in the table: beta."""
    gains = _gains(table)
    return lambda values: max(gains(values).values(), default=math.inf)


def enhanced_gain(table: Values) -> Measure:
    """The same, but infinite where a value gained more than -ln p, which no enhanced beta allows.

    The tolerance is for values that gain exactly so much, such as nothing at p = 1.
    """
    gains, total = _gains(table), sum(table.values())
    most = {value: math.log(total / count) + 1e-9 for value, count in table.items()}

    def measure(values: Values) -> float:
        found = gains(values)
        if any(number > most.get(value, 0.0) for value, number in found.items()):
            return math.inf
        return max(found.values(), default=math.inf)

    return measure


def log_ratio(table: Values) -> Measure:
    """The largest |ln(q / p)| of any value of the table: delta; infinite where the class lacks one.

    A share p of the table has become q in the class.
    """
    total = sum(table.values())

    def measure(values: Values) -> float:
        if values.keys() != table.keys() or not values:
            return math.inf
        records = sum(values.values())
        return max(abs(math.log(n * total / (table[v] * records))) for v, n in values.items())

    return measure


def _gains(table: Values) -> Callable[[Values], dict[str | None, float]]:
    """(q - p) / p of each value of a class, at least 0."""
    total = sum(table.values())

    def gains(values: Values) -> dict[str | None, float]:
        records = sum(values.values())
        return {
            v: max(n * total / (table[v] * records) - 1, 0.0) if v in table else math.inf
            for v, n in values.items()
        }

    return gains
