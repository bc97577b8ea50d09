"""The labels that local recoding gives to the records of a source, for the warnings of a run."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from shoal.encode.rows import column_of, number_rows
from shoal.encode.table import code_of

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
        table = self.table
        columns = [column_of(counted, name) for name in self.names]
        codes = [
            code_of(attribute, list(column.counts))[column.rows]
            for attribute, column in zip(table.attributes, columns, strict=True)
        ]
        joined = [np.append(ours, theirs) for ours, theirs in zip(table.codes, codes, strict=True)]
        number, found = number_rows(joined, [len(a.groups[0]) for a in table.attributes])
        tuple_of = np.full(found, table.tuples, np.int64)
        tuple_of[number[: table.tuples]] = np.arange(table.tuples)
        unknown = np.full((1, len(columns)), NOT_RELEASED, np.int64)
        of_rows: Ints = np.vstack([self.labels, unknown])[tuple_of[number[table.tuples :]]]
        return of_rows
