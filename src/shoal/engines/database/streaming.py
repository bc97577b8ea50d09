"""How the columns of a database leave it: each in the Arrow type that holds all its values.

A column whose kind has an Arrow type streams in that type where every value fits it: PostgreSQL has
dates before Christ and without end, MariaDB a day 0, SQLite nearly any value in any column. What
does not fit streams as text, and so does all that Arrow has no type for. That text is the one that
was counted, never what a driver makes of the value.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import sqlalchemy as sa

from shoal.engines.database.fields import (
    BOOLEAN,
    DATE,
    DECIMAL,
    INSTANT,
    INTEGER,
    REAL,
    TEXT,
    TIMESTAMP,
    Field,
)

if TYPE_CHECKING:
    from shoal.engines.database.relation import Relation
    from shoal.engines.database.session import Session
    from shoal.engines.database.texts import Spelling

    Expression = sa.ColumnElement[Any]

_FIRST_DAY, _AFTER_LAST = "'0001-01-01'", "'10000-01-01'"
"""The first day that every reader of a release has, and the first that few have."""
_LARGEST_EXACT = 15
"""So many digits of a decimal a double keeps."""


def arrow_types(
    session: Session, relation: Relation, names: Collection[str]
) -> dict[str, pa.DataType]:
    """The type that each of these columns streams in; one query asks which values fit theirs."""
    types = {name: relation.field(name).arrow() for name in names}
    doubts = {
        name: ~fits
        for name, kind in types.items()
        if not pa.types.is_string(kind)
        and (fits := _fits(relation.system, relation.column(name), relation.field(name)))
        is not None
    }
    if doubts:
        found = [sa.func.max(sa.case((doubt, 1), else_=0)) for doubt in doubts.values()]
        (row,) = session.rows(sa.select(*found).select_from(relation.source))
        types |= {name: pa.string() for name, doubt in zip(doubts, row, strict=True) if doubt}
    return types


def respelled(batch: pa.RecordBatch, spellings: Mapping[str, Spelling | None]) -> pa.RecordBatch:
    """A batch with the raw texts of these columns as texts; each distinct one is spelled once."""
    for name, spell in spellings.items():
        if spell is not None:
            place = batch.schema.get_field_index(name)
            raws = batch.column(place).dictionary_encode()
            texts = pa.array([spell(each) for each in raws.dictionary.to_pylist()], pa.string())
            batch = batch.set_column(place, name, pc.take(texts, raws.indices))
    return batch


def _fits(system: str, value: Expression, field: Field) -> Expression | None:
    """True or null for what fits the Arrow type of its column; None where everything does."""
    if system == "sqlite":
        return _fits_sqlite(value, field)
    if system == "postgresql" and field.kind in (DATE, TIMESTAMP, INSTANT):
        return (value >= sa.literal_column(_FIRST_DAY)) & (value < sa.literal_column(_AFTER_LAST))
    if system in ("mysql", "mariadb"):
        if field.kind == BOOLEAN:
            return value.in_([0, 1])
        if field.kind in (DATE, TIMESTAMP):
            parts = (sa.func.year(value), sa.func.month(value), sa.func.dayofmonth(value))
            return sa.and_(*(part > 0 for part in parts))
    return None


def _fits_sqlite(value: Expression, field: Field) -> Expression:
    """By the storage class, and by the form of dates and times."""
    stored = sa.func.coalesce(sa.func.typeof(value), "null")
    if field.kind in (INTEGER, BOOLEAN):
        whole = stored == "integer"
        fits = whole if field.kind == INTEGER else whole & value.in_([0, 1])
    elif field.kind == REAL:
        fits = stored == "real"
    elif field.kind == DECIMAL:
        fits = _fits_decimal(value, field)
    elif field.kind == DATE:
        fits = (stored == "text") & (sa.func.date(value) == value) & (value > "0000-12-31")
    else:
        moment = sa.func.strftime("%Y-%m-%d %H:%M:%S", value)
        digits = sa.func.rtrim(sa.func.substr(value, 20), "0123456789")
        short = sa.func.length(value).between(19, 26) & digits.in_(["", "."])
        exact = (moment == sa.func.substr(value, 1, 19)) & (value > "0001")
        fits = (stored == "text") & short & exact
    return sa.or_(value.is_(None), sa.func.coalesce(fits, sa.false()))


def _fits_decimal(value: Expression, field: Field) -> Expression:
    """Whole numbers and doubles that are decimals of so many digits."""
    scale, precision = field.scale or 0, field.precision or 0
    if precision > _LARGEST_EXACT:
        return sa.false()
    rounded: Expression = sa.cast(sa.func.printf(f"%.{scale}f", value), sa.REAL)
    return sa.and_(
        sa.func.typeof(value).in_(["integer", "real"]),
        sa.func.abs(value) < 10 ** (precision - scale),
        rounded == value,
    )


def columns_with_nul(session: Session, relation: Relation, names: Collection[str]) -> list[str]:
    """Those of the columns that have a text with a NUL character; PostgreSQL has none."""
    if relation.system == "postgresql":
        return []
    found: dict[str, Expression] = {}
    for name in names:
        value = relation.column(name)
        if relation.system == "sqlite":
            place = sa.func.instr(sa.cast(value, sa.BLOB), sa.literal_column("X'00'"))
            found[name] = (sa.func.typeof(value) == "text") & (place > 0)
        elif relation.field(name).kind == TEXT and relation.system in ("mysql", "mariadb"):
            found[name] = sa.func.instr(relation.raw(name), sa.literal_column("X'00'")) > 0
    if not found:
        return []
    asked = [sa.func.max(sa.case((holds, 1), else_=0)) for holds in found.values()]
    (row,) = session.rows(sa.select(*asked).select_from(relation.source))
    return [name for name, holds in zip(found, row, strict=True) if holds]
