"""Rows of texts as whole numbers, so that NumPy compares millions of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow.compute as pc

if TYPE_CHECKING:
    import pyarrow as pa

    from shoal.values import Ints

_LARGEST_KEY = 2**62


def encoded(column: pa.ChunkedArray) -> tuple[Ints, list[str | None]]:
    """A code for each cell, and the text of each code, None for missing."""
    found = pc.dictionary_encode(column, null_encoding="encode").combine_chunks()
    return np.asarray(found.indices, dtype=np.int64), found.dictionary.to_pylist()


def numbered(columns: Sequence[Ints]) -> tuple[Ints, Ints]:
    """A number for each row from 0 without gaps, equal where all columns are, and a row of each.

    Numbers rise with the first column, then with the second, and so on. The codes are the digits of
    a key; before it grows too large, keys are renumbered.
    """
    keys, bound = np.zeros(len(columns[0]), dtype=np.int64), 1
    for column in columns:
        base = int(column.max(initial=0)) + 1
        if bound * base >= _LARGEST_KEY:
            keys = np.unique(keys, return_inverse=True)[1].ravel()
            bound = int(keys.max(initial=0)) + 1
        keys, bound = keys * base + column, bound * base
    _, rows, numbers = np.unique(keys, return_index=True, return_inverse=True)
    return numbers.ravel(), rows
