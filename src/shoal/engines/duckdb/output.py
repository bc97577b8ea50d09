"""Releases written to files: of files and frames in one query, of other sources as a stream.

And a warning for a CSV file with cells that a spreadsheet would run as formulas.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from typing import TYPE_CHECKING

import duckdb

from shoal.engines.base import FileTarget, SparkTarget
from shoal.engines.duckdb.formulas import ESCAPE
from shoal.engines.duckdb.queries import in_order
from shoal.engines.duckdb.relation import SPELLED
from shoal.engines.duckdb.session import Session, explained
from shoal.engines.duckdb.source import TableSource
from shoal.engines.duckdb.staged import StagedPath, write_staged
from shoal.engines.duckdb.writing import layout_of
from shoal.values import Caution

if TYPE_CHECKING:
    import pyarrow as pa

    from shoal.engines.base import Recoding, Resources, Source, Target


def stage_recoded(source: Source, recoding: Recoding, target: FileTarget) -> StagedPath | None:
    """Recode in one query, into a staged file or folder; None where DuckDB has not the source."""
    if not isinstance(source, TableSource):
        return None
    written = f"the output {target.path}"
    with source.release_query(recoding, target.partition_by, written) as (session, query):
        return write_staged(target, session, query, recoding.columns)


def stage_rows(target: FileTarget, rows: pa.RecordBatchReader, resources: Resources) -> StagedPath:
    """Write a stream to a staged file, in its order, the same bytes as for a source of DuckDB's.

    Where the target has partitions, DuckDB brings the records of each one together first.
    """
    names = tuple(rows.schema.names)
    columns = [f"r{i}" for i in range(len(names))]
    schema = rows.schema.empty_table().rename_columns(columns).schema
    renamed = (batch.rename_columns(columns) for batch in rows)
    with closing(Session(resources, in_order=True)) as session:
        try:
            session.register("shoal_stream", type(rows).from_batches(schema, renamed))
            query = f"SELECT {_selected(session, columns)} FROM shoal_stream"
            if target.partition_by:
                query += f" {in_order(names, session.types(query), target.partition_by)}"
            return write_staged(target, session, query, names)
        except duckdb.Error as error:
            raise explained(error, "the release", f"the output {target.path}") from None


def _selected(session: Session, columns: Sequence[str]) -> str:
    """The columns of the stream, in types that every file can hold as they are."""
    types = session.types(f"SELECT {', '.join(columns)} FROM shoal_stream")
    return ", ".join(
        f"CAST({column} AS VARCHAR) AS {column}" if kind in SPELLED else column
        for column, kind in zip(columns, types, strict=True)
    )


def formula_cautions(target: Target | None, written: Source) -> tuple[Caution, ...]:
    """The columns of CSV files that have formulas in them, with the number of records."""
    if isinstance(target, FileTarget):
        is_csv = layout_of(target).kind == "csv" and target.formulas != ESCAPE
        remedy = "say `formulas: escape` in the output to make them text"
    else:
        is_csv = isinstance(target, SparkTarget) and _is_csv_folder(target)
        remedy = "release to a CSV file with `formulas: escape` to make them text"
    found = written.count_formulas() if is_csv else {}
    return tuple(_caution(name, number, remedy) for name, number in found.items())


def _is_csv_folder(target: SparkTarget) -> bool:
    by_ending = target.name.lower().endswith(".csv")
    return target.format == "csv" or (target.format is None and by_ending)


def _caution(name: str, records: int, remedy: str) -> Caution:
    text = f"{records:,} cells of {name!r} would be run as formulas by a spreadsheet; {remedy}"
    return Caution("formula-cells", name, text, records)
