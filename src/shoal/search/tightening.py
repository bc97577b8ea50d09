"""Compiled: shrink a box by lower bounds of the cost of its nodes.

A *box* is the set of nodes between `lo` and `hi`. The classes of every node of the box are parts of
those of `hi`, so what is removed at `hi` is removed at every node:

1. Records removed at `hi` are removed in the whole box. Above the limit, the box is empty.
2. Let attribute `j` be at level `l`. The classes of `hi`, lowered to `l` in `j`, that fail are
   dropped at every node of the box with that level. So attribute `j` adds at least `g(j, l)`, its
   base and what removed and dropped records pay above that, and a node costs at least the sum over
   the attributes of the least `g(j, l)` among the levels left to them.
3. Records dropped by `(j, l)` also pay for the attributes whose level is fixed, which nothing in 2
   has charged for. This `due(j, l)` may be added for one attribute.

Levels whose bound is above the best cost are cut off at either end. Each time `hi` falls the
classes split, more records are removed, and all bounds rise: often the box closes without
branching. What is known of a box (dropped, extra, due) stays a lower bound in every box inside it,
so only attributes that were not priced since `hi` fell are counted again, the highest score first.

With the geometric aggregate the cost of a node is the sum of log(1 + priority * loss) over the
attributes, which rises with each of them, so 2 holds unchanged; 3 adds costs of different
attributes and is left out.
"""

from __future__ import annotations

from shoal.search.cuts import COST_TOLERANCE, TIE, charge_fixed, cut
from shoal.search.kernels import compiled, inlined
from shoal.search.memory import FOUND
from shoal.search.notes import INFEASIBLE, SINGLE, note, note_levels
from shoal.search.owed import cost_of_top, count_owed, price_levels
from shoal.search.splitting import split


@inlined
def tighten(state, depth):  # type: ignore[no-untyped-def]
    """Cut, price levels and lower until nothing changes; whether the box is closed."""
    lo, hi, low, high = state.lo[depth], state.hi[depth], state.low, state.high
    charged = False
    while True:
        if cut(state, depth, min(state.best[0], state.shared[0])):
            return True
        j, falls, single = len(lo), False, True
        for i in range(len(lo)):
            lo[i] = low[i]
            falls |= high[i] < hi[i]
            single &= lo[i] == hi[i]
            stale = state.score[i] >= 0.0 and not state.fresh[depth, i]
            if stale and (j == len(lo) or state.score[i] > state.score[j]):
                j = i
        if falls:
            if not lower(state, depth):
                return True
            charged = False
        elif j < len(lo):
            if not charged:
                charge_fixed(state, depth)
                charged = True
            price_levels(state, depth, j, state.values)
            raise_lowest(state, depth, j)
        else:
            if single:
                note(state, SINGLE, lo, hi)
            return single


@inlined
def raise_lowest(state, depth, j):  # type: ignore[no-untyped-def]
    """Raise `lo` in attribute `j` above the levels that drop more than the limit allows."""
    lo, hi, frame = state.lo[depth], state.hi[depth], state.frames[depth]
    level = lo[j]
    while level < hi[j] and frame.removed + state.dropped[depth, j, level] > state.limit:
        level += 1
    if level > lo[j]:
        note_levels(state, INFEASIBLE, lo, hi, j, lo[j], level - 1)
        lo[j] = level


@compiled
def lower(state, depth):  # type: ignore[no-untyped-def]
    """Lower `hi` to `high`, first where most is dropped; whether the box is not empty."""
    lo, hi, high, falls = state.lo[depth], state.hi[depth], state.high, state.falls
    for j in range(len(hi)):
        falls[j] = high[j] < hi[j]
        hi[j] = high[j]
    while True:
        most, by = -1, len(hi)
        for j in range(len(hi)):
            if falls[j] and state.dropped[depth, j, hi[j]] > most:
                most, by = state.dropped[depth, j, hi[j]], j
        if by == len(hi):
            break
        falls[by] = False
        if not split(state, depth, by):
            note(state, INFEASIBLE, lo, hi)
            return False
    if not count_owed(state, depth, state.values):
        note(state, INFEASIBLE, lo, hi)
        return False
    _offer(state, depth)
    return True


@inlined
def _offer(state, depth):  # type: ignore[no-untyped-def]
    """Make `hi` a candidate unless it is worse than the best, ties by removed records.

    When costs are exact the best cost falls at once for all threads.
    """
    frame, best = state.frames[depth], state.best
    cost = cost_of_top(state, depth, state.values, state.class_loss)
    removed = frame.removed + frame.failing
    if removed > state.limit:
        return
    known = min(best[0], state.shared[0])
    if cost > known + COST_TOLERANCE * max(1.0, known):
        return
    if cost >= best[0] - TIE and removed > best[1]:
        return
    if state.exact:
        if cost <= best[0] + TIE:
            best[1] = removed
        best[0] = min(cost, best[0])
        state.shared[0] = min(state.shared[0], cost)
    add(state, state.hi[depth], cost, removed)


@compiled
def add(state, node, cost, removed):  # type: ignore[no-untyped-def]
    """Add a candidate."""
    at = state.done[FOUND]
    state.costs[at], state.removed[at] = cost, removed
    for j in range(len(node)):
        state.nodes[at, j] = node[j]
    state.done[FOUND] = at + 1
