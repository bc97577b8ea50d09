"""The source, counted once more for the checker, with none of the code that fed the search.

Only the hierarchies and their levels come from `encode`: they are what a definition means.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from shoal.encode.hierarchy import build, levels_of
from shoal.encode.propose import propose
from shoal.errors import BadData
from shoal.loss.base import Domain
from shoal.proof.format import LevelRange
from shoal.values import Reference

if TYPE_CHECKING:
    from shoal.definition.model import Attribute as Declared
    from shoal.definition.model import Definition
    from shoal.definition.model import Hierarchy as Described
    from shoal.encode.hierarchy import Hierarchy
    from shoal.engines.base import Source
    from shoal.values import Bools, Ints

Texts: TypeAlias = Sequence[str | None]
"""A column of the source, None for missing."""


@dataclass(frozen=True, eq=False)
class Attribute:
    """A quasi-identifier: `codes[row]` is its value and `groups[level][code]` its group at a level.

    The last code means missing. It is a group of its own, except at the last level when that has a
    single label, which it becomes. `leaves[level][group]` counts the values of the hierarchy, and
    `labels[level][group]` is the text of a group.
    `people` are the codes of the population, where there is one.
    """

    levels: LevelRange
    codes: Ints
    groups: tuple[Ints, ...]
    leaves: tuple[Ints, ...]
    quantifiers: tuple[float, ...] | None
    people: Ints | None = None
    labels: tuple[tuple[str, ...], ...] = ()

    def at(self, level: int) -> Ints:
        """The group of each row at a level, and then of each row of the population."""
        if self.people is None:
            return self.groups[level][self.codes]
        return self.groups[level][np.concatenate((self.codes, self.people))]

    def domain(self, weights: Ints) -> Domain:
        """The attribute as a loss sees it; `weights` are the records of each row."""
        records = np.bincount(self.codes, weights=weights, minlength=len(self.groups[0]))
        return Domain(
            self.levels.name,
            self.groups,
            self.leaves,
            records.astype(np.int64),
            self.quantifiers,
            self.labels,
        )


@dataclass(frozen=True, eq=False)
class Sensitive:
    """A sensitive attribute: the value of each row, -1 for none, and all values of the table."""

    values: Ints
    reference: Reference


@dataclass(frozen=True, eq=False)
class Rows:
    """Combinations of quasi-identifiers and sensitive values, each with its number of records.

    `removed` records are left out: under basic match, those with a missing quasi-identifier. Where
    persons are counted, a row is of one person, whose number is in `person`. Where there is a
    population, `people` are the records of each of its rows.
    """

    attributes: tuple[Attribute, ...]
    weights: Ints
    sensitive: Mapping[str, Sensitive]
    removed: int = 0
    person: Ints | None = None
    people: Ints | None = None

    @property
    def records(self) -> int:
        """How many records the rows represent."""
        return int(self.weights.sum())


def read_rows(
    definition: Definition, source: Source, population: Source | None = None
) -> tuple[Definition, Rows]:
    """The rows of a source, and the definition with a hierarchy for every quasi-identifier.

    With a population, hierarchies are those of its values too.
    """
    names = definition.quasi_identifiers
    counted = source.count_by(definition.counted, definition.missing.values)
    texts: dict[str, Texts] = {
        name: counted[name].to_pylist() for name in counted.column_names[:-1]
    }
    weights = np.array(counted.column(counted.num_columns - 1).to_pylist(), dtype=np.int64)
    stay = np.ones(len(weights), dtype=np.bool_)
    if definition.missing.match == "basic":
        for name in names:
            stay &= np.array([text is not None for text in texts[name]], dtype=np.bool_)
    if not stay.any():
        raise BadData(
            f"{source.name} has no records that a proof could be about",
            code="no-records",
            hint="check that it is the right one",
        )
    others: dict[str, Texts] = dict.fromkeys(names, ())
    people = None
    if population is not None:
        others, people = _people(definition, population)
    both = {name: [*texts[name], *others[name]] for name in names}
    definition = _with_proposals(definition, both)
    person = _person([texts[name] for name in definition.person])
    rows = Rows(
        tuple(
            _attribute(name, definition.attributes[name], texts[name], stay, others[name])
            for name in names
        ),
        weights[stay],
        {
            name: _sensitive(name, definition, texts[name], weights, stay, person)
            for name in definition.sensitive
        },
        int(weights[~stay].sum()),
        None if person is None else person[stay],
        people,
    )
    return definition, rows


def _people(definition: Definition, population: Source) -> tuple[dict[str, Texts], Ints]:
    """The columns of the population, and the records of each row."""
    names = definition.quasi_identifiers
    complete = names if definition.missing.match == "basic" else ()
    counted = population.count_by(names, definition.missing.values, complete=complete)
    weights = np.array(counted.column(len(names)).to_pylist(), dtype=np.int64)
    return {name: counted[name].to_pylist() for name in names}, weights


def _person(columns: Sequence[Texts]) -> Ints | None:
    """The number of each row's person; rows that agree in all columns are of the same one."""
    if not columns:
        return None
    numbers: dict[tuple[str | None, ...], int] = {}
    found = [numbers.setdefault(key, len(numbers)) for key in zip(*columns, strict=True)]
    return np.array(found, dtype=np.int64)


def _with_proposals(definition: Definition, texts: Mapping[str, Texts]) -> Definition:
    """The definition with a hierarchy where it gives none: the one a run would propose."""
    proposed = {
        name: attribute.model_copy(update={"hierarchy": propose(list(_values(texts[name])))})
        for name, attribute in definition.attributes.items()
        if attribute.role == "quasi-identifier" and attribute.hierarchy is None
    }
    return definition.model_copy(update={"attributes": {**definition.attributes, **proposed}})


def _values(texts: Texts) -> dict[str, int]:
    """The values that are not missing, and the number of rows of each."""
    found: dict[str, int] = {}
    for text in texts:
        if text is not None:
            found[text] = found.get(text, 0) + 1
    return found


def _attribute(
    name: str, declared: Declared, texts: Texts, stay: Bools, others: Texts
) -> Attribute:
    assert declared.hierarchy is not None  # proposed where there was none  # noqa: S101
    values = _values([*texts, *others])
    hierarchy = build(name, declared.hierarchy, values, lowest=declared.lowest)
    limit, losses = levels_of(name, declared, hierarchy)
    missing = len(hierarchy.labels[0])
    code: dict[str | None, int] = {leaf: i for i, leaf in enumerate(hierarchy.labels[0])}
    codes = np.array([code.get(text, missing) for text in texts], dtype=np.int64)
    return Attribute(
        LevelRange(
            name,
            hierarchy.height,
            limit,
            1.0 if declared.priority is None else declared.priority,
            declared.lowest,
        ),
        codes[stay],
        groups_of(hierarchy),
        tuple(hierarchy.leaves_under(level) for level in range(hierarchy.height + 1)),
        losses,
        np.array([code.get(text, missing) for text in others], dtype=np.int64) if others else None,
        hierarchy.labels,
    )


def groups_of(hierarchy: Hierarchy) -> tuple[Ints, ...]:
    """The group of each leaf, and then that of missing, at each level."""
    levels = []
    for level, groups in enumerate(hierarchy.groups):
        labels = len(hierarchy.labels[level])
        becomes_top = level == hierarchy.height and labels == 1
        levels.append(np.append(groups, 0 if becomes_top else labels))
    return tuple(levels)


def _sensitive(
    name: str,
    definition: Definition,
    texts: Texts,
    weights: Ints,
    stay: Bools,
    person: Ints | None,
) -> Sensitive:
    """Values in their order: numbers by size, then text; missing last where it is a value.

    Each has its records in the whole table, or its persons.
    """
    present = [text for text, stays in zip(texts, stay, strict=True) if stays]
    values: list[str | None] = [*sorted(_values(present), key=_order)]
    if definition.missing.sensitive == "value" and None in present:
        values.append(None)
    rank = {value: i for i, value in enumerate(values)}
    numbers = np.array([rank.get(text, -1) for text in present], dtype=np.int64)
    has = numbers >= 0
    counts = np.bincount(numbers[has], weights=weights[stay][has], minlength=len(values))
    if person is not None:
        pairs = {*zip(person[stay][has].tolist(), numbers[has].tolist(), strict=True)}
        counts = np.bincount([value for _, value in pairs], minlength=len(values))
    parents = _parents(name, definition.attributes[name].hierarchy, present, values)
    return Sensitive(numbers, Reference(tuple(values), counts.astype(np.int64), parents))


def _parents(
    name: str, described: Described | None, present: Texts, values: Texts
) -> tuple[Ints, ...]:
    """The group of each value at each level, for a distance along the hierarchy."""
    if described is None:
        return ()
    hierarchy = build(name, described, _values(present))
    missing = len(hierarchy.labels[0])
    code: dict[str | None, int] = {leaf: i for i, leaf in enumerate(hierarchy.labels[0])}
    leaves = np.array([code.get(value, missing) for value in values], dtype=np.int64)
    return tuple(groups[leaves] for groups in groups_of(hierarchy))


def _order(value: str) -> tuple[bool, float, str]:
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    return (True, 0.0, value) if math.isnan(number) else (False, number, value)
