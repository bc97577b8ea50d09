"""One connection to a database: one transaction, interruptible, errors in our words."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from traceback import clear_frames
from typing import TYPE_CHECKING, Any, TypeVar

import sqlalchemy as sa

from shoal.engines.database.address import address, dialect_of
from shoal.engines.database.failures import UNUSABLE, explained
from shoal.engines.process import run_interruptible

if TYPE_CHECKING:
    import pyarrow as pa
    from sqlalchemy.sql.elements import ClauseElement

    from shoal.engines.database.connection import TableName
    from shoal.engines.database.dialects.base import Dialect


Answer = TypeVar("Answer")


class Session:
    """A connection whose transaction begins with the first statement.

    PostgreSQL, MySQL and MariaDB answer all queries of a transaction from one snapshot, and SQLite
    lets nobody else's commit in between. So whatever is counted and recoded in it is one state of
    the data. `name` is what messages call it. `lock_wait` is for how many seconds a statement waits
    for a lock of others; then it fails with an error that names them.
    """

    def __init__(self, url: str, name: str, *, lock_wait: int | None = None) -> None:
        self.name = name
        self.url = address(url)
        self.dialect = dialect_of(self.url)
        self._lock_wait = LOCK_WAIT if lock_wait is None else lock_wait
        self._number: int | None = None
        self._holders: tuple[str, ...] = ()
        file = self.dialect.file(self.url)
        self._new_file = None if file is None or file.exists() else file
        with self._explaining(connecting=True):
            self._engine = _engine(self.url, self.dialect)
            self.connection = self.interruptible(self._connect)

    def sql(self, statement: ClauseElement) -> str:
        """A statement as text with every value in it: CREATE TABLE AS and COPY take no others."""
        compiled = statement.compile(
            dialect=self.connection.dialect, compile_kwargs={"literal_binds": True}
        )
        return str(compiled)

    def quote(self, name: str) -> str:
        """A name as a statement writes it, always in quotes."""
        return self.connection.dialect.identifier_preparer.quote_identifier(name)

    def run(self, statement: ClauseElement | str) -> None:
        """Run a statement that gives no rows."""
        text = statement if isinstance(statement, str) else self.sql(statement)
        with self._explaining():
            self.interruptible(lambda: self.connection.exec_driver_sql(text))

    def rows(self, statement: ClauseElement | str) -> list[tuple[Any, ...]]:
        """The rows of a small answer."""
        text = statement if isinstance(statement, str) else self.sql(statement)
        with self._explaining():
            found = self.interruptible(lambda: self.connection.exec_driver_sql(text).all())
        return [tuple(row) for row in found]

    def batches(
        self, query: sa.Select[Any], schema: pa.Schema
    ) -> Generator[pa.RecordBatch, None, None]:
        """The rows of a query in batches, with the names and types of the schema."""
        with self._explaining(), closing(self.dialect.fetch(self, query, schema)) as rows:
            while (batch := self.interruptible(lambda: next(rows, None))) is not None:
                yield batch

    def insert(self, table: sa.Table, batches: Iterable[pa.RecordBatch]) -> None:
        """Put the batches into a table, in their order; its columns are those of the batches."""
        with self._explaining():
            self.dialect.insert(self, table, batches)

    def inspect(self, question: Callable[[sa.Inspector], Answer]) -> Answer:
        """What SQLAlchemy's inspector answers about tables and schemas."""
        with self._explaining():
            return self.interruptible(lambda: question(sa.inspect(self.connection)))

    def has_table(self, name: TableName) -> bool:
        """Whether there is such a table or view."""
        return self.inspect(lambda inspector: inspector.has_table(name.table, schema=name.schema))

    def describe(self, text: str, read: Callable[[Any], Answer]) -> Answer:
        """What `read` finds in the cursor of a query."""
        with self._explaining():
            found = self.interruptible(lambda: self.connection.exec_driver_sql(text))
            try:
                return read(found.cursor)
            finally:
                found.close()

    def commit(self) -> None:
        """Keep what was done; the next statement begins a new transaction."""
        with self._explaining():
            self.interruptible(self.connection.commit)

    def rollback(self) -> None:
        """Undo what was done since the transaction began; harmless on a lost connection."""
        with contextlib.suppress(Exception):
            self.connection.rollback()
            self.dialect.after_rollback(self.driver)

    def close(self) -> None:
        """Undo what was not committed, and disconnect; harmless when called twice.

        A file that this session made, and that nothing was committed to, is removed.
        """
        with contextlib.suppress(Exception):
            self.connection.close()
        with contextlib.suppress(Exception):
            self._engine.dispose()
        with contextlib.suppress(OSError):
            if self._new_file is not None and self._new_file.stat().st_size == 0:
                self._new_file.unlink()

    @property
    def driver(self) -> Any:
        """The connection of the driver itself, for what SQLAlchemy cannot do."""
        return self.connection.connection.driver_connection

    def interruptible(self, work: Callable[[], Answer]) -> Answer:
        """Do the work so that Ctrl-C can stop it; who holds a lock that it waits for is noted."""
        watch = LockWatch(self.dialect.lock_queries, self._number, self._ask_elsewhere)
        try:
            return run_interruptible(work, self._cancel, poll=watch)
        finally:
            self._holders = watch.holders

    def _connect(self) -> sa.Connection:
        connection = self._engine.connect()
        for setting in self.dialect.settings(self._lock_wait):
            connection.exec_driver_sql(setting).close()
        if self.dialect.number_query:
            self._number = int(connection.exec_driver_sql(self.dialect.number_query).scalar_one())
        connection.commit()
        for setting in self.dialect.optional_settings:
            with contextlib.suppress(sa.exc.DBAPIError):
                connection.exec_driver_sql(setting)
            connection.commit()
        return connection

    def _cancel(self) -> None:
        """Ask the database to stop what this connection does; asking twice does no harm."""
        with contextlib.suppress(Exception):
            self.dialect.cancel(self.driver, self._engine)

    def _ask_elsewhere(self, query: str) -> list[tuple[Any, ...]]:
        """The rows of a small answer, by a connection of its own."""
        with self._engine.connect() as other:
            return [tuple(row) for row in other.exec_driver_sql(query).all()]

    @contextmanager
    def _explaining(self, *, connecting: bool = False) -> Iterator[None]:
        """Errors of the driver as ours. A failed statement ends the transaction.

        SQLAlchemy's frames keep the error that keeps them, and with it all that is streamed.
        """
        try:
            yield
        except self._errors(connecting=connecting) as error:
            clear_frames(error.__traceback__)
            holders = self._holders or self.dialect.lock_holders(self.url)
            if not connecting:
                self.rollback()
            raise explained(
                error, self.dialect, self.name, holders, connecting=connecting
            ) from None

    def _errors(self, *, connecting: bool) -> tuple[type[Exception], ...]:
        """What SQLAlchemy raises, and the driver itself where it is used alone.

        A driver that cannot use a part of the URL raises others when it connects, and sqlite3 one
        of Python where a name in a broken file is not UTF-8.
        """
        others = UNUSABLE if connecting else (UnicodeDecodeError,)
        return (sa.exc.SQLAlchemyError, self.dialect.driver_error(), *others)


def _engine(url: sa.URL, dialect: Dialect) -> sa.Engine:
    """An engine without a pool, that shows no values in errors, with transactions that are ours."""
    isolation = {"isolation_level": "REPEATABLE READ"} if dialect.has_snapshots else {}
    engine = sa.create_engine(
        url,
        poolclass=sa.NullPool,
        hide_parameters=True,
        connect_args=dialect.connect_arguments(url),
        **isolation,
    )
    dialect.prepare(engine)
    return engine


LOCK_WAIT = 30
"""Seconds after which a lock that is not granted is an error; the defaults of servers are hours."""

_MOST_HOLDERS = 5
"""So many connections that may hold a lock are named."""


class LockWatch:
    """Asks, while a statement runs, what it waits for: afterwards that cannot be known.

    It asks once, shortly before the database gives up. `ask` runs a query on another connection,
    `queries` are those of the dialect, and `waiting` is the number of the connection that waits.
    """

    def __init__(
        self,
        queries: Sequence[str],
        waiting: int | None,
        ask: Callable[[str], list[tuple[Any, ...]]],
    ) -> None:
        self.holders: tuple[str, ...] = ()
        self._queries = queries
        self._waiting = waiting
        self._ask = ask
        self._when = time.monotonic() + 0.8 * LOCK_WAIT

    def __call__(self) -> None:
        """To be called now and then while the statement runs."""
        if self._waiting is None or not self._queries or time.monotonic() < self._when:
            return
        queries, self._queries = self._queries, ()
        for query in queries:
            with contextlib.suppress(Exception):  # it needs rights that the user may not have
                found = self._ask(query.format(waiting=self._waiting))
                self.holders = tuple(_named(*row) for row in found[:_MOST_HOLDERS])
            if self.holders:
                return


def _named(number: object, user: object, origin: object) -> str:
    """A connection as an administrator finds it again."""
    return f"connection {number} of {user or 'an unknown user'} ({origin or 'unknown program'})"
