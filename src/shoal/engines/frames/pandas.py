"""Frames of pandas to Arrow and back."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import pandas as pd  # type: ignore[import-untyped]
import pyarrow as pa

from shoal.errors import BadData

_FAILURES = (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError)


def from_pandas(frame: Any) -> tuple[pa.Table, dict[str, str]]:
    """A frame without its index as an Arrow table; and what Arrow cannot hold, and why."""
    columns, faults = [], {}
    names = [str(name) for name in frame.columns]
    for position, name in enumerate(names):
        series = frame.iloc[:, position]
        fault = _fault(series)
        if fault:
            faults[name] = fault
        columns.append(pa.nulls(len(series)) if fault else _to_arrow(series, name))
    return pa.table(columns, names=names), faults


def _fault(series: Any) -> str:
    kind = series.dtype
    if getattr(kind, "kind", "") == "c":
        return "its values are complex numbers"
    if isinstance(kind, pd.PeriodDtype) and not _from_texts(_texts(series), kind).equals(
        series.reset_index(drop=True)
    ):
        return f"its values are of the pandas type {kind}"
    return ""


def _to_arrow(series: Any, name: str) -> pa.Array | pa.ChunkedArray:
    kind = series.dtype
    if isinstance(kind, pd.SparseDtype):
        series = series.sparse.to_dense()
    elif isinstance(kind, pd.PeriodDtype):
        return pa.array(_texts(series), pa.string())
    elif isinstance(kind, pd.CategoricalDtype) and _is_of_pandas(kind.categories.dtype):
        return _to_arrow(series.astype(kind.categories.dtype), name)
    elif _has_long_integers(series):
        series = series.map(str, na_action="ignore")
    try:
        return pa.Array.from_pandas(series)
    except _FAILURES:
        raise BadData(
            f"column {name!r} of the frame mixes types",
            code="mixed-types",
            hint=f"make it text first: frame = frame.astype({{{name!r}: 'string'}})",
        ) from None


def _is_of_pandas(kind: Any) -> bool:
    return isinstance(kind, pd.PeriodDtype | pd.IntervalDtype)


def _has_long_integers(series: Any) -> bool:
    """Python's integers have no limit, Arrow's have; columns with longer ones travel as text."""
    if str(series.dtype) != "object":
        return False
    numbers = (value for value in series if isinstance(value, int))
    return any(not -(2**63) <= number < 2**63 for number in numbers)


def _texts(series: Any) -> list[str | None]:
    return [None if value is pd.NaT else str(value) for value in series]


def _from_texts(texts: list[str | None], kind: Any) -> Any:
    return pd.Series(pd.array(texts, dtype=kind))


def to_pandas(
    table: pa.Table, frame: Any, unchanged: Collection[str], blanks: Collection[str] = ()
) -> Any:
    """An Arrow table as a frame; what is unchanged gets the types of the original frame.

    Where values of `blanks` may be missing now and the type has no missing values, it is the
    nullable type of the same values. Categories that no record has any more are dropped.
    """
    types = {str(name): kind for name, kind in zip(frame.columns, frame.dtypes, strict=True)}
    columns = {}
    for name, column in zip(table.column_names, table.columns, strict=True):
        original = frame.iloc[:, list(types).index(name)]
        if name not in unchanged:
            columns[name] = column.to_pandas()
        elif _has_long_integers(original):
            numbers = [None if text is None else int(text) for text in column.to_pylist()]
            columns[name] = pd.Series(numbers, dtype=object)
        else:
            columns[name] = _series(column, types[name], nullable=name in blanks)
    return pd.DataFrame(columns)


def _series(column: pa.ChunkedArray, kind: Any, *, nullable: bool = False) -> Any:
    """A column as a series of a type of pandas, with the values that it has."""
    if isinstance(kind, pd.CategoricalDtype):
        dense = _series(_decoded(column), kind.categories.dtype, nullable=True)
        occur = kind.categories[kind.categories.isin(dense.dropna())]
        return dense.astype(pd.CategoricalDtype(occur, ordered=kind.ordered))
    if isinstance(kind, pd.PeriodDtype):
        return _from_texts(column.to_pylist(), kind)
    if isinstance(kind, pd.SparseDtype):
        dense = _series(column, kind.subtype, nullable=nullable)
        return dense.astype(kind) if dense.dtype == kind.subtype else dense
    if hasattr(kind, "__from_arrow__"):
        return pd.Series(kind.__from_arrow__(column))
    if kind.kind == "O" and pa.types.is_nested(column.type):
        return pd.Series(column.to_pylist(), dtype=object)
    if kind.kind == "O":
        return pd.Series(column.to_pandas(integer_object_nulls=True), dtype=object)
    if kind.kind in "biu" and nullable:
        return pd.Series(_nullable(kind).__from_arrow__(column))
    return column.to_pandas().astype(kind)


def _nullable(kind: Any) -> Any:
    """The type of pandas with the same values as one of NumPy, and with missing ones."""
    bits = 8 * kind.itemsize
    return pd.api.types.pandas_dtype(
        {"b": "boolean", "i": f"Int{bits}", "u": f"UInt{bits}"}[kind.kind]
    )


def _decoded(column: pa.ChunkedArray) -> pa.ChunkedArray:
    kind = column.type
    return column.cast(kind.value_type) if pa.types.is_dictionary(kind) else column
