"""A table in memory that counts with plain Python: the verifier's data in these tests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager

import pyarrow as pa

from shoal.definition.model import Definition
from shoal.engines.base import Column, Generalization, Question, Recoding, Source
from shoal.errors import BadData

Cell = str | None
Row = tuple[Cell, ...]


class Rows(Source):
    """A source of rows; it can be counted, and nothing else."""

    def __init__(self, names: Sequence[str], rows: Sequence[Row]) -> None:
        self.names = tuple(names)
        self.rows = tuple(rows)

    @property
    def name(self) -> str:
        return "rows"

    def columns(self) -> tuple[Column, ...]:
        return tuple(Column(name, is_text=True) for name in self.names)

    def count(self, question: Question) -> pa.Table:
        columns, at_most = question.columns, question.at_most
        for name in columns:
            if name not in self.names:
                raise BadData(f"no column {name!r}", code="unknown-column")
        absent = {None, "", *question.missing}
        clean = [
            {n: None if cell in absent else cell for n, cell in zip(self.names, row, strict=True)}
            for row in self.rows
        ]
        counted = [row for row in clean if all(row[name] is not None for name in question.complete)]
        found = Counter(
            tuple(_label(row[name], question.generalized.get(name)) for name in columns)
            for row in counted
        )
        if not columns:
            found = Counter({(): len(counted)})
        if at_most is not None:
            found = Counter(dict(list(found.items())[: at_most + 1]))
        arrays = [pa.array([row[at] for row in found], pa.string()) for at in range(len(columns))]
        counts = pa.array(list(found.values()), pa.int64())
        return pa.table([*arrays, counts], names=list(question.names))

    def distinct(self, question: Question) -> int:
        return int(self.count(question).num_rows)

    def recoded(self, recoding: Recoding) -> AbstractContextManager[pa.RecordBatchReader]:
        raise NotImplementedError

    def fetched(
        self,
        columns: Sequence[str],
        only: Mapping[str, Collection[str | None]],
        missing: Sequence[str] = (),
    ) -> AbstractContextManager[pa.RecordBatchReader]:
        raise NotImplementedError

    def close(self) -> None:
        pass


def _label(cell: Cell, generalization: Generalization | None) -> Cell:
    if generalization is None:
        return cell
    if cell is None:
        return generalization.missing
    if not generalization.values:
        return cell
    return dict(zip(generalization.values, generalization.labels, strict=True))[cell]


def source(names: Sequence[str], rows: Sequence[Row]) -> Source:
    """The rows as a source."""
    return Rows(names, rows)


def definition(attributes: Mapping[str, object], **others: object) -> Definition:
    """A definition whose paths are never opened."""
    return Definition.model_validate(
        {"source": {"path": "source.csv"}, "k": 2, "attributes": attributes, **others}
    )
