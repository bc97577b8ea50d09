"""The compiled inner loops of the box search: count, split, merge.

Tuples are columns of small codes with a weight each. The classes of a node are numbers:
`class_of[t]` is the class of tuple `t`, and one past the last class means removed. Counting the
classes one level below in one attribute is then a single pass that adds weights to the cell
`class * groups + group`; nothing is sorted and nothing is moved.

A class stays when it has at least `k` records and, for every diversity demand `s`, at least
`least_values[s]` different values, which are the bits of a 64-bit mask. Both only get worse as a
class is split: a class that fails must go whole, and so must all its parts. Indices are unsigned,
which spares a test for negative ones in every access.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from numba import njit, uint32, uint64

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Tables(NamedTuple):
    """What does not change during a search; `j` is an attribute, `l` a level, `g` a group there.

    `group[j, l, code]` and `parent[j, l, g]`, the group at l + 1, are the hierarchies;
    `groups[j, l]` counts groups and `member[j, l, g]` is a code in a group. `base[j, l]` is what
    attribute `j` costs at a level with nothing suppressed. `extra[j, l, g]` is what a suppressed
    record of a group costs above that, at least: 1 minus its dearest cell. The cost of a node is
    the sum over the attributes, of log(1 + priority * cost) when `geometric`.
    """

    group: NDArray[Any]
    parent: NDArray[Any]
    groups: NDArray[np.int64]
    member: NDArray[Any]
    base: NDArray[np.float64]
    extra: NDArray[np.float64]
    priority: NDArray[np.float64]
    geometric: bool
    least_values: NDArray[np.int64]
    k: int
    limit: int


class Rows(NamedTuple):
    """Tuples: `codes[j, t]`, `weights[t]` records, and the sensitive values `masks[s, t]`.

    `class_of` numbers their classes, `sample[c, j]` is a code of class `c` in attribute `j`. All of
    them are stacks: a box deeper in the search has its own stretch behind that of its parent.
    """

    codes: NDArray[Any]
    weights: NDArray[np.int32]
    masks: NDArray[np.uint64]
    class_of: NDArray[np.uint32]
    sample: NDArray[Any]


class Scratch(NamedTuple):
    """Work space that every kernel may overwrite."""

    counts: NDArray[np.int32]
    masks: NDArray[np.uint64]
    number: NDArray[np.uint32]
    cell: NDArray[np.uint32]
    keys: NDArray[np.uint64]
    kept_keys: NDArray[np.uint64]
    slots: NDArray[np.int32]
    fixed: NDArray[np.float64]


@njit(nogil=True, error_model="numpy", cache=True)
def fails(tables, scratch, at, cells):  # type: ignore[no-untyped-def]
    """Whether the class in cell `at` of a tally of so many cells must go."""
    if scratch.counts[at] < tables.k:
        return True
    for s in range(len(tables.least_values)):
        mask, found = scratch.masks[s * cells + at], 0
        while mask != uint64(0) and found < tables.least_values[s]:
            mask &= mask - uint64(1)
            found += 1
        if found < tables.least_values[s]:
            return True
    return False


@njit(nogil=True, error_model="numpy", cache=True)
def tally(tables, rows, scratch, first, at_class, tuples, classes, j, level, keep):  # type: ignore[no-untyped-def]
    """Records and masks of each cell (class, group of attribute `j` at `level`).

    The tuples are those from `first` on, their classes those from `at_class` on. With `keep` the
    cell of each tuple stays in `scratch.cell`.
    """
    group, width = tables.group[j, level], uint32(tables.groups[j, level])
    column = rows.codes[j, first : first + tuples]
    weights = rows.weights[first : first + tuples]
    class_of = rows.class_of[at_class : at_class + tuples]
    counts, cell = scratch.counts, scratch.cell
    cells = (classes + 1) * tables.groups[j, level]
    for at in range(cells):
        counts[at] = 0
    if keep:
        for t in range(tuples):
            at = uint32(class_of[t] * width + group[column[t]])
            cell[t] = at
            counts[at] += weights[t]
    else:
        for t in range(tuples):
            counts[uint32(class_of[t] * width + group[column[t]])] += weights[t]
    for s in range(len(tables.least_values)):
        held = scratch.masks[s * cells : (s + 1) * cells]
        mask = rows.masks[s, first : first + tuples]
        for at in range(cells):
            held[at] = uint64(0)
        for t in range(tuples):
            held[cell[t]] |= mask[t]


@njit(nogil=True, error_model="numpy", cache=True)
def merge_up(tables, scratch, classes, j, level):  # type: ignore[no-untyped-def]
    """Turn the tally of a level into that of the next: groups flow into their parents.

    In place, cell by cell: a class has no more groups above than below, so what is written lies at
    or before what is read; the sums of one class are gathered behind the tally first.
    """
    before, after = tables.groups[j, level], tables.groups[j, level + 1]
    parent, counts, masks = tables.parent[j, level], scratch.counts, scratch.masks
    cells = (classes + 1) * before
    for c in range(classes):
        for g in range(after):
            counts[cells + g] = 0
        for g in range(before):
            counts[cells + parent[g]] += counts[c * before + g]
        for g in range(after):
            counts[c * after + g] = counts[cells + g]
    demands = len(tables.least_values)
    spare = demands * cells
    for s in range(demands):
        for c in range(classes):
            for g in range(after):
                masks[spare + g] = uint64(0)
            for g in range(before):
                masks[spare + parent[g]] |= masks[s * cells + c * before + g]
            for g in range(after):
                masks[s * (classes + 1) * after + c * after + g] = masks[spare + g]


@njit(nogil=True, error_model="numpy", cache=True)
def look_below(  # type: ignore[no-untyped-def]
    tables, rows, scratch, first, at_class, tuples, classes, j, lo, hi, budget, dropped, extra, due
):
    """What each level of attribute `j` from `lo[j]` up to below `hi[j]` would drop and cost.

    With `hi` lowered to that level in `j` alone: the records dropped, what they cost attribute `j`
    above its base, and what they cost the attributes that are fixed already. A level that drops
    more than `budget` is infeasible, and so are all below it: `lo[j]` rises. Where a level drops
    nothing, no level above it does.
    """
    level = lo[j]
    keep = len(tables.least_values) > 0
    tally(tables, rows, scratch, first, at_class, tuples, classes, j, level, keep)
    while level < hi[j]:
        groups = tables.groups[j, level]
        cells = (classes + 1) * groups
        gone, cost, fixed_cost = 0, 0.0, 0.0
        for c in range(classes):
            lost = 0
            for g in range(groups):
                at = c * groups + g
                size = scratch.counts[at]
                if size > 0 and fails(tables, scratch, at, cells):
                    lost += size
                    cost += size * tables.extra[j, level, g]
            if lost > 0:
                gone += lost
                fixed_cost += lost * scratch.fixed[c]
        dropped[j, level], extra[j, level], due[j, level] = gone, cost, fixed_cost
        if gone > budget and lo[j] == level:
            lo[j] = level + 1
        level += 1
        if gone == 0:
            while level < hi[j]:
                dropped[j, level], extra[j, level], due[j, level] = 0, 0.0, 0.0
                level += 1
        elif level < hi[j]:
            merge_up(tables, scratch, classes, j, level - 1)


@njit(nogil=True, error_model="numpy", cache=True)
def split(  # type: ignore[no-untyped-def]
    tables,
    rows,
    scratch,
    first,
    at_class,
    tuples,
    at_sample,
    classes,
    j,
    lo,
    hi,
    paid,
    budget,
    to,
    to_sample,
):
    """Split every class by attribute `j` at level `hi[j]`, and remove the parts that fail.

    The new class numbers are written from `to` on, the samples of the new classes from `to_sample`
    on. `paid[i, l]` grows by what the removed records cost attribute `i` at level `l`, for every
    level that is left to it. Returns the number of classes and of removed records; when these are
    more than `budget` the split is left undone.
    """
    level = hi[j]
    tally(tables, rows, scratch, first, at_class, tuples, classes, j, level, True)
    groups, attributes = tables.groups[j, level], len(hi)
    cells = (classes + 1) * groups
    new, removed = 0, 0
    for c in range(classes):
        for g in range(groups):
            at = c * groups + g
            size = scratch.counts[at]
            if size > 0 and not fails(tables, scratch, at, cells):
                scratch.number[at] = uint32(new)
                for i in range(attributes):
                    rows.sample[to_sample + new, i] = rows.sample[at_sample + c, i]
                rows.sample[to_sample + new, j] = tables.member[j, level, g]
                new += 1
            else:
                scratch.number[at] = uint32(cells)
                removed += size
        if removed > budget:
            return 0, removed
    for at in range(cells):
        if at >= classes * groups or scratch.number[at] == uint32(cells):
            scratch.number[at] = uint32(new)
    was = rows.class_of[at_class : at_class + tuples]
    becomes = rows.class_of[to : to + tuples]
    lost = _renumber(scratch.number, scratch.cell, was, becomes, uint32(new), uint32(classes))
    _pay(tables, rows, scratch, first, lost, lo, hi, paid)
    return new, removed


@njit(nogil=True, error_model="numpy", cache=True)
def _renumber(number, cell, was, becomes, new, gone):  # type: ignore[no-untyped-def]
    """The new class of each tuple by its cell; how many are lost, and which, listed in `cell`.

    The list never overtakes what is still to be read. `gone` is the number of those lost before.
    """
    lost = uint64(0)
    for t in range(len(was)):
        numbered = number[cell[t]]
        becomes[t] = numbered
        cell[lost] = uint32(t)
        lost += uint64((numbered == new) & (was[t] != gone))
    return lost


@njit(nogil=True, error_model="numpy", cache=True)
def _pay(tables, rows, scratch, first, lost, lo, hi, paid):  # type: ignore[no-untyped-def]
    """Add what the lost tuples listed in `scratch.cell` cost each attribute at each level left.

    They are counted by their group at `lo` first, which decides their groups above it.
    """
    counts, cell = scratch.counts, scratch.cell
    weights = rows.weights[first:]
    for i in range(len(lo)):
        group, column = tables.group[i, lo[i]], rows.codes[i, first:]
        for g in range(tables.groups[i, lo[i]]):
            counts[g] = 0
        for n in range(lost):
            counts[group[column[cell[n]]]] += weights[cell[n]]
        for g in range(tables.groups[i, lo[i]]):
            if counts[g] > 0:
                code = tables.member[i, lo[i], g]
                for level in range(lo[i], hi[i] + 1):
                    above = tables.group[i, level, code]
                    paid[i, level] += counts[g] * tables.extra[i, level, above]


@njit(nogil=True, error_model="numpy", cache=True)
def compress(  # type: ignore[no-untyped-def]
    tables, rows, scratch, first, at_class, tuples, classes, lo, hi, to, to_class
):
    """Merge the tuples of a class that no level from `lo` on tells apart; leave removed ones out.

    Such tuples have one key: the class and the groups at `lo` as digits of a number. Where that
    number could pass 2**64 the key is only a hash, and equal keys are compared digit by digit. A
    tuple stands for those merged into it with its own codes, which have the same groups.
    """
    attributes = len(lo)
    radix = float(classes + 1)
    for t in range(tuples):
        scratch.keys[t] = uint64(rows.class_of[at_class + t])
    for j in range(attributes):
        if lo[j] < hi[j]:
            group, column = tables.group[j, lo[j]], rows.codes[j, first : first + tuples]
            groups, keys = uint64(tables.groups[j, lo[j]]), scratch.keys
            radix *= tables.groups[j, lo[j]]
            for t in range(tuples):
                keys[t] = keys[t] * groups + uint64(group[column[t]])
    size = uint64(4)
    while size < uint64(2 * tuples):
        size *= uint64(2)
    for at in range(size):
        scratch.slots[at] = -1
    kept, gone = 0, uint32(classes)
    for t in range(tuples):
        if rows.class_of[at_class + t] == gone:
            continue
        key = scratch.keys[t]
        at = ((key * uint64(0x9E3779B97F4A7C15)) >> uint64(20)) & (size - uint64(1))
        while True:
            found = scratch.slots[at]
            if found < 0:
                scratch.slots[at] = kept
                scratch.kept_keys[kept] = key
                scratch.cell[kept] = uint32(t)
                rows.weights[to + kept] = rows.weights[first + t]
                for s in range(len(tables.least_values)):
                    rows.masks[s, to + kept] = rows.masks[s, first + t]
                kept += 1
                break
            if scratch.kept_keys[found] == key and (
                radix < 1.8e19
                or _same(tables, rows, first, at_class, lo, hi, t, scratch.cell[found])
            ):
                rows.weights[to + found] += rows.weights[first + t]
                for s in range(len(tables.least_values)):
                    rows.masks[s, to + found] |= rows.masks[s, first + t]
                break
            at = (at + uint64(1)) & (size - uint64(1))
    for n in range(kept):
        rows.class_of[to_class + n] = rows.class_of[at_class + scratch.cell[n]]
    for j in range(attributes):
        for n in range(kept):
            rows.codes[j, to + n] = rows.codes[j, first + scratch.cell[n]]
    return kept


@njit(nogil=True, error_model="numpy", cache=True)
def _same(tables, rows, first, at_class, lo, hi, one, other):  # type: ignore[no-untyped-def]
    """Whether two tuples are in one class and have the same groups wherever levels are left."""
    if rows.class_of[at_class + one] != rows.class_of[at_class + other]:
        return False
    for j in range(len(lo)):
        if lo[j] < hi[j]:
            group = tables.group[j, lo[j]]
            if group[rows.codes[j, first + one]] != group[rows.codes[j, first + other]]:
                return False
    return True
