"""Mistakes of a catalog or a request that show only when several keys are looked at together.

Where some keys have mistakes of their own, the rest is checked all the same. `unsure` then names
what is not as the file has it: top keys, and `sources.NAME` for sources that lack something.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from shoal.definition.check import of_attribute, of_loss, of_strategy, of_suppression
from shoal.definition.demands import Diversity
from shoal.definition.scalars import shown
from shoal.engines.local_files import is_same_file
from shoal.errors import Mistake, UserError, quoted
from shoal.mart.catalog import RANDOM_ID
from shoal.mart.derived_mistakes import mistakes_of_derived
from shoal.mart.link_mistakes import identifying_columns, mistakes_of_links, mistakes_of_person
from shoal.mart.log import head_path

if TYPE_CHECKING:
    from pathlib import Path

    from shoal.mart.catalog import Catalog, CatalogSource, ColumnRef, SharedColumn
    from shoal.mart.request import Request

_REASON = "write why that is safe: `untransformed: gene expressions are known to nobody else`"


def mistakes_of(
    catalog: Catalog, file: Path | None = None, unsure: Collection[str] = ()
) -> list[Mistake]:
    """Every mistake of a catalog that can be seen without its sources; `file` is its own file."""
    found: list[Mistake] = []
    for name, source in catalog.sources.items():
        found += _of_source(name, source, whole=f"sources.{name}" not in unsure)
    for ref in catalog.columns:
        found += _of_column(catalog, ref, unsure)
    known = "person" not in unsure and "links" not in unsure
    identifying = identifying_columns(catalog) if known else frozenset()
    found += mistakes_of_derived(catalog, identifying, unsure)
    if not catalog.sources and "sources" not in unsure:
        found.append(Mistake("sources", "names no source", "name at least one"))
    if "person" not in unsure and "sources" not in unsure:
        found += mistakes_of_person(catalog)
        if "links" not in unsure:
            found += mistakes_of_links(catalog)
    if "policy" not in unsure:
        found += _of_policy(catalog, unsure)
    if "log" not in unsure:
        found += _of_log(catalog, file)
    return found


def mistakes_of_request(request: Request) -> list[Mistake]:
    """Every mistake of a request that can be seen without its catalog."""
    twice = [name for name, number in Counter(request.project).items() if number > 1]
    return [
        *(Mistake("project", f"{name!r} occurs twice", "name it once") for name in twice),
        *of_suppression(request.suppression),
        *of_loss(request.demanded_loss),
        *of_strategy(request.search),
    ]


def _of_source(name: str, source: CatalogSource, *, whole: bool) -> Iterator[Mistake]:
    """Names that cannot be written in a request, and columns that are released unchanged."""
    key = f"sources.{name}"
    if not name.strip() or "." in name or "*" in name:
        yield Mistake(key, "is no name of a source", "use a name without dot and star")
    for column in source.columns:
        if not column.strip():
            yield Mistake(f"{key}.columns", "a column has no name", "write its name")
        elif column.casefold() == RANDOM_ID:
            what = f"{RANDOM_ID!r} is the name of the random ids of a release"
            yield Mistake(f"{key}.columns.{column}", what, "give the column another name")
    same = Counter(column.casefold() for column in source.columns)
    for column in source.columns:
        if same[column.casefold()] > 1:
            what = "has the name of another column but for its case"
            yield Mistake(f"{key}.columns.{column}", what, "keep one of them, or rename it")
    yield from _of_askers(f"{key}.askers", source.askers)
    if whole:
        yield from _of_untransformed(key, source)


def _of_untransformed(key: str, source: CatalogSource) -> Iterator[Mistake]:
    """A source that is released as it is says why; no other has only columns that are kept."""
    roles = {column.role for column in source.columns.values()}
    if source.untransformed is None:
        if roles == {"keep"}:
            yield Mistake(key, "all its columns are released unchanged", _REASON)
        return
    if not source.untransformed.strip():
        yield Mistake(f"{key}.untransformed", "gives no reason", _REASON)
    for name, column in source.columns.items():
        if column.role != "keep":
            what = f"is {column.role}, but the source is untransformed"
            remedy = "make it keep, or leave out `untransformed`"
            yield Mistake(f"{key}.columns.{name}.role", what, remedy)


def _of_column(catalog: Catalog, ref: ColumnRef, unsure: Collection[str]) -> Iterator[Mistake]:
    """What a definition objects to, and what only a catalog demands.

    What the policy demands of sensitive columns is demanded of each.
    """
    column, key = catalog.column(ref), f"sources.{ref.source}.columns.{ref.column}"
    judged = column
    if column.role == "sensitive" and column.diversity is None:
        of_all = Diversity(distinct=2) if "policy" in unsure else catalog.policy.diversity
        judged = column.model_copy(update={"diversity": of_all})
    inside = f"attributes.{ref.column}"
    for mistake in of_attribute(ref.column, judged):
        yield replace(mistake, key=key + mistake.key.removeprefix(inside))
    yield from _of_quantifiers(f"{key}.information loss", column)
    if column.priority is not None and column.priority > 1:
        yield Mistake(f"{key}.priority", "is above 1", "write a number from 0 to 1")


def _of_quantifiers(key: str, column: SharedColumn) -> Iterator[Mistake]:
    losses = column.information_loss
    if losses is not None and (len(losses) < 2 or losses[0] != 0 or losses[-1] != 1):
        remedy = "begin with 0 for the values and end with 1 for the top, as in [0, 0.3, 1]"
        yield Mistake(key, "does not go from 0 to 1", remedy)


def _of_policy(catalog: Catalog, unsure: Collection[str]) -> Iterator[Mistake]:
    policy = catalog.policy
    for mistake in of_suppression(policy.suppression):
        yield replace(mistake, key="policy.suppression")
    if policy.diversity is not None and not policy.diversity.model_dump(exclude_none=True):
        remedy = "write `distinct: 3`, `entropy: 3` or `recursive: {c: 4, l: 3}`"
        yield Mistake("policy.diversity", "names no kind", remedy)
    for group in policy.apart:
        if len(set(group)) < 2:
            what = f"{quoted(group)} is less than two columns"
            yield Mistake("policy.apart", what, "list columns that are never released together")
        for name in group:
            try:
                catalog.find(name)
            except UserError as error:
                if not any(each.startswith("sources") for each in unsure):
                    yield Mistake("policy.apart", error.what, error.hint)
    yield from _of_askers("policy.askers", policy.askers)


def _of_askers(key: str, askers: Sequence[str] | None) -> Iterator[Mistake]:
    """Everybody may ask where no list is; an empty list is most likely not what is meant."""
    if askers is not None and not any(name.strip() for name in askers):
        remedy = "name who may ask, or leave it out, so that everybody may"
        yield Mistake(key, "names nobody", remedy)
    for name, number in Counter(askers or ()).items():
        if number > 1:
            yield Mistake(key, f"{shown(name)} occurs twice", "name each asker once")


def _of_log(catalog: Catalog, file: Path | None) -> Iterator[Mistake]:
    """The log and its head are written; nothing that is read may be overwritten by them."""
    log, remedy = catalog.log, "give the log a file of its own"
    others = [*catalog.files, *([(file, "the catalog")] if file else [])]
    for path in (log, head_path(log)):
        for name, source in catalog.sources.items():
            if source.source.reads(path):
                yield Mistake("log", f"{str(path)!r} is a file of the source {name!r}", remedy)
        for other, what in others:
            if is_same_file(path, other):
                yield Mistake("log", f"{str(path)!r} is {what}", remedy)
    if log.is_dir():
        yield Mistake("log", f"{str(log)!r} is a folder", "write the path of a file")
