"""Verifying a release file against its definition, its result and its source."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from shoal.definition.check import against_columns
from shoal.definition.model import WrittenFile
from shoal.engines.duckdb.files import open_files
from shoal.engines.opening import open_source
from shoal.engines.options import FileOptions
from shoal.errors import BadData, UserError
from shoal.values import Finding
from shoal.verify.demands import Unjudged
from shoal.verify.judge import unreadable, verify
from shoal.verify.sources import UNKNOWN, SourceFacts, source_facts
from shoal.verify.stated import judge_proposal, lacking_hierarchies, with_hierarchies

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from shoal.definition.model import Definition
    from shoal.engines.base import Source
    from shoal.values import Verdict
    from shoal.verify.assignment import Assignment, AssignmentFile
    from shoal.verify.stated import Stated


@dataclass(frozen=True, eq=False)
class Known:
    """What is known of the source: its columns, the values of its quasi-identifiers, and counts."""

    source: Source
    columns: tuple[str, ...]
    values: Mapping[str, frozenset[str]]
    facts: SourceFacts


def verify_file(
    definition: Definition,
    release: Path,
    *,
    stated: Stated | None = None,
    records: int | None = None,
    assignment: AssignmentFile | None = None,
) -> Verdict:
    """Judge a release file.

    Whatever can be counted in the source is counted there. A result, or a number of `records`, that
    disagrees is a failing finding; it is trusted only where the source cannot be read. Levels are
    those of the result, else they are inferred. The `assignment` says in which class each tuple of
    the source is, which persons are counted by in a local release.
    """
    proposed: tuple[str, ...] = ()
    if stated is not None:
        proposed = lacking_hierarchies(definition, stated.hierarchies)
        definition = with_hierarchies(definition, stated.hierarchies)
    with ExitStack() as cleanup:
        source = _open_source(definition)
        if source is not None:
            cleanup.enter_context(closing(source))
        population = _open_population(definition)
        if population is not None:
            cleanup.enter_context(closing(population))
        changed = _changed(source, stated)
        known = None
        if source is not None and changed is None:
            columns = tuple(column.name for column in source.columns())
            definition = against_columns(definition, columns, source.name)
            known = _read_source(definition, columns, source, population)
        elif definition.others == "keep":
            raise _unknown_others(definition)
        findings = [
            *([changed] if changed is not None else _agreement(known, stated, records)),
            *_proposals(definition, proposed, known),
        ]
        try:
            opened = open_files(
                _options(definition, release), expect=set(definition.attributes), stored=True
            )
        except UserError as error:
            if not release.exists():
                raise
            return unreadable(error)
        cleanup.enter_context(closing(opened))
        findings += _checksum(opened, stated)
        listed, unlisted = _listed(definition, known, assignment)
        findings += unlisted
        verdict = verify(
            definition,
            opened,
            assignment=listed,
            levels=None if stated is None else stated.levels,
            values=None if known is None else known.values,
            columns=None if known is None else known.columns,
            source=None if known is None else known.source,
            population=population,
            numbers=None if stated is None else stated.numbers,
            **(_claimed(stated, records) if known is None else known.facts),
        )
    return replace(verdict, findings=(*findings, *verdict.findings))


def _listed(
    definition: Definition, known: Known | None, assignment: AssignmentFile | None
) -> tuple[Assignment | None, list[Finding]]:
    """The labels of each tuple of the source, where it is known; a finding if they do not fit."""
    if known is None or assignment is None:
        return None, []
    try:
        return assignment.of_source(definition, known.source), []
    except Unjudged as why:
        return None, [Finding("assignment", False, str(why))]


def _open_source(definition: Definition) -> Source | None:
    """The source, when it can be read."""
    try:
        return open_source(definition.source.options(), expect=set(definition.attributes))
    except UserError:
        return None


def _open_population(definition: Definition) -> Source | None:
    """The table of the population, where there is one, and it can be read with its columns."""
    if definition.population is None:
        return None
    names = set(definition.quasi_identifiers)
    try:
        source = open_source(definition.population.source.options(), expect=names)
        lacking = names - {column.name for column in source.columns()}
    except UserError:
        return None
    if lacking:
        source.close()
    return None if lacking else source


def _changed(source: Source | None, stated: Stated | None) -> Finding | None:
    """The failing finding that the source has changed since the run, if it has."""
    if source is None or stated is None or stated.input_sha256 in (None, source.fingerprint()):
        return None
    saw = "it is not the source of the result: its checksum is another"
    return Finding("source", False, saw)


def _checksum(release: Source, stated: Stated | None) -> list[Finding]:
    """Whether the release has the very bytes that the run wrote, where the result says which."""
    if stated is None or stated.output_sha256 is None:
        return []
    same = release.fingerprint() == stated.output_sha256
    saw = "as the result states it" if same else "it is not the file of the result"
    return [Finding("checksum", same, saw)]


def _agreement(known: Known | None, stated: Stated | None, records: int | None) -> list[Finding]:
    """Whether the result and the caller state the numbers that were counted in the source."""
    counted: SourceFacts = _claimed(stated, None) if known is None else known.facts
    claimed = {} if stated is None else {"records": stated.records, "removed": stated.removed}
    claims = [("stated", name, number) for name, number in claimed.items()]
    claims += [] if records is None else [("given", "records", records)]
    seen = {"records": counted["records"], "removed": counted["removed"]}
    wrong = [
        f"{seen[name]:,} {name}, but {number:,} {how}"
        for how, name, number in claims
        if seen[name] not in (None, number)
    ]
    if wrong:
        return [Finding("source", False, "; ".join(wrong))]
    if not claims:
        return []
    if known is None:
        return [
            Finding(
                "source", True, "not judged: it cannot be read; the stated numbers were trusted"
            )
        ]
    return [Finding("source", True, f"{seen['records']:,} records, {claims[0][0]} and counted")]


def _claimed(stated: Stated | None, records: int | None) -> SourceFacts:
    """What is stated about a source that cannot be read."""
    if stated is not None:
        return {**UNKNOWN, "records": stated.records, "removed": stated.removed}
    return {**UNKNOWN, "records": records}


def _proposals(
    definition: Definition, proposed: Sequence[str], known: Known | None
) -> Iterator[Finding]:
    """The finding about each hierarchy that was taken from the result."""
    for name in proposed:
        hierarchy = definition.attributes[name].hierarchy
        if hierarchy is not None:
            yield judge_proposal(name, hierarchy, None if known is None else known.values[name])


def _unknown_others(definition: Definition) -> BadData:
    return BadData(
        f"it is not known which columns `others: keep` means: {definition.source.shown} "
        "cannot be read or has changed",
        code="unknown-others",
        hint="name the kept columns in the definition, or put the source back",
    )


def _read_source(
    definition: Definition, columns: tuple[str, ...], source: Source, population: Source | None
) -> Known:
    """One column at a time, so that the number of combinations does not matter.

    Hierarchies are made for the values of the population too.
    """
    values: dict[str, frozenset[str]] = {}
    for name in definition.quasi_identifiers:
        both = (each for each in (source, population) if each is not None)
        counted = [each.count_by([name], definition.missing.values) for each in both]
        texts = (each.column(0).drop_null().to_pylist() for each in counted)
        values[name] = frozenset().union(*texts)
    return Known(source, columns, values, source_facts(definition, source, values))


def _options(definition: Definition, release: Path) -> FileOptions:
    """A release is read as it was written: header, delimiter and escaped formulas of the output."""
    output = definition.output
    if not isinstance(output, WrittenFile):
        return FileOptions(str(release), header=True)
    return output.read_back(release)
