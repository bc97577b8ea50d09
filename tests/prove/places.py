"""Places for tables: written and read with other libraries than Shoal, cell by cell as stored."""

from __future__ import annotations

import csv
import json
import secrets
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pandas as pd  # type: ignore[import-untyped]
import polars
import psycopg
import pyarrow as pa
import pyarrow.parquet as pq

from prove.judge import Grid, empty
from prove.tables import SERIAL, Column, Table


@dataclass(frozen=True)
class Place:
    """What a definition calls the place, and how to write and read it."""

    named: Any
    write: Callable[[Random, Table], None]
    read: Callable[[], Grid]


def csv_file(path: Path) -> Place:
    def write(chance: Random, table: Table) -> None:
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(column.name for column in table.columns)
            writer.writerows([_text(cell) for cell in row] for row in table.rows)

    return Place(str(path), write, lambda: read_csv(path))


def read_csv(path: Path) -> Grid:
    with path.open(encoding="utf-8", newline="") as file:
        names, *rows = csv.reader(file, strict=True)
    return Grid(tuple(names), tuple(tuple(cell or None for cell in row) for row in rows))


def _text(cell: Any) -> str:
    return "" if empty(cell) else str(cell)


def json_file(path: Path) -> Place:
    def plain(cell: Any) -> Any:
        return None if empty(cell) else cell if isinstance(cell, int | float) else str(cell)

    def write(chance: Random, table: Table) -> None:
        names = [column.name for column in table.columns]
        records = [dict(zip(names, map(plain, row), strict=True)) for row in table.rows]
        lines = (json.dumps(record, ensure_ascii=chance.random() < 0.5) for record in records)
        if path.suffix == ".jsonl":
            path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        else:
            path.write_text(f"[{','.join(lines)}]", encoding="utf-8")

    return Place(str(path), write, lambda: read_json(path))


def read_json(path: Path) -> Grid:
    """Numbers with the digits that are written."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".jsonl":
        records = [json.loads(line, parse_float=Decimal) for line in text.split("\n") if line]
    else:
        records = json.loads(text, parse_float=Decimal)
    names = tuple(dict.fromkeys(name for record in records for name in record))
    return Grid(names, tuple(tuple(record.get(name) for name in names) for record in records))


def parquet_file(path: Path) -> Place:
    def write(chance: Random, table: Table) -> None:
        pq.write_table(arrow(chance, table), path)

    return Place(str(path), write, lambda: read_arrow(pq.ParquetFile(path).read()))


def read_arrow(table: pa.Table) -> Grid:
    columns = [column.to_pylist() for column in table.columns]
    return Grid(tuple(table.column_names), tuple(zip(*columns, strict=True)))


ARROW: dict[str, list[pa.DataType]] = {
    "integer": [pa.int64(), pa.float64(), pa.decimal128(20, 0)],
    "number": [pa.float64(), pa.float32()],
    "decimal": [pa.decimal128(10, 2), pa.decimal256(40, 2), pa.float64()],
    "truth": [pa.bool_()],
    "day": [pa.date32(), pa.timestamp("us")],
    "moment": [pa.timestamp("us"), pa.timestamp("ns"), pa.timestamp("us", tz="UTC")],
    "text": [pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())],
}


def arrow(chance: Random, table: Table) -> pa.Table:
    """The table in Arrow, each column in one of the types that fit its kind."""
    arrays = [_array(chance, column) for column in table.columns]
    return pa.table(arrays, names=[column.name for column in table.columns])


def _array(chance: Random, column: Column) -> pa.Array:
    kind = pa.int64() if column.name == SERIAL else chance.choice(ARROW[column.kind])
    values: list[Any] = list(column.values)
    if pa.types.is_timestamp(kind) and column.kind == "day":
        return pa.array(values, pa.date32()).cast(kind)
    if pa.types.is_floating(kind):
        values = [None if cell is None else float(cell) for cell in values]
    if pa.types.is_dictionary(kind):
        return pa.array(values, pa.string()).dictionary_encode()
    return pa.array(values, kind)


def frame(chance: Random, table: Table) -> Any:
    """A frame of pandas, polars or Arrow."""
    made = arrow(chance, table)
    makers: list[Callable[[pa.Table], Any]] = [
        lambda it: it,
        lambda it: polars.from_arrow(_narrow(it)),
        pa.Table.to_pandas,
        lambda it: it.to_pandas(types_mapper=pd.ArrowDtype),
        lambda it: it.to_pandas().convert_dtypes(),
    ]
    return chance.choice(makers)(made)


def _narrow(table: pa.Table) -> pa.Table:
    """The table without the decimals of 256 bits, which polars does not have."""
    wide = [f.with_type(pa.decimal128(38, 2)) if pa.types.is_decimal256(f.type) else f
            for f in table.schema]  # fmt: skip
    return table.cast(pa.schema(wide))


def read_frame(frame: Any) -> Grid:
    if isinstance(frame, pd.DataFrame):
        columns = [frame[name].tolist() for name in frame.columns]
        return Grid(tuple(frame.columns), tuple(zip(*columns, strict=True)))
    if isinstance(frame, polars.DataFrame):
        return Grid(tuple(frame.columns), tuple(frame.rows()))
    return read_arrow(frame)


def sqlite_table(path: Path, name: str) -> Place:
    def write(chance: Random, table: Table) -> None:
        declared = ", ".join(
            f'"{column.name}" {_declared(chance, column)}' for column in table.columns
        )
        marks = ", ".join("?" * len(table.columns))
        rows = [[_storable(chance, *pair) for pair in zip(table.columns, row, strict=True)]
                for row in table.rows]  # fmt: skip
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute(f'CREATE TABLE "{name}" ({declared})')
            connection.executemany(f'INSERT INTO "{name}" VALUES ({marks})', rows)

    named = {"url": f"sqlite:///{path}", "table": name}
    return Place(named, write, lambda: read_sqlite(path, name))


def read_sqlite(path: Path, name: str) -> Grid:
    """The cells with their storage classes: Python's types stand for these one to one."""
    with closing(sqlite3.connect(path)) as connection:
        found = connection.execute(f'SELECT * FROM "{name}"')
        names = tuple(column[0] for column in found.description)
        return Grid(names, tuple(tuple(row) for row in found))


SQLITE = ["", "TEXT", "INTEGER", "REAL", "NUMERIC", "DECIMAL(10, 2)", "BOOLEAN", "DATETIME", "BLOB"]


def _declared(chance: Random, column: Column) -> str:
    return "INTEGER" if column.name == SERIAL else chance.choice(SQLITE)


def _storable(chance: Random, column: Column, cell: Any) -> Any:
    """A cell as SQLite can hold it, now and then as text or bytes in place of its own type."""
    if cell is None or column.name == SERIAL:
        return cell
    odd = chance.random()
    if odd < 0.03:
        return str(cell).encode()
    if odd < 0.15 or not isinstance(cell, bool | int | float):
        return str(cell)
    return cell


POSTGRES: dict[str, list[str]] = {
    "integer": ["bigint", "numeric", "double precision"],
    "number": ["double precision", "real", "numeric"],
    "decimal": ["numeric", "numeric(12, 4)", "double precision"],
    "truth": ["boolean"],
    "day": ["date", "timestamp"],
    "moment": ["timestamp", "timestamptz", "timestamp(3)"],
    "text": ["text", "varchar(60)"],
}


SINGLE = 700
"""The number that PostgreSQL has for its type real."""


def _number(single: bool, cell: Any) -> Any:
    """The number that a real stands for: psycopg gives the double of its shortest digits."""
    return float(np.float32(cell)) if single and cell is not None else cell


def postgres_table(url: str) -> Place:
    name = f"prove {secrets.token_hex(6)}"
    mark = f'"{name}"'

    def write(chance: Random, table: Table) -> None:
        declared = ", ".join(
            f'"{c.name}" {"bigint" if c.name == SERIAL else chance.choice(POSTGRES[c.kind])}'
            for c in table.columns
        )
        marks = ", ".join(["%s"] * len(table.columns))
        with psycopg.connect(url) as connection, connection.cursor() as cursor:
            cursor.execute(f"CREATE TABLE {mark} ({declared})".encode())
            cursor.executemany(f"INSERT INTO {mark} VALUES ({marks})".encode(), table.rows)

    def read() -> Grid:
        with psycopg.connect(url) as connection:
            found = connection.execute(f"SELECT * FROM {mark}".encode())
            names = tuple(column.name for column in found.description or ())
            singles = [column.type_code == SINGLE for column in found.description or ()]
            rows = (zip(singles, row, strict=True) for row in found)
            return Grid(names, tuple(tuple(_number(*cell) for cell in row) for row in rows))

    return Place({"url": url, "table": name}, write, read)


def any_place(chance: Random, folder: Path, postgres: str | None, name: str) -> Place:
    """A place of a random kind, with nothing there yet."""
    makers: list[Callable[[], Place]] = [
        lambda: csv_file(folder / f"{name}.csv"),
        lambda: parquet_file(folder / f"{name}.parquet"),
        lambda: json_file(folder / f"{name}{chance.choice(['.json', '.jsonl'])}"),
        lambda: sqlite_table(folder / chance.choice(["one.db", f"{name}.db"]), name),
    ]
    if postgres is not None:
        makers.append(lambda: postgres_table(postgres))
    return chance.choice(makers)()
