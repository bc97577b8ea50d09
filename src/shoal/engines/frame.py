"""Frames as sources: pandas, polars, Arrow, and whatever else speaks the Arrow stream interface."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from shoal.engines.duck import Session
from shoal.engines.relation import Relation, check_names
from shoal.engines.table import TableSource
from shoal.errors import BadData


def open_frame(
    frame: Any, *, memory_limit: int | None = None, threads: int | None = None
) -> TableSource:
    """A frame as a table; it is never changed, and the index of a pandas frame is not data."""
    table = _arrow(frame)
    names = tuple(table.column_names)
    check_names(names, "the frame")
    session = Session(memory_limit, threads)
    try:
        session.register("frame", table.rename_columns([f"c{i}" for i in range(len(names))]))
        query = f"SELECT {', '.join(f'c{i}' for i in range(len(names)))} FROM frame"
        relation = Relation("the frame", query, names, session.types(query))
    except BaseException:
        session.close()
        raise
    return TableSource(session, relation)


def like(table: pa.Table, frame: Any) -> Any:
    """An Arrow table as the kind of frame given: pandas, polars, or else Arrow."""
    kind = _kind(frame)
    if kind == "pandas":
        return table.to_pandas()
    if kind == "polars":
        import polars

        return polars.from_arrow(table)
    return table


def _kind(frame: Any) -> str:
    """The package a frame comes from, told without importing any."""
    return type(frame).__module__.split(".")[0]


def _arrow(frame: Any) -> pa.Table:
    """The frame as an Arrow table, sharing its memory where that is possible."""
    if _kind(frame) == "pandas":
        check_names([str(name) for name in frame.columns], "the frame")
        return _from_pandas(frame)
    if _kind(frame) == "polars" and hasattr(frame, "collect"):
        frame = frame.collect()
    if isinstance(frame, pa.Table):
        return frame
    if hasattr(frame, "__arrow_c_stream__"):
        return pa.RecordBatchReader.from_stream(frame).read_all()
    raise BadData(
        f"a {type(frame).__module__}.{type(frame).__qualname__} is not a frame",
        code="not-a-frame",
        hint="Give a pandas or polars DataFrame, or a pyarrow Table.",
    )


def _from_pandas(frame: Any) -> pa.Table:
    try:
        return pa.Table.from_pandas(frame, preserve_index=False).replace_schema_metadata()
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
        mixed = [str(name) for name in frame.columns if not _converts(frame[name])]
        raise BadData(
            f"column {mixed[0]!r} of the frame mixes types",
            code="mixed-types",
            hint=f"Make it text first: frame = frame.astype({{{mixed[0]!r}: 'string'}})",
        ) from None


def _converts(series: Any) -> bool:
    try:
        pa.Array.from_pandas(series)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
        return False
    return True
