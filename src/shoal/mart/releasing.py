"""The fourth step of the method: the release is written, verified, and described."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from shoal.engines.base import Generalization, Recoding
from shoal.engines.duckdb.staged import formula_cautions
from shoal.engines.opening import recode_into
from shoal.errors import Refused, quoted
from shoal.mart.kept import kept_cautions
from shoal.mart.recipe import Recipe, ReleasedClass
from shoal.mart.verifying import Claim, Claims, judge
from shoal.release.recode import generalization
from shoal.steps.releasing import refuse_unless_safe
from shoal.values import Verdict
from shoal.verify.assignment import Assignment

if TYPE_CHECKING:
    from shoal.engines.base import Source, Staged
    from shoal.engines.options import Target
    from shoal.mart.anonymise import Anonymised, Found
    from shoal.mart.catalog import Link
    from shoal.mart.conditions import Condition
    from shoal.mart.linking import LinkedTable
    from shoal.mart.subrequests import Resolved
    from shoal.values import Caution, Finding, StatedLevels


@dataclass(frozen=True, eq=False)
class Making:
    """A release in the making: the request, the linked table, what was found, where it goes.

    `source` is the linked table, open.
    """

    resolved: Resolved
    table: LinkedTable
    source: Source
    found: Anonymised
    target: Target

    def levels(self, each: Found) -> dict[str, StatedLevels]:
        """The released levels of a source's columns."""
        return each.levels(self.found.released)

    @property
    def is_local(self) -> bool:
        """Whether the recoding is local."""
        return self.resolved.request.recoding == "local"

    @property
    def ids(self) -> str | None:
        """The column of random ids, if there is one."""
        return self.table.random_ids if self.resolved.request.keys == "random" else None

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the release, in order."""
        released = {*self.resolved.columns, *filter(None, [self.ids])}
        return tuple(each.name for each in self.source.columns() if each.name in released)

    @property
    def tying(self) -> tuple[str, ...]:
        """The kept columns whose source has a record in several linked rows."""
        links, joined = self.resolved.catalog.links, self.table.sources
        return tuple(
            name
            for name, ref in self.resolved.columns.items()
            if not self.resolved.is_counted(name) and is_repeated(ref.source, links, joined)
        )


def is_repeated(
    source: str, links: Sequence[Link], joined: Collection[str], but: Link | None = None
) -> bool:
    """Whether a record of a source can be in several linked rows.

    Some way through the links, but for one, then leads to a side with many records.
    """
    for link in links:
        if source in link.sources and link is not but:
            other = link.other(source).source
            many = not link.is_unique(other) or is_repeated(other, links, joined, link)
            if other in joined and many:
                return True
    return False


@dataclass(frozen=True)
class Checked:
    """What the verifier found in the written release, its warnings, and its checksum."""

    findings: tuple[Finding, ...]
    warnings: tuple[Caution, ...]
    sha256: str | None


def refuse_tied_rows(making: Making) -> None:
    """Refuse to tie the rows of a person together where fewer than k persons have such rows.

    Random ids tie them. So do kept columns of a source whose records are in several linked rows
    each: rows with the same rare value, such as a day of death, are of one person.
    """
    ids, kept = making.ids, making.tying
    if ids is None and not kept:
        return
    if not making.found.released.persons_singled_out(making.resolved.k):
        return
    said = (
        "and some persons have rows of classes that, taken together, fewer than "
        f"{making.resolved.k} persons have; nothing was released"
    )
    if ids is not None:
        raise Refused(
            f"random ids tie the rows of a person together, {said}",
            code="ids-tell",
            hint="ask with `keys: drop`, or for fewer or more general columns",
        )
    raise Refused(
        f"{quoted(kept)} can tie several rows of a person together, {said}",
        code="rows-tied",
        hint="leave out these columns, or all columns of the sources with several records each",
    )


def recipe_of(making: Making) -> Recipe:
    """What the release does, for the log."""
    resolved, table = making.resolved, making.table
    return Recipe(
        scope=resolved.request.scope,
        k=resolved.k,
        sources=table.sources,
        optional=_optional(resolved.catalog.links, table.sources),
        columns={
            each.name: tuple(resolved.columns[name] for name in each.counted.subrequest.columns)
            for each in making.found.found
        },
        levels={
            resolved.columns[name]: level
            for each in making.found.found
            for name, level in making.levels(each).items()
            if isinstance(level, int)
        },
        classes={each.name: _classes(making, each) for each in making.found.found},
        rows=making.found.released.number,
        persons=making.found.released.persons,
        tied=bool(making.ids or making.tying),
        conditions=tuple(_qualified(resolved, each) for each in resolved.request.select),
        complete=resolved.catalog.missing.match == "basic",
        tuples={
            each.name: local.kept_for_the_log(making.found.released.codes(each.at_levels))
            for each in making.found.found
            if (local := each.at_levels.local) is not None
        },
    )


def _optional(links: Sequence[Link], joined: Collection[str]) -> tuple[str, ...]:
    """The joined sources that may be absent in a row."""
    there = (link for link in links if set(link.sources) <= set(joined))
    return tuple(link.optional for link in there if link.optional is not None)


def _qualified(resolved: Resolved, condition: Condition) -> Condition:
    """The condition with the source before its column."""
    column = str(resolved.catalog.find(condition.column))
    return condition.model_copy(update={"column": column})


def _classes(making: Making, found: Found) -> tuple[ReleasedClass, ...]:
    """The released classes of a source: their labels, rows and persons."""
    table = making.found.released.class_table(found.at_levels)
    *labels, rows, persons = (column.to_pylist() for column in table.columns)
    return tuple(
        ReleasedClass(tuple(each), number, of)
        for *each, number, of in zip(*labels, rows, persons, strict=True)
    )


def stage(making: Making, spark: Any = None) -> Staged:
    """Write the release where nobody sees it yet: rows whose labels of all sources may pass."""
    definition, released = making.resolved.catalog, making.found.released
    sources = [each.at_levels for each in making.found.found]
    labels = None
    if making.is_local and sources:
        classes, labels = released.tuples(sources)
        generalized = {name: Generalization((), ()) for name in classes.column_names}
    else:
        classes = released.labels()
        generalized = {
            attribute.name: generalization(attribute, level)
            for each in sources
            for attribute, level in zip(each.attributes, each.node, strict=True)
        }
    if not generalized:
        person = making.table.person
        generalized = {person: Generalization((), ())}
        classes = pa.table({person: making.found.released.counted.column(person)})
    recoding = Recoding(
        columns=making.columns,
        generalized=generalized,
        classes=classes,
        blanked=(),
        missing=definition.missing.values,
        labels=labels,
    )
    return recode_into(making.source, recoding, making.target, spark=spark)


def verify_staged(making: Making, staged: Staged) -> Checked:
    """What the verifier says of the written release; an error unless everything holds."""
    claims = _claims(making)
    with staged.source() as written:
        findings = judge(claims, making.source, written)
        warnings = (*kept_cautions(making), *formula_cautions(making.target, written))
        sha256 = written.fingerprint()
    refuse_unless_safe(Verdict(findings, claims.rows, 0, 0))
    return Checked(findings, warnings, sha256)


def _claims(making: Making) -> Claims:
    released = making.found.released
    return Claims(
        columns=making.columns,
        rows=released.number,
        persons=released.persons,
        removed=making.found.removed,
        sources=tuple(
            Claim(
                each.name,
                each.at_levels.definition,
                making.levels(each),
                each.counted.prepared.values,
                Assignment(*released.tuples([each.at_levels])) if making.is_local else None,
            )
            for each in making.found.found
        ),
        ids=making.ids,
        tied=making.table.person if making.tying else None,
        k=making.resolved.k,
    )
