"""Compiled: split the classes of a box by an attribute, and remove the parts that fail.

If a tally of all classes fits, its cells are numbered; else classes are split one by one.
"""

from __future__ import annotations

from numba import int32, int64, uint32, uint64

from shoal.search.kernels import compiled, inlined, stays, tally
from shoal.search.memory import WORK
from shoal.search.persons import settle
from shoal.search.sparse import arrange, forget, gather, tally_fits


@inlined
def split(state, depth, j):  # type: ignore[no-untyped-def]
    """Split every class by attribute `j` at its level of `hi`, and remove the parts that fail.

    If more records are removed than the limit allows, or no class is left, the box is empty and the
    split is not completed. Returns whether the box is not empty.
    """
    frame, level = state.frames[depth], state.hi[depth, j]
    fits, lost = tally_fits(state, frame, j, level), uint64(0)
    if fits:
        tally(state, frame, j, level)
        if len(state.assigned) > 0:
            settle(state, frame, j, level)
        classes, removed = _number(state, frame.classes, state.groups[j, level])
    else:
        classes, removed, lost = _split_by_class(state, frame, j, level)
    frame.removed += removed
    state.done[WORK] += 3 * frame.tuples
    if frame.removed > state.limit or classes == 0:
        return False
    if fits:
        lost = _renumber(state, frame, j, level, classes)
    frame.at_class, frame.at_sample = frame.end_class, frame.end_sample
    frame.end_class += frame.tuples
    frame.end_sample += classes + 1
    frame.classes = classes
    if removed > 0:
        _pay(state, depth, lost)
    for i in range(state.lo.shape[1]):
        state.fresh[depth, i] = False
        for level in range(state.lo[depth, i], state.hi[depth, i]):
            state.due[depth, i, level] = 0.0
            state.dropped[depth, i, level] = max(state.dropped[depth, i, level] - removed, 0)
    return True


@compiled
def _split_by_class(state, frame, j, level):  # type: ignore[no-untyped-def]
    """Split class by class: how many classes stay, the records removed, and the tuples lost by it.

    Only memory after the segments of the box is written, so the split can be abandoned.
    """
    group, column = state.group[j, level], state.codes[j, frame.first :]
    becomes, number, chosen = state.class_of[frame.end_class :], state.number, state.chosen
    begins, order = state.begins, state.order
    arrange(state, frame, begins, order)
    forget(state)
    for at in range(begins[0], begins[1]):
        becomes[order[at]] = 0
    new, removed, lost = 0, 0, uint64(0)
    for c in range(1, frame.classes + 1):
        found = gather(state, frame, c, j, level)
        for n in range(found):
            g = state.touched[n]
            if stays(state, g, len(state.touched)):
                new += 1
                number[g] = new
                _sample(state, frame, c, new, j, state.member[j, level, g])
            else:
                number[g] = 0
                removed += state.counts[g]
        for at in range(begins[c], begins[c + 1]):
            t = order[at]
            now = number[group[column[t]]]
            becomes[t] = now
            chosen[lost] = t
            lost += uint64(now == 0)
        for n in range(found):
            state.counts[state.touched[n]] = 0
    return new, removed, lost


@compiled
def _sample(state, frame, c, new, j, code):  # type: ignore[no-untyped-def]
    """A new class has the sample of the class `c` it is a part of, but its own code for `j`."""
    was, becomes = frame.at_sample + c, frame.end_sample + new
    for i in range(state.sample.shape[1]):
        state.sample[becomes, i] = state.sample[was, i]
    state.sample[becomes, j] = code


@inlined
def _number(state, classes, groups):  # type: ignore[no-untyped-def]
    """Number the cells of a tally that stay; how many do, and the records of those that do not.

    `origin` says which cell a new class is.
    """
    counts, number, origin = state.counts, state.number, state.origin
    cells, k = (classes + 1) * groups, int32(state.k)
    new, removed, plain = uint32(0), 0, len(state.least_values) == 0
    members = state.persons if len(state.assigned) > 0 else counts
    for g in range(groups):
        number[g] = 0
    for at in range(groups, cells):
        kept = members[at] >= k if plain else stays(state, at, cells)
        origin[new + uint32(1)] = at
        new += uint32(kept)
        number[at] = new if kept else uint32(0)
        removed += int32(0) if kept else counts[at]  # type: ignore[assignment]
    return int(new), removed


@inlined
def _renumber(state, frame, j, level, classes):  # type: ignore[no-untyped-def]
    """Write the new classes and that of each tuple after the old ones; how many tuples are lost.

    The lost tuples are listed in `chosen`.
    """
    groups = state.groups[j, level]
    for c in range(1, classes + 1):
        at = int64(state.origin[c])
        _sample(state, frame, at // groups, c, j, state.member[j, level, at % groups])
    group, width = state.group[j, level], uint32(state.groups[j, level])
    column = state.codes[j, frame.first : frame.first + frame.tuples]
    was = state.class_of[frame.at_class : frame.at_class + frame.tuples]
    becomes = state.class_of[frame.end_class : frame.end_class + frame.tuples]
    number, chosen, lost = state.number, state.chosen, uint64(0)
    for t in range(len(column)):
        now = number[uint32(was[t] * width + group[column[t]])]
        becomes[t] = now
        chosen[lost] = t
        lost += uint64((now == 0) & (was[t] != 0))
    return lost


@inlined
def _pay(state, depth, lost):  # type: ignore[no-untyped-def]
    """Add what the lost tuples cost each attribute at each level left to what removed records pay.

    They are counted by their group at `lo` first, which determines their groups above it. Removed
    and dropped records together only grow as classes split, but those removed now may be among the
    known dropped ones, so what they pay is subtracted from `extra`.
    """
    counts, chosen, frame = state.counts, state.chosen, state.frames[depth]
    weights = state.weights[frame.first :]
    for i in range(state.lo.shape[1]):
        lo, hi = state.lo[depth, i], state.hi[depth, i]
        group, column = state.group[i, lo], state.codes[i, frame.first :]
        for g in range(state.groups[i, lo]):
            counts[g] = 0
        for n in range(lost):
            counts[group[column[chosen[n]]]] += weights[chosen[n]]
        for level in range(lo, hi + 1):
            pays = 0.0
            for g in range(state.groups[i, lo]):
                above = state.group[i, level, state.member[i, lo, g]]
                pays += counts[g] * state.charge[i, level, above]
            state.paid[depth, i, level] += pays
            state.extra[depth, i, level] = max(state.extra[depth, i, level] - pays, 0.0)
