"""Arrow types that DuckDB lacks: converted to another type for DuckDB, and back afterwards.

Different values stay different in the other type, so what is counted is what is converted back. The
other type depends on the type alone, never on the values: a release has fewer of them than its
source, and must be counted in the same texts.
"""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Callable

import pyarrow as pa
import pyarrow.compute as pc

from shoal.engines.failures import LONGEST_DECIMAL

of = pa.types


def to_duckdb(table: pa.Table) -> tuple[pa.Table, dict[str, str]]:
    """The table as DuckDB can hold it, and why some columns cannot be: those are left empty."""
    columns, faults = [], {}
    for name, column in zip(table.column_names, table.columns, strict=True):
        fault = _fault(column.type)
        if not fault:
            try:
                column = _each(column, _to_duckdb)
            except pa.ArrowInvalid:
                fault = f"it has values that a {column.type} should not have"
        if fault:
            column, faults[name] = pa.nulls(len(column)), fault
        columns.append(column)
    return pa.table(columns, names=table.column_names), faults


def from_duckdb(column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    """A converted column, in its original type.

    A nested type that Arrow cannot cast to stays as DuckDB made it, with the same values.
    """
    return _each(column, lambda chunk: _from_duckdb(chunk, kind))


def _each(column: pa.ChunkedArray, change: Callable[[pa.Array], pa.Array]) -> pa.ChunkedArray:
    return pa.chunked_array(
        [change(chunk) for chunk in column.chunks or [pa.nulls(0, column.type)]]
    )


def _to_duckdb(array: pa.Array) -> pa.Array:
    kind = array.type
    if isinstance(kind, pa.BaseExtensionType):
        return array if isinstance(kind, pa.UuidType) else _to_duckdb(array.storage)
    if of.is_dictionary(kind):
        values = array.dictionary.cast(_TAKEN.get(kind.value_type, kind.value_type))
        return _to_duckdb(values).take(array.indices)
    if of.is_run_end_encoded(kind):
        return _to_duckdb(pc.run_end_decode(array))
    if of.is_decimal(kind):
        return array.cast(
            pa.string() if _is_long(kind) else pa.decimal128(kind.precision, kind.scale)
        )
    if of.is_duration(kind):
        return array.cast(pa.int64())
    if of.is_interval(kind):
        return _reinterpreted(array, _BYTES)
    if of.is_float16(kind):
        return array.cast(pa.float32())
    return array.cast(pa.date32()) if of.is_date64(kind) else array


def _from_duckdb(array: pa.Array, kind: pa.DataType) -> pa.Array:
    if array.type == kind:
        return array
    if isinstance(kind, pa.UuidType):
        values = [None if text is None else uuid.UUID(text).bytes for text in array.to_pylist()]
        return pa.ExtensionArray.from_storage(kind, pa.array(values, _BYTES))
    if isinstance(kind, pa.BaseExtensionType):
        return pa.ExtensionArray.from_storage(kind, _from_duckdb(array, kind.storage_type))
    if of.is_dictionary(kind):
        encoded = array.dictionary_encode()
        values = _from_duckdb(encoded.dictionary, kind.value_type)
        indices = encoded.indices.cast(kind.index_type)
        return pa.DictionaryArray.from_arrays(indices, values, ordered=kind.ordered)
    if of.is_run_end_encoded(kind):
        values = _from_duckdb(array, kind.value_type)
        return pc.run_end_encode(values, run_end_type=kind.run_end_type)
    if of.is_interval(kind):
        return _reinterpreted(array.cast(_BYTES), kind)
    if of.is_nested(kind):
        with contextlib.suppress(pa.ArrowNotImplementedError):
            return array.cast(kind)
        return array
    return array.cast(kind)


_BYTES = pa.binary(16)
"""As wide as an interval and a UUID."""
_TAKEN = {pa.string_view(): pa.large_string(), pa.binary_view(): pa.large_binary()}
"""Types that Arrow cannot take values of, and types with the same values."""


def _reinterpreted(array: pa.Array, kind: pa.DataType) -> pa.Array:
    """The same bytes in another type of the same width."""
    return pa.Array.from_buffers(kind, len(array), array.buffers(), offset=array.offset)


def _is_long(kind: pa.DataType) -> bool:
    """Whether DuckDB has no decimals of a type."""
    return bool(kind.precision > LONGEST_DECIMAL or kind.scale < 0)


def _fault(kind: pa.DataType, *, inside: bool = False) -> str:
    """Why a column of a type cannot be converted; empty when it can.

    Inside of lists and records nothing is converted.
    """
    if isinstance(kind, pa.BaseExtensionType):
        return _fault(kind.storage_type, inside=inside)
    if of.is_dictionary(kind) or of.is_run_end_encoded(kind):
        return _fault(kind.value_type, inside=inside)
    converted = (
        of.is_float16,
        of.is_duration,
        of.is_interval,
        of.is_date64,
        of.is_decimal256,
    )
    if of.is_union(kind) or (inside and any(is_one(kind) for is_one in converted)):
        return f"its values are of the type {kind}" + ", inside of others" * inside
    inner = (kind.field(i).type for i in range(kind.num_fields))
    return next((found for each in inner if (found := _fault(each, inside=True))), "")
