"""What the verifier counts outside of the release, to compare the release with it.

- `source_facts`: records and sensitive values of the source.
- `count_persons`: the persons of each class, where one person can have several records. A release
  does not say which person a record belongs to. So the source is generalized to the levels of the
  release, and persons are counted there. The count is that of the release only if its classes have
  the same records and the same sensitive values as in the source; else the release is refused.
  For local recoding the source is recoded by a list of tuples and labels: see `assignment`.
- `count_population`: the people of each class, counted in the table of the population, which is
  generalized in the same way.

Generalizing goes by the verifier's own reading of the hierarchies.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypedDict

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.definition.demands import demands_of
from shoal.engines.base import Generalization
from shoal.errors import BadHierarchy, UserError
from shoal.measure.classes import encoded, numbered
from shoal.measure.persons import Persons, persons_in, tally
from shoal.verify.assignment import check_assignment
from shoal.verify.demands import Unjudged
from shoal.verify.labels.built import missing_label
from shoal.verify.levels import labels_of, only_level

if TYPE_CHECKING:
    from shoal.definition.model import Attribute, Definition
    from shoal.engines.base import Source
    from shoal.measure.classes import ClassTable, Values
    from shoal.measure.persons import Tally
    from shoal.values import Ints, StatedLevels
    from shoal.verify.assignment import Assignment


class SourceFacts(TypedDict):
    """The records of a source, those that basic match removes first, and the blank ones.

    A blank record has no quasi-identifier and no sensitive value, so it looks like a marked one.
    `reference` has how often each value of a sensitive attribute occurs. `records` and `reference`
    are None when nothing is known.
    """

    records: int | None
    removed: int
    blank: int
    reference: Mapping[str, Values] | None


PRESENT, ABSENT = "present", "absent"

UNKNOWN: SourceFacts = {"records": None, "removed": 0, "blank": 0, "reference": None}


def source_facts(
    definition: Definition, source: Source, values: Mapping[str, Collection[str]]
) -> SourceFacts:
    """Count in the source what its release is compared with, and nothing more.

    `values` are the distinct values of each quasi-identifier. No query here returns more rows than
    a column has values, however many combinations the source has.
    """
    missing, names = definition.missing.values, definition.quasi_identifiers
    known = names if definition.missing.match == "basic" else ()
    reference = {
        name: _values(source.count_by((name,), missing, complete=known))
        for name in definition.sensitive
    }
    records = _records(source.count_by(()))
    removed = blank = 0
    if known:
        removed = records - _records(source.count_by((), missing, complete=known))
    elif definition.suppressed == "mark":
        blank = _blank(definition, source, values, reference)
    return {"records": records, "removed": removed, "blank": blank, "reference": reference}


def _records(counted: pa.Table) -> int:
    """The number that a count of no columns gives."""
    return int(counted.column(0)[0].as_py())


def _values(counted: pa.Table) -> Values:
    """The values of one column with their records, None for missing."""
    return dict(zip(*(column.to_pylist() for column in counted.columns), strict=True))


def _blank(
    definition: Definition,
    source: Source,
    values: Mapping[str, Collection[str]],
    reference: Mapping[str, Values],
) -> int:
    """Records without any quasi-identifier and sensitive value.

    Every column is generalized to `present` or `absent`. The texts that mean missing do so in
    quasi-identifiers alone: a sensitive value is released unchanged.
    """
    tokens = dict.fromkeys(definition.missing.values, ABSENT)
    there: dict[str, Generalization] = {}
    for name in definition.quasi_identifiers:
        presence = {**dict.fromkeys(values[name], PRESENT), **tokens}
        there[name] = Generalization(tuple(presence), tuple(presence.values()), ABSENT)
    for name in definition.sensitive:
        texts = tuple(dict.fromkeys((*filter(None, reference[name]), *tokens)))
        there[name] = Generalization(texts, (PRESENT,) * len(texts), ABSENT)
    counted = source.count_by(tuple(there), generalized=there)
    for name in there:
        # A column without any value is not generalized: all of it is absent.
        if there[name].values:
            counted = counted.filter(pc.equal(counted[name], ABSENT))
    return int(pc.sum(counted.column(counted.num_columns - 1)).as_py() or 0)


@dataclass(frozen=True, eq=False)
class Original:
    """Where persons are counted: the source, and the distinct values of its quasi-identifiers."""

    source: Source
    values: Mapping[str, Collection[str]]


def count_persons(
    definition: Definition,
    found: ClassTable,
    levels: Mapping[str, StatedLevels] | None,
    original: Original | None,
    assignment: Assignment | None = None,
) -> Persons:
    """The persons of each class of a release; Unjudged where they cannot be counted.

    `levels` are those that the release claims, else they are inferred from its labels. In local
    recoding the `assignment` has the labels of each tuple.
    """
    if original is None:
        raise Unjudged("persons are counted in the source, which cannot be read or has changed")
    relabel = None
    if definition.recoding == "local":
        if assignment is None:
            raise Unjudged(
                "a local release does not say the class of each record; give the assignment, which "
                "`shoal run --assignment` writes"
            )
        check_assignment(assignment, definition, original.values)
        labels, relabel = dict(assignment.joined), assignment.relabel
    else:
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
            relabel=relabel,
        )
        rows = _same_classes(found, counted, name)
        if relabel is not None:
            _refuse_more_classes(definition, counted, rows)
        return counted, rows

    return persons_in(found, sensitive, count)


def levels_of_release(
    definition: Definition,
    found: ClassTable,
    levels: Mapping[str, StatedLevels] | None,
    values: Mapping[str, Collection[str]],
) -> dict[str, int]:
    """The level of each quasi-identifier, the stated one or the only one that fits."""
    if definition.recoding == "local":
        raise Unjudged("with local recoding a class has no counterpart in another table")
    known: dict[str, int] = {}
    for position, name in enumerate(definition.quasi_identifiers):
        stated = None if levels is None else levels.get(name)
        if isinstance(stated, int):
            known[name] = stated
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


def _refuse_more_classes(definition: Definition, counted: Tally, rows: Ints) -> None:
    """Unjudged where the list makes classes other than these `rows`, those of the release.

    One whose labels are all missing may look like marked records.
    """
    others = np.ones(len(counted.records), dtype=bool)
    others[rows] = False
    if definition.suppressed == "mark":
        others &= np.any([column.is_valid() for column in counted.labels.columns], axis=0)
    if others.any():
        raise Unjudged(f"the list has {int(others.sum()):,} classes that are not in the release")


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


@dataclass(frozen=True, eq=False)
class People:
    """The records of the population in each class, and its classes that are not released."""

    records: Ints
    absent: int


def count_population(
    definition: Definition,
    found: ClassTable,
    levels: Mapping[str, StatedLevels] | None,
    values: Mapping[str, Collection[str]] | None,
    population: Source | None,
) -> People:
    """The population of each class of a release; Unjudged where it cannot be counted.

    `levels` are those that the release claims, else they are inferred from its labels. `values` are
    those of the source, which the hierarchies must cover too.
    """
    if population is None or values is None:
        raise Unjudged("the population or the source cannot be read, or has changed")
    names, missing = definition.quasi_identifiers, definition.missing.values
    try:
        known = {
            name: {
                *values[name],
                *population.count_by([name], missing)[name].drop_null().to_pylist(),
            }
            for name in names
        }
        counted = population.count_by(
            names,
            missing,
            generalized=generalizations(
                definition, levels_of_release(definition, found, levels, known), known
            ),
            complete=names if definition.missing.match == "basic" else (),
        )
    except UserError as error:
        raise Unjudged(f"the population cannot be counted: {error.what}") from error
    return _matched(found, counted)


def _matched(found: ClassTable, counted: pa.Table) -> People:
    """The records of each class of the release, by its labels."""
    width, classes = counted.num_columns - 1, found.classes
    both = [
        pa.chunked_array([*found.table.column(i).chunks, *counted.column(i).chunks], pa.string())
        for i in range(width)
    ]
    numbers, rows = numbered([encoded(column)[0] for column in both])
    weights = np.asarray(counted.column(width), dtype=np.int64)
    people = np.bincount(numbers[classes:], weights=weights, minlength=len(rows)).astype(np.int64)
    released = numbers[:classes]
    absent = np.count_nonzero(people) - np.count_nonzero(people[released])
    return People(people[released], int(absent))
