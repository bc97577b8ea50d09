"""Arrow arrays from texts and NumPy arrays, and back, without pandas.

Where pandas is installed, pyarrow imports it as soon as it converts any value of Python or NumPy,
which takes a third of a second of every process. These functions hand over whole buffers instead.
They are for what every run converts; elsewhere `pa.array` is as good.
"""

from __future__ import annotations

from collections.abc import Collection
from itertools import accumulate
from typing import Any

import numpy as np
import pyarrow as pa

_LONGEST = 2**31 - 1
"""Bytes that the texts of one Arrow array may have together."""


def from_texts(texts: Collection[str | None]) -> pa.Array:
    """Texts as an array, None as null."""
    encoded = [b"" if text is None else text.encode() for text in texts]
    offsets = np.fromiter(accumulate(map(len, encoded), initial=0), np.int64, len(encoded) + 1)
    if offsets[-1] > _LONGEST:
        return pa.array(texts, pa.string())
    valid = None
    if None in texts:
        known = np.fromiter((text is not None for text in texts), bool, len(encoded))
        valid = pa.py_buffer(np.packbits(known, bitorder="little"))
    buffers = [valid, pa.py_buffer(offsets.astype(np.int32)), pa.py_buffer(b"".join(encoded))]
    return pa.Array.from_buffers(pa.string(), len(encoded), buffers)


def from_numpy(values: np.ndarray[Any, Any]) -> pa.Array:
    """Numbers or truth values as an array without nulls."""
    if values.dtype == np.bool_:
        return from_numpy(values.view(np.uint8)).cast(pa.bool_())
    buffer = pa.py_buffer(np.ascontiguousarray(values))
    kind = pa.from_numpy_dtype(values.dtype)
    return pa.Array.from_buffers(kind, len(values), [None, buffer])


def to_numpy(column: pa.Array | pa.ChunkedArray) -> np.ndarray[Any, Any]:
    """Numbers or truth values as a NumPy array; nulls and other types as pyarrow converts them."""
    kind = column.type
    is_number = pa.types.is_integer(kind) or pa.types.is_floating(kind)
    if column.null_count or not (is_number or pa.types.is_boolean(kind)):
        return np.asarray(column)
    chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    if len(chunks) != 1:
        column = pa.concat_arrays(chunks) if chunks else column.combine_chunks()
        return to_numpy(column)
    if pa.types.is_boolean(kind):
        return to_numpy(chunks[0].cast(pa.uint8())).view(np.bool_)
    return np.from_dlpack(chunks[0])


def scalar(value: int, kind: np.dtype[Any] | type[np.integer[Any]]) -> pa.Scalar:
    """A whole number as a scalar of this type."""
    return from_numpy(np.array([value], kind))[0]
