"""The problem as the checker sees it: the classes of a node, the records they lose, the loss."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from shoal.loss.base import CellLoss, LevelLoss
from shoal.privacy.base import TableModel, certain_removals, released
from shoal.values import Best, Counts, Histogram

if TYPE_CHECKING:
    from shoal.loss.base import Floats, Loss
    from shoal.privacy.base import PrivacyModel, Removal
    from shoal.proof.rows import Rows, Sensitive
    from shoal.values import Ints, Node


@dataclass(frozen=True, eq=False)
class Classes:
    """The class of each row, from 0 on, and what each class holds.

    Where there is a population, `everybody` are the classes of the rows and then of its rows.
    """

    of: Ints
    counts: Counts
    everybody: Ints


@dataclass(frozen=True, eq=False)
class Instance:
    """Rows, the demands on their classes, the loss, and how many records may be suppressed."""

    rows: Rows
    models: tuple[PrivacyModel, ...]
    loss: Loss
    aggregate: str
    limit: int

    @property
    def top(self) -> Node:
        """The highest node."""
        return tuple(attribute.levels.limit for attribute in self.rows.attributes)

    @property
    def bottom(self) -> Node:
        """The lowest node."""
        return tuple(attribute.levels.lowest for attribute in self.rows.attributes)

    def classes(self, node: Node) -> Classes:
        """The classes at a node: rows with the same groups in all attributes.

        Models of the table need them in the order of their groups.
        """
        groups = [each.at(level) for each, level in zip(self.rows.attributes, node, strict=True)]
        of = np.zeros(len(groups[0]), dtype=np.int64)
        for column in groups:
            if column.any():
                of = split_by(of, column)
        if any(isinstance(model, TableModel) for model in self.models):
            first = np.unique(of, return_index=True)[1]
            order = np.lexsort([column[first] for column in reversed(groups)])
            of = np.argsort(order)[of]
        return self._counted(of)

    def split_at(self, classes: Classes, j: int, level: int) -> Classes:
        """The classes split by the groups of attribute `j` at a level below theirs."""
        return self._counted(split_by(classes.everybody, self.rows.attributes[j].at(level)))

    def certain_removals(self, classes: Classes) -> Removal:
        """What is suppressed however the classes are split."""
        return certain_removals(self.models, classes.counts)

    def measure(self, node: Node) -> Best | None:
        """What a node costs, None when it suppresses too much or leaves no record."""
        classes = self.classes(node)
        sizes = classes.counts.sizes
        kept = released(self.models, classes.counts)
        suppressed = int(sizes[~kept].sum())
        if suppressed > self.limit or not kept.any():
            return None
        if isinstance(self.loss, CellLoss):
            weights = np.where(kept[classes.of], self.rows.weights, 0)
            paid = [
                float((weights * costs[level][attribute.codes]).sum()) + suppressed
                for attribute, costs, level in zip(
                    self.rows.attributes, self.cell_costs, node, strict=True
                )
            ]
            loss = self.combined_loss(paid)
        elif isinstance(self.loss, LevelLoss):
            loss = sum(costs[level] for costs, level in zip(self.level_costs, node, strict=True))
        else:
            loss = self.loss.class_loss(sizes[kept], suppressed, self.rows.records)
            loss *= self.priority_factor(node)
        return Best(node, loss, suppressed, int(kept.sum()), int(sizes[kept].min()))

    def combined_loss(self, paid: Sequence[float]) -> float:
        """A cell loss, from what all records together pay for each attribute.

        It rises with each of them.
        """
        priorities = [attribute.levels.priority for attribute in self.rows.attributes]
        losses = [total / self.rows.records for total in paid]
        weighted = [p * loss for p, loss in zip(priorities, losses, strict=True)]
        if self.aggregate == "geometric":
            return math.prod(1 + each for each in weighted) ** (1 / len(weighted)) - 1
        return sum(weighted) / sum(priorities)

    def priority_factor(self, node: Node) -> float:
        """The factor of a class loss for attributes with a priority above the least one.

        It rises with the levels, and is 1 where all priorities are equal.
        """
        ranges = [attribute.levels for attribute in self.rows.attributes]
        least, total = min(r.priority for r in ranges), sum(r.priority for r in ranges)
        more = 0.0
        for levels, level in zip(ranges, node, strict=True):
            if levels.height:
                more += (levels.priority - least) / total * level / levels.height
        return 1 + more

    @cached_property
    def cell_costs(self) -> list[tuple[Floats, ...]]:
        """What a kept cell costs, `[j][level][code]`, for a cell loss."""
        assert isinstance(self.loss, CellLoss)  # noqa: S101
        return [
            self.loss.cell_costs(attribute.domain(self.rows.weights))
            for attribute in self.rows.attributes
        ]

    @cached_property
    def level_costs(self) -> list[tuple[float, ...]]:
        """What a level costs, `[j][level]`, times the priority, for a level loss."""
        assert isinstance(self.loss, LevelLoss)  # noqa: S101
        return [
            tuple(
                attribute.levels.priority * cost
                for cost in self.loss.level_costs(attribute.domain(self.rows.weights))
            )
            for attribute in self.rows.attributes
        ]

    def _counted(self, everybody: Ints) -> Classes:
        """What classes hold, from the class of each row; classes of rows keep their order."""
        own = len(self.rows.weights)
        numbers, of = np.unique(everybody[:own], return_inverse=True)
        number = len(numbers)
        population, absent = None, 0
        if self.rows.people is not None:
            most = int(everybody.max()) + 1
            people = np.bincount(everybody[own:], weights=self.rows.people, minlength=most)
            population = people[numbers].astype(np.int64)
            absent = int((people > 0).sum() - (population > 0).sum())
        sizes = np.bincount(of, weights=self.rows.weights, minlength=number).astype(np.int64)
        histograms = {}
        members: dict[str | None, Ints] = {}
        if self.rows.person is not None:
            members[None] = np.bincount(of[self._once(of)], minlength=number)
        for name, each in self.rows.sensitive.items():
            weights = self.rows.weights
            if self.rows.person is not None:
                once = self._once(split_by(of, each.values + 1))
                members[name] = np.bincount(of[once], minlength=number)
                weights = np.isin(np.arange(len(of)), once).astype(np.int64)
            histograms[name] = _histogram(of, number, each, weights)
        counts = Counts(sizes, histograms, members, population, absent)
        return Classes(of, counts, everybody)

    def _once(self, groups: Ints) -> Ints:
        """One row for each person of each group."""
        assert self.rows.person is not None  # asked for only then  # noqa: S101
        rows: Ints = np.unique(split_by(groups, self.rows.person), return_index=True)[1]
        return rows


def _histogram(of: Ints, number: int, sensitive: Sensitive, weights: Ints) -> Histogram:
    """The values of each class: one entry for each pair of a class and a value in it.

    `weights` is what each row counts.
    """
    present = sensitive.values >= 0
    size = max(len(sensitive.reference.values), 1)
    pairs, pair_of = np.unique(of[present] * size + sensitive.values[present], return_inverse=True)
    counts = np.bincount(pair_of, weights=weights[present], minlength=len(pairs))
    entries = np.bincount(pairs // size, minlength=number)
    return Histogram(
        np.concatenate(([0], np.cumsum(entries))).astype(np.int64),
        pairs % size,
        counts.astype(np.int64),
        sensitive.reference,
    )


def split_by(of: Ints, groups: Ints) -> Ints:
    """Classes split by groups, numbered from 0 on.

    No key exceeds the number of rows times that of the groups, so equal keys mean equal pairs.
    """
    keys = of * (int(groups.max()) + 1) + groups
    numbers: Ints = pa.array(keys).dictionary_encode().indices.to_numpy().astype(np.int64)
    return numbers
