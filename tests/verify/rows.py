"""A table in memory that counts with plain Python: the verifier's data in these tests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from shoal.definition.model import Definition
from shoal.engines.base import Column, FileTarget, Recoding, Staged
from shoal.errors import BadData

if TYPE_CHECKING:
    from shoal.engines.base import Source

Cell = str | None
Row = tuple[Cell, ...]


class Rows:
    """A source of rows; it can be counted, and nothing else."""

    def __init__(self, names: Sequence[str], rows: Sequence[Row]) -> None:
        self.names = tuple(names)
        self.rows = tuple(rows)

    @property
    def name(self) -> str:
        return "rows"

    def columns(self) -> tuple[Column, ...]:
        return tuple(Column(name, is_text=True) for name in self.names)

    def count_by(self, columns: Sequence[str], missing: Sequence[str] = ()) -> pa.Table:
        for name in columns:
            if name not in self.names:
                raise BadData(f"no column {name!r}", code="unknown-column")
        places = [self.names.index(name) for name in columns]
        absent = {None, "", *missing}
        found = Counter(
            tuple(None if row[at] in absent else row[at] for at in places) for row in self.rows
        )
        if not columns:
            found = Counter({(): len(self.rows)})
        arrays = [pa.array([row[at] for row in found], pa.string()) for at in range(len(columns))]
        counts = pa.array(list(found.values()), pa.int64())
        return pa.table([*arrays, counts], names=[*columns, "#records"])

    def recode_into(self, recoding: Recoding, target: FileTarget | None) -> Staged:
        raise NotImplementedError

    def fingerprint(self) -> str | None:
        return None

    def close(self) -> None:
        pass


def source(names: Sequence[str], rows: Sequence[Row]) -> Source:
    """The rows as a source."""
    return Rows(names, rows)


def definition(attributes: Mapping[str, object], **others: object) -> Definition:
    """A definition whose paths are never opened."""
    return Definition.model_validate(
        {"source": {"path": "source.csv"}, "k": 2, "attributes": attributes, **others}
    )
