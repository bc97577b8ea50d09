"""The released classes of a local recoding, as a transformation file keeps them.

A class is kept by its level and label in every attribute, and by its loss. It says nothing of the
tuples and records that it was made of.

The loss of a class orders the classes that cover a new record. It is what a record of these labels
loses by the definition's loss: in each attribute the mean over all records of the column whose
value is under the label. So it depends on the first release alone, and a new record goes to the
same class whatever other records are new.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.encode.rows import number_rows

if TYPE_CHECKING:
    from collections.abc import Callable

    from shoal.encode.table import Attribute, Table
    from shoal.values import Bools, Ints, Node

DECIMALS = 12
"""Losses that differ by less are equal."""


@dataclass(frozen=True)
class ReleasedClass:
    """A class that was released: its level and label in each attribute, None for missing."""

    levels: Node
    labels: tuple[str | None, ...]
    loss: float

    @property
    def rank(self) -> tuple[float, Node, tuple[tuple[bool, str], ...]]:
        """The finest class is first: least loss, then lowest levels, then labels, missing last."""
        labels = tuple((label is None, label or "") for label in self.labels)
        return (self.loss, self.levels, labels)

    def to_json(self) -> dict[str, Any]:
        """Plain values for the file."""
        return {"levels": list(self.levels), "labels": list(self.labels), "loss": self.loss}

    @classmethod
    def from_json(cls, stored: Mapping[str, Any], attributes: int) -> ReleasedClass:
        """The class that `to_json` wrote; ValueError or TypeError for anything else."""
        levels, labels = stored["levels"], stored["labels"]
        if len(levels) != attributes or len(labels) != attributes:
            raise ValueError
        if not all(label is None or isinstance(label, str) for label in labels):
            raise TypeError
        return cls(tuple(map(int, levels)), tuple(labels), float(stored["loss"]))


@dataclass(frozen=True, eq=False)
class LabelCosts:
    """What labels lose: `costs[j][level][code]` of a cell, and how attributes are joined."""

    costs: Sequence[Sequence[Any]]
    join: Callable[[Sequence[float]], float]


def released_classes(
    table: Table, levels: Ints, kept: Bools, lost: LabelCosts
) -> tuple[ReleasedClass, ...]:
    """The classes of the kept tuples, the finest first: `levels[t, j]` of attribute `j`.

    Each is there once. A label that two levels share has the lower one.
    """
    tuples = np.flatnonzero(kept)
    columns = [
        _cells(attribute, levels[tuples, j], codes[tuples])
        for j, (attribute, codes) in enumerate(zip(table.attributes, table.codes, strict=True))
    ]
    numbers, classes = number_rows(columns, [int(each.max()) + 1 for each in columns])
    first = np.zeros(classes, np.int64)
    first[numbers[::-1]] = np.arange(len(numbers) - 1, -1, -1)
    texts = [_texts(attribute) for attribute in table.attributes]
    losses = [
        _mean_losses(attribute, lost.costs[j], table.records_of[j])
        for j, attribute in enumerate(table.attributes)
    ]
    found: dict[tuple[str | None, ...], ReleasedClass] = {}
    for row in first.tolist():
        cells = [int(column[row]) for column in columns]
        each = ReleasedClass(
            tuple(levels[tuples[row]].tolist()),
            tuple(text[cell] for text, cell in zip(texts, cells, strict=True)),
            round(lost.join([of[cell] for of, cell in zip(losses, cells, strict=True)]), DECIMALS),
        )
        found[each.labels] = min(found.get(each.labels, each), each, key=lambda one: one.rank)
    return tuple(sorted(found.values(), key=lambda each: each.rank))


def _cells(attribute: Attribute, levels: Ints, codes: Ints) -> Ints:
    """The label of each tuple as one number: the groups of all levels, one level after another."""
    starts = _starts(attribute)
    cells = np.zeros(len(codes), np.int64)
    for level in np.unique(levels).tolist():
        chosen = levels == level
        cells[chosen] = starts[level] + attribute.groups[level][codes[chosen]]
    return cells


def _starts(attribute: Attribute) -> Sequence[int]:
    """Where the numbers of each level begin; every level has a group for missing at its end."""
    sizes = [len(labels) + 1 for labels in attribute.hierarchy.labels]
    return [sum(sizes[:level]) for level in range(len(sizes))]


def _texts(attribute: Attribute) -> list[str | None]:
    """The label of each number, None for missing."""
    return [text for labels in attribute.hierarchy.labels for text in (*labels, None)]


def _mean_losses(attribute: Attribute, costs: Sequence[Any], records: Ints) -> list[float]:
    """What a record with a value and the label of each number loses on average; 0 for missing.

    Where no record has the label, every value under it counts once.
    """
    found: list[float] = []
    for level, groups in enumerate(attribute.groups):
        size, leaves = len(attribute.hierarchy.labels[level]) + 1, attribute.missing_code
        group, cost = groups[:leaves], costs[level][:leaves]
        used = np.bincount(group, records[:leaves], size)[group] > 0
        weights = np.where(used, records[:leaves], 1)
        total = np.maximum(np.bincount(group, weights, size), 1)
        found += (np.bincount(group, weights * cost, size) / total).tolist()
    return found
