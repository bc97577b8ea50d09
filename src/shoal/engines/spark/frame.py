"""A Spark DataFrame as a source, and a release that stays in Spark as a DataFrame."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shoal.engines.base import GivenFrame, StagedFrame
from shoal.engines.spark.relation import relation_of
from shoal.engines.spark.session import open_session
from shoal.engines.spark.source import SparkSource

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from shoal.engines.base import Recoding
    from shoal.engines.spark.session import Session


def open_frame(frame: Any) -> FrameSource:
    """A DataFrame as a source, in the session it belongs to."""
    return FrameSource(open_session(frame.sparkSession), relation_of(frame, "the frame"))


class FrameSource(SparkSource, GivenFrame):
    """A DataFrame; without a target its release is a DataFrame too, and no record leaves Spark."""

    def stage_frame(self, recoding: Recoding) -> StagedSparkFrame:
        """Recode in Spark, into a DataFrame."""
        frame = self.recoded_frame(recoding, ordered=True).toDF(*recoding.columns)
        kept = self.session.attend(frame.localCheckpoint, self.name)
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
