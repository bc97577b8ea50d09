"""A stream of records written to a file: how a release leaves a database or a cluster."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import duckdb

from shoal.engines.duckdb.recoding import in_order
from shoal.engines.duckdb.relation import SPELLED
from shoal.engines.duckdb.session import Session, explained
from shoal.engines.duckdb.staged_folder import write_staged

if TYPE_CHECKING:
    import pyarrow as pa

    from shoal.engines.base import FileTarget, Resources, Staged


def stage_file(target: FileTarget, rows: pa.RecordBatchReader, resources: Resources) -> Staged:
    """Write the stream to a staged file, in its order, the same bytes as DuckDB's own COPY.

    Where the target is parted, DuckDB brings the records of a part together first. What goes wrong
    in the stream itself is raised as it is.
    """
    names = tuple(rows.schema.names)
    places = [f"r{i}" for i in range(len(names))]
    failures: list[BaseException] = []

    def renamed() -> Iterator[pa.RecordBatch]:
        try:
            for batch in rows:
                yield batch.rename_columns(places)
        except BaseException as error:
            failures.append(error)
            raise

    schema = rows.schema.empty_table().rename_columns(places).schema
    order = f" {in_order(names, target.partition_by)}" if target.partition_by else ""
    session = Session(resources, in_order=True)
    try:
        session.register("shoal_stream", type(rows).from_batches(schema, renamed()))
        selected = _selected(session, places)
        query = f"SELECT {selected} FROM shoal_stream{order}"
        return write_staged(target, session, query, names)
    except duckdb.Error as error:
        if failures:
            raise failures[0] from None
        raise explained(error, "the release", f"the output {target.path}") from None
    finally:
        session.close()


def _selected(session: Session, places: Sequence[str]) -> str:
    """The columns of the stream, in types that every file can hold as they are."""
    types = session.types(f"SELECT {', '.join(places)} FROM shoal_stream")
    return ", ".join(
        f"CAST({place} AS VARCHAR) AS {place}" if kind in SPELLED else place
        for place, kind in zip(places, types, strict=True)
    )
