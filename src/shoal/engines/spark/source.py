"""What Spark counts and recodes: tables, views, files, and DataFrames of the caller's."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812

from shoal.engines.base import Generalization, GivenFrame, Source, StagedFrame
from shoal.engines.duckdb.writing import FORMULA, NUMBER
from shoal.engines.spark.joining import JoinedFrames, can_join
from shoal.engines.spark.queries import fetching_frame, recoding_frame, records, spelled
from shoal.engines.spark.reading import read
from shoal.engines.spark.relation import relation_of
from shoal.engines.spark.session import Session, open_session

if TYPE_CHECKING:
    from pyspark.sql import Column as Expression
    from pyspark.sql import DataFrame

    from shoal.engines.base import Column, Question, Recoding, TableJoin
    from shoal.engines.options import SparkOptions
    from shoal.engines.spark.relation import SparkRelation


def open_spark(options: SparkOptions, spark: Any = None) -> SparkSource:
    """A table, view or path as a source, in the caller's session or one of our own."""
    session = open_session(spark, options.master)
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
    def relation(self) -> SparkRelation:
        """What it reads."""
        return self._relation

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

        table = self._session.run(count, self.name)
        counts = table.column(len(question.columns)).cast(pa.int64())
        texts = spelled(table.drop_columns(["count"]), self._relation, question)
        return pa.table([*texts, counts], names=list(question.names))

    def distinct(self, question: Question) -> int:
        """How many combinations there are; none of them leaves Spark."""

        def count() -> int:
            found = records(self._relation, question).distinct()
            return _limited(found, question.at_most).count()

        return self._session.run(count, self.name)

    def recoded_frame(self, recoding: Recoding, *, ordered: bool) -> DataFrame:
        """The recoded records, as columns r0, r1, ... (see recoding.py)."""
        return recoding_frame(self._relation, self._listed(recoding), ordered=ordered)

    @contextmanager
    def recoded(self, recoding: Recoding) -> Iterator[pa.RecordBatchReader]:
        """The recoded records as a stream, in order; jobs that still run afterwards are stopped."""
        frame = self.recoded_frame(recoding, ordered=True)
        with self._session.batches(frame, recoding.columns, self.name) as rows:
            yield rows

    @contextmanager
    def fetched(
        self,
        columns: Sequence[str],
        only: Mapping[str, Collection[str | None]],
        missing: Sequence[str] = (),
    ) -> Iterator[pa.RecordBatchReader]:
        """The records whose values are listed, as a stream; jobs that still run are stopped."""
        frame = fetching_frame(self._relation, columns, only, missing)
        with self._session.batches(frame, columns, self.name) as rows:
            yield rows

    def can_join(self, other: Source, keys: Sequence[tuple[str, str]]) -> bool:
        """Whether both are in one session, and their keys can be compared there."""
        if not isinstance(other, SparkSource) or self.session.spark is not other.session.spark:
            return False
        return can_join(self._relation, other.relation, keys)

    def joined(
        self,
        tables: Mapping[str, Source],
        joins: Sequence[TableJoin],
        columns: Mapping[str, tuple[str, str]],
    ) -> JoinedFrames:
        """Tables that Spark joins."""
        relations = {
            n: each.relation for n, each in tables.items() if isinstance(each, SparkSource)
        }
        return JoinedFrames(self._session, relations, joins, columns)

    def count_formulas(self) -> dict[str, int]:
        """How many cells of each column of text a spreadsheet would run; one pass."""
        texts = [column.name for column in self.columns() if column.is_text]
        if not texts:
            return {}

        def count() -> list[int]:
            cells = (F.col(f"c{self._relation.position(name)}") for name in texts)
            counts = (F.count_if(is_formula(cell)) for cell in cells)
            return [int(number) for number in self._relation.frame.select(*counts).head() or ()]

        counts = self._session.run(count, self.name)
        return {name: number for name, number in zip(texts, counts, strict=True) if number}

    def close(self) -> None:
        """Give the session back; one of our own is stopped when its last user closes it."""
        self._session.close()

    def _listed(self, recoding: Recoding) -> Recoding:
        """The recoding with all values listed where only missing values get a label."""
        generalized = dict(recoding.generalized)
        for name, generalization in recoding.generalized.items():
            if not generalization.values and generalization.missing is not None:
                found = self.count_by([name], recoding.missing).column(0).drop_null().to_pylist()
                generalized[name] = Generalization(
                    tuple(found), tuple(found), generalization.missing
                )
        return dataclasses.replace(recoding, generalized=generalized)


def is_formula(text: Expression) -> Expression:
    """Whether a spreadsheet would run a text."""
    return text.rlike(rf"\A(?:{FORMULA})\z") & ~text.rlike(rf"\A(?:{NUMBER})\z")


def _limited(frame: DataFrame, at_most: int | None) -> DataFrame:
    return frame if at_most is None else frame.limit(at_most + 1)


def open_frame(frame: Any) -> FrameSource:
    """A DataFrame as a source, in the session it belongs to."""
    return FrameSource(open_session(frame.sparkSession), relation_of(frame, "the frame"))


class FrameSource(SparkSource, GivenFrame):
    """A DataFrame; without a target its release is a DataFrame too, and no record leaves Spark."""

    def stage_frame(self, recoding: Recoding) -> StagedSparkFrame:
        """Recode in Spark, into a DataFrame."""
        frame = self.recoded_frame(recoding, ordered=True).toDF(*recoding.columns)
        kept = self.session.run(frame.localCheckpoint, self.name)
        return StagedSparkFrame(self.session, kept)


class StagedSparkFrame(StagedFrame):
    """Recoded records that the executors keep.

    A checkpoint knows no more where its records came from. So what is handed out is what was
    verified: when an executor is lost with its part, using the DataFrame fails, and nothing is
    computed anew from a source that may have changed.
    """

    def __init__(self, session: Session, frame: DataFrame) -> None:
        self._session = session
        self._frame = frame

    def frame(self) -> DataFrame:
        """The recoded DataFrame."""
        return self._frame

    def source(self) -> SparkSource:
        """The DataFrame, to be counted afresh."""
        relation = relation_of(self._frame, "the release", stored=True)
        return SparkSource(self._session.shared(), relation)

    def discard(self) -> None:
        """Forget the records."""
        self._frame = self._frame.limit(0)
