"""Fetching as one SELECT: records as they are whose values are listed."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.sql.elements import quoted_name

from shoal.engines.base import listed_texts

if TYPE_CHECKING:
    from shoal.engines.database.dialects.values import Expression
    from shoal.engines.database.labels import Scratch
    from shoal.engines.database.relation import Relation
    from shoal.engines.database.session import Session

MOST_INLINE = 500
"""So many listed texts are in the query itself; more of them are in a temporary table."""


def fetching(
    session: Session,
    scratch: Scratch,
    relation: Relation,
    columns: Sequence[str],
    only: Mapping[str, Collection[str | None]],
    missing: Sequence[str],
    as_texts: Collection[str],
) -> sa.Select[Any]:
    """A query for these columns under their names, of the records whose values are listed.

    Columns of `as_texts` leave as texts, or as raw texts where these are spelled again.
    """
    values = [fetched_value(relation, name, as_text=name in as_texts) for name in columns]
    named = [
        value.label(quoted_name(name, True)) for name, value in zip(columns, values, strict=True)
    ]
    query = sa.select(*named).select_from(relation.source)
    for name, texts in only.items():
        query = query.where(is_listed(session, scratch, relation, name, texts, missing))
    return query


def fetched_value(relation: Relation, name: str, *, as_text: bool) -> Expression:
    """What leaves of a column; empty text and NaN are null."""
    if as_text:
        return relation.streamed_text(name)
    return relation.values.streamed(relation.without_missing(name), relation.field(name))


def is_listed(
    session: Session,
    scratch: Scratch,
    relation: Relation,
    name: str,
    texts: Collection[str | None],
    missing: Sequence[str],
) -> Expression:
    """Whether the value of a column has one of the texts; byte by byte, as it is counted."""
    listed, or_missing = listed_texts(texts, missing)
    raws = sorted(relation.raws(session, name, listed))
    raw, values = relation.raw(name), relation.values
    if len(raws) <= MOST_INLINE:
        condition: Expression = raw.in_([values.literal(each) for each in raws])
    else:
        condition = raw.in_(sa.select(scratch.raws(relation, raws).c.value))
    return condition | relation.is_missing(session, name, missing) if or_missing else condition
