"""The order of classes in a release: decided by what is released of them and by nothing else."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa


def class_ranks(codes: Sequence[pa.Array | pa.ChunkedArray], classes: int) -> pa.Array:
    """The rank of each class in the order of its codes, where the code 0 means missing.

    Classes with equal codes share a rank. It is 0 where every code is 0, as for a record of no
    class, so that the order of a release does not distinguish the two.
    """
    if not codes:
        return pa.array(np.zeros(classes, np.int32))
    table = np.column_stack([np.asarray(code, np.int64) for code in codes])
    order = np.lexsort(table.T[::-1])
    changes = np.any(np.diff(table[order], axis=0, prepend=0), axis=1)
    ranks = np.empty(classes, np.int32)
    ranks[order] = np.cumsum(changes)
    return pa.array(ranks)
