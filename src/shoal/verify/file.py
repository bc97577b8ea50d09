"""Verifying a release in a file, with what its definition, its result and its source tell."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shoal.definition.check import against_columns
from shoal.definition.model import OutputFile
from shoal.engines.base import FileOptions
from shoal.engines.files import open_files
from shoal.engines.opening import open_source
from shoal.errors import BadData, UserError
from shoal.verify.judge import unreadable, verify
from shoal.verify.recount import distinct_values
from shoal.verify.source_facts import UNKNOWN, SourceFacts, source_facts
from shoal.verify.stated import with_hierarchies

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from shoal.definition.model import Definition
    from shoal.engines.base import Source
    from shoal.values import Verdict
    from shoal.verify.stated import Stated


@dataclass(frozen=True)
class Known:
    """What the source tells: its columns, the values of its quasi-identifiers, and counts."""

    columns: tuple[str, ...]
    values: Mapping[str, frozenset[str]]
    facts: SourceFacts


def verify_file(
    definition: Definition,
    release: Path,
    *,
    stated: Stated | None = None,
    records: int | None = None,
) -> Verdict:
    """Judge a release file.

    Levels are those of the result, else they are inferred. The number of records is the one given,
    else the result's, else counted in the source when that can be read.
    """
    if stated is not None:
        definition = with_hierarchies(definition, stated.hierarchies)
    known = None
    if (source := _source(definition, stated)) is not None:
        with closing(source):
            columns = tuple(column.name for column in source.columns())
            definition = against_columns(definition, columns, source.name)
            known = _look(definition, columns, source)
    elif definition.others == "keep":
        raise BadData(
            f"cannot tell which columns `others: keep` means: {definition.source.shown} "
            "cannot be read or has changed",
            code="unknown-others",
            hint="name the kept columns in the definition, or put the source back",
        )
    facts: SourceFacts = UNKNOWN if known is None else known.facts
    if stated is not None:
        facts = {**facts, "records": stated.records, "removed": stated.removed}
    if records is not None:
        facts = {**facts, "records": records}
    try:
        opened = open_files(
            _options(definition, release), expect=set(definition.attributes), stored=True
        )
    except UserError as error:
        if not release.exists():
            raise
        return unreadable(error)
    with closing(opened):
        return verify(
            definition,
            opened,
            levels=None if stated is None else stated.levels,
            values=None if known is None else known.values,
            columns=None if known is None else known.columns,
            numbers=None if stated is None else stated.numbers,
            **facts,
        )


def _source(definition: Definition, stated: Stated | None) -> Source | None:
    """The source, when it can be read and is still the one that the result speaks of."""
    try:
        source = open_source(definition.source.options(), expect=set(definition.attributes))
    except UserError:
        return None
    if stated is None or stated.input_sha256 in (None, source.fingerprint()):
        return source
    source.close()
    return None


def _look(definition: Definition, columns: tuple[str, ...], source: Source) -> Known:
    """One column at a time, so that the number of combinations does not matter."""
    values: dict[str, frozenset[str]] = {}
    for name in definition.quasi_identifiers:
        counted = source.count_by([name], definition.missing.values)
        values |= distinct_values(counted, [name])
    return Known(columns, values, source_facts(definition, source, values))


def _options(definition: Definition, release: Path) -> FileOptions:
    """A release is read as it was written: with a header, and the delimiter of the output."""
    output = definition.output if isinstance(definition.output, OutputFile) else None
    same = output is not None and output.path.suffix == release.suffix
    return FileOptions(
        path=str(release),
        format=output.format if output is not None and same else None,
        delimiter=output.delimiter if output is not None else None,
        header=True,
        options=output.settings if output is not None and same else {},
    )
