"""Compiled: how many records of a class are removed at least, for every model of sensitive values.

The same numbers as `least_removal` of the models (privacy/), for one class whose values are
tallied. Sums have another order here, so the tolerances are a little larger than those of the
models: a number is never above theirs. Up to the tolerance it is 0 exactly where the class may be
released.
"""

from __future__ import annotations

import numpy as np

from shoal.search.demands import DIFFERENT, ENTROPY, EQUAL, HIERARCHICAL, ORDERED, RECURSIVE
from shoal.search.kernels import compiled

TOLERANCE, ROUNDING = 2e-9, 1e-12


@compiled
def removal(values, k, at, size):  # type: ignore[no-untyped-def]
    """Records removed however the class is split whose tally of values begins at `at`."""
    if size < k:
        return size
    most = 0
    for d in range(len(values.kind)):
        counts = values.tally[at + values.first[d] : at + values.last[d]]
        records, different = 0, 0
        for count in counts:
            records += count
            different += count > 0
        if records == 0 or different < values.different[d]:
            return size
        kept = _kept(values, d, counts, records)
        if kept < 0:
            return size
        most = max(most, records - kept)
    return most


@compiled
def _kept(values, d, counts, records):  # type: ignore[no-untyped-def]
    """The most records of a class with these values that a demand lets stay; -1 for none."""
    kind, number = values.kind[d], values.number[d]
    if kind == DIFFERENT:
        return records
    if kind == ENTROPY:
        return _entropic(values, counts, records, number)
    if kind == RECURSIVE:
        return _recursive(values, counts, records, number, values.different[d])
    if kind >= EQUAL:
        far = records * (_distance(values, d, counts, records) - number)
        return records - max(int(np.ceil(far - TOLERANCE)), 0)
    return _within_shares(values, d, counts, records)


@compiled
def _entropic(values, counts, records, demand):  # type: ignore[no-untyped-def]
    """Cut the most frequent values down to a common level, as little as the entropy needs."""
    if _entropy(values, counts, records) >= demand:
        return records
    low, high = 1, 0
    for count in counts:
        high = max(high, count)
    while high - low > 1:
        middle = (low + high) // 2
        if _entropy(values, counts, middle) >= demand:
            low = middle
        else:
            high = middle
    left, weight, above = 0, 0.0, 0
    for count in counts:
        cut = min(count, low + 1)
        left += cut
        weight += _times_logarithm(values, cut)
        above += count > low
    step = _times_logarithm(values, low + 1) - _times_logarithm(values, low)
    few, many = 0, above
    while many - few > 1:
        middle = (few + many) // 2
        rest = max(left - middle, 1)
        if np.log(rest) - (weight - middle * step) / rest >= demand:
            many = middle
        else:
            few = middle
    return left - many


@compiled
def _entropy(values, counts, cap):  # type: ignore[no-untyped-def]
    """The entropy of a class whose counts are cut down to a cap."""
    left, weight = 0, 0.0
    for count in counts:
        cut = min(count, cap)
        left += cut
        weight += _times_logarithm(values, cut)
    return np.log(left) - weight / left


@compiled
def _times_logarithm(values, number):  # type: ignore[no-untyped-def]
    """`n * log(n)`, from a table for small numbers."""
    if number < len(values.logarithms):
        return values.logarithms[number]
    return number * np.log(number)


@compiled
def _recursive(values, counts, records, c, rank):  # type: ignore[no-untyped-def]
    """Cut the counts down to the highest level at which the demand holds."""
    ranked, found = values.ranked, 0
    for count in counts:
        if count > 0:
            at = found
            while at > 0 and ranked[at - 1] < count:
                ranked[at] = ranked[at - 1]
                at -= 1
            ranked[at] = count
            found += 1
    if _is_recursive(ranked, found, ranked[0], c, rank):
        return records
    if not _is_recursive(ranked, found, 1, c, rank):
        return -1
    low, high = 1, ranked[0]
    while high - low > 1:
        middle = (low + high) // 2
        if _is_recursive(ranked, found, middle, c, rank):
            low = middle
        else:
            high = middle
    kept = 0
    for i in range(found):
        kept += min(ranked[i], low)
    return kept


@compiled
def _is_recursive(ranked, found, cap, c, rank):  # type: ignore[no-untyped-def]
    """Whether the demand holds for the counts cut down to a cap: top < c * tail."""
    tail = 0
    for i in range(rank - 1, found):
        tail += min(ranked[i], cap)
    return min(ranked[0], cap) < c * tail - ROUNDING


@compiled
def _within_shares(values, d, counts, records):  # type: ignore[no-untyped-def]
    """The largest part in which every share is within its limits, found by bisection."""
    most, least, fits = values.most[d], values.least[d], True
    low, high = 0, records + 1
    for v in range(len(counts)):
        fits &= counts[v] <= most[v] * records + values.number[d] + ROUNDING
        if least[v] > 0.0:
            fits &= counts[v] > least[v] * records
            high = min(high, int(counts[v] / least[v] + TOLERANCE) + 1)
    if fits:
        return records
    while high - low > 1:
        middle, total = (low + high) // 2, 0.0
        for v in range(len(counts)):
            total += min(float(counts[v]), most[v] * middle)
        if total >= middle - TOLERANCE:
            low = middle
        else:
            high = middle
    return low if low > 0 else -1


@compiled
def _distance(values, d, counts, records):  # type: ignore[no-untyped-def]
    """The earth mover's distance from a class to the table, as the demand measures it."""
    kind, shares, total, running = values.kind[d], values.most[d], 0.0, 0.0
    if kind == HIERARCHICAL:
        for height in range(1, values.heights[d]):
            moved = _moved(values, d, counts, records, height)
            total += moved * height / (values.heights[d] - 1)
        return total
    if kind == ORDERED:
        for v in range(len(counts) - 1):
            running += counts[v] / records - shares[v]
            total += abs(running)
        return total / max(len(counts) - 1, 1)
    for v in range(len(counts)):
        total += abs(counts[v] / records - shares[v])
    return total / 2


@compiled
def _moved(values, d, counts, records, height):  # type: ignore[no-untyped-def]
    """What is moved between the children of the nodes at a height of the tree."""
    child, parent = values.ancestor[d, height - 1], values.ancestor[d, height]
    net, over, under = values.nodes
    for v in range(len(counts)):
        net[child[v]], over[parent[v]], under[parent[v]] = 0.0, 0.0, 0.0
    for v in range(len(counts)):
        net[child[v]] += counts[v] / records - values.most[d, v]
    for v in range(len(counts)):
        amount, net[child[v]] = net[child[v]], 0.0
        over[parent[v]] += max(amount, 0.0)
        under[parent[v]] += max(-amount, 0.0)
    moved = 0.0
    for v in range(len(counts)):
        moved += min(over[parent[v]], under[parent[v]])
        over[parent[v]] = 0.0
    return moved
