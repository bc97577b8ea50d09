"""What a dialect sees of the engine above it: a connection, a table's name, a source to open.

`Session` is the only connection. Dialects know it by this protocol, so that they do not import it.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import sqlalchemy as sa
from sqlalchemy.sql.elements import quoted_name

if TYPE_CHECKING:
    from sqlalchemy.sql.elements import ClauseElement

Answer = TypeVar("Answer")


class Connection(Protocol):
    """One connection with one transaction; errors of its methods are ours."""

    url: sa.URL
    connection: sa.Connection

    @property
    def driver(self) -> Any:
        """The connection of the driver itself."""

    def sql(self, statement: ClauseElement) -> str:
        """A statement as text with every value in it."""

    def quote(self, name: str) -> str:
        """A name as a statement writes it, always in quotes."""

    def run(self, statement: ClauseElement | str) -> None:
        """Run a statement that gives no rows."""

    def rows(self, statement: ClauseElement | str) -> list[tuple[Any, ...]]:
        """The rows of a small answer."""

    def has_table(self, name: TableName) -> bool:
        """Whether there is such a table or view."""

    def interruptible(self, work: Callable[[], Answer]) -> Answer:
        """Do the work so that Ctrl-C can stop it."""


@dataclass(frozen=True)
class TableName:
    """A table and its schema, None for the schema that the connection uses."""

    table: str
    schema: str | None = None

    def clause(self) -> sa.TableClause:
        """The table in a statement; its name is always quoted."""
        schema = None if self.schema is None else quoted_name(self.schema, True)
        return sa.table(quoted_name(self.table, True), schema=schema)

    def sql(self, connection: Connection) -> str:
        """The name as a statement writes it."""
        parts = (self.table,) if self.schema is None else (self.schema, self.table)
        return ".".join(connection.quote(part) for part in parts)

    def beside(self, table: str) -> TableName:
        """Another table of the same schema."""
        return TableName(table, self.schema)


@dataclass(frozen=True)
class OpenSource:
    """A source that was opened: its connection, and a query for all its records."""

    connection: Connection
    query: str


class SourceOpener(Protocol):
    """Opens the source of a run, as often as a dialect needs it to find out what it reads."""

    def connected(self) -> AbstractContextManager[Connection]:
        """A connection to the database of the source, which reads nothing yet."""

    def opened(self, *, lock_wait: int | None = None) -> AbstractContextManager[OpenSource]:
        """The source itself; `lock_wait` is for how many seconds it waits for a lock."""
