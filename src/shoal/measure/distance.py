"""How far the sensitive values of a class lie from those of the table: earth mover's distances.

Each function takes the table once and returns the distance of a class. Sums are whole numbers and
are divided at the end, so they are exact. A class without values, or with a value that the table
lacks, is infinitely far.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, TypeAlias

from shoal.errors import BadHierarchy

if TYPE_CHECKING:
    from shoal.measure.classes import Values

Distance: TypeAlias = "Callable[[Values], float]"

Ancestors: TypeAlias = Mapping[str, Sequence[str]]
"""The labels of each value at every level of a hierarchy, from level 0 up."""

NAMED = 10
"""How many values that a hierarchy lacks are named."""


def equal(table: Values) -> Distance:
    """All values are 1 apart: half the sum of |p - q|."""
    total = sum(table.values())

    def distance(values: Values) -> float:
        records = sum(values.values())
        if not records or not values.keys() <= table.keys():
            return math.inf
        return _difference(values, table, records, total) / (2 * records * total)

    return distance


def ordered(table: Values) -> Distance:
    """Values on a line, neighbours 1/(m-1) apart: the sum over i of |P_i - Q_i| over m - 1.

    P and Q are cumulated shares. Between two values of a class P is constant while Q rises, so
    P - Q changes its sign at most once: with prefix sums of Q, each interval between two values
    costs one bisection.
    """
    order = sorted(table, key=natural_order)
    rank = {value: i for i, value in enumerate(order)}
    cumulated = list(accumulate(table[value] for value in order))
    summed = [0, *accumulate(cumulated)]
    steps, total = max(len(order) - 1, 1), sum(table.values())

    def interval(start: int, end: int, level: int, records: int) -> int:
        """The sum of |level - records * cumulated[i]| from start up to end."""
        turn = bisect_left(cumulated, -(-level // records), start, end)
        before = (turn - start) * level - records * (summed[turn] - summed[start])
        after = records * (summed[end] - summed[turn]) - (end - turn) * level
        return before + after

    def distance(values: Values) -> float:
        records = sum(values.values())
        if not records or not values.keys() <= table.keys():
            return math.inf
        moved = below = start = 0
        for end, count in [*sorted((rank[v], n) for v, n in values.items()), (len(order), 0)]:
            moved += interval(start, end, below * total, records)
            start, below = end, below + count
        return moved / (steps * records * total)

    return distance


def hierarchical(table: Values, ancestors: Ancestors) -> Distance:
    """Values in a tree of height H: two whose lowest common ancestor has height h are h/H apart.

    That is the length of their path when each edge has length 1/(2H), and on a tree the earth
    mover's distance is the sum over edges of length times |p - q| of the values below. So it is the
    mean, over the levels below the root, of the equal distance between labels. Missing is a child
    of the root. Where the table has several labels at the last level, a root is added.
    """
    lacking = sorted(value for value in table if value is not None and value not in ancestors)
    if lacking:
        named = ", ".join(
            f"{value!r} ({table[value]:,} record{'' if table[value] == 1 else 's'})"
            for value in lacking[:NAMED]
        )
        more = f" and {len(lacking) - NAMED} more" if len(lacking) > NAMED else ""
        raise BadHierarchy(
            f"{len(lacking)} of {len(table)} values are not in the hierarchy: {named}{more}",
            code="uncovered-value",
            hint="add a row for each: value;level 1;...;top",
        )
    height = max(map(len, ancestors.values()), default=1) - 1
    tops = {labels[-1] for labels in ancestors.values()}
    single = tops.pop() if len(tops) == 1 else None

    def label(value: str | None, level: int) -> str | None:
        if value is None:
            return single if level == height else None
        return ancestors[value][level]

    def at(level: int, values: Values) -> dict[str | None, int]:
        counts: dict[str | None, int] = {}
        for value, count in values.items():
            name = label(value, level)
            counts[name] = counts.get(name, 0) + count
        return counts

    levels = [at(level, table) for level in range(height + 1)]
    edges = levels if len(levels[-1]) > 1 else levels[:-1]
    total = sum(table.values())

    def distance(values: Values) -> float:
        records = sum(values.values())
        if not records or not values.keys() <= table.keys():
            return math.inf
        apart = sum(
            _difference(at(i, values), edge, records, total) for i, edge in enumerate(edges)
        )
        return apart / (2 * records * total * max(len(edges), 1))

    return distance


def distance_of(kind: str, table: Values, ancestors: Ancestors | None) -> Distance:
    """The distance of this kind from a table; the hierarchical one needs the tree of values."""
    if kind == "hierarchical":
        return hierarchical(table, ancestors or {})
    return {"equal": equal, "ordered": ordered}[kind](table)


def natural_order(value: str | None) -> tuple[int, float, str]:
    """Numbers by size before text by code point, missing last; `nan` is text."""
    if value is None:
        return (2, 0.0, "")
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    return (1, 0.0, value) if math.isnan(number) else (0, number, value)


def _difference(values: Values, table: Values, records: int, total: int) -> int:
    """The sum of |p - q| times records and total; what the class lacks adds its q."""
    differing = sum(abs(n * total - table[value] * records) for value, n in values.items())
    lacking = total - sum(table[value] for value in values)
    return differing + lacking * records
