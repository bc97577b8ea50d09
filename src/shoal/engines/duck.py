"""DuckDB as Shoal uses it: one private connection, interruptible, nothing left behind."""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import duckdb

from shoal.engines.leftovers import FOLDER, owned
from shoal.errors import BadData, BadOutput, UserError

if TYPE_CHECKING:
    import pyarrow as pa

Answer = TypeVar("Answer")

CHANGED = "shoal: a value that was not counted"
"""What a recoding query says through DuckDB's error() when it meets a value nobody counted."""


def identifier(name: str) -> str:
    """A name as SQL writes it, whatever characters it has."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """A text as SQL writes it; a NUL, which DuckDB's parser does not take, is spelled as chr(0)."""
    quoted = "'" + text.replace("'", "''") + "'"
    return "(" + quoted.replace("\0", "' || chr(0) || '") + ")" if "\0" in text else quoted


def half_of_memory() -> int | None:
    """Half of the machine's memory in bytes, None where the system does not tell."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    except (AttributeError, ValueError, OSError):
        return None


class Session:
    """An in-memory DuckDB with a private folder for what it spills, removed by `close`.

    It loads no extension from anywhere, looks at no Python variable, and is free to reorder rows:
    a query that needs an order says so.
    """

    def __init__(self, memory_limit: int | None = None, threads: int | None = None) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix=owned(FOLDER)))
        config: dict[str, str | bool | int | float | list[str]] = {
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            "preserve_insertion_order": False,
            "python_enable_replacements": False,
            "temp_directory": str(self.folder / "spill"),
        }
        if limit := memory_limit or half_of_memory():
            config["memory_limit"] = f"{limit}B"
        if threads:
            config["threads"] = threads
        self.connection = duckdb.connect(config=config)

    def table(self, query: str) -> pa.Table:
        """The rows of a query as an Arrow table."""
        return self._attend(lambda: self.connection.sql(query).to_arrow_table())

    def copy(self, statement: str) -> int:
        """Run a COPY ... TO; returns how many records it wrote."""

        def work() -> int:
            row = self.connection.execute(statement).fetchone()
            return int(row[0]) if row else 0

        return self._attend(work)

    def types(self, query: str) -> tuple[str, ...]:
        """The type of each column of a query, without running it."""
        return tuple(str(kind) for kind in self._attend(lambda: self.connection.sql(query).types))

    def register(self, name: str, table: pa.Table) -> None:
        """Let queries read an Arrow table under a name."""
        self.connection.register(name, table)

    def unregister(self, name: str) -> None:
        """Forget a registered table."""
        self.connection.unregister(name)

    def close(self) -> None:
        """Close the connection and remove the folder; harmless when called twice."""
        self.connection.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _attend(self, work: Callable[[], Answer]) -> Answer:
        """Do the work in a thread, so that Ctrl-C reaches this one and can stop the query.

        DuckDB does not look for signals while a query runs. When this thread is interrupted, it
        tells the connection so until the query has ended, and only then lets the interrupt go on:
        no query outlives the call that began it.
        """
        answers: list[Answer] = []
        failures: list[BaseException] = []
        done = threading.Event()

        def run() -> None:
            try:
                answers.append(work())
            except BaseException as error:
                failures.append(error)
            finally:
                done.set()

        threading.Thread(target=run, name="shoal-query").start()
        try:
            while not done.wait(0.2):
                pass
        except BaseException:
            while not done.wait(0.02):
                self.connection.interrupt()
            raise
        if failures:
            raise failures[0]
        return answers[0]


def explained(error: duckdb.Error, name: str, written: str = "") -> UserError:
    """What a failed query means for the user, without DuckDB's words: those may quote the data."""
    message = str(error)
    if CHANGED in message:
        return BadData(
            f"{name} has values now that it did not have when it was counted",
            code="source-changed",
            hint="the source changed while it was read; run again when nobody writes to it",
        )
    if "No space left" in message or "max_temp_directory_size" in message:
        return BadOutput(
            f"the disk is full: {written or name}",
            code="disk-full",
            hint="free some space there, or set TMPDIR to a folder on a larger disk",
        )
    if isinstance(error, duckdb.OutOfMemoryException):
        return BadData(
            f"{name} needs more memory than DuckDB may use here",
            code="out-of-memory",
            hint="close other programs, or name fewer quasi-identifiers",
        )
    return BadData(
        f"{name} cannot be read ({type(error).__name__})",
        code="unreadable-data",
        hint="see that the file is whole and of the format its ending says",
    )
