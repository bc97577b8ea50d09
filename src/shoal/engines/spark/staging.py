"""A target of Spark, a folder or a table: checked, and staged."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from shoal.engines.spark.catalog import StagedCatalogTable, check_table
from shoal.engines.spark.folder import StagedSparkFolder, check_folder
from shoal.engines.spark.reading import format_of
from shoal.engines.spark.session import check_master, open_session
from shoal.engines.spark.source import SparkSource
from shoal.engines.spark.writing import from_arrow

if TYPE_CHECKING:
    from shoal.engines.base import Recoding, Source
    from shoal.engines.options import SparkTarget
    from shoal.engines.spark.session import Session

CHUNK = 64 << 20
"""Bytes of a stream that are handed to Spark at once."""


def check_spark(target: SparkTarget, spark: Any = None) -> None:
    """Refuse, before any long work, a target that could not be written in the end."""
    session = open_session(spark, target.master)
    try:
        if format_of(target) is None:
            check_table(target, session)
        else:
            check_folder(target, session)
    finally:
        session.close()


def stage_recoded(
    source: Source, recoding: Recoding, target: SparkTarget
) -> StagedSparkFolder | StagedCatalogTable | None:
    """Recode in Spark, into a staged folder or table; None where Spark has not the source."""
    if not isinstance(source, SparkSource):
        return None
    check_master(source.session.spark, target.master)
    frame = source.recoded_frame(recoding, ordered=False)
    staged = _staged(target, source.session, owns_session=False)
    try:
        staged.write(frame, recoding.columns, source.name)
    except BaseException:
        staged.discard()
        raise
    return staged


def stage_rows(
    target: SparkTarget, rows: pa.RecordBatchReader, spark: Any = None
) -> StagedSparkFolder | StagedCatalogTable:
    """Write a stream of records, in its order: every chunk as one file."""
    session = open_session(spark, target.master)
    try:
        staged = _staged(target, session, owns_session=True)
    except BaseException:
        session.close()
        raise
    try:
        for table in _chunks(rows):
            frame = from_arrow(session.spark, table).coalesce(1)
            staged.write(frame, tuple(rows.schema.names), "the release")
    except BaseException:
        staged.discard()
        raise
    return staged


def _staged(
    target: SparkTarget, session: Session, *, owns_session: bool
) -> StagedSparkFolder | StagedCatalogTable:
    kind = format_of(target)
    if kind is None:
        return StagedCatalogTable(target, session, owns_session=owns_session)
    return StagedSparkFolder(target, kind, session, owns_session=owns_session)


def _chunks(rows: pa.RecordBatchReader) -> Iterator[pa.Table]:
    """The stream as tables of some size; at least one, so that an empty release has columns."""
    waiting: list[pa.RecordBatch] = []
    size = written = 0
    for batch in rows:
        waiting.append(batch)
        size += batch.nbytes
        if size >= CHUNK:
            yield pa.Table.from_batches(waiting, rows.schema)
            waiting, size, written = [], 0, written + 1
    if waiting or not written:
        yield pa.Table.from_batches(waiting, rows.schema)
