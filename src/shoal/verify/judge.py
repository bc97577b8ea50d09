"""Is this release safe? Judged from the written release alone.

Nothing here knows how the release was made. It is read like any file, its classes are counted, and
it is compared with the definition; every finding must hold. What cannot be judged does not hold,
with two exceptions that say so: suppression when the number of records of the source is not known,
and the level of a quasi-identifier for which the definition gives no hierarchy.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa

from shoal.definition.model import OutputFile
from shoal.errors import UserError, quoted
from shoal.measure.classes import SIZE, ClassTable, count_classes
from shoal.measure.persons import Persons
from shoal.values import Finding, Verdict
from shoal.verify.demands import NAMED_CLASSES, Unjudged, judge_demands, names_of
from shoal.verify.levels import judge_level
from shoal.verify.sources import Original, People, count_persons, count_population

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from shoal.definition.model import Definition
    from shoal.engines.base import Source
    from shoal.measure.classes import Values
    from shoal.values import StatedLevels
    from shoal.verify.assignment import Assignment


def verify(
    definition: Definition,
    release: Source,
    *,
    records: int | None,
    removed: int = 0,
    blank: int = 0,
    reference: Mapping[str, Values] | None = None,
    levels: Mapping[str, StatedLevels] | None = None,
    values: Mapping[str, Collection[str]] | None = None,
    columns: Sequence[str] | None = None,
    numbers: Mapping[str, int] | None = None,
    source: Source | None = None,
    population: Source | None = None,
    assignment: Assignment | None = None,
) -> Verdict:
    """Judge a release.

    About the source, the caller says what it knows: its `records`, how many of them basic match
    `removed` first, how many are `blank` (without any quasi-identifier and sensitive value), the
    distinct `values` of its quasi-identifiers, how often each sensitive value occurs (`reference`)
    and the order of its `columns`. `levels` are those the release claims; without them every
    quasi-identifier must be at one level throughout. In local recoding each label must be of some
    level. `numbers` are its claimed `records`, `classes`, `smallest class`, `persons` and `fewest
    persons` of a class. The `source` itself is read only if the definition names persons: they are
    counted there, in local recoding by the `assignment`, the labels of each tuple. The `population`
    is read if something is demanded against it; `values` are then those of both.
    """
    try:
        seen = tuple(column.name for column in release.columns())
        presence = _columns(definition, seen, columns)
        if not set(definition.quasi_identifiers + definition.sensitive) <= set(seen):
            return _uncounted(presence)
        found = count_classes(
            release,
            definition.quasi_identifiers,
            sensitive=definition.sensitive,
            mark=definition.suppressed == "mark",
            missing_sensitive=definition.missing.values,
            blank=blank,
        )
    except UserError as error:
        return unreadable(error)
    original = None
    if source is not None and values is not None:
        original = Original(source, values)
    persons = _persons(definition, found, levels, original, assignment)

    def people_of(classes: ClassTable) -> People | Unjudged | None:
        return _people(definition, classes, levels, values, population)

    judged, people, unseen = found, people_of(found), 0
    # Persons are counted by other rules, which blank records take no part in.
    others = found if persons is None else found.without_classes()
    with_blank = _with_blank_class(definition, others, blank)
    if with_blank is not None:
        # Such a class is not to be told from suppressed records. It was one if it may be one.
        of_blank = people_of(with_blank)
        demands = judge_demands(definition, with_blank, reference, of_blank)
        if all(finding.holds for finding in demands):
            judged, people, unseen = with_blank, of_blank, blank - found.blank
    marks_are_certain = definition.suppressed != "mark" or (
        source is not None and blank == found.blank
    )
    findings = (
        presence,
        *_levels(definition, found, levels, values or {}, complete=marks_are_certain),
        _at_least_k("k-anonymity", "records", definition.k, found),
        *_complete(definition, found),
        *_demands(definition, judged, reference, persons, people),
        _suppression(definition, found, records, removed, blank=blank, unseen=unseen),
        *_numbers(found, persons, (numbers or {}) if marks_are_certain else {}),
    )
    return Verdict(findings, found.records, found.classes, found.smallest)


def unreadable(error: UserError) -> Verdict:
    """The verdict on a release that cannot be read as a table."""
    return _uncounted(Finding("columns", False, f"the release cannot be read: {error.what}"))


def _uncounted(why: Finding) -> Verdict:
    """The verdict on a table whose classes cannot be counted."""
    return Verdict((why, Finding("k-anonymity", False, "not judged: see columns")), 0, 0, 0)


def _columns(definition: Definition, seen: Sequence[str], source: Sequence[str] | None) -> Finding:
    """The declared columns and no other, in the definition's order or the source's.

    Columns by which an output is partitioned are in the names of its folders, so they come last.
    """
    declared = dict.fromkeys(definition.names("quasi-identifier", "sensitive", "keep"))
    hidden, there = set(definition.names("identifier", "drop")), Counter(seen)
    faults = {
        "not declared": [name for name in seen if name not in definition.attributes],
        "must not be released": [name for name in seen if name in hidden],
        "absent": [name for name in declared if name not in there],
        "there twice": sorted(name for name, times in there.items() if times > 1),
    }
    problems = [f"{quoted(names)} {fault}" for fault, names in faults.items() if names]
    partition = definition.output.partition_by if isinstance(definition.output, OutputFile) else ()
    orders = [list(declared), [name for name in source or () if name in declared]]
    orders += [[*(name for name in order if name not in partition), *partition] for order in orders]
    if not problems and source is not None and list(seen) not in orders:
        problems = ["the declared columns, but in another order"]
    return Finding(
        "columns", not problems, "; ".join(problems) or f"the {len(seen)} declared, no other"
    )


def _levels(
    definition: Definition,
    found: ClassTable,
    levels: Mapping[str, StatedLevels] | None,
    values: Mapping[str, Collection[str]],
    *,
    complete: bool,
) -> list[Finding]:
    """One finding for each quasi-identifier; one more when levels are stated for other columns."""
    names = definition.quasi_identifiers
    findings = [
        judge_level(
            definition.attributes[name],
            found.column(position),
            (levels or {}).get(name),
            values.get(name),
            local=definition.recoding == "local",
            complete=complete,
        )
        for position, name in enumerate(names)
    ]
    if levels is not None and set(levels) != set(names):
        others = quoted(sorted(set(levels) ^ set(names)))
        saw = f"levels are not stated for exactly the quasi-identifiers; look at {others}"
        findings.append(Finding("levels", False, saw))
    return findings


def _persons(
    definition: Definition,
    found: ClassTable,
    levels: Mapping[str, StatedLevels] | None,
    original: Original | None,
    assignment: Assignment | None,
) -> Persons | Unjudged | None:
    """The persons of each class, or why they cannot be counted; None if none are named."""
    if not definition.person:
        return None
    try:
        return count_persons(definition, found, levels, original, assignment)
    except Unjudged as why:
        return why


def _people(
    definition: Definition,
    found: ClassTable,
    levels: Mapping[str, StatedLevels] | None,
    values: Mapping[str, Collection[str]] | None,
    population: Source | None,
) -> People | Unjudged | None:
    """The classes in the population, or why they cannot be counted; None if there is none."""
    if definition.population is None:
        return None
    try:
        return count_population(definition, found, levels, values, population)
    except Unjudged as why:
        return why


def _demands(
    definition: Definition,
    found: ClassTable,
    reference: Mapping[str, Values] | None,
    persons: Persons | Unjudged | None,
    people: People | Unjudged | None,
) -> list[Finding]:
    """What is demanded of the classes, by records; or by persons, where the definition names them.

    Where persons cannot be counted, no demand on them holds.
    """
    if persons is None:
        return judge_demands(definition, found, reference, people)
    if isinstance(persons, Unjudged):
        return [
            Finding("persons", False, f"not judged: {persons}"),
            *(Finding(name, False, "not judged: see persons") for name in names_of(definition)),
        ]
    return [
        _at_least_k("persons", "persons", definition.k, persons.found),
        *judge_demands(definition, persons.found, persons.reference),
    ]


def _at_least_k(name: str, of_what: str, k: int, found: ClassTable) -> Finding:
    """Every class has at least k records, or persons: the sizes in `found` are those."""
    failing = [row for row, size in enumerate(found.sizes.tolist()) if size < k]
    if not failing:
        if not found.classes:
            return Finding(name, True, "no classes")
        classes = f"{found.classes:,} {'class' if found.classes == 1 else 'classes'}"
        saw = f"{classes}, the smallest of {found.smallest:,} {of_what}; {k} demanded"
        return Finding(name, True, saw)
    named = [found.name(row) for row in found.first_of(failing, NAMED_CLASSES)]
    more = f" and {len(failing) - len(named):,} more" if len(failing) > len(named) else ""
    saw = f"{len(failing):,} of {found.classes:,} classes have fewer than {k} {of_what}: "
    sizes = "; ".join(f"{each} has {each.size}" for each in named)
    return Finding(name, False, saw + sizes + more)


def _complete(definition: Definition, found: ClassTable) -> list[Finding]:
    """Basic match: a record with a missing quasi-identifier matches nobody, so none may stay."""
    if definition.missing.match != "basic":
        return []
    saw = f"{found.incomplete:,} records with a missing quasi-identifier; basic match allows none"
    return [Finding("missing values", not found.incomplete, saw)]


def _numbers(
    found: ClassTable, persons: Persons | Unjudged | None, stated: Mapping[str, int]
) -> list[Finding]:
    """The numbers that the result states are those of the release.

    Where suppressed records are marked, a blank record of the source looks like one of them. Unless
    all blank records are known to be in a class, `stated` is empty: the numbers may differ.
    """
    seen = {
        "records": found.records,
        "classes": found.classes,
        "smallest class": found.smallest,
    }
    if isinstance(persons, Persons):
        seen |= {"persons": persons.everybody, "fewest persons": persons.found.smallest}
    known = {name: number for name, number in stated.items() if name in seen}
    if not known:
        return []
    wrong = [
        f"{name} {seen[name]:,}, but {number:,} stated"
        for name, number in known.items()
        if seen[name] != number
    ]
    saw = "; ".join(wrong) or ", ".join(f"{name} {seen[name]:,}" for name in known) + ", as stated"
    return [Finding("numbers", not wrong, saw)]


def _with_blank_class(definition: Definition, found: ClassTable, blank: int) -> ClassTable | None:
    """The classes with one more: the blank records of the source that are in none of them.

    They look like marked rows. None where there cannot be such a class.
    """
    alone = blank - found.blank
    if definition.suppressed != "mark" or alone < definition.k:
        return None
    schema = found.table.schema
    row = {
        field.name: pa.array([alone], field.type) if field.name == SIZE else pa.nulls(1, field.type)
        for field in schema
    }
    values: dict[str, list[Values]] = {
        name: [*each, {None: alone}] for name, each in found.values.items()
    }
    table = pa.concat_tables([found.table, pa.table(row, schema)])
    return replace(found, table=table, values=values)


def _suppression(
    definition: Definition,
    found: ClassTable,
    records: int | None,
    removed: int,
    *,
    blank: int,
    unseen: int,
) -> Finding:
    """The suppressed records are within the limit.

    By default they are left out of the release. With `mark` every record is in the release, and the
    marked rows are the suppressed records. `unseen` rows are not counted: they are a class of blank
    records, which looks like marked rows.
    """
    name = "suppression"
    there = found.records + found.marked
    if records is None:
        saw = f"not judged: the source's records are not known; {found.records:,} released"
        return Finding(name, there > 0, saw)
    remaining = records - removed
    if min(removed, remaining, blank) < 0 or (removed and definition.missing.match != "basic"):
        saw = f"{removed:,} of {records:,} records cannot have been removed for missing values"
        return Finding(name, False, saw)
    if there > remaining:
        return Finding(name, False, f"{there:,} records released of {remaining:,} in the source")
    limit = definition.suppression_limit(remaining)
    if definition.suppressed == "mark":
        if there < remaining:
            saw = f"{there:,} of {remaining:,} records there; suppressed ones should be marked"
            return Finding(name, False, saw)
        suppressed = max(0, found.marked - unseen)
    else:
        suppressed = remaining - there
    saw = f"{suppressed:,} of {remaining:,} records suppressed; {limit:,} allowed"
    return Finding(name, suppressed <= limit, saw)
