"""How the columns of a database leave it: each in the Arrow type that holds all its values.

A column whose kind has an Arrow type streams in that type where every value fits it: PostgreSQL has
dates before Christ and without end, MariaDB a day 0, SQLite nearly any value in any column. What
does not fit streams as text, and so does all that Arrow has no type for. That text is the one that
was counted, never what a driver makes of the value.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
import sqlalchemy as sa

if TYPE_CHECKING:
    from shoal.engines.database.dialects.values import Expression, Spelling
    from shoal.engines.database.relation import Relation
    from shoal.engines.database.session import Session


def arrow_types(
    session: Session, relation: Relation, names: Collection[str]
) -> dict[str, pa.DataType]:
    """The type that each of these columns streams in; one query asks which values fit theirs."""
    types = {name: relation.field(name).arrow() for name in names}
    doubts = {}
    for name, kind in types.items():
        if not pa.types.is_string(kind):
            fits = relation.values.fits(relation.column(name), relation.field(name))
            if fits is not None:
                doubts[name] = ~fits
    return types | dict.fromkeys(_columns_with(session, relation, doubts), pa.string())


def columns_with_nul(session: Session, relation: Relation, names: Collection[str]) -> list[str]:
    """Those of the columns that have a text with a NUL character."""
    conditions = {}
    for name in names:
        has_nul = relation.values.has_nul(relation.column(name), relation.field(name))
        if has_nul is not None:
            conditions[name] = has_nul
    return _columns_with(session, relation, conditions)


def respelled(batch: pa.RecordBatch, spellings: Mapping[str, Spelling | None]) -> pa.RecordBatch:
    """A batch with the raw texts of these columns as texts; each distinct one is spelled once."""
    for name, spell in spellings.items():
        if spell is not None:
            index = batch.schema.get_field_index(name)
            raws = batch.column(index).dictionary_encode()
            texts = pa.array([spell(each) for each in raws.dictionary.to_pylist()], pa.string())
            batch = batch.set_column(index, name, pc.take(texts, raws.indices))
    return batch


def _columns_with(
    session: Session, relation: Relation, conditions: Mapping[str, Expression]
) -> list[str]:
    """The columns with at least one record that meets their condition; one query for all."""
    if not conditions:
        return []
    maxima = [sa.func.max(sa.case((condition, 1), else_=0)) for condition in conditions.values()]
    (row,) = session.rows(sa.select(*maxima).select_from(relation.source))
    return [name for name, is_met in zip(conditions, row, strict=True) if is_met]
