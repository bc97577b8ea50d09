"""Compiled: tightening, branching, diving and neighbours for class losses (cells.py).

The same steps as for other losses, whose bound is a sum over attributes. A class loss has no such
sum: the bound of a box is counted again, and once more for every attribute that could stay at `hi`.
"""

from __future__ import annotations

from shoal.search.cells import cost_below, cost_of_classes, count_cells, factor_of, least
from shoal.search.cuts import COST_TOLERANCE
from shoal.search.kernels import compiled, inlined
from shoal.search.memory import FIRST_CHILD
from shoal.search.merging import EXACT, keys
from shoal.search.notes import BOUND, SINGLE, note, note_levels
from shoal.search.owed import price_levels
from shoal.search.tightening import add, lower, raise_lowest


@compiled
def tighten_by_cells(state, depth, class_loss):  # type: ignore[no-untyped-def]
    """Price levels, cut and lower until nothing changes; whether the box is closed."""
    lo, hi, low, high = state.lo[depth], state.hi[depth], state.low, state.high
    while True:
        for j in range(len(lo)):
            if lo[j] < hi[j] and not state.fresh[depth, j]:
                price_levels(state, depth, j, state.values)
                raise_lowest(state, depth, j)
            low[j], high[j] = lo[j], hi[j]
        best = min(state.best[0], state.shared[0])
        if _cut(state, depth, best + COST_TOLERANCE * max(1.0, best), class_loss):
            return True
        single, rises, falls = True, False, False
        for j in range(len(lo)):
            rises |= low[j] > lo[j]
            falls |= high[j] < hi[j]
            lo[j] = low[j]
            single &= lo[j] == hi[j]
        if falls:
            if not lower(state, depth):
                return True
        elif not rises:
            if single:
                note(state, SINGLE, lo, hi)
            return single


@inlined
def _cut(state, depth, best, class_loss):  # type: ignore[no-untyped-def]
    """Cut off levels between `low` and `high` whose bound is above the best; whether none is left.

    `score` and `least` become the bounds of the box where an attribute stays at `hi`, and where it
    is lower.
    """
    frame, low, high = state.frames[depth], state.low, state.high
    m, exact, gone = len(low), keys(state, depth) < EXACT, frame.removed
    cells, squares, largest = count_cells(state, depth, m, exact)
    factor = factor_of(class_loss, low)
    total = least(class_loss, factor, cells, squares, largest, gone, frame.owes)
    if total > best:
        note(state, BOUND, low, high)
        return True
    frame.bound = max(frame.bound, total)
    for j in range(m):
        top = high[j]
        if low[j] == top:
            continue
        for level in range(low[j], top):
            more = max(frame.owes, state.dropped[depth, j, level])
            state.least[j] = least(class_loss, factor, cells, squares, largest, gone, more)
            if level == low[j] and state.least[j] > best:
                note_levels(state, BOUND, low, high, j, level, level)
                low[j] += 1
        fewer, sums, widest = count_cells(state, depth, j, exact)
        risen = factor + class_loss.share[j, top] - class_loss.share[j, state.lo[depth, j]]
        state.score[j] = least(class_loss, risen, fewer, sums, widest, gone, frame.owes)
        if state.score[j] > best:
            note_levels(state, BOUND, low, high, j, top, top)
            high[j] -= 1
        if low[j] > high[j]:
            return True
    return False


@compiled
def branch_by_cells(state, depth):  # type: ignore[no-untyped-def]
    """Choose the attribute whose children have the highest bounds; the lower bound comes first."""
    frame, lo, hi, by, most = state.frames[depth], state.lo[depth], state.hi[depth], 0, -1.0
    for j in range(len(lo)):
        if lo[j] < hi[j]:
            stays, below = state.score[j] - frame.bound, state.least[j] - frame.bound
            score = (stays + COST_TOLERANCE) * (below + COST_TOLERANCE)
            if score > most:
                by, most = j, score
    frame.attribute, frame.status = by, FIRST_CHILD
    frame.bound_at = max(frame.bound, state.score[by])
    frame.bound_below = max(frame.bound, state.least[by])
    frame.below_first = frame.bound_below <= frame.bound_at


@compiled
def dive_by_cells(state, depth, class_loss):  # type: ignore[no-untyped-def]
    """Lower `hi` by one level at a time, where that costs least, while the cost does not rise."""
    frame, hi = state.frames[depth], state.hi[depth]
    while state.shared[1] == 0:
        by, lowest = len(hi), cost_of_classes(state, depth, class_loss)
        for j in range(len(hi)):
            if hi[j] > state.bottom[j]:
                cost, dropped = cost_below(state, depth, j, class_loss)
                if frame.removed + dropped <= state.limit and cost <= lowest:
                    by, lowest = j, cost
        if by == len(hi):
            return
        for j in range(len(hi)):
            state.high[j] = hi[j] - (j == by)
        if not lower(state, depth):
            return


@compiled
def neighbours_by_cells(state, depth, class_loss):  # type: ignore[no-untyped-def]
    """Make candidates of the node `hi` and of the safe nodes one level below it."""
    frame, lo, hi = state.frames[depth], state.lo[depth], state.hi[depth]
    for j in range(len(hi)):
        lo[j] = hi[j]
    add(state, hi, cost_of_classes(state, depth, class_loss), frame.removed)
    for j in range(len(hi)):
        if hi[j] > state.bottom[j]:
            cost, dropped = cost_below(state, depth, j, class_loss)
            if frame.removed + dropped <= state.limit:
                lo[j] = hi[j] - 1
                add(state, lo, cost, frame.removed + dropped)
                lo[j] = hi[j]
