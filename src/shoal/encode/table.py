"""The encoded table: distinct tuples of codes with their weights. The search sees only this."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from shoal.arrow_arrays import from_numpy, from_texts
from shoal.definition.hierarchies.base import natural
from shoal.encode.hierarchy import build, levels_of
from shoal.encode.persons import person_of_rows, persons_of
from shoal.encode.propose import propose
from shoal.encode.rows import column_of, merge_histogram, number_rows, weights_of
from shoal.errors import BadData
from shoal.values import Histogram, Reference

if TYPE_CHECKING:
    import pyarrow as pa

    from shoal.definition.model import Attribute as AttributeDefinition
    from shoal.definition.model import Definition
    from shoal.encode.hierarchy import Hierarchy
    from shoal.encode.persons import Persons
    from shoal.encode.rows import Column
    from shoal.engines.base import Generalization
    from shoal.values import Ints, Node


@dataclass(frozen=True, eq=False)
class Attribute:
    """A quasi-identifier: its hierarchy, how high it may go and must, and how much it matters.

    A value's code is its leaf; the code after the last leaf means missing. `groups[level][code]` is
    its group at a level: missing stays a group of its own, except at the last level where it joins
    the only value if there is only one.
    """

    name: str
    hierarchy: Hierarchy
    limit: int
    priority: float
    quantifiers: tuple[float, ...] | None
    groups: tuple[Ints, ...]
    lowest: int = 0

    @property
    def height(self) -> int:
        return self.hierarchy.height

    @property
    def missing_code(self) -> int:
        return len(self.hierarchy.labels[0])

    def labels(self, level: int) -> pa.Array:
        """The label of each group at a level, null for missing."""
        labels = self.hierarchy.labels[level]
        return from_texts([*labels, None])

    def missing_label(self, level: int) -> str | None:
        """What a missing value becomes at a level."""
        labels = self.hierarchy.labels[level]
        return labels[0] if level == self.height and len(labels) == 1 else None


@dataclass(frozen=True, eq=False)
class Raised:
    """The lowest levels at which tuples are distinguished, since no node with lower ones is safe,
    and the records that have each code of each attribute.

    `joined` says of the values of an attribute as which of them each was counted.
    """

    bottom: Node
    records_of: tuple[Ints, ...]
    joined: Mapping[str, Generalization] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Population:
    """Tuples of a table that the records are a part of: `codes[j][t]` of attribute j, `weights[t]`
    records."""

    codes: tuple[Ints, ...]
    weights: Ints


@dataclass(frozen=True, eq=False)
class Table:
    """Distinct quasi-identifier tuples: `codes[j][t]` of attribute j, `weights[t]` records.

    `histograms` hold the sensitive values of each tuple. `removed` records are not in the table:
    those with a missing quasi-identifier, under basic match.

    A `raised` table distinguishes tuples from higher levels on. There a code means all values
    that no level from there on distinguishes, and the true numbers of records are in `raised`.

    With `persons`, classes are judged by persons, and `histograms` count each person once with each
    of their values. With a `population`, of which the records are a part, classes are counted there
    too.
    """

    attributes: tuple[Attribute, ...]
    codes: tuple[Ints, ...]
    weights: Ints
    histograms: Mapping[str, Histogram]
    removed: int
    raised: Raised | None = None
    persons: Persons | None = None
    population: Population | None = None

    @property
    def records(self) -> int:
        return int(self.weights.sum())

    @property
    def tuples(self) -> int:
        return len(self.weights)

    @property
    def bottom(self) -> Node:
        """The lowest level of each attribute: the one it must have, or that of a raised table."""
        if self.raised is not None:
            return self.raised.bottom
        return tuple(attribute.lowest for attribute in self.attributes)

    @cached_property
    def records_of(self) -> tuple[Ints, ...]:
        """How many records have each code, for each attribute."""
        if self.raised is not None:
            return self.raised.records_of
        return tuple(
            np.bincount(codes, self.weights, len(attribute.groups[0])).astype(np.int64)
            for attribute, codes in zip(self.attributes, self.codes, strict=True)
        )


def fill_hierarchies(definition: Definition, counted: pa.Table) -> Definition:
    """The definition with a proposed hierarchy for every quasi-identifier that has none."""
    lacking = [
        name for name in definition.quasi_identifiers if not definition.attributes[name].hierarchy
    ]
    return with_proposals(definition, {n: column_of(counted, n).counts for n in lacking})


def with_proposals(definition: Definition, values: Mapping[str, Collection[str]]) -> Definition:
    """The same, from the values of each of these attributes."""
    filled: dict[str, AttributeDefinition] = {}
    for name, attribute in definition.attributes.items():
        if attribute.role == "quasi-identifier" and attribute.hierarchy is None:
            proposed = propose(list(values[name]))
            attribute = attribute.model_copy(update={"hierarchy": proposed})
        filled[name] = attribute
    return definition.model_copy(update={"attributes": filled})


def encode(
    definition: Definition, counted: pa.Table, attributes: Sequence[Attribute] = ()
) -> Table:
    """Codes for what the engine counted; every hierarchy is proven to be nested and complete.

    Attributes that are given are not made once more.
    """
    columns = {name: column_of(counted, name) for name in definition.quasi_identifiers}
    attributes = attributes or [
        attribute_of(name, definition.attributes[name], column.counts)
        for name, column in columns.items()
    ]
    codes = [
        code_of(attribute, list(columns[attribute.name].counts))[columns[attribute.name].rows]
        for attribute in attributes
    ]
    weights = weights_of(counted)
    removed = 0
    if definition.missing.match == "basic":
        complete = np.ones(len(weights), dtype=bool)
        for attribute, column in zip(attributes, codes, strict=True):
            complete &= column != attribute.missing_code
        removed = int(weights[~complete].sum())
        counted = counted.filter(from_numpy(complete))
        codes = [column[complete] for column in codes]
        weights = weights[complete]
        if len(weights) == 0:
            raise BadData(
                "every record has a missing quasi-identifier, and basic match removes them all",
                code="all-missing",
                hint="use `missing: extended`, or declare fewer quasi-identifiers",
            )
    if definition.recoding == "full-domain" and not definition.sensitive and not definition.person:
        return Table(tuple(attributes), tuple(codes), weights, {}, removed)
    return _merged(definition, counted, attributes, codes, weights, removed)


def number_alike(attributes: Sequence[Attribute], codes: Sequence[Ints]) -> tuple[Ints, int]:
    """The number of each row's tuple, from 0, and how many tuples there are.

    The numbers rise by the groups of all attributes, from the highest levels down. So tuples that
    are alike have near numbers, and a search that compares them finds them near in memory.
    """
    columns, sizes = [], []
    for down in range(max(attribute.height for attribute in attributes) + 1):
        for attribute, column in zip(attributes, codes, strict=True):
            if down <= attribute.height:
                group = attribute.groups[attribute.height - down]
                columns.append(group[column])
                sizes.append(int(group.max()) + 1)
    return number_rows(columns, sizes)


def _merged(
    definition: Definition,
    counted: pa.Table,
    attributes: Sequence[Attribute],
    codes: list[Ints],
    weights: Ints,
    removed: int,
) -> Table:
    """Merge the rows that differ in sensitive values and persons only.

    Their values become histograms. Where persons are counted, each person counts once with each
    value, in a tuple and in the whole table.

    The order of the tuples does not depend on that of the rows: what a search for a local recoding
    finds depends on it, and engines count in any order.
    """
    if definition.recoding == "local":
        tuple_of, tuples = number_alike(attributes, codes)
    else:
        tuple_of, tuples = number_rows(codes, [len(a.groups[0]) for a in attributes])
    representatives = np.zeros(tuples, dtype=np.int64)
    representatives[tuple_of] = np.arange(len(tuple_of))
    persons = None
    if definition.person:
        persons = persons_of(person_of_rows(counted, definition.person), tuple_of, tuples, weights)
    histograms = {}
    for name in definition.sensitive:
        column = column_of(counted, name)
        _refuse_two_zeros(name, column)
        values, of_row = _values(column)
        owners, held, once = tuple_of, of_row, weights
        counts = np.bincount(of_row, weights=weights, minlength=len(values) + 1)
        if persons is not None:
            persons, counts = persons.with_values(name, of_row, len(values) + 1)
            owners, held = persons.held[name].tuple_of, persons.held[name].value
            once = np.ones(len(held), dtype=np.int64)
        reference = _reference(definition, name, column, values, counts.astype(np.int64))
        counts_as_value = held < len(reference.values)
        histograms[name] = merge_histogram(
            owners[counts_as_value],
            held[counts_as_value],
            once[counts_as_value],
            tuples,
            reference,
        )
    return Table(
        tuple(attributes),
        tuple(column[representatives] for column in codes),
        np.bincount(tuple_of, weights=weights, minlength=tuples).astype(np.int64),
        histograms,
        removed,
        persons=persons,
    )


def encode_population(attributes: Sequence[Attribute], counted: pa.Table) -> Population:
    """What an engine counted, in the codes of hierarchies that cover all values of it."""
    return Population(tuple(codes_in(attributes, counted)), weights_of(counted))


def codes_in(attributes: Sequence[Attribute], counted: pa.Table) -> list[Ints]:
    """The codes that counted rows have in each attribute; they were counted by all of these."""
    columns = [column_of(counted, attribute.name) for attribute in attributes]
    return [
        code_of(attribute, list(column.counts))[column.rows]
        for attribute, column in zip(attributes, columns, strict=True)
    ]


def tuples_of(table: Table, codes: Sequence[Ints]) -> Ints:
    """The tuple of each row with these codes, -1 for one that the table does not have."""
    joined = [np.concatenate(pair) for pair in zip(table.codes, codes, strict=True)]
    sizes = [len(attribute.groups[0]) for attribute in table.attributes]
    numbers, found = number_rows(joined, sizes)
    tuple_of = np.full(found, -1, np.int64)
    tuple_of[numbers[: table.tuples]] = np.arange(table.tuples)
    of_rows: Ints = tuple_of[numbers[table.tuples :]]
    return of_rows


def attribute_of(name: str, declared: AttributeDefinition, counts: Mapping[str, int]) -> Attribute:
    """The quasi-identifier whose values occur so often."""
    assert declared.hierarchy is not None  # fill_hierarchies was there before  # noqa: S101
    hierarchy = build(name, declared.hierarchy, counts, lowest=declared.lowest)
    limit, losses = levels_of(name, declared, hierarchy)
    return Attribute(
        name,
        hierarchy,
        limit,
        1.0 if declared.priority is None else declared.priority,
        losses,
        groups_with_missing(hierarchy),
        declared.lowest,
    )


def code_of(attribute: Attribute, values: Sequence[str]) -> Ints:
    """The code of each of these values, and at last that of missing."""
    leaf_of = {leaf: i for i, leaf in enumerate(attribute.hierarchy.labels[0])}
    return np.array([*(leaf_of[value] for value in values), len(leaf_of)], dtype=np.int64)


def groups_with_missing(hierarchy: Hierarchy) -> tuple[Ints, ...]:
    """The hierarchy's groups with one more code, missing."""
    extended = []
    for level, groups in enumerate(hierarchy.groups):
        labels = len(hierarchy.labels[level])
        joins_top = level == hierarchy.height and labels == 1
        extended.append(np.append(groups, 0 if joins_top else labels))
    return tuple(extended)


def _values(column: Column) -> tuple[list[str], Ints]:
    """The values of a sensitive attribute in their order, and the number of each row's value.

    A missing one has the number after the last.
    """
    values = sorted(column.counts, key=natural)
    rank = {value: i for i, value in enumerate(values)}
    return values, np.array([*(rank[value] for value in column.counts), len(rank)])[column.rows]


def _refuse_two_zeros(name: str, column: Column) -> None:
    """Refuse a sensitive attribute with both 0.0 and -0.0.

    They are one number. As two values they would make a class look more diverse than it is.
    """
    if {"0.0", "-0.0"} <= column.counts.keys():
        raise BadData(
            f"the sensitive column {name!r} has both 0.0 and -0.0, which are one number",
            code="two-zeros",
            hint="write 0.0 in place of -0.0 in the source",
        )


def _reference(
    definition: Definition, name: str, column: Column, values: Sequence[str], counts: Ints
) -> Reference:
    """A sensitive attribute in the whole table; `counts` are those of its values and of missing.

    Missing is the last value, unless it counts as none.
    """
    shown: list[str | None] = [*values]
    if definition.missing.sensitive == "value" and counts[len(values)]:
        shown.append(None)
    spec = definition.attributes[name].hierarchy
    parents: tuple[Ints, ...] = ()
    if spec is not None:
        hierarchy = build(name, spec, column.counts)
        leaf_of = {leaf: i for i, leaf in enumerate(hierarchy.labels[0])}
        leaves = np.array([leaf_of[value] for value in values] + [len(leaf_of)], dtype=np.int64)
        parents = tuple(groups[leaves[: len(shown)]] for groups in groups_with_missing(hierarchy))
    return Reference(tuple(shown), counts[: len(shown)], parents)
