"""Fewer tuples for boxes deep in the search: those that no level left tells apart become one."""

from __future__ import annotations

from numba import int64, uint32, uint64

from shoal.search.kernels import part, step
from shoal.search.memory import COMPRESS_AT, WORK

EXACT = 1.8e19
"""Keys are exact when there are fewer of them: they fit into 64 bits."""


@step
def compress(state, depth):  # type: ignore[no-untyped-def]
    """Merge tuples when far fewer combinations can be told apart than before."""
    ratio = 1.0
    for j in range(state.lo.shape[1]):
        now = state.groups[j, state.lo[depth, j]]
        ratio *= state.groups[j, state.told[depth, j]] / now
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
        state.told[depth, j] = state.lo[depth, j]
    frame.first, frame.at_class, frame.tuples = frame.end, frame.end_class, kept
    frame.end += kept
    frame.end_class += kept


@part
def keys(state, depth):  # type: ignore[no-untyped-def]
    """A key for each tuple: its class and its groups at `lo` as the digits of a number.

    `place` is what the digit of an attribute is multiplied by. Returns how many keys there can be;
    where that is not less than `EXACT` a key is only a hash.
    """
    frame, keys, place = state.frames[depth], state.keys, state.place
    radix, factor = float(frame.classes + 1), uint64(frame.classes + 1)
    for t in range(frame.tuples):
        keys[t] = uint64(state.class_of[frame.at_class + t])
    for j in range(state.lo.shape[1]):
        level = state.lo[depth, j]
        place[j] = factor
        if level < state.hi[depth, j]:
            group = state.group[j, level]
            column = state.codes[j, frame.first : frame.first + frame.tuples]
            for t in range(len(column)):
                keys[t] += uint64(group[column[t]]) * factor
            factor *= uint64(state.groups[j, level])
            radix *= state.groups[j, level]
    return radix


@step
def _merge(state, depth, exact):  # type: ignore[no-untyped-def]
    """Keep the first tuple of each key, with the weights and masks of all; how many are kept.

    Removed tuples are left out. A tuple stands for those merged into it with its own codes, which
    have the same groups; where keys are not `exact`, equal ones are compared digit by digit.
    """
    frame, demands = state.frames[depth], len(state.least_values)
    by_persons = len(state.homes) > 0
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
                    state.homes[to + kept] = state.homes[first + t]
                    state.head[to + kept] = state.head[first + t]
                    state.tail[to + kept] = state.tail[first + t]
                for s in range(demands):
                    masks[s, to + kept] = masks[s, first + t]
                kept += 1
                break
            if kept_keys[found] == key and (
                exact or same(state, depth, t, int64(chosen[found]), len(state.place))
            ):
                weights[to + found] += weights[first + t]
                if by_persons:
                    state.homes[to + found] += state.homes[first + t]
                    state.link[state.tail[to + found]] = state.head[first + t]
                    state.tail[to + found] = state.tail[first + t]
                for s in range(demands):
                    masks[s, to + found] |= masks[s, first + t]
                break
            at = (at + uint64(1)) & (size - uint64(1))
    return kept


@part
def same(state, depth, one, other, but):  # type: ignore[no-untyped-def]
    """Whether two tuples are in one class and have the same groups wherever levels are left.

    Attribute `but` is not looked at.
    """
    frame = state.frames[depth]
    if state.class_of[frame.at_class + one] != state.class_of[frame.at_class + other]:
        return False
    for j in range(state.lo.shape[1]):
        level = state.lo[depth, j]
        if level < state.hi[depth, j] and j != but:
            group, column = state.group[j, level], state.codes[j, frame.first :]
            if group[column[one]] != group[column[other]]:
                return False
    return True
