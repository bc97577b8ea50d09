"""The compiled bounds of a box: what each level costs at least, and which levels that cuts off."""

from __future__ import annotations

import numpy as np

from shoal.search.kernels import compiled, inlined
from shoal.search.notes import BOUND, note, note_levels

COST_TOLERANCE = 1e-10
"""Tolerance when costs are compared, relative where they are above 1: rounding closes no box."""

TIE = 1e-13
"""Costs that differ by less are equal, and removed records decide. Equal costs can differ by more,
since they are summed in another order; then an exact check decides."""


@compiled
def charge_fixed(state, depth):  # type: ignore[no-untyped-def]
    """What a dropped record of each class costs the attributes whose level is fixed."""
    frame, lo, hi = state.frames[depth], state.lo[depth], state.hi[depth]
    fixed = state.fixed
    for c in range(frame.classes + 1):
        fixed[c] = 0.0
    for j in range(len(lo)):
        if lo[j] == hi[j]:
            group, extra = state.group[j, hi[j]], state.charge[j, hi[j]]
            sample = state.sample[frame.at_sample :, j]
            for c in range(1, frame.classes + 1):
                fixed[c] += extra[group[sample[c]]]


@compiled
def at_least(state, depth, j, level):  # type: ignore[no-untyped-def]
    """The least that attribute `j` at a level adds to the cost of a node of a box."""
    cost, more = state.base[j, level] + state.paid[depth, j, level], state.owed[depth, j]
    if level < state.hi[depth, j]:
        more = max(more, state.extra[depth, j, level])
    cost += more
    return np.log1p(state.priority[j] * cost) if state.geometric else cost


@compiled
def due_at(state, depth, j, level):  # type: ignore[no-untyped-def]
    """What the drops of attribute `j` at a level cost the fixed ones; add it for one `j` only."""
    if state.geometric or level == state.hi[depth, j]:
        return 0.0
    return state.due[depth, j, level]


@inlined
def cut(state, depth, best):  # type: ignore[no-untyped-def]
    """Cut off levels whose bound is above the best cost, until none is left to cut.

    `low` and `high` become the lowest and highest levels left, and `score` of each attribute says
    how much pricing it or branching on it may gain: the cost at `hi` above the least, times what
    one level below drops. Returns whether the box is closed.
    """
    lo, hi = state.lo[depth], state.hi[depth]
    low, high, least, score = state.low, state.high, state.least, state.score
    for j in range(len(lo)):
        low[j], high[j] = lo[j], hi[j]
    changed = True
    while changed:
        total, bonus, by = _bound(state, depth)
        if total > best + COST_TOLERANCE:
            note(state, BOUND, low, high)
            return True
        if total + bonus > best + COST_TOLERANCE:
            # One note per level: at each the dropped records are removed, and pay everywhere.
            for level in range(low[by], high[by] + 1):
                note_levels(state, BOUND, low, high, by, level, level)
            return True
        changed = False
        for j in range(len(lo)):
            others = total - least[j]
            for side in range(2):
                while low[j] <= high[j]:
                    level = low[j] if side == 0 else high[j]
                    own = at_least(state, depth, j, level)
                    own += due_at(state, depth, j, level)
                    if others + own <= best + COST_TOLERANCE:
                        break
                    note_levels(state, BOUND, low, high, j, level, level)
                    low[j] += 1 - side
                    high[j] -= side
                    changed = True
            if low[j] > high[j]:
                return True
    for j in range(len(lo)):
        score[j] = -1.0
        if low[j] < high[j]:
            stay = at_least(state, depth, j, hi[j])
            score[j] = (stay - least[j]) * (state.dropped[depth, j, hi[j] - 1] + 1)
    state.frames[depth].bound = max(state.frames[depth].bound, total + bonus)
    return False


@inlined
def _bound(state, depth):  # type: ignore[no-untyped-def]
    """The sum of the `least` costs of all attributes, the largest due, and whose it is."""
    low, high = state.low, state.high
    total, bonus, by = 0.0, 0.0, len(low)
    for j in range(len(low)):
        alone, more = np.inf, np.inf
        for level in range(low[j], high[j] + 1):
            cost = at_least(state, depth, j, level)
            alone = min(alone, cost)
            more = min(more, cost + due_at(state, depth, j, level))
        state.least[j] = alone
        total += alone
        if more - alone > bonus:
            bonus, by = more - alone, j
    return total, bonus, by
