"""Compiled: lower bounds of a class loss, which depends on class sizes alone.

A *cell* is a class of `lo` within a class of `hi`; those of removed classes do not count. At a node
of the box every class is a union of cells:

1. Records removed at `hi` are removed. Any other record shares its class with at least its cell,
   and there are no more classes than cells.
2. More records are removed since classes owe them (owed.py) or since an attribute at a level drops
   them. Which cells they are in is not known; the bound assumes the largest.
3. With attribute `j` at its level of `hi` the same holds for the cells that this level leaves,
   which are fewer and larger.

The loss is multiplied by a factor that never falls as a level rises (ClassObjective), so the factor
of `lo` bounds it.
"""

from __future__ import annotations

import numpy as np
from numba import int64, uint32, uint64

from shoal.search.class_loss import DISCERNIBILITY
from shoal.search.kernels import compiled, stays, tally
from shoal.search.memory import WORK
from shoal.search.merging import same
from shoal.search.persons import settle


@compiled
def least(class_loss, factor, cells, squares, largest, gone, more):  # type: ignore[no-untyped-def]
    """What classes cost at least that are unions of `cells` cells.

    `squares` is the sum of the squares of their sizes and `largest` the largest of them. `gone`
    records are removed that are in none of them, and `more` that are.
    """
    records = class_loss.records
    if class_loss.kind == DISCERNIBILITY:
        total = squares + records * gone + more * (records - largest)
        return factor * total / (records * records)
    return factor * records / max(min(float(cells), records - gone - more), 1.0)


@compiled
def factor_of(class_loss, node):  # type: ignore[no-untyped-def]
    """What the loss of a node is multiplied by."""
    factor = 1.0
    for j in range(len(node)):
        factor += class_loss.share[j, node[j]]
    return factor


@compiled
def cost_of_classes(state, depth, class_loss):  # type: ignore[no-untyped-def]
    """What `hi` costs: exactly where no class is `failing`, and at least where one is."""
    frame, cell = state.frames[depth], state.counts
    for c in range(frame.classes + 1):
        cell[c] = 0
    for t in range(frame.tuples):
        cell[state.class_of[frame.at_class + t]] += state.weights[frame.first + t]
    squares, largest = 0.0, 0.0
    for c in range(1, frame.classes + 1):
        squares += float(cell[c]) * float(cell[c])
        largest = max(largest, float(cell[c]))
    factor = factor_of(class_loss, state.hi[depth])
    return least(class_loss, factor, frame.classes, squares, largest, frame.removed, frame.failing)


@compiled
def cost_below(state, depth, j, class_loss):  # type: ignore[no-untyped-def]
    """What the node one level below `hi` in attribute `j` costs, and the records dropped for it.

    Both are lower bounds where classes owe records. A node without classes is no solution.
    """
    frame, level = state.frames[depth], state.hi[depth, j] - 1
    tally(state, frame, j, level)
    if len(state.assigned) > 0:
        settle(state, frame, j, level)
    groups = state.groups[j, level]
    cells, classes, squares, dropped = (frame.classes + 1) * groups, 0, 0.0, 0
    state.done[WORK] += frame.tuples + cells
    for at in range(groups, cells):
        size = int64(state.counts[at])
        if stays(state, at, cells):
            classes += 1
            squares += float(size) * float(size)
        else:
            dropped += size
    if classes == 0:
        return np.inf, dropped
    factor = (
        factor_of(class_loss, state.hi[depth])
        + class_loss.share[j, level]
        - class_loss.share[j, level + 1]
    )
    return least(class_loss, factor, classes, squares, 0.0, frame.removed + dropped, 0), dropped


@compiled
def count_cells(state, depth, by, exact):  # type: ignore[no-untyped-def]
    """How many cells there are, the sum of the squares of their sizes, and the largest size.

    Attribute `by` is at `hi`; no attribute is if `by` is their number. `keys` are those of the
    cells of `lo`, from which the digit of `by` is subtracted. Where they are not `exact`, equal
    ones are compared digit by digit.
    """
    frame, m = state.frames[depth], state.lo.shape[1]
    class_of = state.class_of[frame.at_class : frame.at_class + frame.tuples]
    weights, keys, kept_keys = state.weights[frame.first :], state.keys, state.kept_keys
    slots, chosen, cell = state.slots, state.chosen, state.counts
    j = min(by, m - 1)
    group, column = state.group[j, state.lo[depth, j]], state.codes[j, frame.first :]
    multiplier = state.multiplier[j] if by < m else uint64(0)
    size, cells = uint64(4), 0
    while size < uint64(2 * frame.tuples):
        size *= uint64(2)
    for at in range(size):
        slots[at] = -1
    state.done[WORK] += 10 * frame.tuples
    for t in range(len(class_of)):
        if class_of[t] == 0:
            continue
        key = keys[t] - uint64(group[column[t]]) * multiplier
        at = ((key * uint64(0x9E3779B97F4A7C15)) >> uint64(20)) & (size - uint64(1))
        while True:
            found = slots[at]
            if found < 0:
                slots[at] = cells
                kept_keys[cells] = key
                chosen[cells] = uint32(t)
                cell[cells] = weights[t]
                cells += 1
                break
            if kept_keys[found] == key and (
                exact or same(state, depth, t, int64(chosen[found]), by)
            ):
                cell[found] += weights[t]
                break
            at = (at + uint64(1)) & (size - uint64(1))
    squares, largest = 0.0, 0.0
    for n in range(cells):
        squares += float(cell[n]) * float(cell[n])
        largest = max(largest, float(cell[n]))
    return cells, squares, largest
