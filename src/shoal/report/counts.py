"""The numbers of a result that are counted from the distinct tuples and the classes.

What a run did to each quasi-identifier: its level, its loss, examples of labels, how often they
occur. And how easily people are recognised before and after, from the sizes of classes alone.

No label is named that fewer than k released records have, and no count says how many of a few
suppressed records had a label.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from shoal.values import Exposure, LabelCount, Level, Sizes, Treatment

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from shoal.encode.table import Attribute, Table
    from shoal.values import Counts, Ints, Node


MOST_LABELS = 10
"""So many labels of a column are counted by name; the rest is counted together."""


MOST_EXAMPLES = 3
"""So many levels of a column have an example, where levels are mixed."""


@dataclass(frozen=True, eq=False)
class Column:
    """A quasi-identifier in a run: its codes with their released records, and its level.

    `known` is the lowest level at which the tuples tell its values apart, `occurring` are the
    records of each code. Where levels are mixed, the codes are those of the tuples, `levels` has
    the level of each tuple, and `level` is the highest.
    """

    attribute: Attribute
    occurring: Ints
    codes: Ints
    weights: Ints
    released: Ints
    level: int
    known: int
    k: int
    persons: bool
    levels: Ints | None = None

    def label(self, level: int, group: int) -> str:
        """What a group is called."""
        return self.attribute.labels(level)[group].as_py() or "missing"

    def counts(self, level: int, weights: Ints) -> Ints:
        """The records of each group at a level."""
        groups = self.attribute.groups[level]
        return np.bincount(groups[self.codes], weights, int(groups.max()) + 1).astype(np.int64)


def columns_of(
    table: Table, node: Node, released: Ints, k: int, levels: Ints | None = None
) -> tuple[Column, ...]:
    """The quasi-identifiers at a node; `released` are the released records of each tuple.

    In local recoding `levels[t, j]` is the level of attribute `j` in tuple `t`, and the node has
    the highest levels.
    """
    known = (0,) * len(node) if table.raised is None else table.raised.bottom
    return tuple(
        _column(table, j, node[j], released, known[j], k, None if levels is None else levels[:, j])
        for j in range(len(node))
    )


def _column(
    table: Table, j: int, level: int, released: Ints, known: int, k: int, levels: Ints | None
) -> Column:
    """Attribute `j`. Where it has one level, its tuples are summed by their codes."""
    attribute, codes, weights = table.attributes[j], table.codes[j], table.weights
    mixed = None if levels is None else _if_mixed(levels, released)
    if mixed is None:
        size = len(attribute.groups[0])
        weights, released = (
            np.bincount(codes, each, size).astype(np.int64) for each in (weights, released)
        )
        codes = np.arange(size)
    return Column(
        attribute,
        table.records_of[j],
        codes,
        weights,
        released,
        level,
        known,
        k,
        bool(table.persons),
        mixed,
    )


def _if_mixed(levels: Ints, released: Ints) -> Ints | None:
    """The levels of the tuples, None where all released ones have the same."""
    seen = levels[released > 0]
    return levels if (seen != seen[:1]).any() else None


def treatment(
    column: Column,
    loss: float,
    left_out: float,
    *,
    proposed: bool,
    records_at: Mapping[int, int] | None = None,
) -> Treatment:
    """What was done to one quasi-identifier; `records_at` its levels in local recoding."""
    attribute, level = column.attribute, column.level
    if column.levels is not None:
        labels = mixed_labels(column, column.levels)
        example, levels = mixed_examples(column, column.levels)
    else:
        most = int(column.counts(level, column.released).argmax())
        example = "unchanged" if level == 0 else column.label(level, most)
        levels, labels = _levels(column, most), label_counts(column)
    return Treatment(
        level=level,
        height=attribute.height,
        loss=loss,
        information_loss=_information_loss(attribute, records_at or {level: 1}),
        priority=attribute.priority,
        example=example,
        proposed=proposed,
        left_out=left_out,
        levels=levels,
        labels=labels,
        records_at=records_at,
    )


def _information_loss(attribute: Attribute, records_at: Mapping[int, int]) -> float:
    """What levels cost by the weighted information loss, the mean over their records."""
    quantifiers = attribute.quantifiers
    costs = {
        level: quantifiers[level] if quantifiers else level / max(attribute.height, 1)
        for level in records_at
    }
    return sum(costs[level] * n for level, n in records_at.items()) / sum(records_at.values())


def _levels(column: Column, most: int) -> tuple[Level, ...]:
    """The levels with labels of one branch: that of the most frequent label of the release.

    From the released level up these are its ancestors: all their records are released ones. Below,
    each is the most frequent label under the one above, as long as at least k released records have
    it. Where persons are counted none is named there, since the records may all be of one person.
    """
    attribute, branch = column.attribute, column.released
    examples: dict[int, str | None] = {}
    for level in range(attribute.height, -1, -1):
        groups = attribute.groups[level][column.codes]
        if level >= column.level:
            chosen = int(groups[attribute.groups[column.level][column.codes] == most][0])
        else:
            under = np.bincount(groups, branch)
            missing = int(attribute.groups[level][attribute.missing_code])
            if missing < len(under) and np.count_nonzero(under) > 1:
                under[missing] = 0
            chosen = int(under.argmax())
        branch = np.where(groups == chosen, branch, 0)
        few = level < column.known or column.persons or int(branch.sum()) < column.k
        hidden = level < column.level and few
        examples[level] = None if hidden else column.label(level, chosen)
    return tuple(
        Level(level, _occurring(column, level), examples[level])
        for level in range(attribute.height + 1)
    )


def _occurring(column: Column, level: int) -> int:
    """How many labels of a level the table has."""
    return len(np.unique(column.attribute.groups[level][np.flatnonzero(column.occurring)]))


def label_counts(column: Column) -> tuple[LabelCount, ...]:
    """The most frequent labels of the release before and after, then all others together.

    Labels that must not show what they lost are counted with the others. Where that is true of all,
    only the release is counted.
    """
    before = column.counts(column.level, column.weights)
    after = column.counts(column.level, column.released)
    order = np.argsort(-after, kind="stable")
    lost = (before - after)[order].tolist()
    unnamed = [i for i, group in enumerate(order) if i >= MOST_LABELS or not after[group]]
    pool = pool_few(lost, column.k, persons=column.persons, pooled=unnamed)
    known = _may_be_known(sum(lost), column.k, persons=column.persons)
    hidden = pool if known else frozenset(unnamed)
    named = [int(group) for i, group in enumerate(order) if i not in hidden]
    lines: list[tuple[str | None, int, int]] = [
        (column.label(column.level, g), int(before[g]), int(after[g])) for g in named
    ]
    others = int(before.sum() - before[named].sum()), int(after.sum() - after[named].sum())
    counted = [*lines, (None, *others)] if others[1] or (known and others[0]) else lines
    return tuple(LabelCount(label, b if known else None, a) for label, b, a in counted)


def mixed_labels(column: Column, levels: Ints) -> tuple[LabelCount, ...]:
    """The most frequent labels of a release with mixed levels, then all others together.

    Only the release is counted. The source has no counts to compare: its values are under several
    labels, and how many of them a higher label hides would tell of a few records.
    """
    found: dict[str, int] = {}
    for level in np.unique(levels[column.released > 0]).tolist():
        for group, records in enumerate(column.counts(level, column.released * (levels == level))):
            if records:
                label = column.label(level, group)
                found[label] = found.get(label, 0) + int(records)
    order = sorted(found, key=lambda label: (-found[label], label))
    named = [LabelCount(label, None, found[label]) for label in order[:MOST_LABELS]]
    others = sum(found[label] for label in order[MOST_LABELS:])
    return (*named, LabelCount(None, None, others)) if others else tuple(named)


def mixed_examples(column: Column, levels: Ints) -> tuple[str, tuple[Level, ...]]:
    """Labels of the levels that most records have, and the levels, each with its commonest label.

    That is a released label of the level. A level without records has the commonest label of those
    below it that are released, and none if nothing is released at or below it. A released label is
    that of a whole class, so at least k released records have it, and each label above it.
    """
    attribute, examples, records = column.attribute, {}, {}
    for level in range(attribute.height + 1):
        at, below = (column.released * chosen for chosen in (levels == level, levels <= level))
        records[level] = int(at.sum())
        if below.any():
            counts = column.counts(level, at if at.any() else below)
            missing = int(attribute.groups[level][attribute.missing_code])
            if attribute.labels(level)[missing].as_py() is None and np.count_nonzero(counts) > 1:
                counts[missing] = 0
            examples[level] = column.label(level, int(counts.argmax()))
    common = sorted(sorted(records, key=lambda level: -records[level])[:MOST_EXAMPLES])
    shown = dict.fromkeys(examples[level] for level in common if records[level])
    if len(shown) > 1:
        shown.pop("missing", None)
    return " or ".join(shown), tuple(
        Level(level, _occurring(column, level), examples.get(level))
        for level in range(attribute.height + 1)
    )


def pool_few(
    lost: Sequence[int], k: int, *, persons: bool, pooled: Collection[int] = ()
) -> frozenset[int]:
    """Which labels must not be shown with the number of suppressed records that they had.

    A number from 1 to k-1 would tell of these few, so such labels are pooled. As totals are known,
    the number of the whole pool can be computed. So further labels join it, those that lost fewest
    first, until it lost none or at least k. Labels of `pooled` are in it anyway. Where fewer than k
    records are suppressed in all, or persons are counted, who may have all of them, every label is
    in it.
    """
    if not _may_be_known(sum(lost), k, persons=persons):
        return frozenset(range(len(lost)))
    pool = {i for i, number in enumerate(lost) if 0 < number < k or i in pooled}
    joining = sorted((i for i, n in enumerate(lost) if n and i not in pool), key=lost.__getitem__)
    while 0 < sum(lost[i] for i in pool) < k:
        pool.add(joining.pop(0))
    return frozenset(pool)


def _may_be_known(suppressed: int, k: int, *, persons: bool) -> bool:
    """Whether it may be said of any label how many of the suppressed records had it."""
    return suppressed == 0 or (suppressed >= k and not persons)


def exposure_of(classes: Counts, k: int) -> Exposure | None:
    """The exposure of these classes; None where there is none.

    Where persons are counted, a class hides a record among its persons, not among its records.
    """
    if not len(classes.sizes):
        return None
    sizes, hiding = classes.sizes, classes.of(None).sizes
    records = int(sizes.sum())
    return Exposure(
        records=records,
        classes=len(sizes),
        smallest_class=int(hiding.min()),
        highest=1 / int(hiding.min()),
        average=float((sizes / hiding).sum() / records),
        alone=int(sizes[hiding == 1].sum()),
        below_k=int(sizes[hiding < k].sum()),
        sizes=class_sizes(sizes),
    )


def class_sizes(sizes: Ints) -> tuple[Sizes, ...]:
    """How many classes have how many records, each range twice as wide as the one before."""
    ranges, least = [], int(sizes.min()) if len(sizes) else 0
    while least and least <= int(sizes.max()):
        inside = sizes[(sizes >= least) & (sizes < 2 * least)]
        if len(inside):
            ranges.append(Sizes(least, 2 * least - 1, len(inside), int(inside.sum())))
        least *= 2
    return tuple(ranges)
