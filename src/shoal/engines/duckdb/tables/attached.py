"""A DuckDB file in a session: how it is opened, what its tables are called, what a query reads.

DuckDB itself sees to it that a file is not written while it is read: it locks the file against
other processes, and knows by itself which files this process has open.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb

from shoal.engines.duckdb.session import disk_full, identifier, literal
from shoal.engines.local_files import file_of_url
from shoal.engines.options import name_parts, without_password
from shoal.errors import BadData, UserError, did_you_mean, quoted

if TYPE_CHECKING:
    from shoal.engines.duckdb.session import Session

_LEAVES = (
    *("COLUMN_DATA_SCAN", "CTE_SCAN", "DELIM_SCAN", "DUMMY_SCAN", "EMPTY_RESULT"),
    *("EXPRESSION_SCAN", "GENERATE_SERIES", "RANGE", "REPEAT", "UNNEST"),
)
"""Ends of a plan that make rows of nothing, or of rows that were read elsewhere in the plan."""


@dataclass(frozen=True)
class TableName:
    """A table or view of an attached file."""

    schema: str
    table: str


@dataclass(frozen=True)
class Attached:
    """A DuckDB file that a session has open under an alias; `shown` is what messages call it."""

    session: Session
    file: Path
    alias: str
    shown: str

    def attach(self, *, writable: bool) -> None:
        """Open the file; errors say why it cannot be opened.

        The file is named by its whole path, which DuckDB does not take for anything else.
        """
        mode = "READ_WRITE" if writable else "READ_ONLY"
        try:
            self.session.execute(
                f"ATTACH {literal(str(self.file))} AS {self.alias} (TYPE duckdb, {mode})"
            )
        except duckdb.Error as error:
            raise _explained(error, self.shown, self.file, writable=writable) from None

    def detach(self) -> None:
        """Close the file; what was committed is in it then, and nothing is beside it."""
        self.session.execute(f"USE {DATABASE}")
        self.session.execute(f"DETACH {self.alias}")

    def use(self) -> None:
        """Let queries name its tables without the alias."""
        self.session.execute(f"USE {self.alias}")

    def sql(self, name: TableName) -> str:
        """A table in a statement."""
        return f"{self.alias}.{identifier(name.schema)}.{identifier(name.table)}"

    def names(self, *, views: bool = True) -> tuple[TableName, ...]:
        """Its tables, and its views unless they are left out."""
        where = f"WHERE database_name = {literal(self.alias)} AND NOT internal"
        query = f"SELECT schema_name, table_name FROM duckdb_tables() {where}"
        if views:
            query += f" UNION ALL SELECT schema_name, view_name FROM duckdb_views() {where}"
        rows = self.session.table(f"SELECT * FROM ({query}) ORDER BY ALL").to_pylist()
        return tuple(TableName(*row.values()) for row in rows)

    def schemas(self) -> tuple[str, ...]:
        """Its schemas."""
        where = f"WHERE database_name = {literal(self.alias)}"
        table = self.session.table(f"SELECT schema_name FROM duckdb_schemas() {where}")
        return tuple(table.column(0).to_pylist())

    def meant(self, text: str) -> TableName:
        """The table that a definition means, whether it is there or not; its schema is there.

        A table whose whole name this is comes first; otherwise a dot separates schema and table.
        DuckDB ignores the case of names.
        """
        whole = TableName(MAIN, text)
        if self.found(whole):
            return whole
        parts = name_parts(text)
        name = TableName(".".join(parts[:-1]) or MAIN, parts[-1]) if parts else whole
        known = {schema.casefold(): schema for schema in self.schemas()}
        if name.schema.casefold() not in known:
            raise BadData(
                f"no schema {name.schema!r} in {self.shown}"
                f"{did_you_mean(name.schema, list(known.values()))}",
                code="no-schema",
                hint=f'where the dot is part of the name, quote it: "{text}"',
            )
        return TableName(known[name.schema.casefold()], name.table)

    def found(self, name: TableName, *, views: bool = True) -> bool:
        """Whether there is such a table, or such a view unless these are left out."""
        return _folded(name) in map(_folded, self.names(views=views))

    def existing(self, text: str) -> TableName:
        """The table or view of a definition; an error with the nearest name when there is none."""
        name = self.meant(text)
        if not self.found(name):
            known = [each.table for each in self.names() if each.schema == name.schema]
            raise BadData(
                f"no table {text!r} in {self.shown}{did_you_mean(name.table, known)}",
                code="no-table",
                hint=f"there are {quoted(known)}" if known else "there are no tables",
            )
        return name

    def tables_read(self, query: str) -> frozenset[str]:
        """The tables that a query reads, below views too, by the names that plans have for them.

        Anything else that has records, such as a file that a view reads, is refused: nothing but
        this file is locked, and compared with the output.
        """
        self.session.execute("PRAGMA disable_optimizer")  # it would leave out what gives no rows
        try:
            explained = self.session.table(f"EXPLAIN (FORMAT json) {query}")
        finally:
            self.session.execute("PRAGMA enable_optimizer")
        found = set()
        for node in _nodes(json.loads(explained.column(1)[0].as_py())):
            table = str(node.get("extra_info", {}).get("Table", ""))
            if table.startswith(f"{self.alias}."):
                found.add(table.casefold())
            elif not node["children"] and node["name"].strip() not in _LEAVES:
                raise BadData(
                    f"{self.shown} reads something that is no table of this file"
                    f" ({node['name'].strip()})",
                    code="reads-elsewhere",
                    hint="make a table of it in the file, or name the other files as the `source`",
                )
        return frozenset(found)


DATABASE = "of_session"
"""The database of a session itself."""
MAIN = "main"
"""The schema of tables that are named without one."""


def _nodes(plan: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for node in plan:
        yield node
        yield from _nodes(node["children"])


def _folded(name: TableName) -> tuple[str, str]:
    return name.schema.casefold(), name.table.casefold()


def file_of(url: str) -> Path:
    """The file of a URL of DuckDB; an error where it names none."""
    file = file_of_url(url)
    if file is None or "?" in url:
        raise BadData(
            f"{without_password(url)!r} is not the URL of a DuckDB file",
            code="bad-url",
            hint="write duckdb:///patients.duckdb, or with four slashes duckdb:////folder/file;"
            " there are no parameters, and `${NAME}` needs an environment variable of that name",
        )
    return file


def _explained(error: duckdb.Error, shown: str, file: Path, *, writable: bool) -> UserError:
    """Why a file cannot be opened; DuckDB's own message may quote what is in it."""
    message = str(error)
    if "Could not set lock" in message or "Unique file handle" in message:
        return BadData(
            f"{shown}: another program, or another source of this run, has the file open"
            f"{' and reads it' if writable else ' and may write to it'}",
            code="database-busy",
            hint="close it there, and run again; a DuckDB file has one writer or many readers",
        )
    if "version number" in message or "newer version" in message:
        return BadData(
            f"{shown} was written by another version of DuckDB, which {duckdb.__version__} cannot"
            " read",
            code="unreadable-data",
            hint="update duckdb here, or write the file again in an older format, which the option"
            " STORAGE_VERSION of ATTACH names",
        )
    if "ncrypt" in message:
        return BadData(
            f"{shown} is encrypted, which is not supported",
            code="unreadable-data",
            hint="export the table to a file, such as Parquet, and read that",
        )
    if "No space left" in message:
        return disk_full(f"there is no room for {shown}")
    if writable and not os.access(file if file.exists() else file.parent, os.W_OK):
        return BadData(
            f"{shown} cannot be written",
            code="no-permission",
            hint="change the permissions of the file, or choose another",
        )
    if not os.access(file, os.R_OK):
        return BadData(
            f"{shown} cannot be read",
            code="file-not-readable",
            hint="change the permissions of the file, or choose another",
        )
    return BadData(
        f"{shown} cannot be opened ({type(error).__name__})",
        code="unreadable-data",
        hint="check that it is a whole DuckDB file",
    )
