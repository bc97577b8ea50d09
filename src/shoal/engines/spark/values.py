"""Between Spark's values and the texts that Shoal compares: DuckDB spells them, few at a time.

Only distinct values come here, as Arrow. DuckDB turns them into text as it does for files, so that
a number, a date or a timestamp has the same text whatever engine holds it. A *key* stands for a
value in Spark: keys are equal exactly when the texts are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql import Column, types
from pyspark.sql import functions as F  # noqa: N812

from shoal.engines.duckdb.relation import Relation
from shoal.engines.duckdb.session import Session
from shoal.engines.options import Resources

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import DataType

_DUCK: Mapping[type[types.DataType], str] = {
    types.BooleanType: "BOOLEAN",
    types.ByteType: "TINYINT",
    types.ShortType: "SMALLINT",
    types.IntegerType: "INTEGER",
    types.LongType: "BIGINT",
    types.FloatType: "FLOAT",
    types.DoubleType: "DOUBLE",
    types.DateType: "DATE",
    types.TimestampType: "TIMESTAMP WITH TIME ZONE",
    types.TimestampNTZType: "TIMESTAMP",
    types.BinaryType: "BLOB",
}
_FLOATS = types.FloatType | types.DoubleType


def is_text(kind: DataType) -> bool:
    """Whether the values of a type are texts as they are; void has none."""
    return isinstance(kind, types.StringType | types.NullType)


def duck_type(kind: DataType) -> str | None:
    """DuckDB's name of a type that is no text; None for types whose values are not compared."""
    if isinstance(kind, types.DecimalType):
        return f"DECIMAL({kind.precision}, {kind.scale})"
    return _DUCK.get(type(kind))


def value(column: Column, kind: DataType, *, stored: bool = False) -> Column:
    """A value in its own type; empty text and NaN are null unless `stored`.

    Text loses its collation.
    """
    if stored:
        return column.cast("string") if is_text(kind) else column
    if is_text(kind):
        return F.nullif(column.cast("string"), F.lit(""))
    if isinstance(kind, _FLOATS):
        return F.when(~F.isnan(column), column)
    return column


def key(column: Column, kind: DataType, *, stored: bool = False) -> Column:
    """What stands for a value when Spark groups and joins.

    Spark takes -0.0 for 0.0 there, though they have different texts. NaN is free to stand for -0.0,
    since a NaN itself is missing, and Spark takes NaN for equal to NaN. With `stored` NaN is a
    value, and keys are the texts that Spark gives to numbers.
    """
    present = value(column, kind, stored=stored)
    if stored and isinstance(kind, _FLOATS):
        return present.cast("string")
    if isinstance(kind, _FLOATS):
        negative_zero = present.cast("string") == F.lit("-0.0")
        return F.when(negative_zero, F.lit("NaN").cast(kind)).otherwise(present)
    return present


def texts(keys: pa.Table, kinds: Sequence[DataType]) -> list[pa.ChunkedArray]:
    """The texts of columns of keys, row by row."""
    if all(is_text(kind) for kind in kinds):
        return [column.cast(pa.string()) for column in keys.columns]
    columns = [_of_key(f"k{i}", kind, keys.schema.types[i]) for i, kind in enumerate(kinds)]
    session = Session(Resources(in_order=True))
    try:
        session.register("keys", keys.rename_columns([f"k{i}" for i in range(len(kinds))]))
        query = f"SELECT {', '.join(f'{c} AS c{i}' for i, c in enumerate(columns))} FROM keys"
        names = tuple(f"c{i}" for i in range(len(kinds)))
        relation = Relation("", query, names, session.types(query), stored=True)
        spelled = ", ".join(relation.text(i) for i in range(len(kinds)))
        found = session.table(f"SELECT {spelled} FROM ({query})")
    finally:
        session.close()
    return [column.cast(pa.string()) for column in found.columns]


def _of_key(key: str, kind: DataType, stored_as: pa.DataType) -> str:
    """SQL for the value that a key stands for; of a number, NaN or a text may stand for it."""
    if not isinstance(kind, _FLOATS):
        return key
    if pa.types.is_string(stored_as) or pa.types.is_large_string(stored_as):
        return f"CAST({key} AS {duck_type(kind)})"
    return f"CASE WHEN isnan({key}) THEN '-0.0' ELSE {key} END"


def keys_of(texts: Sequence[str], kind: DataType) -> pa.ChunkedArray:
    """For each text the key of the value that has it, null where no value of the type has it.

    A value has a text when it casts to exactly that: `1` is the text of no double, `1.0` is.
    """
    column = pa.array(texts, pa.string())
    if is_text(kind):
        return pa.chunked_array([column])
    name = duck_type(kind)
    is_float = isinstance(kind, _FLOATS)
    special = f"WHEN isnan(k) THEN NULL WHEN t = '-0.0' THEN CAST('nan' AS {name})"
    session = Session(Resources(in_order=True))
    try:
        session.register("texts", pa.table({"t": column}))
        return session.table(
            f"SELECT CASE {special * is_float} WHEN CAST(k AS VARCHAR) = t THEN k END"
            f" FROM (SELECT t, TRY_CAST(t AS {name}) AS k FROM texts)"
        ).column(0)
    finally:
        session.close()


def literals(texts: Sequence[str], kind: DataType) -> list[Column]:
    """The keys of those values that have one of these texts, as literals."""
    found = keys_of([text for text in texts if text], kind)
    return [_literal(each, kind) for each in found if each.is_valid]


def _literal(scalar: Any, kind: DataType) -> Column:
    """A key as a literal; a timestamp by its microseconds, which no time zone changes."""
    if isinstance(kind, types.TimestampType):
        return F.timestamp_micros(F.lit(scalar.cast(pa.int64()).as_py()))
    if isinstance(kind, types.TimestampNTZType):
        return F.lit(str(scalar.as_py())).cast(kind)
    return F.lit(scalar.as_py()).cast(kind)


def local_frame(spark: SparkSession, table: pa.Table, kinds: Sequence[DataType]) -> DataFrame:
    """An Arrow table as a DataFrame with these types, under its own names."""
    fields = [
        types.StructField(name, kind) for name, kind in zip(table.column_names, kinds, strict=True)
    ]
    return spark.createDataFrame(table, schema=types.StructType(fields))
