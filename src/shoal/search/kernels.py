"""The compiled inner loops of the box search: count, look below, split.

Tuples are columns of small codes with a weight each. The classes of a node are numbers:
`class_of[t]` is the class of tuple `t`, and 0 means removed. Counting the classes one level below
in one attribute is then a single pass that adds weights to the cell `class * groups + group`;
nothing is sorted and nothing is moved.

A class stays when it has at least `k` records and, for every diversity demand `s`, at least
`least_values[s]` different values, which are the bits of a 64-bit mask. Both only get worse as a
class is split: a class that fails must go whole, and so must all its parts. Indices are unsigned,
which spares a test for negative ones in every access.
"""

from __future__ import annotations

from numba import int32, int64, njit, uint32, uint64

from shoal.search.memory import WORK

kernel = njit(nogil=True, error_model="numpy", cache=True)
"""Compiled code that Python calls; the threads run it without holding the interpreter's lock."""

part = njit(nogil=True, error_model="numpy")
"""Compiled code that only kernels call."""

step = njit(nogil=True, error_model="numpy", inline="always")
"""A part that stands in one place only: it is compiled there, once instead of twice."""


@part
def tally(state, frame, j, level):  # type: ignore[no-untyped-def]
    """Records and masks of each cell (class, group of attribute `j` at `level`)."""
    first, last = frame.first, frame.first + frame.tuples
    group, width = state.group[j, level], uint32(state.groups[j, level])
    column, weights = state.codes[j, first:last], state.weights[first:last]
    class_of = state.class_of[frame.at_class : frame.at_class + frame.tuples]
    cells = (frame.classes + 1) * state.groups[j, level]
    counts = state.counts
    for at in range(cells):
        counts[at] = 0
    for t in range(len(column)):
        counts[uint32(class_of[t] * width + group[column[t]])] += weights[t]
    for s in range(len(state.least_values)):
        held = state.held[s * cells : (s + 1) * cells]
        mask = state.masks[s, first:last]
        for at in range(cells):
            held[at] = uint64(0)
        for t in range(len(column)):
            held[uint32(class_of[t] * width + group[column[t]])] |= mask[t]


@part
def stays(state, at, cells):  # type: ignore[no-untyped-def]
    """Whether the class in cell `at` of a tally of so many cells need not go."""
    if state.counts[at] < state.k:
        return False
    for s in range(len(state.least_values)):
        mask, found = state.held[s * cells + at], 0
        while mask != uint64(0) and found < state.least_values[s]:
            mask &= mask - uint64(1)
            found += 1
        if found < state.least_values[s]:
            return False
    return True


@part
def look_at_sizes(state, depth, j):  # type: ignore[no-untyped-def]
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
                _merge(state, c * groups, cells, j, level)
            lost = _lose(state, c * groups, cells, j, level)
            if lost == 0:
                break
            dropped[level] += lost
            due[level] += lost * state.fixed[c]
    for level in range(bottom, top):
        for g in range(state.groups[j, level]):
            extra[level] += state.lost[level, g] * state.charge[j, level, g]
    state.fresh[depth, j] = True


@step
def _lose(state, at, cells, j, level):  # type: ignore[no-untyped-def]
    """The records of the class whose tally begins at `at` that go at a level, added by group."""
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


@step
def _merge(state, at, cells, j, level):  # type: ignore[no-untyped-def]
    """Turn the tally of a class, which begins at `at`, into that of the next level, in place.

    Groups flow into their parents, of which there are no more; sums are gathered behind the tally.
    """
    groups, above = state.groups[j, level - 1], state.groups[j, level]
    member, parent = state.member[j, level - 1], state.group[j, level]
    counts = state.counts
    for g in range(above):
        counts[cells + g] = 0
    for g in range(groups):
        counts[cells + parent[member[g]]] += counts[at + g]
    for g in range(above):
        counts[at + g] = counts[cells + g]
    demands = len(state.least_values)
    for s in range(demands):
        masks, spare = state.held[s * cells + at :], state.held[demands * cells :]
        for g in range(above):
            spare[g] = uint64(0)
        for g in range(groups):
            spare[parent[member[g]]] |= masks[g]
        for g in range(above):
            masks[g] = spare[g]


@step
def split(state, depth, j):  # type: ignore[no-untyped-def]
    """Split every class by attribute `j` at its level of `hi`, and remove the parts that fail.

    The box is empty, and the split left undone, when more records are removed than the limit allows
    or no class is left. Returns whether it is not.
    """
    frame, level = state.frames[depth], state.hi[depth, j]
    tally(state, frame, j, level)
    groups = state.groups[j, level]
    classes, removed = _number(state, frame.classes, groups)
    frame.removed += removed
    state.done[WORK] += 3 * frame.tuples
    if frame.removed > state.limit or classes == 0:
        return False
    for c in range(1, classes + 1):
        at = int64(state.origin[c])
        was, becomes = frame.at_sample + at // groups, frame.end_sample + c
        for i in range(state.sample.shape[1]):
            state.sample[becomes, i] = state.sample[was, i]
        state.sample[becomes, j] = state.member[j, level, at % groups]
    lost = _renumber(state, frame, j, level)
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


@step
def _number(state, classes, groups):  # type: ignore[no-untyped-def]
    """Number the cells of a tally that stay; how many do, and the records of those that do not.

    `origin` says which cell a new class is.
    """
    counts, number, origin = state.counts, state.number, state.origin
    cells, k = (classes + 1) * groups, int32(state.k)
    new, removed, plain = uint32(0), 0, len(state.least_values) == 0
    for g in range(groups):
        number[g] = 0
    for at in range(groups, cells):
        kept = counts[at] >= k if plain else stays(state, at, cells)
        origin[new + uint32(1)] = at
        new += uint32(kept)
        number[at] = new if kept else uint32(0)
        removed += int32(0) if kept else counts[at]  # type: ignore[assignment]
    return int(new), removed


@step
def _renumber(state, frame, j, level):  # type: ignore[no-untyped-def]
    """Write the new class of each tuple behind the old ones; how many are lost by it.

    The lost tuples are listed in `chosen`.
    """
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


@step
def _pay(state, depth, lost):  # type: ignore[no-untyped-def]
    """Add what the lost tuples cost each attribute at each level left to what removed records pay.

    They are counted by their group at `lo` first, which decides their groups above it. Removed and
    dropped records together only grow as classes split, but those removed now may be among those
    known to be dropped: what they pay is taken off what the dropped ones were known to.
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
