"""A table, a view or files that Spark counts and recodes."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from shoal.engines.base import Generalization, Source
from shoal.engines.spark.counting import records, spelled
from shoal.engines.spark.reading import read
from shoal.engines.spark.recoding import recoded
from shoal.engines.spark.session import Session, open_session
from shoal.engines.spark.streaming import batches

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from shoal.engines.base import Column, Question, Recoding, SparkOptions
    from shoal.engines.spark.relation import SparkRelation


def open_spark(options: SparkOptions, given: Any = None) -> SparkSource:
    """A table, view or path as a source, in the session given or one of our own."""
    session = open_session(given, options.master)
    try:
        return SparkSource(session, read(session, options))
    except BaseException:
        session.close()
        raise


class SparkSource(Source):
    """A relation and the session that reads it, which `close` gives back."""

    def __init__(self, session: Session, relation: SparkRelation) -> None:
        self._session = session
        self._relation = relation

    @property
    def name(self) -> str:
        """What to call it in messages."""
        return self._relation.name

    @property
    def session(self) -> Session:
        """The session that reads it."""
        return self._session

    @property
    def frame(self) -> DataFrame:
        """The records, with columns that have names of our own."""
        return self._relation.frame

    def columns(self) -> tuple[Column, ...]:
        """The columns, in order."""
        return self._relation.columns()

    def count(self, question: Question) -> pa.Table:
        """Distinct combinations as text, null where missing, with counts; one group-by."""

        def count() -> pa.Table:
            frame = records(self._relation, question)
            groups = frame.groupBy(*frame.columns).count()
            return _limited(groups, question.at_most).toArrow()

        table = self._session.attend(count, self.name)
        counts = table.column(len(question.columns)).cast(pa.int64())
        texts = spelled(table.drop_columns(["count"]), self._relation, question)
        return pa.table([*texts, counts], names=list(question.names))

    def distinct(self, question: Question) -> int:
        """How many combinations there are; none of them leaves Spark."""

        def count() -> int:
            found = records(self._relation, question).distinct()
            return _limited(found, question.at_most).count()

        return self._session.attend(count, self.name)

    def recoded_frame(self, recoding: Recoding, *, ordered: bool) -> DataFrame:
        """The recoded records, as columns r0, r1, ... (see recoding.py)."""
        return recoded(self._relation, self._listed(recoding), ordered=ordered)

    @contextmanager
    def recoded(self, recoding: Recoding) -> Iterator[pa.RecordBatchReader]:
        """The recoded records as a stream, in order; jobs that still run afterwards are stopped."""
        frame = self.recoded_frame(recoding, ordered=True)
        try:
            yield batches(self._session, frame, recoding.columns, self.name)
        finally:
            self._session.cancel()

    def close(self) -> None:
        """Give the session back; one of our own is stopped when nobody uses it any more."""
        self._session.close()

    def _listed(self, recoding: Recoding) -> Recoding:
        """The same, with all values listed where unchanged values get a label for missing ones."""
        generalized = dict(recoding.generalized)
        for name, given in recoding.generalized.items():
            if not given.values and given.missing is not None:
                found = self.count_by([name], recoding.missing).column(0).drop_null().to_pylist()
                generalized[name] = Generalization(tuple(found), tuple(found), given.missing)
        return dataclasses.replace(recoding, generalized=generalized)


def _limited(frame: DataFrame, at_most: int | None) -> DataFrame:
    return frame if at_most is None else frame.limit(at_most + 1)
