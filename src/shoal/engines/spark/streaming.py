"""Rows that leave Spark in their order, a partition at a time, as Arrow."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.core.rdd import RDD
from pyspark.serializers import NoOpSerializer

from shoal.engines.spark.failures import explained

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from shoal.engines.spark.session import Session


def batches(
    session: Session, frame: DataFrame, names: tuple[str, ...], name: str
) -> pa.RecordBatchReader:
    """The rows of a frame as a stream of batches under these names, never all in memory.

    Spark turns each partition into Arrow where it lies; the driver fetches one partition while the
    one before is read.
    """

    def prepare() -> tuple[pa.Schema, Iterator[bytes]]:
        schema = frame.limit(0).toArrow().schema
        packed = frame._jdf.toArrowBatchRdd().toJavaRDD()
        rows: RDD[bytes] = RDD(packed, session.spark.sparkContext, NoOpSerializer())
        return schema, rows.toLocalIterator(prefetchPartitions=True)

    schema, packed = session.attend(prepare, name)
    renamed = schema.empty_table().rename_columns(list(names)).schema

    def unpacked() -> Iterator[pa.RecordBatch]:
        try:
            for message in packed:
                batch = pa.ipc.read_record_batch(pa.py_buffer(message), schema)
                yield batch.rename_columns(list(names))
        except Exception as error:
            raise explained(error, name) from None

    return pa.RecordBatchReader.from_batches(renamed, unpacked())
