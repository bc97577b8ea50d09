"""Frames as sources: pandas, polars, Arrow, and whatever else speaks the Arrow stream interface."""

from __future__ import annotations

import contextlib
from collections.abc import Collection
from typing import Any

import pyarrow as pa

from shoal.engines.base import Resources
from shoal.engines.duck import Session
from shoal.engines.relation import Relation, check_names
from shoal.engines.table import TableSource
from shoal.errors import BadData


def open_frame(frame: Any, *, resources: Resources = Resources()) -> TableSource:  # noqa: B008
    """A frame as a table; it is never changed, and the index of a pandas frame is not data."""
    table = as_arrow(frame)
    names = tuple(table.column_names)
    check_names(names, "the frame")
    session = Session(resources)
    try:
        session.register("frame", table.rename_columns([f"c{i}" for i in range(len(names))]))
        query = f"SELECT {', '.join(f'c{i}' for i in range(len(names)))} FROM frame"
        relation = Relation("the frame", query, names, session.types(query))
    except BaseException:
        session.close()
        raise
    return TableSource(session, relation)


def like(table: pa.Table, frame: Any, unchanged: Collection[str] = ()) -> Any:
    """An Arrow table as the kind of frame given: pandas, polars, or else Arrow.

    The columns `unchanged` get back the types they had there, where their values still allow it. A
    categorical lists the categories that occur in the table and no others: the list of the original
    would tell of values that only suppressed records have.
    """
    kind = _kind(frame)
    table = _without_intervals(table)
    if kind == "pandas":
        return _to_pandas(table, frame, unchanged)
    if kind == "polars":
        return _to_polars(table, frame, unchanged)
    return table


def _without_intervals(table: pa.Table) -> pa.Table:
    """DuckDB has one type for all spans of time; as durations they can be computed with."""
    for i, field in enumerate(table.schema):
        if pa.types.is_interval(field.type):
            spans = (each.as_py() for each in table.column(i))
            values = [s and (s.days * 86_400_000_000 + s.nanoseconds // 1000) for s in spans]
            table = table.set_column(i, field.name, pa.array(values, pa.duration("us")))
    return table


def _to_pandas(table: pa.Table, frame: Any, unchanged: Collection[str]) -> Any:
    released = table.to_pandas()
    types = {str(name): kind for name, kind in zip(frame.columns, frame.dtypes, strict=True)}
    for name in unchanged:
        kind = types[name]
        if hasattr(kind, "categories"):
            occur = kind.categories[kind.categories.isin(released[name])]
            kind = type(kind)(occur, ordered=kind.ordered)
        if released[name].dtype != kind and str(kind) != "object":
            with contextlib.suppress(ValueError, TypeError):
                released[name] = released[name].astype(kind)
    return released


def _to_polars(table: pa.Table, frame: Any, unchanged: Collection[str]) -> Any:
    import polars

    released = polars.from_arrow(table)
    assert isinstance(released, polars.DataFrame)  # a table, not an array  # noqa: S101
    before = frame.collect_schema()
    for name in unchanged:
        if before[name] != polars.Enum:
            with contextlib.suppress(polars.exceptions.PolarsError):
                released = released.with_columns(polars.col(name).cast(before[name]))
    return released


def is_spark(frame: Any) -> bool:
    """Whether a frame is one of Spark, whose records stay on the cluster."""
    return _kind(frame) == "pyspark"


def _kind(frame: Any) -> str:
    """The package a frame comes from, told without importing any."""
    return type(frame).__module__.split(".")[0]


def as_arrow(frame: Any) -> pa.Table:
    """The frame as an Arrow table, sharing its memory where that is possible."""
    if _kind(frame) == "pandas" and hasattr(frame, "columns"):
        check_names([str(name) for name in frame.columns], "the frame")
        return _from_pandas(frame)
    if _kind(frame) == "polars":
        frame = _from_polars(frame)
    if isinstance(frame, pa.Table):
        return _with_long_decimals_as_text(frame)
    if hasattr(frame, "__arrow_c_stream__"):
        with contextlib.suppress(pa.ArrowInvalid):  # a column, not a table
            table = pa.RecordBatchReader.from_stream(frame).read_all()
            return _with_long_decimals_as_text(table)
    raise BadData(
        f"a {type(frame).__module__}.{type(frame).__qualname__} is not a frame",
        code="not-a-frame",
        hint="give a pandas or polars DataFrame, or a pyarrow Table",
    )


def _with_long_decimals_as_text(table: pa.Table) -> pa.Table:
    """DuckDB has decimals of up to 38 digits; longer ones keep their digits as text."""
    for i, field in enumerate(table.schema):
        if pa.types.is_decimal256(field.type):
            table = table.set_column(i, field.name, table.column(i).cast(pa.string()))
    return table


def _from_polars(frame: Any) -> Any:
    """A frame with integers of 128 bits as text, since Arrow has no such integers."""
    import polars

    if hasattr(frame, "collect"):
        frame = frame.collect()
    if not isinstance(frame, polars.DataFrame):
        return frame
    long = [name for name, kind in frame.schema.items() if str(kind) in ("Int128", "UInt128")]
    return frame.with_columns(polars.col(name).cast(polars.String) for name in long)


def _from_pandas(frame: Any) -> pa.Table:
    frame = _with_long_integers_as_text(frame)
    try:
        table = pa.Table.from_pandas(frame, preserve_index=False).replace_schema_metadata()
        return _with_long_decimals_as_text(table)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
        mixed = [str(name) for name in frame.columns if not _converts(frame[name])]
        raise BadData(
            f"column {mixed[0]!r} of the frame mixes types",
            code="mixed-types",
            hint=f"make it text first: frame = frame.astype({{{mixed[0]!r}: 'string'}})",
        ) from None


def _with_long_integers_as_text(frame: Any) -> Any:
    """Python's integers have no limit, Arrow's have; columns with longer ones become text."""
    long = {}
    for name, kind in zip(frame.columns, frame.dtypes, strict=True):
        if str(kind) == "object":
            numbers = [value for value in frame[name] if isinstance(value, int)]
            if any(not -(2**63) <= number < 2**63 for number in numbers):
                long[name] = frame[name].map(str, na_action="ignore")
    return frame.assign(**long) if long else frame


def _converts(series: Any) -> bool:
    try:
        pa.Array.from_pandas(series)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
        return False
    return True
