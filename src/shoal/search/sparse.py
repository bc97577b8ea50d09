"""Compiled: classes tallied one by one, where a tally of all of them would not fit into memory.

Of an attribute with many values, such as dates of birth, every class has only a few. So the tuples
are sorted by class, and each class is tallied alone: `counts[g]` is 0 except for the groups that
`touched` lists. Both arrays have two halves, one for a level and one for the next level.
"""

from __future__ import annotations

from numba import uint64

from shoal.search.kernels import compiled, stays
from shoal.search.memory import WORK
from shoal.search.persons import count


@compiled
def tally_fits(state, frame, j, level):  # type: ignore[no-untyped-def]
    """Whether a tally of all classes, and of one more, by an attribute at a level fits."""
    return (frame.classes + 2) * state.groups[j, level] <= len(state.number)


@compiled
def arrange(state, frame, begins, order):  # type: ignore[no-untyped-def]
    """Sort the tuples of a box by class; those of class `c` begin at `begins[c]`."""
    class_of = state.class_of[frame.at_class : frame.at_class + frame.tuples]
    for c in range(frame.classes + 3):
        begins[c] = 0
    for t in range(frame.tuples):
        begins[class_of[t] + 2] += 1
    for c in range(2, frame.classes + 3):
        begins[c] += begins[c - 1]
    for t in range(frame.tuples):
        at = class_of[t] + 1
        order[begins[at]] = t
        begins[at] += 1


@compiled
def forget(state):  # type: ignore[no-untyped-def]
    """Reset the counts of both halves before the first class."""
    for at in range(len(state.touched)):
        state.counts[at] = 0


@compiled
def gather(state, frame, c, j, level):  # type: ignore[no-untyped-def]
    """Tally a class by the groups of an attribute, in the first half; how many groups it has."""
    group, column = state.group[j, level], state.codes[j, frame.first :]
    weights, masks = state.weights[frame.first :], state.masks[:, frame.first :]
    counts, held, touched = state.counts, state.held, state.touched
    cells, found, by_persons = len(touched), 0, len(state.assigned) > 0
    for at in range(state.begins[c], state.begins[c + 1]):
        t = state.order[at]
        g = int(group[column[t]])
        if counts[g] == 0:
            touched[found] = g
            found += 1
            for s in range(len(masks)):
                held[s * cells + g] = uint64(0)
            if by_persons:
                state.persons[g], state.first_of[g] = 0, -1
        counts[g] += weights[t]
        for s in range(len(masks)):
            held[s * cells + g] |= masks[s, t]
        if by_persons:
            state.persons[g] += state.assigned[frame.first + t]
            state.next_of[t] = state.first_of[g]
            state.first_of[g] = t
    if by_persons:
        _settle(state, frame, found)
    return found


@compiled
def _settle(state, frame, found):  # type: ignore[no-untyped-def]
    """The same as `settle`, for the groups of a class."""
    for n in range(found):
        g = state.touched[n]
        if state.counts[g] >= state.k and state.persons[g] < state.k:
            state.mark[0] += 1
            if count(state, frame.first, state.first_of[g], 0) >= state.k:
                state.persons[g] = state.k


@compiled
def price_levels_by_class(state, depth, j):  # type: ignore[no-untyped-def]
    """The same as `price_levels_by_size`, class by class; by persons with a tally per level."""
    frame, bottom, top = state.frames[depth], state.lo[depth, j], state.hi[depth, j]
    dropped, extra, due = state.dropped[depth, j], state.extra[depth, j], state.due[depth, j]
    arrange(state, frame, state.begins, state.order)
    forget(state)
    state.done[WORK] += 4 * (frame.tuples + frame.classes)
    for level in range(bottom, top):
        dropped[level], extra[level], due[level] = 0, 0.0, 0.0
        for g in range(state.groups[j, level]):
            state.lost[level, g] = 0
    for c in range(1, frame.classes + 1):
        side, found = 0, gather(state, frame, c, j, bottom)
        for level in range(bottom, top):
            if level > bottom and len(state.assigned) > 0:
                for n in range(found):
                    state.counts[state.touched[n]] = 0
                found = gather(state, frame, c, j, level)
            elif level > bottom:
                found = _lift(state, j, level, side, found)
                side = 1 - side
            lost = _lose(state, level, side, found)
            if lost == 0:
                break
            dropped[level] += lost
            due[level] += lost * state.fixed[c]
        here = side * (len(state.touched) // 2)
        for n in range(found):
            state.counts[here + state.touched[here + n]] = 0
    for level in range(bottom, top):
        for g in range(state.groups[j, level]):
            extra[level] += state.lost[level, g] * state.charge[j, level, g]
    state.fresh[depth, j] = True


@compiled
def _lift(state, j, level, side, found):  # type: ignore[no-untyped-def]
    """Add the groups of a class up to those of the next level, in the other half; how many."""
    counts, held, touched = state.counts, state.held, state.touched
    cells, lifted = len(touched), 0
    here, there = side * (cells // 2), (1 - side) * (cells // 2)
    for n in range(found):
        was = here + touched[here + n]
        parent = int(state.group[j, level, state.member[j, level - 1, touched[here + n]]])
        becomes = there + parent
        if counts[becomes] == 0:
            touched[there + lifted] = parent
            lifted += 1
            for s in range(len(state.least_values)):
                held[s * cells + becomes] = uint64(0)
        counts[becomes] += counts[was]
        counts[was] = 0
        for s in range(len(state.least_values)):
            held[s * cells + becomes] |= held[s * cells + was]
    return lifted


@compiled
def _lose(state, level, side, found):  # type: ignore[no-untyped-def]
    """The records that a class loses at a level, added by group."""
    cells, total = len(state.touched), 0
    here = side * (cells // 2)
    for n in range(found):
        g = state.touched[here + n]
        if not stays(state, here + g, cells):
            state.lost[level, g] += state.counts[here + g]
            total += state.counts[here + g]
    return total
