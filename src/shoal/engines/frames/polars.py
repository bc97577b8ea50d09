"""Frames of polars to Arrow and back."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import polars
import pyarrow as pa

LONG = ("Int128", "UInt128")
"""Integers that Arrow does not have; they are converted to text."""


def from_polars(frame: Any) -> tuple[pa.Table, dict[str, str]]:
    """A frame, collected if it is lazy, as an Arrow table; and what Arrow cannot hold, and why."""
    frame = frame.lazy().collect()
    long = [name for name, kind in frame.schema.items() if str(kind) in LONG]
    faults = {
        name: f"its values are of the polars type {kind}"
        for name, kind in frame.schema.items()
        if _has_no_arrow(kind)
    }
    frame = frame.with_columns(
        *(polars.col(name).cast(polars.String) for name in long),
        *(polars.lit(None).alias(name) for name in faults),
    )
    return pa.RecordBatchReader.from_stream(frame).read_all(), faults


def _has_no_arrow(kind: Any) -> bool:
    """Whether values of a type, or values inside of them, have no type in Arrow."""
    if kind == polars.Object:
        return True
    inner = [field.dtype for field in getattr(kind, "fields", ())]
    if getattr(kind, "inner", None) is not None:
        inner.append(kind.inner)
    return any(str(each) in LONG or _has_no_arrow(each) for each in inner)


def to_polars(table: pa.Table, frame: Any, unchanged: Collection[str]) -> Any:
    """An Arrow table as a frame, lazy if the original one is.

    What is unchanged gets the types of the original. Categories that no record has any more are
    dropped.
    """
    released = polars.DataFrame(table)
    before = frame.collect_schema()
    for name in unchanged:
        kind = before[name]
        if isinstance(kind, polars.Enum):
            texts = released[name].cast(polars.String)
            occur = set(texts.drop_nulls())
            kind = polars.Enum([each for each in kind.categories if each in occur])
            released = released.with_columns(texts.alias(name))
        released = released.with_columns(polars.col(name).cast(kind))
    return released.lazy() if isinstance(frame, polars.LazyFrame) else released
