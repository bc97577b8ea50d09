"""How the columns of a database leave it: each in the Arrow type that holds all its values.

A column whose kind has an Arrow type streams in that type where every value fits it: PostgreSQL has
dates before Christ and without end, MariaDB a day 0, SQLite nearly any value in any column. What
does not fit streams as text, and so does all that Arrow has no type for. That text is the one that
was counted, never what a driver makes of the value.

A new table for an Arrow stream has a type of the database for each column where that type holds
every value as it is. Otherwise the column is stored as the text that was counted: decimals and
unsigned numbers that SQLite would make doubles, times with a zone where the database has none,
lists. A single value that the type cannot hold is an error.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import closing
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
import sqlalchemy as sa

from shoal.engines.duckdb.session import Session as DuckSession
from shoal.errors import BadOutput

if TYPE_CHECKING:
    from shoal.engines.database.dialects.values import ColumnType, Expression, Spelling, Values
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


_FIRST_DAY, _AFTER_LAST_DAY = -719162, 2932897
"""Days from 1970-01-01 to 0001-01-01, and to 10000-01-01: the years that all databases have."""
OTHER_YEARS = "dates outside of the years 1 to 9999"
"""What the error says of such values."""


def column_type(values: Values, kind: pa.DataType) -> ColumnType:
    """The type of a column for an Arrow type; text where there is none that holds every value."""
    return values.type_of(kind) or values.text_type()


def storable(values: Values, name: str, rows: pa.RecordBatchReader) -> Iterator[pa.RecordBatch]:
    """The batches in types that the database has; `name` is what messages call the table."""
    with closing(DuckSession()) as duck:
        for batch in rows:
            columns = [
                _column(values, name, field, column, duck)
                for field, column in zip(batch.schema, batch.columns, strict=True)
            ]
            yield pa.RecordBatch.from_arrays(columns, names=batch.schema.names)


def unstorable(column: str, table: str, what: str, code: str = "unstorable-value") -> BadOutput:
    """The error for values that a column of the output cannot hold."""
    return BadOutput(
        f"column {column!r} has {what}, which {table} cannot hold",
        code=code,
        hint="make the column text in the source, drop it, or write to another kind of output",
    )


def _column(
    values: Values, name: str, field: pa.Field, column: pa.Array, duck: DuckSession
) -> pa.Array:
    kind = field.type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return column
    if values.type_of(kind) is None:
        return _texts(duck, column)
    if pa.types.is_floating(kind):
        if not values.holds_infinity and pc.any(pc.is_inf(column)).as_py():
            raise unstorable(field.name, name, "infinite numbers")
        return column if values.holds_singles or pa.types.is_float64(kind) else _widened(column)
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        _check_years(column, field.name, name)
    if pa.types.is_timestamp(kind) or pa.types.is_time64(kind):
        return _in_microseconds(column, field.name, name)
    return column


def _texts(duck: DuckSession, column: pa.Array) -> pa.Array:
    """The texts that DuckDB gives the values, which are those that every engine counts by."""
    duck.register("shoal_column", pa.table({"c": column}))
    return duck.table("SELECT CAST(c AS VARCHAR) FROM shoal_column").column(0).combine_chunks()


def _widened(column: pa.Array) -> pa.Array:
    """Singles as the doubles that have the same shortest decimals."""
    return column.cast(pa.float32()).cast(pa.string()).cast(pa.float64())


def _check_years(column: pa.Array, name: str, table: str) -> None:
    days = pc.cast(column, pa.date32(), safe=False).view(pa.int32())
    least, greatest = pc.min_max(days).values()
    if least.is_valid and not _FIRST_DAY <= least.as_py() <= greatest.as_py() < _AFTER_LAST_DAY:
        raise unstorable(name, table, OTHER_YEARS)


def _in_microseconds(column: pa.Array, name: str, table: str) -> pa.Array:
    kind = column.type
    if kind.unit != "ns":
        return column
    whole = pa.time64("us") if pa.types.is_time(kind) else pa.timestamp("us", kind.tz)
    try:
        return column.cast(whole)
    except pa.ArrowInvalid:
        raise unstorable(name, table, "nanoseconds") from None
