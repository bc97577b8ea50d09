"""One connection to a database: one transaction, interruptible, errors in our words."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from traceback import clear_frames
from typing import TYPE_CHECKING, Any, TypeVar

import sqlalchemy as sa

from shoal.engines.database import locks
from shoal.engines.database.address import address, connect_arguments, file_of
from shoal.engines.database.failures import STOP, UNUSABLE, explained
from shoal.engines.database.fields import Field
from shoal.engines.database.storage import Value, text_of, value_of
from shoal.engines.interruptible import attend

if TYPE_CHECKING:
    from sqlalchemy.sql.elements import ClauseElement

Answer = TypeVar("Answer")

_NO_COMPILING = "SELECT set_config('jit', 'off', false) FROM pg_settings WHERE name = 'jit'"
_MORE_MEMORY = """
    SELECT set_config('work_mem', '64MB', false) FROM pg_settings
    WHERE name = 'work_mem' AND setting::bigint < 65536
"""
SETTINGS = {
    "postgresql": (
        "SET DateStyle = ISO",
        "SET TimeZone = 'UTC'",
        "SET extra_float_digits = 1",
        "SET idle_in_transaction_session_timeout = 0",
        _NO_COMPILING,
        _MORE_MEMORY,
    ),
    "mysql": ("SET time_zone = '+00:00'",),
    "mariadb": ("SET time_zone = '+00:00'",),
    "sqlite": ("PRAGMA legacy_alter_table = ON",),
}
"""What each session is told first, so that the same value has the same text everywhere.

PostgreSQL is to wait while the search goes on, to group and sort in memory, and not to compile
queries, which takes longer than it saves. SQLite otherwise refuses to rename a table while a view
of the replaced one exists.
"""
_NOTICE_A_DEAD_CLIENT = "SET client_connection_check_interval = '2s'"
"""So that PostgreSQL stops the query of a killed process, where its version and system can."""
_NUMBER = {
    "postgresql": "SELECT pg_backend_pid()",
    "mysql": "SELECT connection_id()",
    "mariadb": "SELECT connection_id()",
}
"""The number by which others see the session."""
_SNAPSHOT = ("postgresql", "mysql", "mariadb")
"""Systems whose REPEATABLE READ answers all queries of a transaction from one snapshot."""


class Session:
    """A connection whose transaction begins with the first statement.

    PostgreSQL, MySQL and MariaDB answer all queries of a transaction from one snapshot, and SQLite
    lets nobody else's commit in between. So whatever is counted and recoded in it is one state of
    the data. `name` is what messages call the place. `lock_wait` is for how many seconds a
    statement waits for a lock of others; then it fails with an error that names them.
    """

    def __init__(self, url: str, name: str, *, lock_wait: int | None = None) -> None:
        self.name = name
        self.url = address(url)
        self._lock_wait = locks.LOCK_WAIT if lock_wait is None else lock_wait
        self._number: int | None = None
        self._holders: tuple[str, ...] = ()
        file = file_of(self.url)
        self._new_file = None if file is None or file.exists() else file
        with self._explaining(connecting=True):
            self._engine = _engine(self.url)
            self.connection = self.attend(self._connect)
        self.system = self.connection.dialect.name
        self.has_transactional_tables = self.system in ("postgresql", "sqlite", "mssql")

    def sql(self, statement: ClauseElement) -> str:
        """A statement as text with every value in it: CREATE TABLE AS and COPY take no others."""
        compiled = statement.compile(
            dialect=self.connection.dialect, compile_kwargs={"literal_binds": True}
        )
        return str(compiled)

    def run(self, statement: ClauseElement | str) -> None:
        """Run a statement that gives no rows."""
        text = statement if isinstance(statement, str) else self.sql(statement)
        with self._explaining():
            self.attend(lambda: self.connection.exec_driver_sql(text))

    def rows(self, statement: ClauseElement | str) -> list[tuple[Any, ...]]:
        """The rows of a small answer."""
        text = statement if isinstance(statement, str) else self.sql(statement)
        with self._explaining():
            found = self.attend(lambda: self.connection.exec_driver_sql(text).all())
        return [tuple(row) for row in found]

    def commit(self) -> None:
        """Keep what was done; the next statement begins a new transaction."""
        with self._explaining():
            self.attend(self.connection.commit)

    def rollback(self) -> None:
        """Undo what was done since the transaction began; harmless on a lost connection.

        After a full disk SQLite undoes what it wrote when its file is looked at for the next time.
        """
        with contextlib.suppress(Exception):
            self.connection.rollback()
            if self.system == "sqlite":
                self.driver.execute("SELECT 1 FROM sqlite_master").close()

    def close(self) -> None:
        """Undo what was not committed, and hang up; harmless when called twice.

        A file of SQLite that this session made, and that nothing was committed to, is removed.
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
        """The connection of the driver itself, for what SQLAlchemy has no words for."""
        return self.connection.connection.driver_connection

    @contextmanager
    def working(self) -> Iterator[None]:
        """Errors of the driver in our words, for work on `driver` and `connection`."""
        with self._explaining():
            yield

    def attend(self, work: Callable[[], Answer]) -> Answer:
        """Do the work so that Ctrl-C can stop it; who holds a lock that it waits for is noted."""
        watch = locks.Watch(self.url.get_backend_name(), self._number, self._asked_elsewhere)
        try:
            return attend(work, self._cancel, meanwhile=watch)
        finally:
            self._holders = watch.holders

    def _connect(self) -> sa.Connection:
        connection = self._engine.connect()
        system = connection.dialect.name
        for setting in (*SETTINGS.get(system, ()), *locks.settings(system, self._lock_wait)):
            connection.exec_driver_sql(setting).close()
        if system in _NUMBER:
            self._number = int(connection.exec_driver_sql(_NUMBER[system]).scalar_one())
        connection.commit()
        if system == "postgresql":
            with contextlib.suppress(sa.exc.DBAPIError):
                connection.exec_driver_sql(_NOTICE_A_DEAD_CLIENT)
            connection.commit()
        return connection

    def _cancel(self) -> None:
        """Ask the database to stop what this connection does; asking twice does no harm."""
        with contextlib.suppress(Exception):
            if self.system == "postgresql":
                self.driver.cancel_safe(timeout=5)
            elif self.system == "sqlite":
                self.driver.interrupt()
            elif self.system in ("mysql", "mariadb"):
                with self._engine.connect() as other:
                    other.exec_driver_sql(f"KILL QUERY {int(self.driver.thread_id())}")

    def _asked_elsewhere(self, question: str) -> list[tuple[Any, ...]]:
        """The rows of a small answer, by a connection of its own."""
        with self._engine.connect() as other:
            return [tuple(row) for row in other.exec_driver_sql(question).all()]

    @contextmanager
    def _explaining(self, *, connecting: bool = False) -> Iterator[None]:
        """A failed statement ends the transaction, and nothing of it stays.

        SQLAlchemy's frames keep the error that keeps them, and with it all that is streamed.
        """
        try:
            yield
        except _errors(self.url, connecting=connecting) as error:
            clear_frames(error.__traceback__)
            if self.url.get_backend_name() == "sqlite":
                self._holders = locks.processes_with_locks(file_of(self.url))
            if not connecting:
                self.rollback()
            raise explained(error, self.name, self._holders, connecting=connecting) from None


def _engine(url: sa.URL) -> sa.Engine:
    """An engine without a pool, that shows no values in errors, with transactions that are ours."""
    snapshot = url.get_backend_name() in _SNAPSHOT
    engine = sa.create_engine(
        url,
        poolclass=sa.NullPool,
        hide_parameters=True,
        connect_args=connect_arguments(url),
        **({"isolation_level": "REPEATABLE READ"} if snapshot else {}),
    )
    if url.get_backend_name() == "sqlite":
        sa.event.listen(engine, "connect", _prepare_sqlite)
        sa.event.listen(engine, "begin", lambda connection: connection.exec_driver_sql("BEGIN"))
    if url.get_backend_name() in ("mysql", "mariadb"):
        sa.event.listen(engine, "do_connect", _connect_in_time)
    return engine


def _connect_in_time(
    dialect: sa.Dialect, _: object, arguments: Any, parameters: dict[str, Any]
) -> Any:
    """PyMySQL would wait for the greeting of a silent server for ever; queries may take as long."""
    within = int(parameters["connect_timeout"])
    connection = dialect.connect(*arguments, **{"read_timeout": within, **parameters})
    connection._read_timeout = parameters.get("read_timeout")
    return connection


def _prepare_sqlite(connection: Any, _: object) -> None:
    """SQLite gets functions for what it has no expression for: to fail, and to spell values."""

    def stop() -> None:
        raise ValueError(STOP)

    connection.create_function("shoal_stop", 0, stop)
    connection.create_function("shoal_real", 1, repr, deterministic=True)
    connection.create_function("shoal_text", 3, _text, deterministic=True)
    connection.create_function("shoal_value", 2, value_of, deterministic=True)


def _text(value: Value | None, kind: str, scale: int) -> str | None:
    """The text of a value that SQLite stores in a column of this kind."""
    return None if value is None else text_of(value, Field("", kind, scale=scale))


def _errors(url: sa.URL, *, connecting: bool) -> tuple[type[Exception], ...]:
    """What SQLAlchemy raises, and the driver itself where it is used alone.

    A driver that cannot use a part of the URL raises others when it connects, and sqlite3 one of
    Python where a name in a broken file is not UTF-8.
    """
    others = UNUSABLE if connecting else (UnicodeDecodeError,)
    return (sa.exc.SQLAlchemyError, *_driver_errors(url), *others)


def _driver_errors(url: sa.URL) -> tuple[type[Exception], ...]:
    system = url.get_backend_name()
    if system == "postgresql":
        import psycopg

        return (psycopg.Error,)
    if system in ("mysql", "mariadb"):
        import pymysql

        return (pymysql.MySQLError,)
    if system == "sqlite":
        import sqlite3

        return (sqlite3.Error,)
    return ()
