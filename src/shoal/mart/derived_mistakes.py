"""Mistakes of derived columns that show without the sources: what they read, and cycles."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING

from shoal.definition.scalars import nearest
from shoal.errors import Mistake, UserError, quoted
from shoal.mart.catalog import ColumnRef
from shoal.mart.expressions import parse

if TYPE_CHECKING:
    from shoal.mart.catalog import Catalog
    from shoal.mart.expressions import Expression


def mistakes_of_derived(
    catalog: Catalog, identifying: Collection[ColumnRef], unsure: Collection[str]
) -> Iterator[Mistake]:
    """Expressions that cannot be read, name what is not there, or need themselves.

    `identifying` are the columns that identify persons.
    """
    expressions: dict[ColumnRef, Expression] = {}
    for ref in catalog.columns:
        text = catalog.column(ref).derive
        if text is not None:
            key = _key(ref)
            try:
                expressions[ref] = parse(text, key)
            except UserError as error:
                what = error.what.removeprefix(f"{key}: ")
                yield Mistake(key, what, error.hint, code=error.code)
    for ref, expression in expressions.items():
        yield from _of_names(catalog, ref, expression, unsure)
    reads = {ref: inputs_of(ref, expression) for ref, expression in expressions.items()}
    for ref in reads:
        needed = _needed(ref, reads)
        if ref in needed:
            yield Mistake(_key(ref), "is derived from itself", "derive it from other columns")
        elif catalog.column(ref).role != "quasi-identifier" and (keys := needed & set(identifying)):
            what = f"reads {quoted(map(str, sorted(keys)))}, which identifies persons"
            remedy = "make it a quasi-identifier, or read other columns"
            yield Mistake(_key(ref), what, remedy)


def inputs_of(ref: ColumnRef, expression: Expression) -> frozenset[ColumnRef]:
    """The columns that a derived column reads; a name without a source is of its own source."""
    return frozenset(ColumnRef(source or ref.source, name) for source, name in expression.columns)


def _key(ref: ColumnRef) -> str:
    return f"sources.{ref.source}.columns.{ref.column}.derive"


def _of_names(
    catalog: Catalog, ref: ColumnRef, expression: Expression, unsure: Collection[str]
) -> Iterator[Mistake]:
    for source in dict.fromkeys(source for source, _ in expression.columns if source is not None):
        if source not in catalog.sources:
            what = f"there is no source {source!r}"
            yield Mistake(_key(ref), what, nearest(source, catalog.sources))
    for name in expression.maps:
        if name not in catalog.maps and "maps" not in unsure:
            remedy = nearest(name, catalog.maps, f"add `maps: {{{name}: {name}.csv}}`")
            yield Mistake(_key(ref), f"there is no map {name!r}", remedy)


def _needed(
    ref: ColumnRef, reads: Mapping[ColumnRef, frozenset[ColumnRef]]
) -> frozenset[ColumnRef]:
    """All columns that a derived column reads, directly or through other derived columns."""
    found: set[ColumnRef] = set()
    waiting = list(reads[ref])
    while waiting:
        each = waiting.pop()
        if each not in found:
            found.add(each)
            waiting.extend(reads.get(each, ()))
    return frozenset(found)
