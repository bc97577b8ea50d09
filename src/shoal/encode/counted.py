"""What an engine counted, column by column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    from shoal.values import Ints


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
    rows = pc.fill_null(encoded.indices, len(values)).to_numpy(zero_copy_only=False)
    counts = np.bincount(rows, weights=weights_of(counted), minlength=len(values))
    return Column(dict(zip(values, counts.astype(np.int64).tolist(), strict=False)), rows)


def weights_of(counted: pa.Table) -> Ints:
    """The counts, the last column of what an engine counted."""
    weights: Ints = counted.column(counted.num_columns - 1).to_numpy().astype(np.int64)
    return weights
