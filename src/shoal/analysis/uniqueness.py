"""How many records of a table are alone, or with few others, on some of its columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shoal.engines.base import Source


@dataclass(frozen=True)
class Uniqueness:
    """Records in all, alone in their class, in classes smaller than k; and the classes."""

    records: int
    unique: int
    below_k: int
    classes: int


def uniqueness(
    source: Source, columns: Sequence[str], missing: Sequence[str], k: int
) -> Uniqueness:
    """Count the classes of records that agree on these columns; missing values are alike.

    Without columns all records are one class.
    """
    counted = source.count_by(columns, missing)
    sizes = np.asarray(counted.column(counted.num_columns - 1), np.int64)
    return Uniqueness(
        records=int(sizes.sum()),
        unique=int((sizes == 1).sum()),
        below_k=int(sizes[sizes < k].sum()),
        classes=len(sizes) if sizes.any() else 0,
    )
