"""A release whose columns have labels of several levels, as local recoding writes it.

Such a release does not say which record of the source became which: a value can lie under several
released labels. So it is measured by its labels, and compared with the source column by column:
`mixed_quality` says what that is enough for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from shoal.analysis.distributions import Distribution, compare_mixed

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from shoal.encode.table import Attribute, Table
    from shoal.engines.base import Source
    from shoal.pipeline import Prepared
    from shoal.values import Ints


@dataclass(frozen=True, eq=False)
class MixedRelease:
    """A source and its release, both open, and the classes of the release in rows.

    `levels[c, j]` is the lowest level that has the label of class `c` in attribute `j`, and
    `groups[c, j]` its group there; a missing value has level 0. `sizes[c]` are its records.
    """

    source: Source
    release: Source
    prepared: Prepared
    levels: Ints
    groups: Ints
    sizes: Ints

    @property
    def table(self) -> Table:
        return self.prepared.table

    @property
    def suppressed(self) -> int:
        """The records of the source that are not in the release."""
        return self.table.records - int(self.sizes.sum())

    def records_at(self) -> dict[str, dict[int, int]]:
        """The released records at each level of each attribute."""
        found = {}
        for j, attribute in enumerate(self.table.attributes):
            counts = np.bincount(self.levels[:, j], self.sizes).astype(np.int64).tolist()
            found[attribute.name] = {level: n for level, n in enumerate(counts) if n}
        return found

    def label_numbers(self, j: int) -> Ints:
        """A number for the label of each class in an attribute: the same for the same label."""
        width = len(self.table.attributes[j].groups[0]) + 1
        numbers: Ints = self.levels[:, j] * width + self.groups[:, j]
        return numbers

    def at_level(self, j: int, level: int) -> tuple[Ints, Ints]:
        """The records of each group of a level: in the source, and released at it or below."""
        return _at_level(self.table, j, level, (self.levels[:, j], self.groups[:, j], self.sizes))

    def distribution_of(self, j: int, k: int) -> Distribution:
        """An attribute before and after, at the lowest level that half of the records are at or
        below; the others have labels that are more general."""
        attribute, levels = self.table.attributes[j], self.levels[:, j]
        below = np.cumsum(np.bincount(levels, self.sizes))
        level = int(np.searchsorted(below, below[-1] / 2))
        before, after = self.at_level(j, level)
        labels = attribute.labels(level).to_pylist()
        counts = [
            (label, int(b), int(a))
            for label, b, a in zip(labels, before, after, strict=False)
            if b > 0
        ]
        more = int(self.sizes[levels > level].sum())
        persons = self.table.persons is not None
        return compare_mixed(attribute.name, level, counts, more, k, persons=persons)


def match_mixed(
    prepared: Prepared, source: Source, release: Source, labels: Sequence[pa.Array], sizes: Ints
) -> MixedRelease | None:
    """The release with these classes of labels; None where it cannot be one of the source.

    Every label must be one of its hierarchy, no label may have more records than the source has
    under it, and no more records may be left out than the definition allows.
    """
    table = prepared.table
    found = MixedRelease(
        source,
        release,
        prepared,
        np.zeros((len(sizes), len(labels)), np.int64),
        np.zeros((len(sizes), len(labels)), np.int64),
        sizes,
    )
    for j, (attribute, column) in enumerate(zip(table.attributes, labels, strict=True)):
        known = _lowest_levels(attribute)
        texts = column.to_pylist()
        if not known.keys() >= {text for text in texts if text is not None}:
            return None
        missing = 0, attribute.missing_code
        pairs = [missing if text is None else known[text] for text in texts]
        found.levels[:, j], found.groups[:, j] = np.array(pairs, np.int64).reshape(-1, 2).T
        for level in range(attribute.height + 1):
            before, after = found.at_level(j, level)
            if (after > before).any():
                return None
    return found if 0 <= found.suppressed <= prepared.problem.limit else None


def _lowest_levels(attribute: Attribute) -> dict[str, tuple[int, int]]:
    """The lowest level that has each label, and its group there."""
    found: dict[str, tuple[int, int]] = {}
    for level, labels in enumerate(attribute.hierarchy.labels):
        for group, label in enumerate(labels):
            found.setdefault(label, (level, group))
    return found


def _at_level(
    table: Table, j: int, level: int, cells: tuple[Ints, Ints, Ints]
) -> tuple[Ints, Ints]:
    """The records of each group of a level, before and after, from levels, groups and sizes."""
    attribute = table.attributes[j]
    of_code = attribute.groups[level]
    number = int(of_code.max()) + 1
    before = np.bincount(of_code, table.records_of[j], number).astype(np.int64)
    after = np.zeros(number, np.int64)
    levels, groups, sizes = cells
    for each in np.unique(levels[levels <= level]).tolist():
        code_of = np.zeros(int(attribute.groups[each].max()) + 1, np.int64)
        code_of[attribute.groups[each]] = np.arange(len(of_code))
        chosen = levels == each
        np.add.at(after, of_code[code_of[groups[chosen]]], sizes[chosen])
    return before, after
