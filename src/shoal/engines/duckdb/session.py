"""DuckDB as Shoal uses it: one private connection, interruptible, nothing left behind."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import duckdb

from shoal.engines.duckdb.instances import OF_PROCESS, Connected
from shoal.engines.failures import CHANGED, source_changed
from shoal.engines.local_files import FOLDER, owned, sweep_folders, temporary_folder
from shoal.engines.options import Resources
from shoal.engines.process import half_of_memory, run_interruptible
from shoal.errors import BadData, BadOutput, UserError

if TYPE_CHECKING:
    import pyarrow as pa

Answer = TypeVar("Answer")

BATCH = 122_880
"""Records of a batch in a stream: as many as DuckDB puts into a row group."""

LONG = 1.0
"""Seconds after which a query reports its progress."""

MANY_COLUMNS = 500
"""Columns above which the planning of a query is what takes long."""

SLOW_WITH_MANY_COLUMNS = (
    *("column_lifetime", "common_subexpressions", "compressed_materialization"),
    "statistics_propagation",
)
"""Optimizers that compare every column with every other; they change no answer."""

INEXACT = "shoal: an integer that is no double"
"""The message of a query that cannot make doubles of the integers of another file."""

WITH_COMMA = "shoal: a number with a decimal comma"
"""The message of a query that writes decimal commas and meets a text that has one already."""

INFINITE = "shoal: a number that JSON cannot hold"
"""The message of a query that writes JSON and meets an infinite number."""


def identifier(name: str) -> str:
    """A name as SQL writes it, whatever characters it has."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """A text as SQL writes it; a NUL, which DuckDB's parser does not take, is spelled as chr(0)."""
    quoted = "'" + text.replace("'", "''") + "'"
    return "(" + quoted.replace("\0", "' || chr(0) || '") + ")" if "\0" in text else quoted


def _count_progress(connection: duckdb.DuckDBPyConnection) -> None:
    """Let queries say how far they are, and print nothing.

    In a notebook DuckDB refuses both without the package ipywidgets; then nothing is counted.
    """
    with suppress(duckdb.InvalidInputException):
        connection.execute("SET enable_progress_bar = true")
        connection.execute("SET enable_progress_bar_print = false")


class Session:
    """An in-memory DuckDB with a private folder for what it spills, removed by `close`.

    Where no folder is named and the system has none to write to, nothing is spilled. The session
    loads no extension, reads no Python variable, and is free to reorder rows: a query that needs an
    order has an ORDER BY, unless the resources say `in_order`.
    """

    def __init__(self, resources: Resources = Resources()) -> None:  # noqa: B008 frozen
        self.resources = resources
        self._folder = private_folder(resources.spill_folder)
        config: dict[str, str | bool | int] = {
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            "preserve_insertion_order": resources.in_order,
            "python_enable_replacements": False,
        }
        if limit := resources.memory_limit or half_of_memory():
            config["memory_limit"] = f"{limit}B"
        if resources.threads:
            config["threads"] = resources.threads
        self._disabled: set[str] = set()
        self._reusable = True
        spill = "" if self._folder is None else str(self._folder / "spill")
        self._used: Connected | None = OF_PROCESS.connect(config, spill)
        self.connection = self._used.connection
        self.connection.execute("SET TimeZone = 'UTC'")
        _count_progress(self.connection)

    @property
    def folder(self) -> Path:
        """The private folder, for copies that must be files; an error where there is none."""
        if self._folder is None:
            raise no_folder("of the system", "no folder for temporary files can be written")
        return self._folder

    def table(self, query: str) -> pa.Table:
        """The rows of a query as an Arrow table."""
        return self._run(lambda: self.connection.sql(query).to_arrow_table())

    @contextmanager
    def stream(
        self, query: str, names: Sequence[str], batch_size: int = BATCH
    ) -> Iterator[pa.RecordBatchReader]:
        """The rows of a query, batch by batch, under these names; it may be left before its end."""
        rows = self._run(lambda: self.connection.sql(query).to_arrow_reader(batch_size))
        schema = rows.schema.empty_table().rename_columns(list(names)).schema

        def batches() -> Iterator[pa.RecordBatch]:
            while (batch := self._run(lambda: next(rows, None), report=False)) is not None:
                yield batch.rename_columns(list(names))

        try:
            yield type(rows).from_batches(schema, batches())
        finally:
            rows.close()

    def copy(self, statement: str) -> int:
        """Run a COPY ... TO; returns how many records it wrote."""

        def work() -> int:
            row = self.connection.execute(statement).fetchone()
            return int(row[0]) if row else 0

        return self._run(work)

    def execute(self, statement: str) -> None:
        """Run a statement that gives no rows."""
        self._run(lambda: self.connection.execute(statement))

    def distrust_statistics(self) -> None:
        """Ignore the min/max statistics of files.

        Parquet files may hold NaN outside the range that they state, and DuckDB answers isnan() and
        even comparisons of the text from that range alone.
        """
        self._without("statistics_propagation")

    def expect_columns(self, number: int) -> None:
        """Turn off optimizers that would be slow on a table with so many columns.

        Some take time in the square of the columns: with 10,000 of them, a minute for a
        query that runs in a few seconds.
        """
        if number > MANY_COLUMNS:
            self._without(*SLOW_WITH_MANY_COLUMNS)

    def _without(self, *optimizers: str) -> None:
        self._disabled |= set(optimizers)
        names = ",".join(sorted(self._disabled))
        self.connection.execute(f"SET disabled_optimizers = {literal(names)}")

    def types(self, query: str) -> tuple[str, ...]:
        """The type of each column of a query, without running it."""
        return tuple(str(kind) for kind in self._run(lambda: self.connection.sql(query).types))

    def description(self, query: str) -> tuple[tuple[str, str], ...]:
        """The name and the type of each column of a query, without running it."""
        found = self._run(lambda: self.connection.sql(query))
        return tuple(zip(found.columns, map(str, found.types), strict=True))

    def register(self, name: str, table: pa.Table) -> None:
        """Let queries read an Arrow table under a name."""
        self.connection.register(name, table)

    def unregister(self, name: str) -> None:
        """Forget a registered table."""
        self.connection.unregister(name)

    def close(self) -> None:
        """Close the connection and remove the folder; harmless when called twice."""
        used, self._used = self._used, None
        if used is not None and self._reusable:
            OF_PROCESS.give_back(used)
        elif used is not None:
            used.close()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    def _run(self, work: Callable[[], Answer], *, report: bool = True) -> Answer:
        """Run a call so that Ctrl-C can stop it; `report` the progress if it takes long."""
        began = time.monotonic()

        def is_long() -> bool:
            return time.monotonic() - began > LONG

        def poll() -> None:
            if report and is_long():
                self._report_progress()

        kept, self._reusable = self._reusable, False
        answer = run_interruptible(work, self.connection.interrupt, poll=poll)
        self._reusable = kept and not is_long()
        return answer

    def _report_progress(self) -> None:
        """Report the share that is done, where there is a listener and DuckDB knows it."""
        percent = self.connection.query_progress()
        if self.resources.on_progress is not None and 0 <= percent <= 100:
            self.resources.on_progress(percent / 100)


def private_folder(spill_folder: Path | None) -> Path | None:
    """A folder that only its owner can look into; what killed processes left there is removed.

    None where none is named and the system has no folder for temporary files.
    """
    parent = spill_folder or temporary_folder()
    if parent is None:
        return None
    try:
        sweep_folders(parent)
        return Path(tempfile.mkdtemp(prefix=owned(FOLDER), dir=parent))
    except OSError as error:
        raise no_folder(str(spill_folder or "of the system"), str(error.strerror)) from None


def no_folder(which: str, why: str) -> BadOutput:
    """No temporary files can be written."""
    return BadOutput(
        f"the spill folder {which} cannot be used ({why})",
        code="bad-spill-folder",
        hint="name a folder that exists and is writable: engine: {spill folder: /big}"
        " in a definition, --spill-folder /big on the command line; or set TMPDIR",
    )


def disk_full(what: str) -> BadOutput:
    """No space is left for what is written."""
    return BadOutput(
        f"the disk is full: {what}",
        code="disk-full",
        hint="free some space there, or set TMPDIR to a folder on a larger disk",
    )


def explained(error: duckdb.Error, name: str, written: str = "") -> UserError:
    """What a failed query means for the user; DuckDB's own message may quote the data."""
    message = str(error)
    if CHANGED in message:
        return source_changed(name)
    if INEXACT in message:
        return BadData(
            f"a column of {name} has doubles in one file and in another integers so long that"
            " doubles would lose digits",
            code="mixed-types",
            hint="store the column in one type, in all files",
        )
    if WITH_COMMA in message:
        return BadOutput(
            f"{name} has numbers with a decimal comma in texts, which could not be told apart from"
            " those that the output would write with one",
            code="decimal-commas",
            hint='state `decimal: ","` in the source too, or leave it out in the output',
        )
    if INFINITE in message:
        return BadOutput(
            f"{name} has infinite numbers, which JSON cannot hold",
            code="infinite-number",
            hint="write CSV or Parquet, or drop the column",
        )
    spilling = "max_temp_directory_size" in message or "duckdb_temp" in message
    if spilling and isinstance(error, duckdb.IOException | duckdb.OutOfMemoryException):
        return BadOutput(
            f"the spill folder has no space for what of {name} does not fit in memory",
            code="disk-full",
            hint="free some space there, allow more memory, or name a folder on a larger disk:"
            " engine: {memory limit: 8 GB, spill folder: /big}",
        )
    if "No space left" in message or "File too large" in message:
        return disk_full(written or name)
    if isinstance(error, duckdb.OutOfMemoryException):
        return BadData(
            f"{name} needs more memory than DuckDB may use here",
            code="out-of-memory",
            hint="allow more: engine: {memory limit: 8 GB}; or close other programs, or name fewer"
            " quasi-identifiers",
        )
    return BadData(
        f"{name} cannot be read ({type(error).__name__})",
        code="unreadable-data",
        hint="check that the file is whole and of the format its ending says",
    )
