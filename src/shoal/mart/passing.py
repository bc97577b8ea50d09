"""The rows of the linked table that a written release consists of, with their values and persons.

The verifier counts persons in a source, since a release does not say whom a row belongs to. Where
rows were removed, that source must be the rows that passed. They are found from the written
release alone: rows leave by whole classes, so a row passed exactly if its labels of all sources
together occur in the release. Labels are those that the verifier itself reads from the hierarchies;
in local recoding those of a list that it checks.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from shoal.engines.base import Generalization, Recoding
from shoal.engines.local_files import FOLDER, owned, temporary_folder
from shoal.engines.opening import open_source
from shoal.engines.options import FileOptions
from shoal.measure.classes import encoded, numbered

if TYPE_CHECKING:
    from shoal.engines.base import Source
    from shoal.values import Bools


Labelling: TypeAlias = "Callable[[pa.Table], tuple[pa.Table, Bools]]"
"""Gives the labels of rows of values, and says which of the rows have any."""


@contextmanager
def passing_rows(
    linked: Source,
    written: Source,
    labellings: Sequence[tuple[Sequence[str], Labelling]],
    further: Sequence[str],
    missing: Sequence[str],
) -> Iterator[Source]:
    """The rows of the linked table whose labels are in the written release, in a private file.

    For each source there are the names of its quasi-identifiers and what labels them. The file has
    these columns and the `further` ones.
    """
    names = tuple(name for each, _ in labellings for name in each)
    values = linked.count_by(names, missing).select(list(names))
    released = written.count_by(names).select(list(names))
    passing = values.filter(pa.array(_pass(values, labellings, released)))
    unchanged = {name: Generalization((), ()) for name in names}
    columns = tuple(dict.fromkeys((*names, *further)))
    recoding = Recoding(columns, unchanged, passing, names, missing=tuple(missing))
    parent = linked.resources.spill_folder or temporary_folder()
    with tempfile.TemporaryDirectory(prefix=owned(FOLDER), dir=parent) as folder:
        path = Path(folder, "passing.parquet")
        with linked.recoded(recoding) as rows, pq.ParquetWriter(path, rows.schema) as file:
            for batch in rows:
                file.write_batch(batch)
        options = FileOptions(str(path), "parquet")
        with closing(open_source(options, columns, resources=linked.resources)) as source:
            yield source


def _pass(
    values: pa.Table, labellings: Sequence[tuple[Sequence[str], Labelling]], released: pa.Table
) -> Bools:
    """For each row of values whether it has labels, and these are released."""
    columns: dict[str, pa.ChunkedArray] = {}
    passes = np.ones(len(values), np.bool_)
    for names, label in labellings:
        labels, known = label(values)
        passes &= known
        columns |= dict(zip(names, labels.columns, strict=True))
    passes &= _are_in(pa.table(columns), released)
    return passes


def labelled(values: pa.Table, labels: Mapping[str, Generalization]) -> pa.Table:
    """The labels of values."""
    columns = []
    for name, each in labels.items():
        codes, texts = encoded(values.column(name))
        label_of: dict[str | None, str | None] = dict(zip(each.values, each.labels, strict=True))
        found = [
            each.missing if text is None else label_of[text] if each.values else text
            for text in texts
        ]
        columns.append(pa.array(found, pa.string()).take(pa.array(codes)))
    return pa.table(columns, names=list(labels))


def _are_in(rows: pa.Table, others: pa.Table) -> Bools:
    """For each row whether it is also among the others; missing equals missing."""
    both = pa.concat_tables([rows, others.cast(rows.schema)])
    numbers, _ = numbered([encoded(column)[0] for column in both.columns])
    found: Bools = np.isin(numbers[: len(rows)], numbers[len(rows) :])
    return found
