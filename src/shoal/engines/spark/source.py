"""A table, a view or files that Spark counts and recodes."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import pyarrow as pa

from shoal.engines.base import Column, Generalization, Recoding, Resources, SparkTarget
from shoal.engines.duckdb.source import count_name
from shoal.engines.duckdb.staged import StagedTable
from shoal.engines.opening import stage
from shoal.engines.spark.counting import records, spelled
from shoal.engines.spark.reading import read
from shoal.engines.spark.recoding import recoded
from shoal.engines.spark.session import Session, open_session
from shoal.engines.spark.streaming import batches

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from shoal.engines.base import SparkOptions, Staged, Target
    from shoal.engines.spark.relation import SparkRelation


def open_spark(options: SparkOptions, given: Any = None) -> SparkSource:
    """A table, view or path as a source, in the session given or one of our own."""
    session = open_session(given, options.master)
    try:
        return SparkSource(session, read(session, options))
    except BaseException:
        session.close()
        raise


class SparkSource:
    """A relation and the session that reads it, which `close` gives back."""

    def __init__(self, session: Session, relation: SparkRelation) -> None:
        self._session = session
        self._relation = relation

    @property
    def name(self) -> str:
        """What to call it in messages."""
        return self._relation.name

    @property
    def frame(self) -> DataFrame:
        """The records, with columns that have names of our own."""
        return self._relation.frame

    def columns(self) -> tuple[Column, ...]:
        """The columns, in order."""
        return self._relation.columns()

    def count_by(
        self,
        columns: Sequence[str],
        missing: Sequence[str] = (),
        *,
        generalized: Mapping[str, Generalization] | None = None,
        complete: Sequence[str] = (),
        at_most: int | None = None,
    ) -> pa.Table:
        """Distinct combinations as text, null where missing, with counts; one group-by."""
        given = generalized or {}

        def count() -> pa.Table:
            frame = records(self._relation, columns, missing, given, complete)
            groups = frame.groupBy(*frame.columns).count()
            return (groups if at_most is None else groups.limit(at_most + 1)).toArrow()

        table = self._session.attend(count, self.name)
        counts = table.column(len(columns)).cast(pa.int64())
        texts = spelled(table.drop_columns(["count"]), self._relation, columns, given)
        return pa.table([*texts, counts], names=[*columns, count_name(columns)])

    def count_distinct(
        self,
        columns: Sequence[str],
        missing: Sequence[str] = (),
        *,
        generalized: Mapping[str, Generalization] | None = None,
        complete: Sequence[str] = (),
        at_most: int | None = None,
    ) -> int:
        """How many rows `count_by` would give; none of them leaves Spark."""
        if not columns:
            return 1

        def count() -> int:
            frame = records(self._relation, columns, missing, generalized or {}, complete)
            distinct = frame.distinct()
            return (distinct if at_most is None else distinct.limit(at_most + 1)).count()

        return self._session.attend(count, self.name)

    def recode_into(self, recoding: Recoding, target: Target | None = None) -> Staged:
        """Recode in Spark, into a staged folder or table there, a stream, or memory."""
        if isinstance(target, SparkTarget):
            from shoal.engines.spark.staging import stage_frame

            frame = recoded(self._relation, self._listed(recoding), ordered=False)
            return stage_frame(target, self._session, frame, recoding.columns, self.name)
        if target is not None:
            return self._stream_into(recoding, target)
        frame = recoded(self._relation, self._listed(recoding), ordered=True)
        table = self._session.attend(frame.toArrow, self.name)
        return StagedTable(table.rename_columns(list(recoding.columns)))

    @contextmanager
    def recoded(self, recoding: Recoding) -> Iterator[pa.RecordBatchReader]:
        """The recoded records as a stream, in order; jobs that still run afterwards are stopped."""
        frame = recoded(self._relation, self._listed(recoding), ordered=True)
        try:
            yield batches(self._session, frame, recoding.columns, self.name)
        finally:
            self._session.cancel()

    def fingerprint(self) -> str | None:
        """None: what Spark reads may be spread over a cluster."""
        return None

    def close(self) -> None:
        """Give the session back; one of our own is stopped when nobody uses it any more."""
        self._session.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _stream_into(self, recoding: Recoding, target: Target) -> Staged:
        """Stage the stream elsewhere; when Spark fails meanwhile, its error is the one to tell."""
        with self.recoded(recoding) as rows:
            failures: list[Exception] = []
            watched = type(rows).from_batches(rows.schema, _watched(rows, failures))
            try:
                return stage(target, watched, Resources())
            except Exception:
                if failures:
                    raise failures[0] from None
                raise

    def _listed(self, recoding: Recoding) -> Recoding:
        """The same, with all values listed where unchanged values get a label for missing ones."""
        generalized = dict(recoding.generalized)
        for name, given in recoding.generalized.items():
            if not given.values and given.missing is not None:
                found = self.count_by([name], recoding.missing).column(0).drop_null().to_pylist()
                generalized[name] = Generalization(tuple(found), tuple(found), given.missing)
        return dataclasses.replace(recoding, generalized=generalized)


def _watched(rows: pa.RecordBatchReader, failures: list[Exception]) -> Iterator[pa.RecordBatch]:
    """The batches of a stream, with what ends it kept: whoever reads it may have other words."""
    try:
        yield from rows
    except Exception as error:
        failures.append(error)
        raise
