"""The loss of a node, combined from its attributes and weighted by their priorities."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import numpy as np

from shoal.loss.base import CellLoss, ClassLoss, Domain, LevelLoss

if TYPE_CHECKING:
    from shoal.encode.table import Attribute, Table
    from shoal.loss.base import Floats, Loss
    from shoal.search.problem import Partition
    from shoal.values import Ints, Node


class Objective(Protocol):
    """The loss of a node, and a bound that needs no counting."""

    def attribute_losses(self, node: Node, partition: Partition) -> list[float]:
        """What each attribute lost, for the report."""

    def measure(self, node: Node, partition: Partition) -> float:
        """The loss of a node."""

    def lower_bound(self, node: Node) -> float:
        """At most the loss of this node, and never falling as a level rises."""


def objective_of(table: Table, loss: Loss, aggregate: str) -> Objective:
    """The objective of a loss on a table; `aggregate` is how a cell loss joins attributes."""
    if isinstance(loss, CellLoss):
        return CellObjective(table, loss, aggregate)
    if isinstance(loss, LevelLoss):
        return LevelObjective(table, loss)
    return ClassObjective(table, loss)


@dataclass(frozen=True, eq=False)
class CellObjective:
    """A cell loss: its mean over the records of each attribute, joined over the attributes.

    `mean` joins them by the arithmetic mean weighted by priority. `geometric` is ARX's aggregate,
    the product of (1 + priority * loss) to the power 1/m, minus 1. Both rise with every attribute.
    """

    table: Table
    loss: CellLoss
    aggregate: str = "mean"

    def attribute_losses(self, node: Node, partition: Partition) -> list[float]:
        """Kept cells pay their cost, suppressed ones 1, on average."""
        kept = partition.kept[partition.class_of]
        weights, suppressed = np.where(kept, self.table.weights, 0.0), partition.suppressed
        losses = []
        for costs, codes, level in zip(self.costs, self.table.codes, node, strict=True):
            records = np.bincount(codes, weights=weights, minlength=len(costs[level]))
            cost = float((records * costs[level]).sum())
            losses.append((cost + suppressed) / self.table.records)
        return losses

    def measure(self, node: Node, partition: Partition) -> float:
        return self.join(self.attribute_losses(node, partition))

    def lower_bound(self, node: Node) -> float:
        """What the cells cost when no record is suppressed.

        A suppressed record pays 1 per attribute, which is at least the cost of its cells.
        """
        return self.join([self.floors[j][level] for j, level in enumerate(node)])

    def join(self, losses: Sequence[float]) -> float:
        """The loss of a node from the losses of its attributes."""
        priorities = _priorities(self.table)
        if self.aggregate == "geometric":
            factors = [1 + p * loss for p, loss in zip(priorities, losses, strict=True)]
            return math.prod(factors) ** (1 / len(factors)) - 1
        total = sum(priorities)
        return sum(p / total * loss for p, loss in zip(priorities, losses, strict=True))

    @cached_property
    def costs(self) -> list[tuple[Floats, ...]]:
        """Cell costs of each attribute, `costs[j][level][code]`."""
        return [self.loss.cell_costs(domain) for domain in self._domains]

    @cached_property
    def floors(self) -> list[list[float]]:
        """The mean cell cost of each attribute at each level, nothing suppressed."""
        return [
            [float(domain.weights @ cost) / self.table.records for cost in costs]
            for domain, costs in zip(self._domains, self.costs, strict=True)
        ]

    @cached_property
    def _domains(self) -> list[Domain]:
        return domains(self.table)


@dataclass(frozen=True, eq=False)
class LevelObjective:
    """A level loss: the sum over attributes of priority times the cost of the level.

    It looks at the node alone, so it is its own lower bound.
    """

    table: Table
    loss: LevelLoss

    def attribute_losses(self, node: Node, partition: Partition) -> list[float]:  # noqa: ARG002
        return [costs[level] for costs, level in zip(self.costs, node, strict=True)]

    def measure(self, node: Node, partition: Partition) -> float:  # noqa: ARG002
        return self.lower_bound(node)

    def lower_bound(self, node: Node) -> float:
        return sum(
            priority * costs[level]
            for priority, costs, level in zip(
                _priorities(self.table), self.costs, node, strict=True
            )
        )

    @cached_property
    def costs(self) -> list[tuple[float, ...]]:
        """Costs of the levels of each attribute."""
        return [self.loss.level_costs(domain) for domain in domains(self.table)]


@dataclass(frozen=True, eq=False)
class ClassObjective:
    """A class loss: the sizes of the released classes and the suppressed records.

    It does not depend on attributes. So that priorities count, the loss is multiplied by `factor`,
    which rises with the levels of attributes of high priority.
    """

    table: Table
    loss: ClassLoss

    def attribute_losses(self, node: Node, partition: Partition) -> list[float]:  # noqa: ARG002
        """A class loss has none; the report shows how far up its hierarchy each attribute is."""
        return [
            level / max(attribute.height, 1)
            for attribute, level in zip(self.table.attributes, node, strict=True)
        ]

    def measure(self, node: Node, partition: Partition) -> float:
        sizes = partition.counts.sizes[partition.kept]
        records, suppressed = self.table.records, partition.suppressed
        return self.factor(node) * self.loss.class_loss(sizes, suppressed, records)

    def lower_bound(self, node: Node) -> float:
        """The bound for the finest classes, the tuples themselves, times the factor."""
        return self.factor(node) * self._least

    def factor(self, node: Node) -> float:
        """1 + the sum of (priority - least priority) / (sum of priorities) * level / height.

        It never falls as a level rises, is below 2, and is 1 where all priorities are equal.
        """
        priorities = _priorities(self.table)
        least, total = min(priorities), sum(priorities)
        heights = [max(attribute.height, 1) for attribute in self.table.attributes]
        return 1 + sum(
            (priority - least) / total * level / height
            for priority, level, height in zip(priorities, node, heights, strict=True)
        )

    @cached_property
    def _least(self) -> float:
        return self.loss.least(self.table.weights, 0, self.table.records)


def _priorities(table: Table) -> list[float]:
    return [attribute.priority for attribute in table.attributes]


def domains(table: Table) -> list[Domain]:
    """The attributes as losses see them."""
    return [
        domain_of(attribute, records)
        for attribute, records in zip(table.attributes, table.records_of, strict=True)
    ]


def domain_of(attribute: Attribute, records: Ints) -> Domain:
    """An attribute as a loss sees it; `records` counts the records of each code."""
    return Domain(
        attribute.name,
        attribute.groups,
        tuple(attribute.hierarchy.leaves_under(level) for level in range(attribute.height + 1)),
        records,
        attribute.quantifiers,
        attribute.hierarchy.labels,
    )
