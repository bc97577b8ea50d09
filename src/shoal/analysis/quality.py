"""ARX's quality measures of a release, from counts.

Every measure has a raw value between a minimum (nothing is changed) and a maximum (everything is
suppressed), and a quality of 1 - (raw - minimum) / (maximum - minimum): 1 is best. A suppressed
record counts as fully generalized. Labels are what is measured: a missing value that stays missing
is a label of its own with a single leaf; one that became the top label is that label.

We differ from ARX in three things. Missing cells: `missings` has the share of missing cells as its
raw value, so its quality is 1 - share; ARX states it the other way round. A record whose cells are
all the same text is not taken for suppressed. Discernibility does not overflow.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from shoal.definition.hierarchies.base import TOP

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shoal.encode.table import Attribute, Table
    from shoal.search.problem import Partition
    from shoal.values import Bools, Ints, Node

    Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Measure:
    """A raw value with the least and the greatest that it can have."""

    raw: float
    minimum: float
    maximum: float

    @property
    def quality(self) -> float:
        """1 where nothing was lost, 0 where everything was; 1 where nothing could be lost."""
        if self.maximum <= self.minimum:
            return 1.0
        lost = (self.raw - self.minimum) / (self.maximum - self.minimum)
        return min(1.0, max(0.0, 1 - lost))


@dataclass(frozen=True)
class Quality:
    """One measure: of the table, of each attribute and joined over them, where it has these.

    `quality` is that of the table, else the arithmetic mean of the attributes' qualities.
    """

    name: str
    quality: float
    table: Measure | None = None
    attributes: Mapping[str, Measure] = field(default_factory=dict)
    aggregates: Mapping[str, float] = field(default_factory=dict)


def qualities(table: Table, node: Node, classes: Partition) -> list[Quality]:
    """All measures that need no numbers; `classes` are those of the node, kept where released."""
    columns = [column_of(table, index, node, classes) for index in range(len(node))]
    by_attribute: dict[str, Callable[[Column], Measure]] = {
        "generalization_intensity": _intensity,
        "granularity": _granularity,
        "non_uniform_entropy": _entropy,
        "missings": _missings,
    }
    found = [
        of_attributes(name, {column.attribute.name: measure(column) for column in columns})
        for name, measure in by_attribute.items()
    ]
    of_table = {
        **measures_of_sizes(table, classes.counts.sizes[classes.kept], classes.suppressed),
        "ambiguity": _ambiguity(table, columns, classes),
    }
    return found + of_tables(of_table)


def measures_of_sizes(table: Table, sizes: Ints, suppressed: int) -> dict[str, Measure]:
    """The measures that need only the sizes of the released classes."""
    return {
        "discernibility": _discernibility(table, sizes, suppressed),
        "average_class_size": _average_class_size(table, sizes, suppressed),
    }


def of_tables(measures: Mapping[str, Measure]) -> list[Quality]:
    """Measures of a whole table."""
    return [Quality(name, each.quality, each) for name, each in measures.items()]


def of_attributes(name: str, measures: Mapping[str, Measure]) -> Quality:
    """A measure of attributes, joined as ARX does."""
    joined = aggregates(list(measures.values()))
    return Quality(name, joined["arithmetic mean normalized first"], None, measures, joined)


def aggregates(measures: Sequence[Measure]) -> dict[str, float]:
    """ARX's ways to join attributes, as qualities.

    Each joins the raw values, minimums and maximums, and normalizes then; "normalized first" joins
    the losses of the attributes. The maximum is that of the losses: the worst attribute.
    """
    ways: dict[str, Callable[[Sequence[float]], float]] = {
        "arithmetic mean": lambda xs: sum(xs) / len(xs),
        "geometric mean": lambda xs: math.expm1(sum(map(math.log1p, xs)) / len(xs)),
        "max": max,
    }
    found = {}
    for name, join in ways.items():
        raw, low, high = (
            join([getattr(each, part) for each in measures])
            for part in ("raw", "minimum", "maximum")
        )
        found[name] = Measure(raw, low, high).quality
        found[f"{name} normalized first"] = 1 - join([1 - each.quality for each in measures])
    return found


@dataclass(frozen=True, eq=False)
class Column:
    """An attribute at its level: the records of each code, in all and suppressed, and its labels.

    `label_of[code]` is the number of the code's label in the release; `leaves` and `lowest` are of
    each code's label: the leaves under it, and the lowest level that has it.
    """

    attribute: Attribute
    level: int
    records: Ints
    suppressed: Ints
    label_of: Ints
    leaves: Ints
    lowest: Ints
    is_missing: Bools

    @property
    def kept(self) -> Ints:
        return self.records - self.suppressed

    @property
    def all_leaves(self) -> int:
        return max(len(self.attribute.hierarchy.labels[0]), 1)


def column_of(table: Table, index: int, node: Node, classes: Partition) -> Column:
    """A quasi-identifier at its level of a node."""
    attribute, level, codes = table.attributes[index], node[index], table.codes[index]
    hierarchy = attribute.hierarchy
    gone = np.where(classes.kept[classes.class_of], 0, table.weights)
    suppressed = np.bincount(codes, gone, len(attribute.groups[0])).astype(np.int64)
    labels = attribute.labels(level).to_pylist()
    highest: dict[str, Ints] = {}
    lowest: dict[str, int] = {}
    for at in range(attribute.height + 1):
        for label, leaves in zip(hierarchy.labels[at], hierarchy.leaves_under(at), strict=True):
            highest[label] = leaves
            lowest.setdefault(label, at)
    root = hierarchy.labels[-1][0] if len(hierarchy.labels[-1]) == 1 else None
    label_of = attribute.groups[level]
    leaves = [1 if label is None else int(highest[label]) for label in labels]
    levels = [0 if label is None else lowest[label] for label in labels]
    missing = [label is None or label in (TOP, root) for label in labels]
    return Column(
        attribute,
        level,
        table.records_of[index],
        suppressed,
        label_of,
        np.array(leaves, dtype=np.int64)[label_of],
        np.array(levels, dtype=np.int64)[label_of],
        np.array(missing, dtype=np.bool_)[label_of],
    )


def _intensity(column: Column) -> Measure:
    """The mean of level / height of the lowest level that has the label."""
    height = max(column.attribute.height, 1)
    lost = float(column.kept @ (column.lowest / height)) + int(column.suppressed.sum())
    return Measure(lost / int(column.records.sum()), 0.0, 1.0)


def _granularity(column: Column) -> Measure:
    """The mean share of the leaves that are under the label at the highest level that has it."""
    lost = float(column.kept @ (column.leaves / column.all_leaves)) + int(column.suppressed.sum())
    return Measure(lost / int(column.records.sum()), 1 / column.all_leaves, 1.0)


def _entropy(column: Column) -> Measure:
    """Bits: how surprising each value is given its label, and suppressed labels among themselves.

    A suppressed record loses its value given its label like the others, then its label too: as
    surprising as it is among the suppressed records.
    """
    there = column.records > 0
    records, label_of = column.records[there], column.label_of[there]
    suppressed = column.suppressed[there]
    together = np.bincount(label_of, weights=records)[label_of]
    bits = -float(records @ np.log2(records / together))
    if suppressed.any():
        labels = np.bincount(label_of, weights=suppressed)
        labels = labels[labels > 0]
        bits -= float(labels @ np.log2(labels / labels.sum()))
    most = -float(records @ np.log2(records / records.sum()))
    return Measure(bits, 0.0, most)


def _missings(column: Column) -> Measure:
    """The share of cells that are suppressed, missing, or the top label."""
    lost = int(column.kept[column.is_missing].sum()) + int(column.suppressed.sum())
    return Measure(lost / int(column.records.sum()), 0.0, 1.0)


def _discernibility(table: Table, sizes: Ints, suppressed: int) -> Measure:
    """Each released record pays the size of its class, each suppressed one that of the table."""
    records = table.records
    raw = float(sizes.astype(float) @ sizes.astype(float)) + suppressed * records
    finest = table.weights.astype(float)
    return Measure(raw, float(finest @ finest), float(records) ** 2)


def _average_class_size(table: Table, sizes: Ints, suppressed: int) -> Measure:
    """Released records per released class."""
    raw = (table.records - suppressed) / max(len(sizes), 1)
    return Measure(raw, table.records / table.tuples, float(table.records))


def _ambiguity(table: Table, columns: Sequence[Column], classes: Partition) -> Measure:
    """How many combinations of leaves each record could stand for, in all."""
    kept = classes.kept[classes.class_of]
    everything = math.prod(float(column.all_leaves) for column in columns)
    each = np.ones(table.tuples)
    for column, codes in zip(columns, table.codes, strict=True):
        each *= column.leaves[codes]
    raw = math.fsum(table.weights * np.where(kept, each, everything))
    return Measure(raw, float(table.records), table.records * everything)
