"""Compiled: diving, neighbours and branching where each attribute has a cost of its own (cuts.py).

by_cells.py has the same for class losses.
"""

from __future__ import annotations

import numpy as np

from shoal.search.cuts import at_least, charge_fixed, due_at
from shoal.search.kernels import inlined
from shoal.search.memory import FIRST_CHILD
from shoal.search.owed import price_levels
from shoal.search.tightening import add, lower


@inlined
def dive_by_attributes(state, depth):  # type: ignore[no-untyped-def]
    """Lower `hi` by one level at a time, where most cost is saved for each record dropped.

    Every step makes a candidate. A level that saves nothing, such as one with the groups of the
    level above, is taken last, since levels below it may save something. Stale prices are lower
    bounds of what is dropped and paid, so if the attribute that saves most has a fresh price, it
    saves most of all.
    """
    frame, lo, hi, saves = state.frames[depth], state.lo[depth], state.hi[depth], state.score
    charge_fixed(state, depth)
    for j in range(len(hi)):
        saves[j] = 0.0
    while state.shared[1] == 0:
        by, most = len(hi), -1.0
        for j in range(len(hi)):
            if saves[j] >= 0.0 and hi[j] > state.bottom[j]:
                saves[j] = at_least(state, depth, j, hi[j]) - at_least(state, depth, j, hi[j] - 1)
                rate = saves[j] / (1 + state.dropped[depth, j, hi[j] - 1])
                if saves[j] >= 0.0 and rate > most:
                    by, most = j, rate
        if by == len(hi):
            return
        if not state.fresh[depth, by]:
            lo[by] = hi[by] - 1
            price_levels(state, depth, by, state.values)
            lo[by] = state.bottom[by]
            if frame.removed + state.dropped[depth, by, hi[by] - 1] > state.limit:
                saves[by] = -1.0
            continue
        for j in range(len(hi)):
            state.high[j] = hi[j] - (j == by)
        if not lower(state, depth):
            return
        charge_fixed(state, depth)


@inlined
def neighbours_by_attributes(state, depth):  # type: ignore[no-untyped-def]
    """Make candidates of the node `hi` and of the safe nodes one level below it.

    With all attributes fixed but one, what a level of it
    drops costs exactly what the bounds say, since the fixed attributes are charged too.
    """
    frame, lo, hi, cost = state.frames[depth], state.lo[depth], state.hi[depth], 0.0
    for j in range(len(hi)):
        lo[j] = hi[j]
        cost += at_least(state, depth, j, hi[j])
    add(state, hi, cost, frame.removed)
    for j in range(len(hi)):
        if hi[j] > state.bottom[j]:
            lo[j] = hi[j] - 1
            charge_fixed(state, depth)
            price_levels(state, depth, j, state.values)
            removed = frame.removed + state.dropped[depth, j, lo[j]]
            if removed <= state.limit:
                own = at_least(state, depth, j, lo[j]) + due_at(state, depth, j, lo[j])
                add(state, lo, cost - at_least(state, depth, j, hi[j]) + own, removed)
            lo[j] = hi[j]


@inlined
def branch_by_attributes(state, depth):  # type: ignore[no-untyped-def]
    """Choose the attribute to branch on, and which child comes first: that of its least cost.

    Each child has a bound of its own: the least costs of the other attributes, and that of this one
    among the levels of the child.
    """
    frame, j, others, below = state.frames[depth], state.lo.shape[1] - 1, 0.0, np.inf
    for i in range(j, -1, -1):
        others += state.least[i]
        if state.score[i] >= state.score[j]:
            j = i
    others -= state.least[j]
    lo, hi = state.lo[depth, j], state.hi[depth, j]
    for level in range(lo, hi):
        own = at_least(state, depth, j, level) + due_at(state, depth, j, level)
        below = min(below, own)
    frame.attribute, frame.status = j, FIRST_CHILD
    frame.bound_at = max(frame.bound, others + at_least(state, depth, j, hi))
    frame.bound_below = max(frame.bound, others + below)
    frame.below_first = frame.bound_below <= frame.bound_at
