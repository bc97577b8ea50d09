"""The persons of each class of a release, where one person can have several records.

A release does not say which person a record belongs to. So the source is generalized to the levels
of the release, by the verifier's own reading of the hierarchies, and persons are counted there. The
count is that of the release only if its classes have the same records and the same sensitive values
as in the source; else the release is refused.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shoal.definition.demands import demands_of
from shoal.engines.base import Generalization
from shoal.errors import BadHierarchy
from shoal.measure.persons import Persons, persons_in, tally
from shoal.verify.demands import Unjudged
from shoal.verify.labels.base import missing_label
from shoal.verify.levels import labels_of, only_level

if TYPE_CHECKING:
    from shoal.definition.model import Attribute, Definition
    from shoal.engines.base import Source
    from shoal.measure.classes import ClassTable
    from shoal.measure.persons import Tally
    from shoal.values import Ints


@dataclass(frozen=True, eq=False)
class Original:
    """Where persons are counted: the source, and the distinct values of its quasi-identifiers."""

    source: Source
    values: Mapping[str, Collection[str]]


def count_persons(
    definition: Definition,
    found: ClassTable,
    levels: Mapping[str, int] | None,
    original: Original | None,
) -> Persons:
    """The persons of each class of a release; Unjudged where they cannot be counted.

    `levels` are those that the release claims, else they are inferred from its labels.
    """
    if original is None:
        raise Unjudged("persons are counted in the source, which cannot be read or has changed")
    levels = levels_of_release(definition, found, levels, original.values)
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


def levels_of_release(
    definition: Definition,
    found: ClassTable,
    levels: Mapping[str, int] | None,
    values: Mapping[str, Collection[str]],
) -> dict[str, int]:
    """The level of each quasi-identifier, the stated one or the only one that fits."""
    known: dict[str, int] = {}
    for position, name in enumerate(definition.quasi_identifiers):
        if levels is not None and name in levels:
            known[name] = levels[name]
            continue
        try:
            level = only_level(
                definition.attributes[name], found.column(position), values.get(name)
            )
        except BadHierarchy as error:
            raise Unjudged(error.what) from error
        if level is None:
            raise Unjudged(f"the level of {name!r} is not known; give the result of the run")
        known[name] = level
    return known


def _same_classes(found: ClassTable, counted: Tally, sensitive: str | None) -> Ints:
    """For each class of the release its row in the tally; Unjudged where one differs."""
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


def generalizations(
    definition: Definition, levels: Mapping[str, int], values: Mapping[str, Collection[str]]
) -> dict[str, Generalization]:
    """The generalization of each quasi-identifier; Unjudged where a value has no label."""
    return {
        name: _generalization(name, definition.attributes[name], levels[name], values[name])
        for name in definition.quasi_identifiers
    }


def _generalization(
    name: str, attribute: Attribute, level: int, values: Collection[str]
) -> Generalization:
    if attribute.hierarchy is None:
        raise Unjudged(
            f"the definition gives no hierarchy for {name!r}; give the result of the run"
        )
    try:
        labels = labels_of(attribute.hierarchy, values)
    except BadHierarchy as error:
        raise Unjudged(error.what) from error
    if level > labels.height:
        raise Unjudged(f"{name!r} has no level {level}")
    missing = missing_label(labels, level)
    if level == 0 and missing is None:
        return Generalization((), ())
    known = labels.generalized(level)
    lacking = sum(1 for value in values if value not in known)
    if lacking:
        raise Unjudged(f"{lacking:,} values of {name!r} are not in its hierarchy")
    texts = tuple(values)
    return Generalization(texts, tuple(known[text] for text in texts), missing)
