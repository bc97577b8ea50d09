"""A DataFrame made ready for a file format, and the options of Spark's writers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql import types

from shoal.engines.duckdb.session import Session
from shoal.engines.failures import names_differing_in_case
from shoal.engines.options import Resources
from shoal.engines.spark.values import local_frame
from shoal.errors import BadOutput

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.types import DataType

OPTIONS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "csv": {
            "header": True,
            "quote": '"',
            "escape": '"',
            "ignoreLeadingWhiteSpace": False,
            "ignoreTrailingWhiteSpace": False,
        },
        "json": {"ignoreNullFields": False},
    }
)
"""A quote within quotes is doubled, spaces and missing values stay."""


def prepared(frame: DataFrame, names: Sequence[str], kind: str | None) -> DataFrame:
    """The columns r0, r1, ... under their real names, as the format can hold them.

    CSV and JSON hold timestamps as text, in UTC. A table of one column has its missing values as
    empty text in CSV, which is written as `""`, since readers skip an empty line.
    """
    _check_names(names, is_case_sensitive=_is_case_sensitive(frame.sparkSession))
    columns = []
    for field in frame.schema.fields:
        column = F.col(field.name)
        if kind in ("csv", "json"):
            column = _as_text(column, field.dataType)
        if kind == "csv" and len(names) == 1:
            column = F.coalesce(column.cast("string"), F.lit(""))
        columns.append(column.alias(field.name))
    return frame.select(*columns).toDF(*names)


def _as_text(column: Column, kind: DataType) -> Column:
    """A timestamp as text, without the session's time zone; anything else as it is."""
    if isinstance(kind, types.TimestampNTZType):
        return column.cast("string")
    if isinstance(kind, types.TimestampType):
        seconds = F.unix_micros(column).cast("decimal(20, 0)") * F.lit("0.000001").cast(
            "decimal(7, 6)"
        )
        epoch = F.lit("1970-01-01 00:00:00").cast("timestamp_ntz")
        in_utc = epoch + F.make_dt_interval(
            F.lit(0), F.lit(0), F.lit(0), seconds.cast("decimal(18, 6)")
        )
        return F.concat(in_utc.cast("string"), F.lit("+00"))
    return column


def from_arrow(spark: SparkSession, table: pa.Table) -> DataFrame:
    """An Arrow table as a DataFrame with the columns r0, r1, ...; types Spark lacks are widened."""
    renamed = table.rename_columns([f"r{i}" for i in range(table.num_columns)])
    kinds = [_spark_type(kind) for kind in table.schema.types]
    for i, kind in enumerate(kinds):
        wider = _ARROW.get(type(kind))
        if isinstance(kind, types.DecimalType):
            wider = pa.decimal128(kind.precision, kind.scale)
        if wider is not None and wider != table.schema.types[i]:
            renamed = renamed.set_column(i, f"r{i}", _cast(renamed.column(i), wider))
    return local_frame(spark, renamed, kinds)


_ARROW: Mapping[type[DataType], pa.DataType] = {
    types.StringType: pa.string(),
    types.BinaryType: pa.binary(),
    types.ShortType: pa.int16(),
    types.IntegerType: pa.int32(),
    types.LongType: pa.int64(),
    types.FloatType: pa.float32(),
    types.TimestampType: pa.timestamp("us", "UTC"),
    types.TimestampNTZType: pa.timestamp("us"),
    types.DateType: pa.date32(),
}


def _spark_type(kind: pa.DataType) -> DataType:
    """The smallest type of Spark that holds all values of an Arrow type; else text."""
    of = pa.types
    choices: list[tuple[bool, DataType]] = [
        (of.is_boolean(kind), types.BooleanType()),
        (of.is_int8(kind), types.ByteType()),
        (of.is_int16(kind) or of.is_uint8(kind), types.ShortType()),
        (of.is_int32(kind) or of.is_uint16(kind), types.IntegerType()),
        (of.is_int64(kind) or of.is_uint32(kind), types.LongType()),
        (of.is_uint64(kind), types.DecimalType(20, 0)),
        (of.is_float16(kind) or of.is_float32(kind), types.FloatType()),
        (of.is_float64(kind), types.DoubleType()),
        (of.is_date(kind), types.DateType()),
        (of.is_timestamp(kind) and kind.tz is not None, types.TimestampType()),
        (of.is_timestamp(kind), types.TimestampNTZType()),
        (of.is_binary(kind) or of.is_large_binary(kind), types.BinaryType()),
    ]
    if of.is_decimal(kind) and kind.precision <= 38:
        return types.DecimalType(kind.precision, kind.scale)
    return next((spark for fits, spark in choices if fits), types.StringType())


def _cast(column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    """A column as another type; as text each value has the text by which it was counted."""
    if not pa.types.is_string(kind) or pa.types.is_large_string(column.type):
        return column.cast(kind)
    with closing(Session(Resources(in_order=True))) as session:
        session.register("shoal_column", pa.table({"c": column}))
        return session.table("SELECT CAST(c AS VARCHAR) FROM shoal_column").column(0)


def _is_case_sensitive(spark: SparkSession) -> bool:
    return spark.conf.get("spark.sql.caseSensitive", "false") == "true"


def _check_names(names: Sequence[str], *, is_case_sensitive: bool) -> None:
    alike = None if is_case_sensitive else names_differing_in_case(names)
    if alike is not None:
        raise BadOutput(
            f"the columns {alike[0]!r} and {alike[1]!r} differ only in case, which this Spark"
            " session does not tell apart",
            code="names-differ-in-case",
            hint="set spark.sql.caseSensitive to true in the session, or rename or drop one",
        )
