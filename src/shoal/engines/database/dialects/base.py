"""What the engine asks of one kind of database. A new kind implements these two classes.

`Dialect` answers for the connection, its errors and locks, its tables, and whether a source reads a
table; `Values` (in `values.py`) for the types, texts and order of values. Nothing outside of this
package tests the name of a database.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.engines.database.dialects.rows import fetch, insert

if TYPE_CHECKING:
    import pyarrow as pa
    import sqlalchemy as sa

    from shoal.engines.database.connection import Connection, SourceOpener, TableName
    from shoal.engines.database.dialects.values import Values

CONNECT_TIMEOUT = 30
"""Seconds for a server to answer, unless the URL says `connect_timeout`."""


@dataclass(frozen=True)
class Overlap:
    """Whether a source reads a table; `unknown` says why that cannot be known, else it is empty."""

    reads: bool = False
    unknown: str = ""


class Dialect(ABC):
    """One kind of database. It has no state; sessions hand themselves in as `connection`."""

    name: str
    """SQLAlchemy's name of it."""
    title: str
    """Its name in messages."""
    schemes: tuple[str, ...]
    """What URLs of it begin with."""
    driver: str
    """SQLAlchemy's name of the driver that is used."""
    module: str
    """The Python module of that driver."""
    values: Values

    is_server = True
    """Whether it is reached over a network, where a connection can be lost."""
    has_snapshots = True
    """Whether REPEATABLE READ answers all queries of a transaction from one snapshot."""
    has_transactional_tables = False
    """Whether CREATE, DROP and RENAME of tables are undone with their transaction."""

    def is_like(self, other: Dialect) -> bool:
        """Whether both may be one server, as with URLs of MySQL and of MariaDB."""
        return isinstance(other, type(self)) or isinstance(self, type(other))

    # Addresses.

    def url_fault(self, url: sa.URL) -> str:
        """How to correct a URL that can be parsed, but not be used; else nothing."""
        return ""

    def file(self, url: sa.URL) -> Path | None:
        """The file of the database; None for a server."""
        return None

    def same_database(self, one: sa.URL, other: sa.URL) -> bool:
        """Whether two URLs lead to one database as one user: then one connection will do.

        The parameters have to be equal too: they may say in which schemas a name is looked up.
        """
        parts = ("drivername", "username", "host", "port", "database", "query")
        return all(getattr(one, part) == getattr(other, part) for part in parts)

    @abstractmethod
    def connect_arguments(self, url: sa.URL) -> dict[str, Any]:
        """What else the driver gets, such as where the usual client has passwords."""

    # Connections.

    optional_settings: tuple[str, ...] = ()
    """Statements for each new connection that may fail, each in a transaction of its own."""
    number_query = ""
    """A query for the number by which other connections see this one; nothing where none can."""

    def prepare(self, engine: sa.Engine) -> None:
        """Make the engine ready before its first connection."""

    @abstractmethod
    def settings(self, lock_wait: int) -> tuple[str, ...]:
        """Statements for each new connection: one text for one value, and `lock_wait` seconds."""

    @abstractmethod
    def cancel(self, driver: Any, engine: sa.Engine) -> None:
        """Stop the statement that a connection of the driver runs; harmless when there is none."""

    def after_rollback(self, driver: Any) -> None:
        """What is to be done on the driver's connection after a rollback."""

    # Errors and locks.

    @abstractmethod
    def driver_error(self) -> type[Exception]:
        """The base class of the driver's errors."""

    @abstractmethod
    def error_code(self, error: BaseException) -> str | None:
        """Our code for an error of the driver; None where it is no error of the driver."""

    @abstractmethod
    def error_number(self, error: BaseException) -> object:
        """The state or number by which an error can be looked up; nothing where it has none."""

    lock_queries: tuple[str, ...] = ()
    """Queries for the connections that connection `{waiting}` waits for: number, user, program.

    The next one is run where the one before gives no rows.
    """

    def lock_holders(self, url: sa.URL) -> tuple[str, ...]:
        """The holders of locks, where no query names them."""
        return ()

    # Tables.

    @abstractmethod
    def is_table(self, connection: Connection, name: TableName) -> bool:
        """Whether a name is that of a table with records of its own, as opposed to a view."""

    def located(self, connection: Connection, name: TableName) -> TableName:
        """An existing table with the schema it is in, where names are looked up in several."""
        return name

    @abstractmethod
    def create_as(
        self, connection: Connection, table: str, query: str, shape: str, types: Mapping[str, str]
    ) -> None:
        """Make a table of the rows of a query, in which unchanged columns keep their types.

        `shape` is a query without rows whose columns have these types; `types` are the declared
        ones by column.
        """

    def put_in_place(
        self,
        connection: Connection,
        staged: TableName,
        target: TableName,
        away: TableName,
        *,
        replace: bool,
    ) -> None:
        """Give a staged table its name: in its transaction, or else in one statement.

        `away` is a free name for the table that is replaced, until it is dropped.
        """
        if replace:
            connection.run(f"DROP TABLE IF EXISTS {target.sql(connection)}")
        new_name = connection.quote(target.table)
        connection.run(f"ALTER TABLE {staged.sql(connection)} RENAME TO {new_name}")

    # Queries and temporary tables.

    joins_by_index = False
    """Whether temporary tables need an index to be joined fast; others are joined by hashing."""
    longest_key = 3000
    """The bytes of text that an index may have."""
    most_inline_texts = 0
    """So many labels are in the query itself, which is faster than to join a table of them."""
    plain_prefix: str | None = None
    """The prefix of a scratch table that is no temporary one; None where all are temporary."""
    analyzes = False
    """Whether ANALYZE after filling a scratch table or a staged one makes better plans.

    Without it PostgreSQL expects so many classes of a release that one process counts them alone.
    """
    sorts_before_labels = False
    """Whether a new table is sorted by codes before labels are joined to its records."""
    no_limit: int | None = None
    """A LIMIT that limits nothing, but makes of a subquery a table that a join makes an index for.

    None where tables are joined by hashing.
    """
    select_prefix = ""
    """What follows SELECT so that the tables are joined in the order of the query."""
    grouping_settings: tuple[tuple[str, str], ...] = ()
    """Statements before a query that groups, each with the one that undoes it."""
    recoding_settings: tuple[str, ...] = ()
    """Statements before a query that recodes; they end with the transaction."""

    # Rows.

    def fetch(
        self, connection: Connection, query: sa.Select[Any], schema: pa.Schema
    ) -> Generator[pa.RecordBatch, None, None]:
        """The rows of a query in batches, with the names and types of the schema."""
        return fetch(connection, query, schema)

    def insert(
        self, connection: Connection, table: sa.Table, batches: Iterable[pa.RecordBatch]
    ) -> None:
        """Put the batches into a table, in their order; its columns are those of the batches."""
        insert(connection, table, batches)

    # Whether a source reads a table.

    @abstractmethod
    def overlap(self, source: SourceOpener, output: Connection | None, table: TableName) -> Overlap:
        """Whether the source reads a table of the output, which would be replaced.

        `output` is None where the output is in another kind of database.
        """

    def locks_out(self, source: SourceOpener, one: sa.URL, other: sa.URL) -> bool:
        """Whether a source at `one` that stays open keeps others from writing to `other`."""
        return False

    def has_read(self, connection: Connection, table: TableName) -> bool:
        """Whether the transaction of the connection has read a table."""
        return False
