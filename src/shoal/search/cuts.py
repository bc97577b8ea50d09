"""The compiled bounds of a box: what each level costs at least, and which levels that cuts off."""

from __future__ import annotations

import numpy as np
from numba import njit

SLACK = 1e-10
"""Sums of costs are compared with this much room, so that rounding never closes a box."""


@njit(nogil=True, error_model="numpy", cache=True)
def charge_fixed(tables, rows, scratch, at_sample, classes, lo, hi):  # type: ignore[no-untyped-def]
    """What a dropped record of each class costs the attributes whose level is fixed."""
    for c in range(classes):
        scratch.fixed[c] = 0.0
    for j in range(len(lo)):
        if lo[j] == hi[j]:
            group, extra = tables.group[j, hi[j]], tables.extra[j, hi[j]]
            for c in range(classes):
                scratch.fixed[c] += extra[group[rows.sample[at_sample + c, j]]]


@njit(nogil=True, error_model="numpy", cache=True)
def at_least(base, priority, geometric, paid, extra, hi, j, level):  # type: ignore[no-untyped-def]
    """The least that attribute `j` at a level adds to the cost of a node of a box."""
    cost = base[j, level] + paid[j, level]
    if level < hi[j]:
        cost += extra[j, level]
    return np.log1p(priority[j] * cost) if geometric else cost


@njit(nogil=True, error_model="numpy", cache=True)
def cut(  # type: ignore[no-untyped-def]
    base,
    priority,
    geometric,
    paid,
    extra,
    due,
    dropped,
    lo,
    hi,
    low,
    high,
    promise,
    least,
    best,
    order,
):
    """Cut off levels whose bound is above the best cost, until none is left to cut.

    `low` and `high` become what is left of the levels between `lo` and `hi`, and `order` lists the
    cuts (attribute, level). Returns how many there are, a bound of what is left, and the attribute
    whose `due` is in it, -1 for none; a bound above the best closes the box. `promise` says how
    much each attribute promises to those who look or branch: what staying at `hi` costs over the
    least, times what one level below drops.
    """
    attributes, cuts = len(lo), 0
    for j in range(attributes):
        low[j], high[j] = lo[j], hi[j]
    while True:
        total, bonus, by = 0.0, 0.0, -1
        for j in range(attributes):
            alone, more = np.inf, np.inf
            for level in range(low[j], high[j] + 1):
                cost = at_least(base, priority, geometric, paid, extra, hi, j, level)
                alone = min(alone, cost)
                more = min(more, cost + (due[j, level] if level < hi[j] else 0.0))
            least[j] = alone
            total += alone
            if more - alone > bonus and not geometric:
                bonus, by = more - alone, j
        if total > best + SLACK:
            return cuts, total, -1
        if total + bonus > best + SLACK:
            return cuts, total + bonus, by
        before = cuts
        for j in range(attributes):
            for side in range(2):
                while low[j] <= high[j]:
                    level = low[j] if side == 0 else high[j]
                    bound = (
                        total
                        - least[j]
                        + at_least(base, priority, geometric, paid, extra, hi, j, level)
                    )
                    if level < hi[j] and not geometric:
                        bound += due[j, level]
                    if bound <= best + SLACK:
                        break
                    order[cuts, 0], order[cuts, 1] = j, level
                    cuts += 1
                    low[j] += 1 - side
                    high[j] -= side
            if low[j] > high[j]:
                return cuts, np.inf, -1
        if cuts == before:
            for j in range(attributes):
                promise[j] = -1.0
                if low[j] < high[j]:
                    stay = at_least(base, priority, geometric, paid, extra, hi, j, hi[j])
                    promise[j] = (stay - least[j]) * (dropped[j, hi[j] - 1] + 1)
            return cuts, total + bonus, by
