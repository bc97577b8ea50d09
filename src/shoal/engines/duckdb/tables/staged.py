"""Releases as tables of DuckDB files: made, verified and published in one transaction.

Until the transaction is committed, nobody can read the file, and the old table is in it: a process
that is killed leaves the file as it was. A file that is not there yet is made in a hidden folder,
and gets its name by a rename when the release is verified.
"""

from __future__ import annotations

import errno
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb

from shoal.engines.base import Staged
from shoal.engines.duckdb.session import Session, explained, identifier
from shoal.engines.duckdb.source import TableSource
from shoal.engines.duckdb.staged import streamed
from shoal.engines.duckdb.tables.attached import Attached, TableName, file_of
from shoal.engines.duckdb.tables.source import DuckDBTable, StoredTable, shown
from shoal.engines.local_files import HIDDEN, is_same_file, owned, umask
from shoal.errors import BadOutput, UserError

if TYPE_CHECKING:
    import pyarrow as pa

    from shoal.engines.base import Recoding, Source
    from shoal.engines.options import DatabaseTarget, Resources

OUTPUT = "shoal_output"
"""The alias of a file that is written, where it is not the file of the source."""


def stage_recoded(source: Source, recoding: Recoding, target: DatabaseTarget) -> StagedTable | None:
    """Recode in one query, into a table; None where DuckDB has not the source."""
    if not isinstance(source, TableSource):
        return None
    file = file_of(target.url)
    if isinstance(source, DuckDBTable) and is_same_file(source.attached.file, file):
        output = _of_source(source, target)
    else:
        output = opened(source.session, target)
    with undone_on_error(output), source.release_query(recoding, (), shown(target)) as (_, query):
        return StagedTable(output, output.make(_renamed(query, recoding.columns)))


def stage_rows(
    target: DatabaseTarget, rows: pa.RecordBatchReader, resources: Resources
) -> StagedTable:
    """Write a stream to a table, in its order."""
    session = Session(replace(resources, in_order=True))
    try:
        output = opened(session, target, session.close)
    except BaseException:
        session.close()
        raise
    with undone_on_error(output):
        query = streamed(session, rows)
        return StagedTable(output, output.make(_renamed(query, rows.schema.names)))


def _renamed(query: str, names: Sequence[str]) -> str:
    """A query whose columns are r0, r1, ... under their real names."""
    columns = ", ".join(f"r{i} AS {identifier(name)}" for i, name in enumerate(names))
    return f"SELECT {columns} FROM ({query})"


@contextmanager
def undone_on_error(output: Output) -> Iterator[None]:
    """Undo an output whose table cannot be made."""
    try:
        yield
    except duckdb.Error as error:
        output.undo()
        raise explained(error, "the release", shown(output.target)) from None
    except BaseException:
        output.undo()
        raise


def opened(
    session: Session, target: DatabaseTarget, release: Callable[[], None] = lambda: None
) -> Output:
    """The file of a target; a new one in a hidden folder that only its owner can look into."""
    file, folder = file_of(target.url), None
    if not file.exists():
        folder = Path(tempfile.mkdtemp(prefix=owned(HIDDEN), dir=file.parent))
    made = Attached(session, folder / file.name if folder else file, OUTPUT, shown(target))
    try:
        made.attach(writable=True)
    except BaseException:
        _remove(folder)
        raise
    return Output(made, target, folder, release).begun()


def _of_source(source: DuckDBTable, target: DatabaseTarget) -> Output:
    """The file of a source, which is open for writing too until the output is closed."""
    source.open_to_write()
    made = replace(source.attached, shown=shown(target))
    return Output(made, target, None, source.open_again).begun()


@dataclass(frozen=True, eq=False)
class Output:
    """The open file of an output, in a transaction; `folder` is the hidden one of a new file.

    `release` is called when the file is closed.
    """

    attached: Attached
    target: DatabaseTarget
    folder: Path | None
    release: Callable[[], None]

    def begun(self) -> Output:
        """Itself, with a transaction that has begun."""
        self.attached.session.execute("BEGIN TRANSACTION")
        return self

    def make(self, query: str) -> str:
        """Make the table of the rows of a query, in their order; returns its name.

        A transaction with an error takes no further statement, so it is ended at once.
        """
        name = self.attached.sql(self._free_name())
        try:
            self.attached.session.execute(f"CREATE OR REPLACE TABLE {name} AS {query}")
        except duckdb.Error:
            self._roll_back()
            raise
        return name

    def keep(self) -> None:
        """Commit, close the file with all that belongs to it, and give a new one its name."""
        self.attached.session.execute("COMMIT")
        self.attached.detach()
        final, made = file_of(self.target.url), self.attached.file
        if self.folder is not None:
            made.chmod(0o666 & ~umask())
            if final.exists():
                raise FileExistsError(errno.EEXIST, "another program made it meanwhile")
            made.rename(final)
            _remove(self.folder)
        self._released()

    def undo(self) -> None:
        """Roll back and close the file; a new one is removed."""
        self._roll_back()
        with suppress(duckdb.Error):
            self.attached.detach()
        _remove(self.folder)
        self._released()

    def _released(self) -> None:
        """What is done by now stays done, whether the source can be read again or not."""
        with suppress(UserError, duckdb.Error):
            self.release()

    def _roll_back(self) -> None:
        with suppress(duckdb.Error):
            self.attached.session.execute("ROLLBACK")

    def _free_name(self) -> TableName:
        """The name to take: free, or that of a table that may be replaced."""
        name = self.attached.meant(self.target.table)
        if self.attached.found(name):
            if not self.target.replace:
                raise BadOutput(
                    f"{shown(self.target)}: the table exists already",
                    code="table-exists",
                    hint="say `replace: true` to replace it, or choose another name",
                )
            if not self.attached.found(name, views=False):
                raise BadOutput(
                    f"the output {shown(self.target)} is a view",
                    code="output-not-a-table",
                    hint="give a name that is free, or that of a table",
                )
        return name


def _remove(folder: Path | None) -> None:
    if folder is not None:
        shutil.rmtree(folder, ignore_errors=True)


class StagedTable(Staged):
    """A table that its transaction alone can see."""

    def __init__(self, output: Output, table: str) -> None:
        self._output = output
        self._table = table
        self._done = False

    def source(self) -> StoredTable:
        """The table, read in its transaction."""
        return StoredTable(self._output.attached, self._table, shown(self._output.target))

    def publish(self) -> str:
        """Commit it, in place of the old table."""
        target = self._output.target
        try:
            self._output.keep()
        except duckdb.Error as error:
            self.discard()
            raise explained(error, shown(target), shown(target)) from None
        except OSError as error:
            self.discard()
            raise BadOutput(
                f"the output {shown(target)} cannot be put in place ({error.strerror})",
                code="output-not-published",
                hint="check that the folder is still there, is writable and has space",
            ) from None
        self._done = True
        return shown(target)

    def discard(self) -> None:
        """Undo it; the old table stays. Harmless after publish or when called twice."""
        if not self._done:
            self._done = True
            self._output.undo()
