"""A source with more tuples than may be read, counted a few columns at a time.

Which level of an attribute can no solution use? Take the node where it has that level and every
other attribute its highest. At any node with this level the classes are parts of the classes there,
so at least as many records are suppressed as their `least_removal` says. Above the limit, no node
with this level, or a lower one, is safe. Leaving columns out only joins classes, which never raises
the number of records that must go, so counts of one or two columns are sound too.

Where persons are counted, they are not counted here: a class has at least as many records as
persons, and as many different values. So what k and distinct diversity refuse by records they
refuse by persons. Other demands are left out.

Where there are too many tuples even from the lowest levels that solutions can use,
`too_many_tuples` says which levels to demand.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from shoal.definition.demands import loss_of, models_of
from shoal.encode.rows import column_of, number_rows, weights_of
from shoal.encode.table import Attribute, Table, attribute_of, code_of, encode, with_proposals
from shoal.engines.base import Generalization
from shoal.errors import BadData
from shoal.loss.base import CellLoss
from shoal.privacy.distinct_diversity import DistinctDiversity
from shoal.privacy.k_anonymity import KAnonymity
from shoal.privacy.population import DeltaPresence, KMap
from shoal.search.objective import domain_of, objective_of
from shoal.search.problem import Problem

if TYPE_CHECKING:
    import pyarrow as pa

    from shoal.definition.model import Definition
    from shoal.engines.base import Source
    from shoal.loss.base import Floats, Loss
    from shoal.privacy.base import PrivacyModel
    from shoal.values import Ints, Node


View: TypeAlias = tuple[int, Problem]
"""A problem on some columns, and the lowest level of the first one that it was counted at."""


def look_at(
    definition: Definition, source: Source, most: int, others: Mapping[str, Mapping[str, int]]
) -> Large:
    """Count every quasi-identifier by itself; `others` are values of the population.

    Demands against the population are left out: fewer levels are ruled out then.
    """
    names, missing = definition.quasi_identifiers, definition.missing.values
    counted = {name: source.count_by([name], missing) for name in names}
    counts = {
        name: {**column_of(counted[name], name).counts, **others.get(name, {})} for name in names
    }
    records = int(weights_of(counted[names[0]]).sum())
    filled = with_proposals(definition, counts)
    attributes = tuple(attribute_of(n, filled.attributes[n], counts[n]) for n in names)
    if definition.missing.match == "basic":
        counted = {name: source.count_by([name], missing, complete=names) for name in names}
    records_of = tuple(_records_of(each, counted[each.name]) for each in attributes)
    removed = records - int(records_of[0].sum())
    return Large(
        filled,
        source,
        attributes,
        records_of,
        removed,
        counts,
        tuple(
            model
            for model in models_of(filled)
            if type(model) not in (KMap, DeltaPresence)
            and (not filled.person or _holds_by_records(model))
        ),
        loss_of(filled),
        most,
    )


def _holds_by_records(model: PrivacyModel) -> bool:
    """Whether a class that the model refuses by records is refused by persons."""
    return type(model) in (KAnonymity, DistinctDiversity)


def _records_of(attribute: Attribute, counted: pa.Table) -> Ints:
    """How many records have each code, from the counts of a column."""
    column = column_of(counted, attribute.name)
    codes = code_of(attribute, list(column.counts))[column.rows]
    return np.bincount(codes, weights_of(counted), len(attribute.groups[0])).astype(np.int64)


@dataclass(frozen=True, eq=False)
class Large:
    """The source, its attributes with the records of each code, and how many tuples may be read.

    `removed` records have a missing quasi-identifier, under basic match; all else is counted
    without them.
    """

    definition: Definition
    source: Source
    attributes: tuple[Attribute, ...]
    records_of: tuple[Ints, ...]
    removed: int
    values: Mapping[str, Collection[str]]
    models: tuple[PrivacyModel, ...]
    loss: Loss
    most: int

    def bottom(self) -> Node:
        """For each attribute the lowest level that the counts do not rule out."""
        return tuple(self._lowest(j) for j in range(len(self.attributes)))

    def count(self, bottom: Node) -> pa.Table:
        """The tuples from these levels up, one more than may be read where there are more."""
        return self._count(self.definition.counted, self.merged(bottom))

    def distinct(self, bottom: Node) -> int:
        """How many tuples there are from these levels up."""
        return self.source.count_distinct(
            self.definition.counted,
            self.definition.missing.values,
            generalized=self.merged(bottom),
            complete=self._complete,
        )

    def merged(self, levels: Node) -> dict[str, Generalization]:
        """Join values that no class and no loss distinguishes from these levels up.

        Every class and every loss of a node at or above the levels stays the same. Columns that
        identify persons are not joined.
        """
        loss, merged = self.loss, {}
        for attribute, records, level in zip(self.attributes, self.records_of, levels, strict=True):
            if attribute.name in self.definition.person:
                continue
            costs: Sequence[Floats] = ()
            if isinstance(loss, CellLoss):
                costs = loss.cell_costs(domain_of(attribute, records))
            merged[attribute.name] = joined_values(
                attribute, level, costs[level : attribute.limit + 1]
            )
        return merged

    def _lowest(self, j: int) -> int:
        """The first level at which no more records must go than may.

        A view that begins above a level rules it out only if too many records must go there.
        """
        attribute = self.attributes[j]
        level = attribute.lowest
        for first, view in self._views(j):
            at, others = max(level, first), view.lattice.top[1:]
            while at < attribute.limit and view.least_suppressed((at, *others)) > view.limit:
                level = at = at + 1
        return level

    def _views(self, j: int) -> Iterator[View]:
        """The problem on the attribute and a few others, each other at its highest level.

        More columns give better bounds. First all that still distinguish records there, with the
        sensitive ones; then pairs, then the attribute alone, then without sensitive ones, until
        the tuples are few enough to be read from the lowest level up.
        """
        beside = [i for i, other in enumerate(self.attributes) if i != j and _distinguishes(other)]
        choices: list[list[tuple[int, ...]]] = [[(j,)]]
        if beside:
            choices = [[(j, *beside)], [(j, i) for i in beside], [(j,)]]
        for sensitive in dict.fromkeys((self.definition.sensitive, ())):
            for choice in choices:
                views = list(filter(None, (self._view(each, sensitive) for each in choice)))
                yield from views
                if [first for first, _ in views] == [self.attributes[j].lowest] * len(choice):
                    return

    def _view(self, columns: Sequence[int], sensitive: Sequence[str]) -> View | None:
        """The problem on some columns, from the first level of the first one at which that
        may be read; None where there is no such level below its highest."""
        seen = [self.attributes[i] for i in columns]
        names = tuple(attribute.name for attribute in seen)
        if len(columns) == 1 and not sensitive:
            return seen[0].lowest, self._problem(self._alone(columns[0]), ())
        joined = {each.name: joined_values(each, each.limit) for each in seen[1:]}
        for level in range(seen[0].lowest, seen[0].limit):
            joined[names[0]] = joined_values(seen[0], level)
            counted = self._count((*names, *sensitive), joined)
            if counted.num_rows <= self.most:
                part = {name: self.definition.attributes[name] for name in (*names, *sensitive)}
                changed = {"attributes": part, "person": ()}
                definition = self.definition.model_copy(update=changed)
                return level, self._problem(encode(definition, counted, seen), sensitive)
        return None

    def _alone(self, j: int) -> Table:
        """The table of one attribute."""
        codes = np.flatnonzero(self.records_of[j])
        return Table((self.attributes[j],), (codes,), self.records_of[j][codes], {}, 0)

    def _problem(self, table: Table, sensitive: Sequence[str]) -> Problem:
        """The demands on a part of the columns."""
        models = [model for model in self.models if model.attribute in (None, *sensitive)]
        objective = objective_of(table, self.loss, "mean")
        return Problem(table, tuple(models), objective, self._limit)

    def _count(self, columns: Sequence[str], merged: Mapping[str, Generalization]) -> pa.Table:
        return self.source.count_by(
            columns,
            self.definition.missing.values,
            generalized=merged,
            complete=self._complete,
            at_most=self.most,
        )

    @cached_property
    def _complete(self) -> tuple[str, ...]:
        """The columns without which a record is removed."""
        basic = self.definition.missing.match == "basic"
        return self.definition.quasi_identifiers if basic else ()

    @cached_property
    def _limit(self) -> int:
        return self.definition.suppression_limit(int(self.records_of[0].sum()))


def _distinguishes(attribute: Attribute) -> bool:
    """Whether an attribute still distinguishes records at its highest level."""
    return len(np.unique(attribute.groups[attribute.limit])) > 1


def joined_values(attribute: Attribute, level: int, costs: Sequence[Floats] = ()) -> Generalization:
    """Each value becomes the first one with its group at a level and its costs.

    Missing stays missing: it costs other than values do, even where it joins their group.
    """
    values = attribute.hierarchy.labels[0]
    if level == 0 or not values:
        return Generalization((), ())
    keys = np.column_stack([attribute.groups[level][:-1], *(cost[:-1] for cost in costs)])
    _, first, group = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    return Generalization(values, tuple(values[leaf] for leaf in first[group.ravel()]))


SAMPLE = 100_000
"""Made-up records by which levels are compared; how many tuples are left is counted truly."""


def too_many_tuples(large: Large, bottom: Node) -> BadData:
    """The error, with the attributes to raise and by how much."""
    kinds = "quasi-identifiers"
    kinds += ", sensitive values" * bool(large.definition.sensitive)
    kinds += " and persons" * bool(large.definition.person)
    what = (
        f"{large.source.name} has more than {large.most:,} distinct combinations of {kinds}, and "
        "no more may be read"
    )
    return BadData(what, code="too-many-tuples", hint=_remedy(large, bottom))


def _remedy(large: Large, bottom: Node) -> str:
    """Raise the attribute that leaves the fewest tuples, level by level, until they may be read."""
    sample, levels, tuples = _sample(large), bottom, large.most + 1
    while tuples > large.most:
        higher = [
            _risen(levels, j) for j, each in enumerate(large.attributes) if levels[j] < each.limit
        ]
        if not higher:
            allow = "allow more with `engine: {tuples: ...}`"
            return f"even the highest levels leave {tuples:,}; drop a column, or {allow}"
        levels = min(higher, key=lambda node: _tuples(large, sample, node))
        tuples = large.distinct(levels)
    raised = [j for j, level in enumerate(levels) if level > bottom[j]]
    names = [large.attributes[j].name for j in raised]
    values = ", ".join(f"{name} has {len(large.values[name]):,} values" for name in names)
    keys = " and ".join(
        f"`{name}: {{from: {levels[j]}}}`" for j, name in zip(raised, names, strict=True)
    )
    return (
        f"{values}; with {keys} there would be {tuples:,} combinations; or allow more with "
        "`engine: {tuples: ...}` where memory has room for them"
    )


def _sample(large: Large) -> list[Ints]:
    """Codes of made-up records: each attribute as often as it is, whatever the others are."""
    generator = np.random.default_rng(0)
    return [
        generator.choice(len(records), SAMPLE, p=records / records.sum())
        for records in large.records_of
    ]


def _tuples(large: Large, sample: Sequence[Ints], node: Node) -> int:
    """How many tuples the made-up records have at a node."""
    groups = [each.groups[level] for each, level in zip(large.attributes, node, strict=True)]
    codes = [group[code] for group, code in zip(groups, sample, strict=True)]
    return number_rows(codes, [int(group.max()) + 1 for group in groups])[1]


def _risen(node: Node, j: int) -> Node:
    return (*node[:j], node[j] + 1, *node[j + 1 :])
