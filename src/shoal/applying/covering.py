"""New records in the classes of a local recoding: each goes to the finest class that covers it.

A class covers a record if at its levels the record has its labels; a missing value is covered by
missing, and by the single label at the top of a hierarchy. Of the classes that cover a record the
finest is the first one in the order of the transformation file: least loss, then lowest levels,
then labels.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from shoal.privacy.base import released
from shoal.recoding.local.solution import (
    SUPPRESSED,
    LocalBest,
    Recoding,
    attribute_losses,
    counts_of_classes,
    join,
    without,
)
from shoal.release.recode import labels_of
from shoal.search.problem import Partition, counts_of

if TYPE_CHECKING:
    import pyarrow as pa

    from shoal.encode.table import Table
    from shoal.release.local_classes import ReleasedClass
    from shoal.search.problem import Problem
    from shoal.values import Ints

NO_GROUP = -1
"""The group of a label that no value of the new data has."""


def covered(table: Table, classes: Sequence[ReleasedClass]) -> Recoding:
    """The finest class of each tuple, `SUPPRESSED` where none covers it.

    Only classes with a tuple are numbered, in the order of the file.
    """
    attributes = len(table.attributes)
    levels = np.array([each.levels for each in classes], np.int64).reshape(-1, attributes)
    groups = _groups(table, classes)
    finest = np.full(table.tuples, len(classes), np.int64)
    possible = np.flatnonzero((groups != NO_GROUP).all(axis=1))
    order = sorted(range(attributes), key=lambda j: -len(np.unique(table.codes[j])))
    search = _Search(table, levels, groups, order, finest)
    search.visit(0, possible, np.arange(table.tuples))
    used, numbers = np.unique(finest, return_inverse=True)
    class_of = np.where(finest == len(classes), SUPPRESSED, numbers)
    return Recoding(class_of, levels[used[used < len(classes)]])


def _groups(table: Table, classes: Sequence[ReleasedClass]) -> Ints:
    """The group of each class in each attribute at its level."""
    found = np.full((len(classes), len(table.attributes)), NO_GROUP, np.int64)
    for j, attribute in enumerate(table.attributes):
        known = [
            {text: group for group, text in enumerate((*labels, None))}
            for labels in attribute.hierarchy.labels
        ]
        for number, each in enumerate(classes):
            level = each.levels[j]
            if attribute.lowest <= level <= attribute.limit:
                found[number, j] = known[level].get(each.labels[j], NO_GROUP)
    return found


@dataclass(frozen=True, eq=False)
class _Search:
    """Compares tuples with classes, attribute by attribute in `order`.

    Classes that agree in the attributes so far are looked at together, with the tuples that they
    cover so far. A tuple is in few of these sets, so that not every pair is compared.
    """

    table: Table
    levels: Ints
    groups: Ints
    order: Sequence[int]
    finest: Ints

    def visit(self, depth: int, classes: Ints, tuples: Ints) -> None:
        """Compare in the attributes from `depth` on; `finest` has the result."""
        if not len(classes) or not len(tuples):
            return
        if len(classes) == 1:
            tuples = self._covered_by(int(classes[0]), depth, tuples)
        if len(classes) == 1 or depth == len(self.order):
            self.finest[tuples] = np.minimum(self.finest[tuples], classes.min())
            return
        for inside, covered_by_them in self._divided(self.order[depth], classes, tuples):
            self.visit(depth + 1, inside, covered_by_them)

    def _covered_by(self, number: int, depth: int, tuples: Ints) -> Ints:
        """The tuples that a class covers in the attributes from `depth` on."""
        for j in self.order[depth:]:
            groups = self.table.attributes[j].groups[self.levels[number, j]]
            tuples = tuples[groups[self.table.codes[j][tuples]] == self.groups[number, j]]
        return tuples

    def _divided(self, j: int, classes: Ints, tuples: Ints) -> Iterator[tuple[Ints, Ints]]:
        """The classes of each label in an attribute, and the tuples that have it."""
        attribute, codes = self.table.attributes[j], self.table.codes[j][tuples]
        for level in np.unique(self.levels[classes, j]).tolist():
            of_tuples = attribute.groups[level][codes]
            by_group = np.argsort(of_tuples, kind="stable")
            at_level = classes[self.levels[classes, j] == level]
            labels, label_of = np.unique(self.groups[at_level, j], return_inverse=True)
            starts = np.searchsorted(of_tuples[by_group], labels, "left")
            ends = np.searchsorted(of_tuples[by_group], labels, "right")
            for number, (start, end) in enumerate(zip(starts, ends, strict=True)):
                if end > start:
                    yield at_level[label_of == number], tuples[by_group[start:end]]


def classes_of(problem: Problem, recoding: Recoding) -> Partition:
    """The classes of a recoding, each judged; the last holds what none covers, if there is any."""
    number, covering = recoding.class_of, recoding.classes
    is_covered = number != SUPPRESSED
    classes = covering + (not is_covered.all())
    class_of = np.where(is_covered, number, covering)
    kept = np.zeros(classes, np.bool_)
    kept[:covering] = released(problem.models, counts_of_classes(problem.table, recoding))
    return Partition(class_of, counts_of(problem.table, class_of, classes), kept)


def judged(problem: Problem, recoding: Recoding, classes: Partition) -> LocalBest | None:
    """What a recoding costs where only the kept classes are released.

    None if too many records would be suppressed, or all.
    """
    suppressed = classes.suppressed
    if suppressed > problem.limit or not classes.kept.any():
        return None
    recoding = without(recoding, ~classes.kept[: recoding.classes])
    return LocalBest(
        (),
        join(problem, attribute_losses(problem, recoding)),
        suppressed,
        int(classes.kept.sum()),
        int(classes.counts.sizes[classes.kept].min()),
        recoding,
    )


def labels_in(table: Table, recoding: Recoding) -> pa.Table:
    """The labels of each tuple; those of tuples that no class covers mean nothing."""
    unused = np.zeros((1, len(table.attributes)), np.int64)
    levels = np.vstack([recoding.levels, unused])[recoding.class_of]
    return labels_of(table, np.arange(table.tuples), levels)
