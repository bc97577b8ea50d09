"""Compiled: which classes have enough persons, where a person may have records in several tuples.

Each person is assigned to one of their tuples. The sum of the persons assigned to the tuples of a
class is a lower bound of its persons; its records are an upper bound. Only where neither decides,
the persons of a class are counted one by one, up to `k`. Such classes are small or have few
persons. Their tuples are linked lists for this: `first_of` a cell, and `next_of` a tuple.

Merged tuples (merging.py) are a chain of tuples of the table: from `head` along `link` to `tail`. A
deeper box joins chains at their tails, so the chains of the boxes above it stay valid.
"""

from __future__ import annotations

from numba import int32, uint32

from shoal.search.kernels import compiled, diverse, merge, tally
from shoal.search.memory import WORK

WORTH = 1 / 16
"""The share of the suppression limit that undecided records must reach to be worth a count."""


@compiled
def settle(state, frame, j, level):  # type: ignore[no-untyped-def]
    """After a tally at a level: make `persons` at least `k` exactly where a cell has that many."""
    groups, undecided = state.groups[j, level], 0
    cells = (frame.classes + 1) * groups
    for at in range(groups, cells):
        undecided += (state.counts[at] >= state.k) & (state.persons[at] < state.k)
    if undecided == 0:
        return
    _list_tuples(state, frame, j, level)
    for at in range(groups, cells):
        if state.counts[at] >= state.k and state.persons[at] < state.k:
            state.mark[0] += 1
            if count(state, frame.first, state.first_of[at], 0) >= state.k:
                state.persons[at] = state.k


@compiled
def _list_tuples(state, frame, j, level):  # type: ignore[no-untyped-def]
    """List the tuples of each cell to which fewer than `k` persons are assigned."""
    group, width = state.group[j, level], uint32(state.groups[j, level])
    column = state.codes[j, frame.first : frame.first + frame.tuples]
    class_of = state.class_of[frame.at_class : frame.at_class + frame.tuples]
    persons, first_of, next_of, k = state.persons, state.first_of, state.next_of, state.k
    state.done[WORK] += 2 * frame.tuples
    for at in range((frame.classes + 1) * state.groups[j, level]):
        first_of[at] = -1
    for t in range(len(column)):
        at = uint32(class_of[t] * width + group[column[t]])
        if persons[at] < k and class_of[t] != 0:
            next_of[t] = first_of[at]
            first_of[at] = t


@compiled
def count(state, first, t, found):  # type: ignore[no-untyped-def]
    """Persons of a list of tuples that are not marked yet, added to those found, up to `k`."""
    mark, k = state.mark[0], state.k
    while t >= 0:
        at, last = state.head[first + t], state.tail[first + t]
        while True:
            for i in range(state.persons_from[at], state.persons_from[at + 1]):
                if state.seen[state.person[i]] != mark:
                    state.seen[state.person[i]] = mark
                    found += 1
                    if found >= k:
                        return found
            if at == last:
                break
            at = state.link[at]
        t = state.next_of[t]
    return found


@compiled
def price_levels_by_persons(state, depth, j):  # type: ignore[no-untyped-def]
    """The same as `price_levels_by_size`, by persons; what is dropped is a lower bound.

    First by records and assigned persons. Levels that drop too much by that need no more. Above
    them the undecided groups are counted if it is worth it: the share of undecided records that
    were removed so far predicts enough removals compared with the limit.
    """
    frame, bottom, top = state.frames[depth], state.lo[depth, j], state.hi[depth, j]
    _price(state, depth, j, bottom, False)
    level, most = bottom, 0
    while level < top and frame.removed + state.dropped[depth, j, level] > state.limit:
        level += 1
    for above in range(level, top):
        most = max(most, state.undecided[above])
    if most * state.settled[1] > WORTH * state.limit * state.settled[0]:
        _price(state, depth, j, level, True)
    state.fresh[depth, j] = True


@compiled
def _price(state, depth, j, bottom, exact):  # type: ignore[no-untyped-def]
    """What each level from `bottom` on drops and costs, at least, or exactly when `exact`."""
    frame, top = state.frames[depth], state.hi[depth, j]
    dropped, extra, due = state.dropped[depth, j], state.extra[depth, j], state.due[depth, j]
    groups, undecided = state.groups[j, bottom], state.undecided
    cells = (frame.classes + 1) * groups
    tally(state, frame, j, bottom)
    if exact:
        _list_tuples(state, frame, j, bottom)
    state.done[WORK] += 2 * (frame.tuples + cells)
    for level in range(bottom, top):
        dropped[level], extra[level], due[level], undecided[level] = 0, 0.0, 0.0, 0
        for g in range(groups):
            state.lost[level, g] = 0
    for c in range(1, frame.classes + 1):
        for level in range(bottom, top):
            if level > bottom:
                merge(state, c * groups, cells, j, level)
            lost, left = _lose(state, c * groups, cells, j, level)
            undecided[level] += left
            if left > 0 and exact:
                lost += _lose_undecided(state, frame, c * groups, cells, j, bottom, level)
            elif left == 0 and lost == 0:
                break
            dropped[level] += lost
            due[level] += lost * state.fixed[c]
    for level in range(bottom, top):
        for g in range(state.groups[j, level]):
            extra[level] += state.lost[level, g] * state.charge[j, level, g]


@compiled
def _lose(state, at, cells, j, level):  # type: ignore[no-untyped-def]
    """The records that a class loses at a level for certain, added by group; the undecided ones."""
    k, groups, total, left = int32(state.k), state.groups[j, level], 0, 0
    counts, persons, lost = state.counts[at:], state.persons[at:], state.lost[level]
    if len(state.least_values) == 0:
        for g in range(groups):
            size, few = counts[g], counts[g] < k
            lost[g] += size if few else int32(0)
            total += size if few else int32(0)  # type: ignore[assignment]
            left += size if (not few) & (persons[g] < k) else int32(0)  # type: ignore[assignment]
        return total, left
    for g in range(groups):
        if counts[g] > 0 and (counts[g] < k or not diverse(state, at + g, cells)):
            lost[g] += counts[g]
            total += counts[g]
        elif persons[g] < k:
            left += counts[g]
    return total, left


@compiled
def _lose_undecided(state, frame, at, cells, j, bottom, level):  # type: ignore[no-untyped-def]
    """The records of undecided groups of a class that are lost for lack of persons."""
    total = 0
    for g in range(state.groups[j, level]):
        size, persons = state.counts[at + g], state.persons[at + g]
        if size < state.k or persons >= state.k or not diverse(state, at + g, cells):
            continue
        state.settled[0] += size
        if _enough(state, frame, j, at, bottom, level, g):
            state.persons[at + g] = state.k
        else:
            state.lost[level, g] += size
            state.settled[1] += size
            total += size
    return total


@compiled
def _enough(state, frame, j, at, bottom, level, g):  # type: ignore[no-untyped-def]
    """Whether a group of a class has `k` persons; tuples are listed by the groups of `bottom`."""
    state.mark[0] += 1
    found, member, parent = 0, state.member[j, bottom], state.group[j, level]
    for below in range(state.groups[j, bottom]):
        if parent[member[below]] == g:
            found = count(state, frame.first, state.first_of[at + below], found)
    return found >= state.k
