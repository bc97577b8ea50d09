"""The rows that an engine counted: their columns, and equal rows as numbered classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.arrow_arrays import scalar, to_numpy
from shoal.values import Histogram

if TYPE_CHECKING:
    from shoal.values import Ints, Reference


@dataclass(frozen=True, eq=False)
class Column:
    """One counted column: its values that are not missing with their numbers of records, and for
    each row the number of its value; missing is one past the last."""

    counts: dict[str, int]
    rows: Ints


def column_of(counted: pa.Table, name: str) -> Column:
    """A column of what an engine counted."""
    encoded = pc.dictionary_encode(counted[name].combine_chunks(), null_encoding="mask")
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()
    values = encoded.dictionary.to_pylist()
    missing = scalar(len(values), np.int32)
    rows: Ints = to_numpy(pc.fill_null(encoded.indices, missing))
    counts = np.bincount(rows, weights=weights_of(counted), minlength=len(values))
    return Column(dict(zip(values, counts.astype(np.int64).tolist(), strict=False)), rows)


def weights_of(counted: pa.Table) -> Ints:
    """The counts, the last column of what an engine counted."""
    weights: Ints = to_numpy(counted.column(counted.num_columns - 1)).astype(np.int64)
    return weights


def number_rows(columns: Sequence[Ints], sizes: Sequence[int]) -> tuple[Ints, int]:
    """The number of each row's class, from 0 by rising key, and how many classes there are.

    Codes of column `j` are below `sizes[j]`. Columns are folded into one key, `key * size + code`,
    which is renumbered by rank before a product could pass 2**62, so equal keys always mean equal
    rows.
    """
    key = np.zeros(len(columns[0]), dtype=np.int64)
    radix = 1
    for column, size in zip(columns, sizes, strict=True):
        if radix * size > 2**62:
            key, radix = _ranks(key, radix)
        key = key * size + column
        radix *= size
    return _ranks(key, radix)


def _ranks(key: Ints, radix: int) -> tuple[Ints, int]:
    """Keys below `radix` renumbered 0, 1, 2... in their order, and how many there are."""
    if radix <= 8 * len(key) + 4096:
        present = np.zeros(radix, dtype=np.int64)
        present[key] = 1
        ranks = np.cumsum(present) - 1
        return ranks[key], int(ranks[-1]) + 1
    values, ranks = np.unique(key, return_inverse=True)
    return ranks.astype(np.int64), len(values)


def merge_histogram(
    group_of: Ints, values: Ints, weights: Ints, groups: int, reference: Reference
) -> Histogram:
    """How many records of each group have each value, as compressed rows."""
    size = max(len(reference.values), 1)
    keys, positions = np.unique(group_of * size + values, return_inverse=True)
    counts = np.bincount(positions, weights=weights, minlength=len(keys)).astype(np.int64)
    starts = np.searchsorted(keys, np.arange(groups + 1, dtype=np.int64) * size)
    return Histogram(starts.astype(np.int64), keys % size, counts, reference)
