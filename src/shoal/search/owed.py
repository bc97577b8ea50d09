"""Compiled: records that the classes of a box owe by their sensitive values.

Sizes and masks (kernels.py) say whether a class is removed whole. Models of sensitive values say
how many records of it are removed, however it is split, but not which (removal.py). So such a class
is kept, and the records that it *owes* are counted:

1. At `hi` class `C` owes `r(C)` records. All nodes of the box remove as many of it, and each costs
   an attribute at least its charge in the group of `C` at `hi`, since charges never rise with the
   level. That is `owed`, a part of what every attribute costs at `hi`.
2. With attribute `j` at level `l` the classes of `hi`, lowered to `l` in `j`, owe records, which
   are in `dropped`, `extra` and `due`, like the records of classes that are removed whole. Below
   `hi` the larger of the two counts.

A class that owes anything is suppressed whole at `hi` itself: that decides what `hi` costs. For
problems without models of sensitive values, `values` is None, and Numba compiles nothing of it.
"""

from __future__ import annotations

import numpy as np

from shoal.search.cells import cost_of_classes
from shoal.search.kernels import compiled, price_levels_by_size
from shoal.search.memory import WORK
from shoal.search.persons import price_levels_by_persons
from shoal.search.removal import removal
from shoal.search.sparse import arrange, price_levels_by_class, tally_fits


@compiled
def price_levels(state, depth, j, values):  # type: ignore[no-untyped-def]
    """What each level of attribute `j` from `lo` up to below `hi` would drop and cost."""
    if values is None:
        if not tally_fits(state, state.frames[depth], j, state.lo[depth, j]):
            price_levels_by_class(state, depth, j)
        elif len(state.assigned) > 0:
            price_levels_by_persons(state, depth, j)
        else:
            price_levels_by_size(state, depth, j)
    else:
        _price_levels_by_values(state, depth, j, values)


@compiled
def count_owed(state, depth, values):  # type: ignore[no-untyped-def]
    """Count what the classes of `hi` owe; whether that is within the limit."""
    if values is None:
        return True
    frame, hi = state.frames[depth], state.hi[depth]
    values.arranged[1] += 1
    frame.serial, frame.owes, frame.failing = values.arranged[1], 0, 0
    for j in range(len(hi)):
        state.owed[depth, j], values.failed[j] = 0.0, 0.0
    _arrange(state, frame, values)
    for c in range(1, frame.classes + 1):
        size = _tally_class(state, values, c)
        least = removal(values, state.k, 0, size)
        if least > 0:
            frame.owes += least
            frame.failing += size
            sample = state.sample[frame.at_sample + c]
            for j in range(len(hi)):
                charge = state.charge[j, hi[j], state.group[j, hi[j], sample[j]]]
                state.owed[depth, j] += least * charge
                values.failed[j] += size * charge
    return frame.removed + frame.owes <= state.limit


@compiled
def cost_of_top(state, depth, values, class_loss):  # type: ignore[no-untyped-def]
    """What `hi` costs, where all classes that owe anything are suppressed."""
    if class_loss is not None:
        return cost_of_classes(state, depth, class_loss)
    total = 0.0
    for j in range(state.hi.shape[1]):
        level = state.hi[depth, j]
        cost = state.base[j, level] + state.paid[depth, j, level]
        if values is not None:
            cost += values.failed[j]
        total += np.log1p(state.priority[j] * cost) if state.geometric else cost
    return total


@compiled
def _arrange(state, frame, values):  # type: ignore[no-untyped-def]
    """Order the tuples by their classes, unless they are."""
    if values.arranged[0] == frame.serial:
        return
    values.arranged[0] = frame.serial
    arrange(state, frame, values.begins, values.order)


@compiled
def _tally_class(state, values, c):  # type: ignore[no-untyped-def]
    """Tally the values of a class in the first row; its records."""
    tally, size = values.tally, 0
    for v in range(values.last.max()):
        tally[v] = 0
    for at in range(values.begins[c], values.begins[c + 1]):
        t = values.order[at]
        size += state.weights[t]
        for i in range(values.starts[t], values.starts[t + 1]):
            tally[values.value[i]] += values.counted[i]
    return size


@compiled
def _price_levels_by_values(state, depth, j, values):  # type: ignore[no-untyped-def]
    """The same as `price_levels_by_size`, for classes that may owe records."""
    frame, bottom, top = state.frames[depth], state.lo[depth, j], state.hi[depth, j]
    dropped, extra, due = state.dropped[depth, j], state.extra[depth, j], state.due[depth, j]
    _arrange(state, frame, values)
    state.done[WORK] += 8 * (frame.tuples + frame.classes)
    for level in range(bottom, top):
        dropped[level], extra[level], due[level] = 0, 0.0, 0.0
        for g in range(state.groups[j, level]):
            state.lost[level, g] = 0
    for g in range(len(values.sizes)):
        values.sizes[g] = 0
    for c in range(1, frame.classes + 1):
        side, touched = 0, _tally_groups(state, values, c, j, bottom)
        for level in range(bottom, top):
            if level > bottom:
                touched = _merge_groups(state, values, j, level, side, touched)
                side = 1 - side
            lost = _owe(state, values, level, side, touched)
            dropped[level] += lost
            due[level] += lost * state.fixed[c]
            if lost == 0:
                break
        _forget(values, side, touched)
    already = 0.0
    for i in range(state.lo.shape[1]):
        if state.lo[depth, i] == state.hi[depth, i]:
            already += state.owed[depth, i]
    for level in range(bottom, top):
        due[level] = max(due[level] - already, 0.0)
        for g in range(state.groups[j, level]):
            extra[level] += state.lost[level, g] * state.charge[j, level, g]
    state.fresh[depth, j] = True


@compiled
def _tally_groups(state, values, c, j, level):  # type: ignore[no-untyped-def]
    """Tally the values of a class by the groups of an attribute; how many groups it has."""
    group, column = state.group[j, level], state.codes[j]
    tally, sizes, touched = values.tally, values.sizes, values.touched
    width, found = values.last.max(), 0
    for at in range(values.begins[c], values.begins[c + 1]):
        t = values.order[at]
        g = int(group[column[t]])
        if sizes[g] == 0:
            touched[found] = g
            found += 1
            for v in range(g * width, (g + 1) * width):
                tally[v] = 0
        sizes[g] += state.weights[t]
        for i in range(values.starts[t], values.starts[t + 1]):
            tally[g * width + values.value[i]] += values.counted[i]
    return found


@compiled
def _merge_groups(state, values, j, level, side, touched):  # type: ignore[no-untyped-def]
    """Add the groups of a class up to those of the next level, in the other half; how many."""
    half, width, found = len(values.sizes) // 2, values.last.max(), 0
    here, there = side * half, (1 - side) * half
    for n in range(touched):
        g = values.touched[here + n]
        parent = int(state.group[j, level, state.member[j, level - 1, g]])
        was, becomes = (here + g) * width, (there + parent) * width
        if values.sizes[there + parent] == 0:
            values.touched[there + found] = parent
            found += 1
            for v in range(width):
                values.tally[becomes + v] = 0
        values.sizes[there + parent] += values.sizes[here + g]
        values.sizes[here + g] = 0
        for v in range(width):
            values.tally[becomes + v] += values.tally[was + v]
    return found


@compiled
def _owe(state, values, level, side, touched):  # type: ignore[no-untyped-def]
    """The records that the groups of a class owe, added by group."""
    half, width, total = len(values.sizes) // 2, values.last.max(), 0
    for n in range(touched):
        g = values.touched[side * half + n]
        at = side * half + g
        least = removal(values, state.k, at * width, values.sizes[at])
        state.lost[level, g] += least
        total += least
    return total


@compiled
def _forget(values, side, touched):  # type: ignore[no-untyped-def]
    """Reset the sizes for the next class."""
    half = len(values.sizes) // 2
    for n in range(touched):
        values.sizes[side * half + values.touched[side * half + n]] = 0
