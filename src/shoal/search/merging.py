"""Compiled: merge tuples in deep boxes that no remaining level separates."""

from __future__ import annotations

from numba import int64, uint32, uint64

from shoal.search.kernels import compiled, inlined
from shoal.search.memory import COMPRESS_AT, WORK

EXACT = 1.8e19
"""Keys are exact when there are fewer of them: they fit into 64 bits."""


@inlined
def compress(state, depth):  # type: ignore[no-untyped-def]
    """Merge tuples when far fewer combinations can differ than before."""
    ratio = 1.0
    for j in range(state.lo.shape[1]):
        now = state.groups[j, state.lo[depth, j]]
        ratio *= state.groups[j, state.distinct_from[depth, j]] / now
    if ratio < COMPRESS_AT:
        return
    frame = state.frames[depth]
    state.done[WORK] += 20 * frame.tuples
    radix = keys(state, depth)
    kept = _merge(state, depth, radix < EXACT)
    for n in range(kept):
        at = frame.at_class + state.chosen[n]
        state.class_of[frame.end_class + n] = state.class_of[at]
    for j in range(state.lo.shape[1]):
        was, becomes = state.codes[j, frame.first :], state.codes[j, frame.end :]
        for n in range(kept):
            becomes[n] = was[state.chosen[n]]
        state.distinct_from[depth, j] = state.lo[depth, j]
    frame.first, frame.at_class, frame.tuples = frame.end, frame.end_class, kept
    frame.end += kept
    frame.end_class += kept


@compiled
def keys(state, depth):  # type: ignore[no-untyped-def]
    """A key for each tuple: its class and its groups at `lo` as the digits of a number.

    `multiplier` is the factor of the digit of an attribute. Returns how many keys there can be; if
    that is not below `EXACT`, a key is only a hash.
    """
    frame, keys, multiplier = state.frames[depth], state.keys, state.multiplier
    radix, factor = float(frame.classes + 1), uint64(frame.classes + 1)
    for t in range(frame.tuples):
        keys[t] = uint64(state.class_of[frame.at_class + t])
    for j in range(state.lo.shape[1]):
        level = state.lo[depth, j]
        multiplier[j] = factor
        if level < state.hi[depth, j]:
            group = state.group[j, level]
            column = state.codes[j, frame.first : frame.first + frame.tuples]
            for t in range(len(column)):
                keys[t] += uint64(group[column[t]]) * factor
            factor *= uint64(state.groups[j, level])
            radix *= state.groups[j, level]
    return radix


@inlined
def _merge(state, depth, exact):  # type: ignore[no-untyped-def]
    """Keep the first tuple of each key, with the weights and masks of all; how many are kept.

    Removed tuples are left out. A merged tuple has the codes of its first one, which have the same
    groups; where keys are not `exact`, equal ones are compared digit by digit.
    """
    frame, demands = state.frames[depth], len(state.least_values)
    by_persons = len(state.assigned) > 0
    first, to, kept = frame.first, frame.end, 0
    class_of = state.class_of[frame.at_class : frame.at_class + frame.tuples]
    keys, kept_keys, slots, chosen = state.keys, state.kept_keys, state.slots, state.chosen
    weights, masks = state.weights, state.masks
    size = uint64(4)
    while size < uint64(2 * frame.tuples):
        size *= uint64(2)
    for at in range(size):
        slots[at] = -1
    for t in range(len(class_of)):
        if class_of[t] == 0:
            continue
        key = keys[t]
        at = ((key * uint64(0x9E3779B97F4A7C15)) >> uint64(20)) & (size - uint64(1))
        while True:
            found = slots[at]
            if found < 0:
                slots[at] = kept
                kept_keys[kept] = key
                chosen[kept] = uint32(t)
                weights[to + kept] = weights[first + t]
                if by_persons:
                    state.assigned[to + kept] = state.assigned[first + t]
                    state.head[to + kept] = state.head[first + t]
                    state.tail[to + kept] = state.tail[first + t]
                for s in range(demands):
                    masks[s, to + kept] = masks[s, first + t]
                kept += 1
                break
            if kept_keys[found] == key and (
                exact or same(state, depth, t, int64(chosen[found]), len(state.multiplier))
            ):
                weights[to + found] += weights[first + t]
                if by_persons:
                    state.assigned[to + found] += state.assigned[first + t]
                    state.link[state.tail[to + found]] = state.head[first + t]
                    state.tail[to + found] = state.tail[first + t]
                for s in range(demands):
                    masks[s, to + found] |= masks[s, first + t]
                break
            at = (at + uint64(1)) & (size - uint64(1))
    return kept


@compiled
def same(state, depth, one, other, skipped):  # type: ignore[no-untyped-def]
    """Whether two tuples are in one class and have the same groups where an attribute is not fixed.

    Attribute `skipped` is not compared.
    """
    frame = state.frames[depth]
    if state.class_of[frame.at_class + one] != state.class_of[frame.at_class + other]:
        return False
    for j in range(state.lo.shape[1]):
        level = state.lo[depth, j]
        if level < state.hi[depth, j] and j != skipped:
            group, column = state.group[j, level], state.codes[j, frame.first :]
            if group[column[one]] != group[column[other]]:
                return False
    return True
