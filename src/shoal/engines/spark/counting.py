"""Counting as a group-by of Spark: of all its records, only distinct combinations leave it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import StringType

from shoal.engines.spark import values
from shoal.engines.spark.labels import labelled

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import DataType

    from shoal.engines.base import Question
    from shoal.engines.spark.relation import SparkRelation


def records(relation: SparkRelation, question: Question) -> DataFrame:
    """A row for each record that is counted: columns g0, g1, ... of keys or labels.

    No `values` mean unchanged; then a missing value that gets a label is left null, for `spelled`,
    unless a value of the column has that very label as its text.
    """
    frame, columns, missing = relation.frame, question.columns, question.missing
    for name in question.complete:
        frame = frame.filter(relation.key(name, missing).isNotNull())
    frame = frame.select(
        *(relation.key(name, missing).alias(f"t{i}") for i, name in enumerate(columns))
    )
    for i, name in enumerate(columns):
        kind, generalization = relation.compared(name), question.generalized.get(name)
        if generalization is None:
            frame = frame.withColumn(f"g{i}", F.col(f"t{i}"))
        elif generalization.values:
            frame = labelled(frame, f"t{i}", kind, generalization, f"g{i}")
        else:
            label = values.literals([generalization.missing or ""], kind)
            frame = frame.withColumn(f"g{i}", F.coalesce(F.col(f"t{i}"), *label))
    return frame.select(*(f"g{i}" for i in range(len(columns))))


def spelled(
    counted: pa.Table, relation: SparkRelation, question: Question
) -> list[pa.ChunkedArray]:
    """The columns g0, g1, ... as texts."""
    kinds: list[DataType] = []
    for name in question.columns:
        generalization = question.generalized.get(name)
        has_labels = generalization is not None and generalization.values
        kinds.append(StringType() if has_labels else relation.compared(name))
    found = values.texts(counted, kinds) if question.columns else []
    for i, name in enumerate(question.columns):
        generalization = question.generalized.get(name)
        if generalization is not None and not generalization.values:
            found[i] = pc.fill_null(found[i], generalization.missing)
    return found
