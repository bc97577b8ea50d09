"""The compiled inner loops of the box search: tally classes, and price levels.

Tuples are columns of small codes with a weight each. The classes of a node are numbers:
`class_of[t]` is the class of tuple `t`, and 0 means removed. Counting the classes one level below
in one attribute is then a single pass that adds weights to the cell `class * groups + group`,
without sorting.

A class stays when it has at least `k` records, or persons where those are counted, and for every
diversity demand `s` at least `least_values[s]` different values, which are the bits of a 64-bit
mask. All of these only fall as a class is split: a class that fails is removed whole, and so are
all its parts. Indices are unsigned, which saves a test for negative ones in every access.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

from numba import int32, njit, uint32, uint64

from shoal.search.memory import WORK


def entry_point(function: Callable[..., Any]) -> Any:
    """Compile a function that Python calls; threads run it without the interpreter's lock.

    The compiled code is cached on disk. If no cache folder is writable, Numba raises a
    RuntimeError, and every process that needs the code compiles it.
    """
    made = njit(nogil=True, error_model="numpy")(function)
    with contextlib.suppress(RuntimeError):
        made.enable_caching()
    return made


compiled = njit(nogil=True, error_model="numpy")
"""Compile a function that only compiled code calls."""

inlined = njit(nogil=True, error_model="numpy", inline="always")
"""The same for a function with a single call: it is compiled into its caller, to save time."""


@compiled
def tally(state, frame, j, level):  # type: ignore[no-untyped-def]
    """Records and masks of each cell (class, group of attribute `j` at `level`).

    Where persons are counted, also those assigned to the cell: a lower bound of its persons.
    """
    first, last = frame.first, frame.first + frame.tuples
    group, width = state.group[j, level], uint32(state.groups[j, level])
    column, weights = state.codes[j, first:last], state.weights[first:last]
    class_of = state.class_of[frame.at_class : frame.at_class + frame.tuples]
    cells = (frame.classes + 1) * state.groups[j, level]
    counts = state.counts
    for at in range(cells):
        counts[at] = 0
    if len(state.assigned) > 0:
        persons, assigned = state.persons, state.assigned[first:last]
        for at in range(cells):
            persons[at] = 0
        for t in range(len(column)):
            at = uint32(class_of[t] * width + group[column[t]])
            counts[at] += weights[t]
            persons[at] += assigned[t]
    else:
        for t in range(len(column)):
            counts[uint32(class_of[t] * width + group[column[t]])] += weights[t]
    for s in range(len(state.least_values)):
        held = state.held[s * cells : (s + 1) * cells]
        mask = state.masks[s, first:last]
        for at in range(cells):
            held[at] = uint64(0)
        for t in range(len(column)):
            held[uint32(class_of[t] * width + group[column[t]])] |= mask[t]


@compiled
def stays(state, at, cells):  # type: ignore[no-untyped-def]
    """Whether the class in cell `at` of a tally of `cells` cells is kept.

    Where persons are counted, `settle` must have been called (persons.py).
    """
    if (state.persons[at] if len(state.assigned) > 0 else state.counts[at]) < state.k:
        return False
    return diverse(state, at, cells)


@compiled
def diverse(state, at, cells):  # type: ignore[no-untyped-def]
    """Whether the class in a cell has enough different values of every attribute."""
    for s in range(len(state.least_values)):
        mask, found = state.held[s * cells + at], 0
        while mask != uint64(0) and found < state.least_values[s]:
            mask &= mask - uint64(1)
            found += 1
        if found < state.least_values[s]:
            return False
    return True


@compiled
def price_levels_by_size(state, depth, j):  # type: ignore[no-untyped-def]
    """What each level of attribute `j` from `lo` up to below `hi` would drop and cost.

    With `hi` lowered to that level in `j` alone: the records dropped, what they cost attribute `j`
    above its base, and what they cost the attributes that are fixed already. A class that loses
    nothing at a level loses nothing above it.
    """
    frame, bottom, top = state.frames[depth], state.lo[depth, j], state.hi[depth, j]
    dropped, extra, due = state.dropped[depth, j], state.extra[depth, j], state.due[depth, j]
    tally(state, frame, j, bottom)
    groups = state.groups[j, bottom]
    cells = (frame.classes + 1) * groups
    state.done[WORK] += frame.tuples + cells
    for level in range(bottom, top):
        dropped[level], extra[level], due[level] = 0, 0.0, 0.0
        for g in range(groups):
            state.lost[level, g] = 0
    for c in range(1, frame.classes + 1):
        for level in range(bottom, top):
            if level > bottom:
                merge(state, c * groups, cells, j, level)
            lost = _lose(state, c * groups, cells, j, level)
            if lost == 0:
                break
            dropped[level] += lost
            due[level] += lost * state.fixed[c]
    for level in range(bottom, top):
        for g in range(state.groups[j, level]):
            extra[level] += state.lost[level, g] * state.charge[j, level, g]
    state.fresh[depth, j] = True


@inlined
def _lose(state, at, cells, j, level):  # type: ignore[no-untyped-def]
    """The records that the class whose tally begins at `at` loses at a level, added by group."""
    k, groups, total = int32(state.k), state.groups[j, level], 0
    counts, lost = state.counts[at : at + groups], state.lost[level]
    if len(state.least_values) == 0:
        for g in range(groups):
            size = counts[g] if counts[g] < k else int32(0)
            lost[g] += size
            total += size  # type: ignore[assignment]
    else:
        for g in range(groups):
            if counts[g] > 0 and not stays(state, at + g, cells):
                lost[g] += counts[g]
                total += counts[g]
    return total


@inlined
def merge(state, at, cells, j, level):  # type: ignore[no-untyped-def]
    """Turn the tally of a class, which begins at `at`, into that of the next level, in place.

    Groups are added up into their parents, of which there are no more; the sums are collected after
    the end of the tally first.
    """
    groups, above = state.groups[j, level - 1], state.groups[j, level]
    member, parent = state.member[j, level - 1], state.group[j, level]
    _add_up(state.counts, at, cells, groups, above, member, parent)
    if len(state.assigned) > 0:
        _add_up(state.persons, at, cells, groups, above, member, parent)
    demands = len(state.least_values)
    for s in range(demands):
        masks, spare = state.held[s * cells + at :], state.held[demands * cells :]
        for g in range(above):
            spare[g] = uint64(0)
        for g in range(groups):
            spare[parent[member[g]]] |= masks[g]
        for g in range(above):
            masks[g] = spare[g]


@inlined
def _add_up(counts, at, cells, groups, above, member, parent):  # type: ignore[no-untyped-def]
    """Add numbers of groups, which begin at `at`, up to those of their parents."""
    for g in range(above):
        counts[cells + g] = 0
    for g in range(groups):
        counts[cells + parent[member[g]]] += counts[at + g]
    for g in range(above):
        counts[at + g] = counts[cells + g]
