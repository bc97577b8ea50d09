"""A table, view or query of a DuckDB file as a source.

The file is open for reading from the beginning to the end of the run, so that nobody can write to
it: whatever is counted and recoded is one state of the data.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import duckdb

from shoal.engines.duckdb.relation import FileScan, is_nested, union
from shoal.engines.duckdb.session import Session, explained
from shoal.engines.duckdb.source import TableSource
from shoal.engines.duckdb.tables.attached import Attached, file_of
from shoal.engines.failures import check_names
from shoal.engines.options import Resources, without_password
from shoal.errors import BadData

if TYPE_CHECKING:
    from pathlib import Path

    from shoal.engines.duckdb.relation import Relation
    from shoal.engines.options import DatabaseOptions, DatabaseTarget

SOURCE = "shoal_source"
"""The alias of a file that is read."""

_OWN_TYPES = re.compile(r"\b(ENUM|HUGEINT|UHUGEINT|UUID|BIT|BIGNUM|GEOMETRY)\b")
"""Types that are read as text, since outputs differ in how they hold them.

The values of an ENUM are a list in its type, which would tell of values that are not released.
"""
_OWN_NESTED = re.compile(rf"{_OWN_TYPES.pattern}|INTERVAL|TIME WITH TIME ZONE|UNION|VARIANT")
"""What lists and records with such values have in their type."""


def open_table(
    options: DatabaseOptions,
    *,
    resources: Resources = Resources(),  # noqa: B008 frozen
) -> DuckDBTable:
    """Open a table, view or query of a DuckDB file."""
    shown = without_password(options.url)
    file = file_of(options.url)
    if not file.is_file():
        raise BadData(
            f"no file {file}, which {shown} names",
            code="no-file",
            hint="see the path: duckdb:///file is relative, duckdb:////file is absolute",
        )
    session = Session(resources)
    try:
        attached = Attached(session, file, SOURCE, shown)
        attached.attach(writable=False)
        attached.use()
        if options.table is not None:
            name = f"{options.table} of {shown}"
            query = f"SELECT * FROM {attached.sql(attached.existing(options.table))}"
        else:
            name = f"a query of {shown}"
            query = _single(options.query or "", name)
        return DuckDBTable(attached, _relation(attached, query, name), query)
    except duckdb.Error as error:
        session.close()
        raise _refused(error, name) from None
    except BaseException:
        session.close()
        raise


def _single(query: str, name: str) -> str:
    """The query alone, if it is one that only reads."""
    try:
        statements = duckdb.extract_statements(query)
    except duckdb.Error as error:
        raise _refused(error, name) from None
    if [each.type for each in statements] != [duckdb.StatementType.SELECT]:
        raise BadData(
            f"{name} is not one query that reads",
            code="bad-query",
            hint="write one SELECT, without any other statement",
        )
    return statements[0].query.strip().rstrip(";")


def _refused(error: duckdb.Error, name: str) -> Exception:
    """Why a query was refused: DuckDB's message may quote data, so it is not shown."""
    if isinstance(error, duckdb.CatalogException | duckdb.BinderException | duckdb.ParserException):
        return BadData(
            f"{name} cannot be read ({type(error).__name__})",
            code="bad-query",
            hint="check that it works in DuckDB itself, with this file and no other open",
        )
    return explained(error, name)


def _relation(attached: Attached, query: str, name: str, *, stored: bool = False) -> Relation:
    """A query of a file as a relation, whose texts are compared by their characters."""
    session = attached.session
    columns = session.description(query)
    names = tuple(column for column, _ in columns)
    check_names(names, name)
    attached.tables_read(query)
    inside = ", ".join(f"p{i}" for i in range(len(columns)))
    values = ", ".join(_read(f"p{i}", kind) for i, (_, kind) in enumerate(columns))
    scan = f"(SELECT {values} FROM ({query}\n) AS given({inside}))"
    faults = {column: _FAULT for column, kind in columns if _is_fault(kind)}
    return union(
        session, name, [FileScan(attached.file, scan, names, faults=faults)], stored=stored
    )


_FAULT = "holds values of a type that only DuckDB has, in lists or records"


def _is_fault(kind: str) -> bool:
    return is_nested(kind) and _OWN_NESTED.search(kind) is not None


def _read(column: str, kind: str) -> str:
    """SQL that reads a value: without the collation of its column, by which `a` may equal `A`."""
    if kind == "VARCHAR":
        return f'{column} COLLATE "binary"'
    is_own = not is_nested(kind) and _OWN_TYPES.search(kind) is not None
    return f"CAST({column} AS VARCHAR)" if is_own else column


class DuckDBTable(TableSource):
    """A relation of a DuckDB file, which stays open for reading."""

    def __init__(self, attached: Attached, relation: Relation, query: str) -> None:
        super().__init__(attached.session, relation)
        self.attached = attached
        self._query = query

    def is_read(self, table: str) -> bool:
        """Whether it reads a table of its file, which is there."""
        name = self.attached.sql(self.attached.existing(table))
        read = self.attached.tables_read(self._query)
        return not read.isdisjoint(self.attached.tables_read(f"SELECT * FROM {name}"))

    def open_to_write(self) -> None:
        """Open the file for writing too; an error if another program wrote to it meanwhile."""
        before = _state(self.attached.file)
        self.attached.detach()
        try:
            self.attached.attach(writable=True)
        except BaseException:
            self.open_again()
            raise
        self.attached.use()
        if _state(self.attached.file) != before:
            raise BadData(
                f"{self.attached.shown} was written to by another program",
                code="source-changed",
                hint="run again when nobody writes to it",
            )

    def open_again(self) -> None:
        """Open the file, which is closed, for reading."""
        self.attached.attach(writable=False)
        self.attached.use()


def _state(file: Path) -> tuple[int, int, int]:
    found = file.stat()
    return found.st_ino, found.st_size, found.st_mtime_ns


class StoredTable(TableSource):
    """A table as it is stored, in the session that wrote it and goes on with it."""

    def __init__(self, attached: Attached, table: str, name: str) -> None:
        query = f"SELECT * FROM {table}"
        super().__init__(attached.session, _relation(attached, query, name, stored=True))

    def close(self) -> None:
        """The session is another's."""


def shown(target: DatabaseTarget) -> str:
    """What people see of a target."""
    return f"{target.table} of {without_password(target.url)}"
