"""How often each label of a column occurs: in the source, generalized alike, and in the release.

`distribution_of` counts a quasi-identifier from the encoded table, `compare_counts` any other
column from the counts of its values. To draw one: `labels` come in the order of the hierarchy, and
`before_shares` and `after_shares` add up to 1 each, `others` included.

What is safe to show: every label here is one of at least k released records. All other labels are
one nameless entry: those of suppressed records only, and rare values of columns that are released
as they are. A label that fewer than k suppressed records have would tell about these
few, so together with at least one other label it shows the average of them all (`exact` is False).
Totals stay right, and everything that is computed here is computed from what is shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from shoal.encode.table import Table
    from shoal.search.problem import Partition
    from shoal.values import Bools, Ints, Node


@dataclass(frozen=True)
class LabelCount:
    """A label with its records in the source and in the release; None is a missing value.

    Where `exact` is False, `before` is an average over several labels.
    """

    label: str | None
    before: float
    after: int
    exact: bool = True

    @property
    def suppressed(self) -> float:
        """The records with this label that were suppressed."""
        return self.before - self.after


@dataclass(frozen=True)
class Distribution:
    """The labels of a column before and after; `level` is None for what is not generalized.

    `others` counts the records of all labels that fewer than k released records have; None if there
    is no such label.
    """

    column: str
    level: int | None
    labels: tuple[LabelCount, ...]
    others: LabelCount | None = None

    @property
    def entries(self) -> tuple[LabelCount, ...]:
        """The labels, and at last all others."""
        return self.labels if self.others is None else (*self.labels, self.others)

    def before_shares(self) -> list[float]:
        """The share of each entry in the source."""
        total = sum(each.before for each in self.entries)
        return [each.before / total if total else 0.0 for each in self.entries]

    def after_shares(self) -> list[float]:
        """The share of each entry in the release."""
        total = sum(each.after for each in self.entries)
        return [each.after / total if total else 0.0 for each in self.entries]

    @property
    def distance(self) -> float:
        """The total variation distance: the share of records that would have to change label."""
        pairs = zip(self.before_shares(), self.after_shares(), strict=True)
        return sum(abs(before - after) for before, after in pairs) / 2


def distribution_of(
    table: Table, index: int, node: Node, classes: Partition, k: int
) -> Distribution:
    """The distribution of the quasi-identifier number `index`, at its level of the node.

    `classes` are those of the node, with the released ones kept. Where the table counts persons,
    it is persons that have to be k.
    """
    attribute, level = table.attributes[index], node[index]
    group = attribute.groups[level][table.codes[index]]
    labels = attribute.labels(level).to_pylist()
    kept = classes.kept[classes.class_of]
    before = np.bincount(group, weights=table.weights, minlength=len(labels)).astype(np.int64)
    after = np.bincount(group, weights=table.weights * kept, minlength=len(labels)).astype(np.int64)
    members = before - after
    if table.persons is not None:
        members = _suppressed_persons(table, group, kept, len(labels))
    there = before > 0
    counts = [
        (label, int(b), int(a), int(m))
        for label, b, a, m, occurs in zip(labels, before, after, members, there, strict=True)
        if occurs
    ]
    return _shown(attribute.name, level, counts, k)


def compare_counts(
    column: str, before: Mapping[str | None, int], after: Mapping[str | None, int], k: int
) -> Distribution:
    """The distribution of a column that is not generalized, from the counts of its values."""
    counts = [
        (value, count, after.get(value, 0), count - after.get(value, 0))
        for value, count in before.items()
    ]
    return _shown(column, None, counts, k)


def _suppressed_persons(table: Table, group: Ints, kept: Bools, groups: int) -> Ints:
    """How many persons have a suppressed record in each group."""
    assert table.persons is not None  # the caller looked  # noqa: S101
    suppressed_in = np.where(kept, groups, group)
    _, members = table.persons.count({}, suppressed_in, groups + 1)
    return members[None][:groups]


def _shown(
    column: str, level: int | None, counts: Sequence[tuple[str | None, int, int, int]], k: int
) -> Distribution:
    """What may be shown of labels with their counts before and after, and who was suppressed."""
    entries = [each for each in counts if each[2] >= k]
    rare = [each for each in counts if each[2] < k]
    if rare:
        _, before, after, members = zip(*rare, strict=True)
        entries.append((None, sum(before), sum(after), sum(members)))
    hidden = hide_few([members for *_, members in entries], k)
    lost = sum(before - after for i, (_, before, after, _) in enumerate(entries) if i in hidden)
    shown = [
        LabelCount(label, after + lost / len(hidden), after, exact=False)
        if i in hidden
        else LabelCount(label, before, after)
        for i, (label, before, after, _) in enumerate(entries)
    ]
    others = shown.pop() if rare else None
    return Distribution(column, level, tuple(shown), others)


def hide_few(members: Sequence[int], k: int) -> frozenset[int]:
    """Which of these groups must not be shown with their own numbers.

    Groups of 1 to k-1 members are hidden. As totals are known, the members of all hidden groups
    together can be computed. So further groups are hidden with them, the smallest that have any
    first, until there are k members in all; a single group never has as many.
    """
    hidden = {i for i, number in enumerate(members) if 0 < number < k}
    others = sorted(
        (i for i in range(len(members)) if i not in hidden),
        key=lambda i: (members[i] == 0, members[i], i),
    )
    while hidden and others and sum(members[i] for i in hidden) < k:
        hidden.add(others.pop(0))
    return frozenset(hidden)
