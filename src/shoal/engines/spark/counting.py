"""Counting as a group-by of Spark: of all its records, only distinct combinations leave it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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

    from shoal.engines.base import Generalization
    from shoal.engines.spark.relation import SparkRelation

Generalized = Mapping[str, "Generalization"]


def records(
    relation: SparkRelation,
    columns: Sequence[str],
    missing: Sequence[str],
    generalized: Generalized,
    complete: Sequence[str],
) -> DataFrame:
    """A row for each record that is counted: columns g0, g1, ... of keys or labels.

    No `values` mean unchanged; then a missing value that gets a label is left null, for `spelled`,
    unless a value of the column has that very label as its text.
    """
    frame = relation.frame
    for name in complete:
        frame = frame.filter(relation.key(name, missing).isNotNull())
    frame = frame.select(
        *(relation.key(name, missing).alias(f"t{i}") for i, name in enumerate(columns))
    )
    for i, name in enumerate(columns):
        kind, given = relation.compared(name), generalized.get(name)
        if given is not None and given.values:
            frame = labelled(frame, f"t{i}", kind, given, f"g{i}")
        elif given is not None and given.missing is not None:
            label = values.literals([given.missing], kind)
            frame = frame.withColumn(f"g{i}", F.coalesce(F.col(f"t{i}"), *label))
        else:
            frame = frame.withColumn(f"g{i}", F.col(f"t{i}"))
    return frame.select(*(f"g{i}" for i in range(len(columns))))


def spelled(
    counted: pa.Table,
    relation: SparkRelation,
    columns: Sequence[str],
    generalized: Generalized,
) -> list[pa.ChunkedArray]:
    """The columns g0, g1, ... as texts."""
    kinds: list[DataType] = []
    for name in columns:
        given = generalized.get(name)
        has_labels = given is not None and given.values
        kinds.append(StringType() if has_labels else relation.compared(name))
    found = values.texts(counted, kinds) if columns else []
    for i, name in enumerate(columns):
        given = generalized.get(name)
        if given is not None and not given.values and given.missing is not None:
            found[i] = pc.fill_null(found[i], given.missing)
    return found
