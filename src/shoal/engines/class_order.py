"""Where a class stands in a release, told by what is released of it and by nothing else."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa


def places(codes: Sequence[pa.Array | pa.ChunkedArray], classes: int) -> pa.Array:
    """The place of each class in the order of its codes, where the code 0 stands for missing.

    Classes with equal codes share a place. It is 0 where every code is 0, as for a record of no
    class, so that the order of a release does not tell which one is which.
    """
    if not codes:
        return pa.array(np.zeros(classes, np.int32))
    told = np.column_stack([np.asarray(code, np.int64) for code in codes])
    order = np.lexsort(told.T[::-1])
    changes = np.any(np.diff(told[order], axis=0, prepend=0), axis=1)
    found = np.empty(classes, np.int32)
    found[order] = np.cumsum(changes)
    return pa.array(found)
