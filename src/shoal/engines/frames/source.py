"""Frames as sources: pandas, polars, Arrow, and whatever else has the Arrow stream interface.

A frame becomes an Arrow table (pandas.py, polars.py), the table one that DuckDB can
hold (arrow_types.py). A release goes the same way back before it is verified.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from shoal.engines.base import GivenFrame, StagedFrame
from shoal.engines.duckdb.relation import Relation
from shoal.engines.duckdb.session import Session
from shoal.engines.duckdb.source import TableSource
from shoal.engines.failures import check_names
from shoal.engines.frames.arrow_types import from_duckdb, to_duckdb
from shoal.engines.options import Resources
from shoal.errors import BadData

if TYPE_CHECKING:
    from shoal.engines.base import Recoding


def open_frame(
    frame: Any,
    *,
    resources: Resources = Resources(),  # noqa: B008 frozen
    stored: bool = False,
) -> FrameSource:
    """A frame as a table; it is never changed, and the index of a pandas frame is not data.

    With `stored` its values are compared as they are stored, to be verified (see base.py).
    """
    table, faults = as_arrow(frame)
    names = tuple(table.column_names)
    check_names(names, "the frame")
    carried, more = to_duckdb(table)
    session = Session(resources)
    try:
        session.register("frame", carried.rename_columns([f"c{i}" for i in range(len(names))]))
        query = f"SELECT {', '.join(f'c{i}' for i in range(len(names)))} FROM frame"
        types = session.types(query)
        relation = Relation("the frame", query, names, types, stored, {**more, **faults})
    except BaseException:
        session.close()
        raise
    return FrameSource(session, relation, Original(frame, table.schema))


@dataclass(frozen=True, eq=False)
class Original:
    """The frame that the caller gave, and its types in Arrow."""

    frame: Any
    schema: pa.Schema

    def like(
        self, table: pa.Table, unchanged: Collection[str], blanks: Collection[str] = ()
    ) -> Any:
        """The table as a frame of the same kind, with the original types for what is unchanged.

        All other columns are text. `blanks` are columns that may have missing values where the
        original had none. A categorical lists the categories that occur in the table and no others:
        the list of the original would show values that only suppressed records have.
        """
        columns = [
            from_duckdb(column, self.schema.field(name).type)
            if name in unchanged
            else column.cast(pa.string())
            for name, column in zip(table.column_names, table.columns, strict=True)
        ]
        table = pa.table(columns, names=table.column_names)
        kind = _kind(self.frame)
        if kind == "pandas":
            from shoal.engines.frames.pandas import to_pandas

            return to_pandas(table, self.frame, unchanged, blanks)
        if kind == "polars":
            from shoal.engines.frames.polars import to_polars

            return to_polars(table, self.frame, unchanged)
        return table


class FrameSource(TableSource, GivenFrame):
    """A frame in a session of its own; without a target its release is a frame of the same kind."""

    def __init__(self, session: Session, relation: Relation, original: Original) -> None:
        super().__init__(session, relation)
        self._original = original

    def stage_frame(self, recoding: Recoding) -> StagedTable:
        """Recode in one query, into a frame of the same kind."""
        with self.release_query(recoding) as (session, query):
            table = session.table(query).rename_columns(list(recoding.columns))
        unchanged = [name for name in recoding.columns if recoding.is_unchanged(name)]
        released = self._original.like(table, unchanged, recoding.blanks)
        return StagedTable(released, self.resources)


class StagedTable(StagedFrame):
    """An Arrow table, or the kind of frame that the caller gave.

    What is counted is the very object that the caller gets in the end.
    """

    def __init__(self, frame: Any, resources: Resources = Resources()) -> None:  # noqa: B008
        self._frame = frame
        self._resources = resources

    def frame(self) -> Any:
        """The release."""
        return self._frame

    def source(self) -> FrameSource:
        """The release, to be counted afresh."""
        return open_frame(self._frame, resources=self._resources, stored=True)

    def discard(self) -> None:
        """Forget the records."""
        self._frame = self._frame[:0]


def is_spark(frame: Any) -> bool:
    """Whether a frame is one of Spark, whose records stay on the cluster."""
    return _kind(frame) == "pyspark"


def _kind(frame: Any) -> str:
    """The package a frame comes from, found without importing any."""
    return type(frame).__module__.split(".")[0]


def as_arrow(frame: Any) -> tuple[pa.Table, dict[str, str]]:
    """The frame as an Arrow table, sharing its memory where that is possible.

    With it come the columns that Arrow cannot hold, and why: they are left empty.
    """
    if _kind(frame) == "pandas" and hasattr(frame, "columns"):
        from shoal.engines.frames.pandas import from_pandas

        check_names([str(name) for name in frame.columns], "the frame")
        return from_pandas(frame)
    if _kind(frame) == "polars" and hasattr(frame, "lazy"):
        from shoal.engines.frames.polars import from_polars

        return from_polars(frame)
    if isinstance(frame, pa.Table):
        return frame, {}
    if hasattr(frame, "__arrow_c_stream__"):
        with contextlib.suppress(pa.ArrowInvalid):  # a column, not a table
            return pa.RecordBatchReader.from_stream(frame).read_all(), {}
    raise BadData(
        f"a {type(frame).__module__}.{type(frame).__qualname__} is not a frame",
        code="not-a-frame",
        hint="give a pandas or polars DataFrame, or a pyarrow Table",
    )
