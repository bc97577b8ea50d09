"""Does every class hide enough persons? Where one person can have several records.

A release does not tell whose its records are. So the source is generalized to the levels of the
release, by the verifier's own reading of the hierarchies, and persons are counted there. That tells
of the release only if its classes are those of the source, with the same records and the same
sensitive values; a release of which that is not so is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from shoal.definition.demands import demands_of
from shoal.errors import BadHierarchy
from shoal.verify.generalize import generalizations
from shoal.verify.judges import Unjudged
from shoal.verify.levels import only_level
from shoal.verify.tally import tally

if TYPE_CHECKING:
    from shoal.definition.model import Definition
    from shoal.engines.base import Source
    from shoal.values import Ints
    from shoal.verify.recount import Recount, Values
    from shoal.verify.tally import Tally


@dataclass(frozen=True, eq=False)
class Original:
    """What persons are counted in: the source, and the distinct values of its quasi-identifiers."""

    source: Source
    values: Mapping[str, Collection[str]]


@dataclass(frozen=True, eq=False)
class Persons:
    """Classes by persons: `found` has persons for sizes, and as sensitive values the distinct pairs
    of person and value.

    Of the whole table, `reference` has the pairs, `everybody` is the number of persons, and `alone`
    of those who have a class of their own.
    """

    found: Recount
    reference: Mapping[str, Values]
    everybody: int
    alone: int


Count: TypeAlias = "Callable[[str | None], tuple[Tally, Ints]]"
"""Tallies a table with a sensitive attribute, or without one; the row of each class there."""


def persons_in(found: Recount, sensitive: Sequence[str], count: Count) -> Persons:
    """The classes of a recount by persons, tallied once for each of these sensitive attributes."""
    values: dict[str, Sequence[Values]] = {}
    reference: dict[str, Values] = {}
    for name in sensitive:
        counted, rows = count(name)
        if counted.values is not None:
            values[name] = [counted.values.of_persons(row) for row in rows.tolist()]
            reference[name] = counted.values.table
    if not sensitive:
        counted, rows = count(None)
    persons = found.by_persons(counted.persons[rows], values)
    return Persons(persons, reference, counted.everybody, counted.alone)


def count_persons(
    definition: Definition,
    found: Recount,
    levels: Mapping[str, int] | None,
    original: Original | None,
) -> Persons:
    """The persons of each class of a release; Unjudged where they cannot be told.

    `levels` are those that the release claims, else they are told from its labels.
    """
    if original is None:
        raise Unjudged("persons are counted in the source, which cannot be read or has changed")
    levels = _levels(definition, found, levels, original.values)
    labels = generalizations(definition, levels, original.values)
    basic = definition.missing.match == "basic"
    demands = (demand.parameters.get("attribute") for demand in demands_of(definition))
    sensitive = [name for name in dict.fromkeys(demands) if name is not None]

    def count(name: str | None) -> tuple[Tally, Ints]:
        counted = tally(
            original.source,
            definition.quasi_identifiers,
            definition.person,
            sensitive=name,
            missing=definition.missing.values,
            generalized=labels,
            complete=definition.quasi_identifiers if basic else (),
        )
        return counted, _same_classes(found, counted, name)

    return persons_in(found, sensitive, count)


def _levels(
    definition: Definition,
    found: Recount,
    levels: Mapping[str, int] | None,
    values: Mapping[str, Collection[str]],
) -> dict[str, int]:
    """The level of each quasi-identifier, the stated one or the only one that fits."""
    told: dict[str, int] = {}
    for position, name in enumerate(definition.quasi_identifiers):
        if levels is not None and name in levels:
            told[name] = levels[name]
            continue
        try:
            level = only_level(
                definition.attributes[name], found.column(position), values.get(name)
            )
        except BadHierarchy as error:
            raise Unjudged(error.what) from error
        if level is None:
            raise Unjudged(f"the level of {name!r} is not known; give the result of the run")
        told[name] = level
    return told


def _same_classes(found: Recount, counted: Tally, sensitive: str | None) -> Ints:
    """The row of each class of the release in what was counted; Unjudged where one differs."""
    rows = counted.rows_of(found)
    lacking = int((rows < 0).sum())
    if lacking:
        raise Unjudged(f"{lacking:,} of {found.classes:,} classes are not in the source")
    other = int((found.sizes != counted.records[rows]).sum())
    if other:
        what = f"{other:,} of {found.classes:,} classes have other numbers of records"
        raise Unjudged(f"{what} than in the source")
    if sensitive is not None and counted.values is not None:
        original = map(counted.values.of_records, rows.tolist())
        pairs = zip(found.values[sensitive], original, strict=True)
        other = sum(1 for released, values in pairs if dict(released) != values)
        if other:
            what = f"{other:,} of {found.classes:,} classes have other values of {sensitive!r}"
            raise Unjudged(f"{what} than in the source")
    return rows
