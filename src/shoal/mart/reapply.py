"""Recipes of the log on the sources as they are now: what they accept, and the rows to count.

A recipe that does not fit any more (a column is gone, a selected value, a level) is None here:
catalog or sources have changed since.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

import duckdb

from shoal.engines.duckdb.relation import Relation
from shoal.engines.duckdb.session import Session, explained, identifier, literal
from shoal.errors import BadData, BadOutput, MissingExtra, Refused, UserError
from shoal.mart.applied import Applied, LinkedRows
from shoal.mart.linking import linked
from shoal.mart.selection import attribute, resolve
from shoal.release.recode import generalization

if TYPE_CHECKING:
    from shoal.engines.base import Generalization
    from shoal.mart.catalog import ColumnRef
    from shoal.mart.linking import LinkedTable
    from shoal.mart.recipe import Recipe
    from shoal.mart.sources import OpenSources

LINKED = "the linked sources"
"""What messages call the rows that releases are compared on."""


def applied(sources: OpenSources, recipe: Recipe) -> Applied | None:
    """The recipe with the values that it accepts now and the labels at its levels.

    A local recoding has no levels: its classes are found by the tuples of the selected rows.

    A selection or a hierarchy that was right then and is wrong now has changed. Its error is not
    shown, since it may name what another asker wrote. A source that cannot be read is an error.
    """
    catalog = sources.catalog
    shared = {ref for ref in catalog.columns if catalog.column(ref).role == "quasi-identifier"}
    if not shared.issuperset(recipe.quasi_identifiers):
        return None
    if not catalog.sources.keys() >= set(recipe.sources):
        return None
    labels: dict[ColumnRef, Generalization] = {}
    try:
        selection = resolve(catalog, recipe.conditions, sources.values, shown=recipe.k)
        for ref, level in recipe.levels.items():
            column = attribute(sources, ref)
            if level > column.height:
                return None
            labels[ref] = generalization(column, level)
    except (BadData, BadOutput, MissingExtra):
        raise
    except (Refused, UserError):
        return None
    return Applied(recipe, selection.only, labels)


@contextmanager
def linked_rows(
    sources: OpenSources, recipes: Sequence[Applied]
) -> Iterator[tuple[Session, LinkedRows]]:
    """The rows of all sources that the recipes use, in a session of their own."""
    refs = dict.fromkeys(
        ref for each in recipes for ref in (*each.recipe.quasi_identifiers, *each.only)
    )
    used = dict.fromkeys(source for each in recipes for source in each.recipe.sources)
    columns = {str(ref): ref for ref in refs}
    with (
        linked(sources, columns, {}, outer=True, also=tuple(used)) as table,
        closing(Session(sources.resources())) as session,
    ):
        try:
            yield session, _texts(session, sources, table, tuple(refs))
        except duckdb.Error as error:
            raise explained(error, LINKED) from None


def _texts(
    session: Session, sources: OpenSources, table: LinkedTable, refs: Sequence[ColumnRef]
) -> LinkedRows:
    """The linked rows as texts, null where missing; rows without a person are in no release."""
    names = [*map(str, refs), table.person, *table.record.values()]
    selected = ", ".join(f"{identifier(name)} AS c{i}" for i, name in enumerate(names))
    query = f"SELECT {selected} FROM read_parquet({literal(table.options.path)})"
    relation = Relation(LINKED, query, tuple(names), session.types(query))
    if not {"FLOAT", "DOUBLE"}.isdisjoint(relation.types):
        session.distrust_statistics()
    texts = {ref: f"text_{i}" for i, ref in enumerate(refs)}
    records = {source: f"record_{i}" for i, source in enumerate(table.record)}
    person = relation.text(relation.position(table.person))
    columns = [
        *(f"{relation.present_text(i, sources.missing)} AS text_{i}" for i in range(len(refs))),
        *(f"coalesce(c{len(refs) + 1 + i}, 0) AS record_{i}" for i in range(len(records))),
        f"{person} AS person",
    ]
    session.execute(
        f"CREATE TEMP TABLE linked AS SELECT {', '.join(columns)} FROM ({query})"
        f" WHERE ({person}) IS NOT NULL"
    )
    return LinkedRows("linked", texts, records)
