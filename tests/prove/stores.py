"""Any store at random: a file, a table of a database, a folder that Spark reads or writes."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pandas as pd  # type: ignore[import-untyped]
import pyarrow as pa
import pyarrow.parquet as pq

from prove.arrow import arrow, read_arrow
from prove.databases import mariadb_table, postgres_table, sqlite_table
from prove.files import csv_file, excel_file, json_file, parquet_file, read_csv, read_json, xml_file
from prove.tables import Grid, Store, Table
from prove.trial import Services

SPARK_SCHEMA = b"org.apache.spark.sql.parquet.row.metadata"
"""Where Spark notes its own types in a Parquet file."""


def any_store(rng: Random, folder: Path, services: Services, name: str) -> Store:
    """A store of a random kind without Spark, with nothing there yet."""
    makers: list[Callable[[], Store]] = [
        lambda: csv_file(folder / f"{name}.csv"),
        lambda: parquet_file(folder / f"{name}.parquet"),
        lambda: json_file(folder / f"{name}{rng.choice(['.json', '.jsonl'])}"),
        lambda: excel_file(folder / f"{name}.xlsx"),
        lambda: xml_file(folder / f"{name}.xml", rng.choice(["elements", "attributes"])),
        lambda: sqlite_table(folder / rng.choice(["one.db", f"{name}.db"]), name),
    ]
    postgres, mariadb = services.postgres, services.mariadb
    if postgres is not None:
        makers.append(lambda: postgres_table(postgres))
    if mariadb is not None:
        makers.append(lambda: mariadb_table(mariadb))
    return rng.choice(makers)()


def united(first: Store, second: Store) -> Store:
    """Two stores as one source, each with half of the records."""

    def write(rng: Random, table: Table) -> None:
        half = len(table.rows) // 2
        for store, part in ((first, slice(half)), (second, slice(half, None))):
            columns = (replace(each, values=each.values[part]) for each in table.columns)
            store.write(rng, Table(tuple(columns)))

    def read() -> Grid:
        one, other = first.read(), second.read()
        return Grid(one.names, (*one.rows, *(other.cells(row, one.names) for row in other.rows)))

    return Store([first.location, second.location], write, read)


def spark_source(path: Path) -> Store:
    """A folder with a Parquet file that pyarrow writes and Spark reads."""

    def write(rng: Random, table: Table) -> None:
        path.mkdir()
        pq.write_table(arrow(rng, table), path / "part.parquet")

    location = {"spark": str(path), "format": "parquet"}
    return Store(location, write, lambda: read_arrow(pq.ParquetFile(path / "part.parquet").read()))


def spark_output(path: Path, kind: str) -> Store:
    """A folder of files that Spark writes, in Parquet, JSON or CSV."""

    def write(rng: Random, table: Table) -> None:
        raise NotImplementedError("only Spark writes here")

    return Store({"spark": str(path), "format": kind}, write, lambda: _read_parts(path, kind))


def _read_parts(path: Path, kind: str) -> Grid:
    """The rows of all files; none has a name that begins with a dot or an underscore."""
    readers: dict[str, Callable[[Path], Grid]] = {
        "parquet": _read_spark_parquet,
        "json": lambda part: read_json(part, lines=True),
        "csv": read_csv,
    }
    parts = [readers[kind](part) for part in sorted(path.glob("part-*")) if part.stat().st_size]
    names = tuple(dict.fromkeys(name for part in parts for name in part.names))
    rows = [
        tuple(row[part.at(name)] if name in part.names else None for name in names)
        for part in parts
        for row in part.rows
    ]
    return Grid(names, tuple(rows))


def _read_spark_parquet(path: Path) -> Grid:
    """A file as pyarrow reads it.

    Spark stores instants without their zone; its own schema, in the file's metadata, distinguishes
    them from times without a zone.
    """
    table = pq.ParquetFile(path).read()
    fields = json.loads(table.schema.metadata[SPARK_SCHEMA])["fields"]
    instants = {field["name"] for field in fields if field["type"] == "timestamp"}
    columns = {
        name: _in_utc(column) if name in instants else column.to_pylist()
        for name, column in zip(table.column_names, table.columns, strict=True)
    }
    return Grid(tuple(columns), tuple(zip(*columns.values(), strict=True)))


def _in_utc(column: pa.ChunkedArray) -> list[Any]:
    return [None if cell is None else pd.Timestamp(cell, tz="UTC") for cell in column.to_pylist()]
