"""Tables of databases as stores: SQLite, PostgreSQL and MariaDB, through their own drivers."""

from __future__ import annotations

import datetime
import secrets
import sqlite3
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import psycopg
import pymysql
import sqlalchemy as sa
from pymysql.constants import FIELD_TYPE

from prove.tables import SERIAL, Column, Grid, Store, Table, empty


def sqlite_table(path: Path, name: str) -> Store:
    def write(rng: Random, table: Table) -> None:
        declared = ", ".join(
            f'"{column.name}" {_declared(rng, column)}' for column in table.columns
        )
        marks = ", ".join("?" * len(table.columns))
        rows = [[_storable(rng, *pair) for pair in zip(table.columns, row, strict=True)]
                for row in table.rows]  # fmt: skip
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute(f'CREATE TABLE "{name}" ({declared})')
            connection.executemany(f'INSERT INTO "{name}" VALUES ({marks})', rows)

    named = {"url": f"sqlite:///{path}", "table": name}
    return Store(named, write, lambda: read_sqlite(path, name))


def read_sqlite(path: Path, name: str) -> Grid:
    """The cells with their storage classes: Python's types match these one to one."""
    with closing(sqlite3.connect(path)) as connection:
        found = connection.execute(f'SELECT * FROM "{name}"')
        names = tuple(column[0] for column in found.description)
        return Grid(names, tuple(tuple(row) for row in found))


SQLITE = ["", "TEXT", "INTEGER", "REAL", "NUMERIC", "DECIMAL(10, 2)", "BOOLEAN", "DATETIME", "BLOB"]


def _declared(rng: Random, column: Column) -> str:
    return "INTEGER" if column.name == SERIAL else rng.choice(SQLITE)


def _storable(rng: Random, column: Column, cell: Any) -> Any:
    """A cell as SQLite can hold it, now and then as text or bytes in place of its own type."""
    if cell is None or column.name == SERIAL:
        return cell
    odd = rng.random()
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
    "text": ["text", "varchar(60)", "char(60)"],
}


REAL, CHAR = 700, 1042
"""The numbers that PostgreSQL has for its types real and char(n)."""


def _value(type_code: int, cell: Any) -> Any:
    """The value that a cell means.

    psycopg gives the double of the shortest digits of a real, and the spaces that fill up a
    char(n), which PostgreSQL itself never counts.
    """
    if cell is not None and type_code == REAL:
        return float(np.float32(cell))
    return cell.rstrip(" ") if cell is not None and type_code == CHAR else cell


def postgres_table(url: str) -> Store:
    name = f"prove {secrets.token_hex(6)}"
    mark = f'"{name}"'

    def write(rng: Random, table: Table) -> None:
        declared = ", ".join(
            f'"{c.name}" {"bigint" if c.name == SERIAL else rng.choice(POSTGRES[c.kind])}'
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
            types = [column.type_code for column in found.description or ()]
            rows = (map(_value, types, row) for row in found)
            return Grid(names, tuple(map(tuple, rows)))

    return Store({"url": url, "table": name}, write, read)


MARIADB: dict[str, list[str]] = {
    "integer": ["BIGINT", "DECIMAL(20, 0)", "DOUBLE"],
    "number": ["DOUBLE", "FLOAT"],
    "decimal": ["DECIMAL(10, 2)", "DECIMAL(12, 4)", "DOUBLE"],
    "truth": ["BOOLEAN"],
    "day": ["DATE", "DATETIME(6)"],
    "moment": ["DATETIME(6)", "DATETIME(3)", "TIMESTAMP(6) NULL"],
    "text": [
        *("LONGTEXT", "VARCHAR(60)", "CHAR(60)", "VARBINARY(60)"),
        "VARCHAR(60) COLLATE utf8mb4_bin",
    ],
}
FIRST_TIMESTAMP = datetime.datetime(1970, 1, 2)


def mariadb_table(url: str) -> Store:
    name = f"prove {secrets.token_hex(6)}"
    mark = f"`{name}`"

    def write(rng: Random, table: Table) -> None:
        declared = ", ".join(
            f"`{column.name}` {_mariadb_type(rng, column)}" for column in table.columns
        )
        marks = ", ".join(["%s"] * len(table.columns))
        rows = [
            [None if empty(cell) and cell != "" else cell for cell in row] for row in table.rows
        ]
        with open_mariadb(url) as connection, connection.cursor() as cursor:
            cursor.execute(f"CREATE TABLE {mark} ({declared})")
            cursor.executemany(f"INSERT INTO {mark} VALUES ({marks})", rows)
            connection.commit()

    def read() -> Grid:
        with open_mariadb(url) as connection, connection.cursor() as cursor:
            cursor.execute(f"SELECT * FROM {mark} LIMIT 0")
            columns = [(column[0], column[1]) for column in cursor.description]
            cells = ", ".join(
                f"CAST(`{column}` AS DOUBLE)" if code == FIELD_TYPE.FLOAT else f"`{column}`"
                for column, code in columns
            )
            cursor.execute(f"SELECT {cells} FROM {mark}")
            return Grid(
                tuple(column for column, _ in columns), tuple(map(tuple, cursor.fetchall()))
            )

    return Store({"url": url, "table": name}, write, read)


def _mariadb_type(rng: Random, column: Column) -> str:
    """A type that holds all values of the column; a TIMESTAMP begins in 1970."""
    if column.name == SERIAL:
        return "BIGINT"
    found = rng.choice(MARIADB[column.kind])
    early = any(
        cell is not None and cell < FIRST_TIMESTAMP
        for cell in column.values
        if found.startswith("TIMESTAMP")
    )
    return "DATETIME(6)" if early else found


def open_mariadb(url: str) -> pymysql.connections.Connection[Any]:
    """A connection that shows times in UTC."""
    parts = sa.make_url(url)
    return pymysql.connect(
        host=parts.host or "",
        port=parts.port or 3306,
        user=parts.username,
        password=parts.password or "",
        database=parts.database,
        charset="utf8mb4",
        init_command="SET time_zone = '+00:00'",
    )
