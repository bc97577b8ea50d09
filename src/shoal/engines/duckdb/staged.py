"""Staged files and folders: hidden until they are published, deleted if they are not.

A staged output lies beside the output, under a hidden name, readable by its owner alone. The same
folder means the same file system, so one rename publishes it: at every moment the output is the old
one or the new one, whole. Sources that DuckDB has are recoded in one query, others arrive as a
stream. A CSV file with cells that a spreadsheet would run as formulas gets a warning.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import stat
import tempfile
from abc import abstractmethod
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb

from shoal.engines.base import Staged
from shoal.engines.duckdb.files import open_files
from shoal.engines.duckdb.queries import in_order
from shoal.engines.duckdb.relation import SPELLED, with_leading_zero
from shoal.engines.duckdb.session import Session, explained
from shoal.engines.duckdb.source import TableSource
from shoal.engines.duckdb.writing import ESCAPE, check_names_for, layout_of, write
from shoal.engines.formats.parquet import write_folder
from shoal.engines.local_files import (
    HIDDEN,
    check_replaceable,
    owned,
    replace_folder,
    restore_folder,
    sweep,
    umask,
)
from shoal.engines.options import FileOptions, FileTarget, ObjectTarget, Resources, SparkTarget
from shoal.errors import BadOutput
from shoal.values import Caution

if TYPE_CHECKING:
    import pyarrow as pa

    from shoal.engines.base import Recoding, Source
    from shoal.engines.options import Target


def check_file(target: FileTarget) -> None:
    """Refuse, before any long work, a file that could not be written in the end.

    Also removes what killed processes left behind.
    """
    check_layout(target)
    path = target.path
    if target.is_folder:
        restore_folder(path.resolve())
        check_replaceable(path)
    elif path.exists() and not path.is_file():
        raise BadOutput(
            f"the output {path} is not a file",
            code="output-not-a-file",
            hint=f"give a file name, such as {path / 'release.csv'}",
        )
    check_folder(path)


def check_layout(target: FileTarget) -> None:
    """Refuse a format that cannot be written, whatever the place."""
    layout_of(target)
    _check_delimiter(target.delimiter)


def check_folder(path: Path) -> None:
    """Refuse an output in a folder that cannot be written; orphans in it are removed."""
    folder = path.resolve().parent
    if not folder.is_dir():
        raise BadOutput(
            f"the folder {path.parent} of the output {path.name} does not exist",
            code="no-output-folder",
            hint=f"create it (mkdir -p {path.parent}), or choose another output",
        )
    try:
        with tempfile.NamedTemporaryFile(prefix=owned(HIDDEN), dir=folder):
            pass
    except OSError as error:
        raise BadOutput(
            f"the folder {path.parent} of the output {path.name} cannot be written"
            f" ({error.strerror})",
            code="output-folder-not-writable",
            hint="change its permissions, or choose another output",
        ) from None
    sweep(folder)


def _check_delimiter(delimiter: str) -> None:
    if len(delimiter) != 1 or delimiter in '"\n\r\0':
        raise BadOutput(
            f"the output's delimiter {delimiter!r} is not a single character that may separate",
            code="bad-delimiter",
            hint="use ',', ';', '|' or a tab",
        )


def write_staged(
    target: FileTarget, session: Session, query: str, names: tuple[str, ...]
) -> StagedPath:
    """Write the columns r0, r1, ... of a query to a staged file or folder; all of it or nothing.

    The query comes in the order of the output, which has the partition columns first.
    """
    kind = StagedFolder if target.is_folder else StagedFile
    try:
        staged = kind(target, session.resources)
        try:
            staged.write(session, query, names)
        except BaseException:
            staged.discard()
            raise
    except OSError as error:
        raise BadOutput(
            f"the output {target.path} cannot be written ({error.strerror})",
            code="output-not-written",
            hint="check that its folder exists, is writable and has space",
        ) from None
    return staged


class StagedPath(Staged):
    """What a staged file and a staged folder have in common."""

    def __init__(self, target: FileTarget, resources: Resources, ending: str = "") -> None:
        self._target = target
        self._resources = resources
        self._final = target.path.resolve()
        name = f"{owned(HIDDEN)}{secrets.token_hex(4)}{ending}"
        self.path = self._final.parent / name

    @abstractmethod
    def write(self, session: Session, query: str, names: tuple[str, ...]) -> None:
        """Write the columns r0, r1, ... of a query, in its order, under these names."""

    @abstractmethod
    def options(self) -> FileOptions:
        """How it is read again."""

    @abstractmethod
    def put_in_place(self) -> None:
        """Flush it to the disk, give it the usual permissions, and rename it into place."""

    def source(self) -> TableSource:
        """What is staged, opened afresh from the disk."""
        name = str(self._target.path)
        return open_files(self.options(), name=name, resources=self._resources, stored=True)

    def publish(self) -> str:
        """Put it in place; the rename itself is flushed to the disk too."""
        try:
            self.put_in_place()
            _flush_folder(self._final.parent)
        except OSError as error:
            self.discard()
            raise BadOutput(
                f"the output {self._target.path} cannot be put in place ({error.strerror})",
                code="output-not-published",
                hint="check that the folder is still there, is writable and has space",
            ) from None
        return str(self._target.path)


class StagedFile(StagedPath):
    """A file, published by one rename."""

    def __init__(self, target: FileTarget, resources: Resources = Resources()) -> None:  # noqa: B008
        self._layout = layout_of(target)
        super().__init__(target, resources, self._layout.ending)
        os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))

    def write(self, session: Session, query: str, names: tuple[str, ...]) -> None:
        """Write the columns r0, r1, ... of a query, in its order, under these names."""
        check_names_for(self._layout.kind, names)
        write(session, query, names, self.path, self._layout)

    def options(self) -> FileOptions:
        """The layout in which it was written."""
        kind = self._layout.kind.removesuffix(" lines")
        return self._target.read_back(self.path, kind, is_csv=kind == "csv")

    def put_in_place(self) -> None:
        """Flush it, give it the permissions of the file it replaces, and rename it."""
        _flush(self.path)
        self.path.chmod(self._mode())
        self.path.replace(self._final)

    def discard(self) -> None:
        """Remove it; harmless after publish or when called twice."""
        self.path.unlink(missing_ok=True)

    def _mode(self) -> int:
        """The permissions of the file it replaces, or those any new file gets."""
        with contextlib.suppress(FileNotFoundError):
            return stat.S_IMODE(self._final.stat().st_mode)
        return 0o666 & ~umask()


class StagedFolder(StagedPath):
    """A folder of Parquet files, published by a rename.

    The files in it have the permissions of any new file. An earlier release in its place is
    exchanged with it in one step where the system can (see `local_files.replace_folder`).
    """

    def __init__(self, target: FileTarget, resources: Resources = Resources()) -> None:  # noqa: B008
        super().__init__(target, resources)
        self.path.mkdir(mode=0o700)

    def write(self, session: Session, query: str, names: tuple[str, ...]) -> None:
        """Write the columns r0, r1, ... of a query, in its order, under these names.

        The order has the partition columns first.
        """
        check_names_for("parquet", names)
        columns = [
            f"CAST(r{i} AS VARCHAR) AS r{i}" if name in self._target.partition_by else f"r{i}"
            for i, name in enumerate(names)
        ]
        with session.stream(f"SELECT {', '.join(columns)} FROM ({query})", names) as rows:
            write_folder(rows, self.path, self._target)

    def options(self) -> FileOptions:
        """All Parquet files below it."""
        return FileOptions(path=str(self.path), format="parquet")

    def put_in_place(self) -> None:
        """Flush all files and folders, open it to others, and exchange it with what was there."""
        for folder, _, files in os.walk(self.path):
            for name in files:
                _flush(Path(folder, name))
            _flush_folder(Path(folder))
        self.path.chmod(0o777 & ~umask())
        replace_folder(self.path, self._final)

    def discard(self) -> None:
        """Remove it; harmless after publish or when called twice."""
        shutil.rmtree(self.path, ignore_errors=True)


def _flush(path: Path) -> None:
    with path.open("rb+") as file:
        os.fsync(file.fileno())


def _flush_folder(folder: Path) -> None:
    """Make renames in a folder durable, where the system can."""
    if hasattr(os, "O_DIRECTORY"):
        handle = os.open(folder, os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def stage_text(text: str, path: Path, what: str) -> StagedFile:
    """A text in a file that nobody sees before it is published; `what` is what messages call it."""
    staged = StagedFile(FileTarget(path, format="json"))
    try:
        staged.path.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        staged.discard()
        raise BadOutput(
            f"cannot write {what} {path}: {error.strerror}",
            code="cannot-write",
            hint="see that the folder is writable and has space",
        ) from None
    return staged


def stage_recoded(source: Source, recoding: Recoding, target: FileTarget) -> StagedPath | None:
    """Recode in one query, into a staged file or folder; None where DuckDB has not the source."""
    return stage_source(source, recoding, target) if isinstance(source, TableSource) else None


def stage_source(source: TableSource, recoding: Recoding, target: FileTarget) -> StagedPath:
    """Recode a source of DuckDB's in one query, into a staged file or folder."""
    written = f"the output {target.path}"
    with source.release_query(recoding, target.partition_by, written) as (session, query):
        return write_staged(target, session, query, recoding.columns)


def stage_rows(target: FileTarget, rows: pa.RecordBatchReader, resources: Resources) -> StagedPath:
    """Write a stream to a staged file, in its order, the same bytes as for a source of DuckDB's.

    Where the target has partitions, DuckDB brings the records of each one together first.
    """
    names = tuple(rows.schema.names)
    with closing(Session(replace(resources, in_order=True))) as session:
        try:
            query = streamed(session, rows)
            if target.partition_by:
                query += f" {in_order(names, session.types(query), target.partition_by)}"
            return write_staged(target, session, query, names)
        except duckdb.Error as error:
            raise explained(error, "the release", f"the output {target.path}") from None


def streamed(session: Session, rows: pa.RecordBatchReader) -> str:
    """A query of the session for a stream as r0, r1, ..., in types that every file can hold."""
    columns = [f"r{i}" for i in range(len(rows.schema.names))]
    schema = rows.schema.empty_table().rename_columns(columns).schema
    renamed = (batch.rename_columns(columns) for batch in rows)
    session.register("shoal_stream", type(rows).from_batches(schema, renamed))
    types = session.types(f"SELECT {', '.join(columns)} FROM shoal_stream")
    selected = ", ".join(
        f"CAST({column} AS VARCHAR) AS {column}"
        if kind in SPELLED
        else f"{with_leading_zero(column, kind)} AS {column}"
        for column, kind in zip(columns, types, strict=True)
    )
    return f"SELECT {selected} FROM shoal_stream"


def formula_cautions(target: Target | None, written: Source) -> tuple[Caution, ...]:
    """The columns of CSV files that have formulas in them, with the number of records."""
    if isinstance(target, ObjectTarget):
        target = target.file()
    if isinstance(target, FileTarget):
        is_csv = layout_of(target).kind == "csv" and target.formulas != ESCAPE
        remedy = "say `formulas: escape` in the output to make them text"
    else:
        is_csv = isinstance(target, SparkTarget) and _is_csv_folder(target)
        remedy = "release to a CSV file with `formulas: escape` to make them text"
    found = written.count_formulas() if is_csv else {}
    return tuple(_caution(name, number, remedy) for name, number in found.items())


def _is_csv_folder(target: SparkTarget) -> bool:
    by_ending = target.name.lower().endswith(".csv")
    return target.format == "csv" or (target.format is None and by_ending)


def _caution(name: str, records: int, remedy: str) -> Caution:
    text = f"{records:,} cells of {name!r} would be run as formulas by a spreadsheet; {remedy}"
    return Caution("formula-cells", name, text, records)
