"""The labels that local recoding gives to the records of a source, for the warnings of a run."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from shoal.encode.table import codes_in, tuples_of

if TYPE_CHECKING:
    import pyarrow as pa

    from shoal.encode.table import Table
    from shoal.values import Bools, Ints

NOT_RELEASED = -1
"""The label of a record that is not released."""


@dataclass(frozen=True, eq=False)
class Recoded:
    """The levels of each tuple, in rows, and whether it is released."""

    table: Table
    levels: Ints
    kept: Bools

    @property
    def names(self) -> tuple[str, ...]:
        """The quasi-identifiers."""
        return tuple(attribute.name for attribute in self.table.attributes)

    @property
    def levels_above(self) -> list[list[int]]:
        """The levels above 0 at which records of each attribute are released."""
        released = self.levels[self.kept]
        return [[x for x in np.unique(column).tolist() if x > 0] for column in released.T]

    @cached_property
    def labels(self) -> Ints:
        """The number of the label of each tuple in each attribute, in rows."""
        found = np.full(self.levels.shape, NOT_RELEASED, np.int64)
        for j, (attribute, codes) in enumerate(
            zip(self.table.attributes, self.table.codes, strict=True)
        ):
            width = len(attribute.groups[0]) + 1
            for level in np.unique(self.levels[self.kept, j]).tolist():
                chosen = self.kept & (self.levels[:, j] == level)
                found[chosen, j] = level * width + attribute.groups[level][codes[chosen]]
        return found

    def labels_of(self, counted: pa.Table) -> Ints:
        """The labels of counted rows that have all quasi-identifiers, in rows."""
        unknown = np.full((1, len(self.names)), NOT_RELEASED, np.int64)
        rows = tuples_of(self.table, codes_in(self.table.attributes, counted))
        of_rows: Ints = np.vstack([self.labels, unknown])[rows]
        return of_rows
