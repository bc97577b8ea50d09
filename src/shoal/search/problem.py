"""The problem a strategy solves: nodes, the classes of a node, exact checks, and bounds of removal.

`Lattice` has the nodes, `Partition` the classes of the records at one of them, `Problem` puts both
together with what is demanded.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from shoal.encode.rows import merge_histogram, number_rows
from shoal.privacy.base import TableModel, certain_removals, released
from shoal.values import Best, Closed, Counts, Histogram

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shoal.encode.table import Table
    from shoal.privacy.base import PrivacyModel, Removal
    from shoal.search.objective import Objective
    from shoal.values import Bools, Ints, Node


@dataclass(frozen=True)
class Lattice:
    """The nodes `x` with `lowest[j] <= x[j] <= top[j]`; by default the lowest levels are 0."""

    top: Node
    lowest: Node | None = None

    @property
    def nodes(self) -> int:
        """How many nodes there are."""
        return math.prod(high - low + 1 for low, high in zip(self.bottom, self.top, strict=True))

    @property
    def bottom(self) -> Node:
        """The most specific node."""
        return (0,) * len(self.top) if self.lowest is None else self.lowest

    def above(self, node: Node) -> Iterator[tuple[int, Node]]:
        """Each attribute that can rise by a level, and the node where it has."""
        for j, level in enumerate(node):
            if level < self.top[j]:
                yield j, (*node[:j], level + 1, *node[j + 1 :])

    def at_rank(self, rank: int) -> Iterator[Node]:
        """The nodes whose levels add up to `rank`, in their order."""
        return _filled((), self.bottom, self.top, rank)

    def ascending(self, bound: Callable[[Node], float]) -> Iterator[tuple[float, Node]]:
        """Every node once, by rising `bound`, for a bound that never falls as a level rises.

        Each node but the bottom has one parent, the node with its last level above the bottom's
        lowered by one, so raising that level or one after it reaches every node exactly once.
        A parent's bound is at most its child's, so nodes leave the heap by rising bound.
        """
        heap = [(bound(self.bottom), self.bottom, 0)]
        while heap:
            cost, node, last = heapq.heappop(heap)
            yield cost, node
            for j, child in self.above(node):
                if j >= last:
                    heapq.heappush(heap, (bound(child), child, j))


def _filled(prefix: Node, bottom: Node, top: Node, rank: int) -> Iterator[Node]:
    """The nodes with this prefix, then levels from `bottom` to `top` whose sum is `rank`."""
    if not top:
        if rank == 0:
            yield prefix
        return
    least = max(bottom[0], rank - sum(top[1:]))
    for level in range(least, min(top[0], rank - sum(bottom[1:])) + 1):
        yield from _filled((*prefix, level), bottom[1:], top[1:], rank - level)


@dataclass(frozen=True, eq=False)
class Partition:
    """The class of each tuple, what each class holds, and which of them may be released."""

    class_of: Ints
    counts: Counts
    kept: Bools

    @property
    def suppressed(self) -> int:
        """The records of the classes that are not released."""
        return int(self.counts.sizes[~self.kept].sum())

    def released(self) -> Counts:
        """The classes that may be released."""
        return select(self.counts, self.kept)


def select(counts: Counts, chosen: Bools) -> Counts:
    """Some of the classes."""
    histograms = {name: _chosen(each, chosen) for name, each in counts.histograms.items()}
    members = {name: each[chosen] for name, each in counts.members.items()}
    population = None if counts.population is None else counts.population[chosen]
    return Counts(counts.sizes[chosen], histograms, members, population, counts.absent)


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
    class_of, classes = _numbered(table, table.codes, node)
    if table.population is None:
        counts = counts_of(table, class_of, classes)
        return Partition(class_of, counts, released(models, counts))
    pairs = zip(table.codes, table.population.codes, strict=True)
    numbers, total = _numbered(table, [np.concatenate(pair) for pair in pairs], node)
    everybody = np.bincount(numbers[table.tuples :], table.population.weights, total)
    own = np.unique(numbers[: table.tuples])
    population = everybody[own].astype(np.int64)
    absent = np.count_nonzero(everybody) - np.count_nonzero(population)
    counts = replace(counts_of(table, class_of, classes), population=population, absent=int(absent))
    return Partition(class_of, counts, released(models, counts))


def _numbered(table: Table, codes: Sequence[Ints], node: Node) -> tuple[Ints, int]:
    """The class of each tuple with these codes, in the order of the groups, and their number."""
    levels = list(zip(table.attributes, codes, node, strict=True))
    return number_rows(
        [attribute.groups[level][column] for attribute, column, level in levels],
        [len(attribute.hierarchy.labels[level]) + 1 for attribute, _, level in levels],
    )


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


@dataclass(frozen=True, eq=False)
class Problem:
    """A table, the demands on its classes, the objective to minimise, the suppression limit."""

    table: Table
    models: tuple[PrivacyModel, ...]
    objective: Objective
    limit: int

    @cached_property
    def lattice(self) -> Lattice:
        """All nodes of the table, within the limits of the attributes."""
        top = tuple(attribute.limit for attribute in self.table.attributes)
        return Lattice(top, self.table.bottom)

    @property
    def nodes(self) -> int:
        """How many nodes the attributes allow, those below the tuples of the table included."""
        return math.prod(each.limit - each.lowest + 1 for each in self.table.attributes)

    def below(self) -> Iterator[Closed]:
        """The boxes of nodes below the lattice: no solution uses their levels.

        Even with all other attributes at their highest levels too many records are suppressed.
        """
        lowest = tuple(attribute.lowest for attribute in self.table.attributes)
        top = self.lattice.top
        for j, level in enumerate(self.lattice.bottom):
            if level > lowest[j]:
                yield Closed("infeasible", lowest, (*top[:j], level - 1, *top[j + 1 :]))

    def partition(self, node: Node) -> Partition:
        """The classes at a node, each judged by every model."""
        return partition(self.table, self.models, node)

    def least_suppressed(self, node: Node) -> int:
        """At most the suppressed records of any node below this one, itself included.

        Below it classes only split, and each class loses at least its certain removal by every
        model, however it is split.
        """
        return self.removal(self.partition(node)).records

    def removal(self, partition: Partition) -> Removal:
        """The records that are suppressed however the classes are split."""
        return certain_removals(self.models, partition.counts)

    def check(self, node: Node) -> Best | None:
        """What the node costs, or None when it is not safe within the suppression limit.

        Where the sizes of classes alone rule a node out, its sensitive values are not counted.
        """
        if self.table.histograms and self._sizes(node).suppressed > self.limit:
            return None
        return self.judge(node, self.partition(node))

    def judge(self, node: Node, classes: Partition) -> Best | None:
        """The same, for a node whose classes are known.

        A node that keeps no record releases nothing and is no solution.
        """
        suppressed = classes.suppressed
        if suppressed > self.limit or not classes.kept.any():
            return None
        return Best(
            node,
            self.objective.measure(node, classes),
            suppressed,
            int(classes.kept.sum()),
            int(classes.counts.sizes[classes.kept].min()),
        )

    def _sizes(self, node: Node) -> Partition:
        """The classes at a node without their sensitive values, judged by their sizes alone.

        Each class by itself: a model of the table may drop other classes where more are refused.
        """
        return partition(self._without_values, self._models_of_sizes, node)

    @cached_property
    def _without_values(self) -> Table:
        return replace(self.table, histograms={})

    @cached_property
    def _models_of_sizes(self) -> tuple[PrivacyModel, ...]:
        return tuple(
            model
            for model in self.models
            if model.attribute is None and not isinstance(model, TableModel)
        )
