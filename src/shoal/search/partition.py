"""The classes of one node."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from shoal.encode.classes import merge_histogram, number_rows
from shoal.privacy.base import accepts
from shoal.values import Counts, Histogram

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shoal.encode.table import Table
    from shoal.privacy.base import PrivacyModel
    from shoal.values import Bools, Ints, Node


@dataclass(frozen=True, eq=False)
class Partition:
    """The class of each tuple, what each class holds, and which of them may be released."""

    class_of: Ints
    counts: Counts
    kept: Bools

    @property
    def suppressed(self) -> int:
        """The records of the classes that some model refuses."""
        return int(self.counts.sizes[~self.kept].sum())

    def released(self) -> Counts:
        """The classes that may be released."""
        return select(self.counts, self.kept)


def select(counts: Counts, chosen: Bools) -> Counts:
    """Some of the classes."""
    histograms = {name: _chosen(each, chosen) for name, each in counts.histograms.items()}
    members = {name: each[chosen] for name, each in counts.members.items()}
    return Counts(counts.sizes[chosen], histograms, members)


def _chosen(histogram: Histogram, classes: Bools) -> Histogram:
    lengths = np.diff(histogram.starts)
    entries = np.repeat(classes, lengths)
    starts = np.concatenate(([0], np.cumsum(lengths[classes])))
    return Histogram(
        starts.astype(np.int64),
        histogram.values[entries],
        histogram.counts[entries],
        histogram.reference,
    )


def partition(table: Table, models: Sequence[PrivacyModel], node: Node) -> Partition:
    """The classes at a node, each judged by every model."""
    levels = list(zip(table.attributes, table.codes, node, strict=True))
    class_of, classes = number_rows(
        [attribute.groups[level][codes] for attribute, codes, level in levels],
        [len(attribute.hierarchy.labels[level]) + 1 for attribute, _, level in levels],
    )
    counts = counts_of(table, class_of, classes)
    kept = np.ones(classes, dtype=np.bool_)
    for model in models:
        kept &= accepts(model, counts)
    return Partition(class_of, counts, kept)


def counts_of(table: Table, class_of: Ints, classes: int) -> Counts:
    """What each class holds, from the class of each tuple."""
    sizes = np.bincount(class_of, weights=table.weights, minlength=classes).astype(np.int64)
    if table.persons is not None:
        histograms, members = table.persons.count(table.histograms, class_of, classes)
        return Counts(sizes, histograms, members)
    histograms = {
        name: merge_histogram(
            np.repeat(class_of, np.diff(each.starts)),
            each.values,
            each.counts,
            classes,
            each.reference,
        )
        for name, each in table.histograms.items()
    }
    return Counts(sizes, histograms)
