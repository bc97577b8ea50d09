"""Labels for values, looked up by a join with a small table that every executor gets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import StringType

from shoal.engines.failures import CHANGED
from shoal.engines.spark.values import keys_of, local_frame

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import DataType

    from shoal.engines.base import Generalization

SMALL = 1_000_000
"""Rows of a table that is sent to every executor; Spark decides about larger ones."""


def sent(frame: DataFrame, rows: int) -> DataFrame:
    """A table to join with, sent to every executor when it is small enough."""
    return F.broadcast(frame) if rows <= SMALL else frame


def labelled(
    frame: DataFrame, column: str, kind: DataType, generalization: Generalization, name: str
) -> DataFrame:
    """The frame with the labels of a column of keys as one more column.

    Values are distinct and so are their keys, so the join repeats no record. A value without a
    label stops the query. A listed text that no value of this type has is left out.
    """
    keys = keys_of(generalization.values, kind)
    known = pc.is_valid(keys)
    labels = pa.chunked_array([pa.array(generalization.labels, pa.string())])
    table = pa.table({f"{name}_key": keys.filter(known), f"{name}_label": labels.filter(known)})
    lookup = local_frame(frame.sparkSession, table, [kind, StringType()])
    joined = frame.join(sent(lookup, len(table)), F.col(column) == F.col(f"{name}_key"), "left")
    label = (
        F.when(F.col(column).isNull(), text_literal(generalization.missing))
        .when(F.col(f"{name}_label").isNull(), F.raise_error(F.lit(CHANGED)).cast("string"))
        .otherwise(F.col(f"{name}_label"))
    )
    return joined.withColumn(name, label).drop(f"{name}_key", f"{name}_label")


def text_literal(text: str | None) -> Column:
    """A text, or null, as a literal of the type string."""
    return F.lit(text).cast("string")
