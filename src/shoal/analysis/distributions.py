"""How often each label of a column occurs: in the source, generalized alike, and in the release.

`distribution_of` counts a quasi-identifier from the encoded table, `compare_counts` any other
column from the counts of its values, `compare_mixed` one with labels of several levels. To draw
one: `labels` come in the order of the hierarchy, and `before_shares` and `after_shares` add up to 1
each, `others` included.

What is safe to show: every label here is one of at least k released records. All other labels are
one nameless entry: those of suppressed records only, and rare values of columns that are released
as they are. A label that fewer than k suppressed records have would tell about these few, so it
has no number of its own in the source (`report.counts.pool_few`). Only what such entries lost
together is known. `befores` shares it out evenly, so totals stay right, and everything that is
computed here is computed from what is shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from shoal.report.counts import pool_few
from shoal.values import LabelCount

if TYPE_CHECKING:
    from shoal.encode.table import Table
    from shoal.search.problem import Partition
    from shoal.values import Node


@dataclass(frozen=True)
class Distribution:
    """The labels of a column before and after; `level` is None for what is not generalized.

    The label None is a missing value. `others` counts the records of all labels that fewer than k
    released records have; None if there is no such label. `pooled` records were suppressed of all
    entries together that have no `before`. Where a column has labels of several levels, it is
    compared at `level`, and `more_general` released records have labels above that.
    """

    column: str
    level: int | None
    labels: tuple[LabelCount, ...]
    others: LabelCount | None = None
    pooled: int = 0
    more_general: int = 0

    @property
    def entries(self) -> tuple[LabelCount, ...]:
        """The labels, and at last all others."""
        return self.labels if self.others is None else (*self.labels, self.others)

    @property
    def befores(self) -> list[float]:
        """The records of each entry in the source; an average where it has none of its own."""
        unknown = sum(each.before is None for each in self.entries)
        return [
            each.after + self.pooled / unknown if each.before is None else each.before
            for each in self.entries
        ]

    def before_shares(self) -> list[float]:
        """The share of each entry in the source."""
        return _shares(self.befores)

    def after_shares(self) -> list[float]:
        """The share of each entry in the release, more general labels included."""
        return _shares([*(each.after for each in self.entries), self.more_general])[:-1]

    @property
    def distance(self) -> float:
        """The total variation distance: the share of records that would have to change label."""
        pairs = zip(self.before_shares(), self.after_shares(), strict=True)
        more = 1 - sum(self.after_shares()) if self.more_general else 0.0
        return (sum(abs(before - after) for before, after in pairs) + more) / 2


def _shares(numbers: Sequence[float]) -> list[float]:
    total = sum(numbers)
    return [each / total if total else 0.0 for each in numbers]


def distribution_of(
    table: Table, index: int, node: Node, classes: Partition, k: int
) -> Distribution:
    """The distribution of the quasi-identifier number `index`, at its level of the node.

    `classes` are those of the node, with the released ones kept.
    """
    attribute, level = table.attributes[index], node[index]
    group = attribute.groups[level][table.codes[index]]
    labels = attribute.labels(level).to_pylist()
    kept = classes.kept[classes.class_of]
    before = np.bincount(group, weights=table.weights, minlength=len(labels)).astype(np.int64)
    after = np.bincount(group, weights=table.weights * kept, minlength=len(labels)).astype(np.int64)
    counts = [
        (label, int(b), int(a)) for label, b, a in zip(labels, before, after, strict=True) if b > 0
    ]
    return _shown(attribute.name, level, counts, k, persons=table.persons is not None)


def compare_counts(
    column: str,
    before: Mapping[str | None, int],
    after: Mapping[str | None, int],
    k: int,
    *,
    persons: bool = False,
) -> Distribution:
    """The distribution of a column that is not generalized, from the counts of its values."""
    counts = [(value, count, after.get(value, 0)) for value, count in before.items()]
    return _shown(column, None, counts, k, persons=persons)


def compare_mixed(
    column: str,
    level: int,
    counts: Sequence[tuple[str | None, int, int]],
    more_general: int,
    k: int,
    *,
    persons: bool,
) -> Distribution:
    """The distribution of a column with labels of several levels, compared at one of them.

    The records with a more general label count as lost to the labels, like suppressed ones: what
    1 to k-1 of them had is not told.
    """
    shown = _shown(column, level, counts, k, persons=persons)
    return replace(shown, more_general=more_general)


def _shown(
    column: str,
    level: int | None,
    counts: Sequence[tuple[str | None, int, int]],
    k: int,
    *,
    persons: bool,
) -> Distribution:
    """What may be shown of labels with their records before and after."""
    entries = [each for each in counts if each[2] >= k]
    rare = [each for each in counts if each[2] < k]
    if rare:
        entries.append((None, sum(b for _, b, _ in rare), sum(a for _, _, a in rare)))
    lost = [before - after for _, before, after in entries]
    pool = pool_few(lost, k, persons=persons)
    shown = [
        LabelCount(label, None if i in pool else before, after)
        for i, (label, before, after) in enumerate(entries)
    ]
    others = shown.pop() if rare else None
    return Distribution(column, level, tuple(shown), others, sum(lost[i] for i in pool))
