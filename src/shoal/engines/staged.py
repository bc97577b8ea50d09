"""Outputs that nobody can see until they are published, and that are gone when they are not."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
import tempfile
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from shoal.engines.base import FileOptions, FileTarget
from shoal.engines.leftovers import HIDDEN, owned, sweep
from shoal.engines.writing import format_of
from shoal.errors import BadOutput

if TYPE_CHECKING:
    import pyarrow as pa

    from shoal.engines.table import TableSource

_ENDINGS = {"csv": ".csv", "parquet": ".parquet", "json": ".json", "lines": ".jsonl"}


def check_target(target: FileTarget) -> None:
    """Refuse, before any long work, a file that could not be written in the end.

    Also removes what killed processes left behind.
    """
    format_of(target)
    _check_delimiter(target.delimiter)
    path, folder = target.path, target.path.resolve().parent
    if path.exists() and not path.is_file():
        raise BadOutput(
            f"the output {path} is not a file",
            code="output-not-a-file",
            hint=f"give a file name, such as {path / 'release.csv'}",
        )
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


class StagedFile:
    """A file in the output's own folder, readable by its owner alone, published by one rename.

    The same folder means the same file system, so the rename is atomic: at every moment the output
    is the old one or the new one, whole.
    """

    def __init__(self, target: FileTarget) -> None:
        self._target = target
        self._final = target.path.resolve()
        self.kind = format_of(target)
        name = f"{owned(HIDDEN)}{secrets.token_hex(4)}{_ENDINGS[self.kind]}"
        self.path = self._final.parent / name
        os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))

    def source(self) -> TableSource:
        """The staged file, read with no memory of how it was written."""
        from shoal.engines.files import open_files

        is_csv = self.kind == "csv"
        options = FileOptions(
            path=str(self.path),
            format="json" if self.kind == "lines" else self.kind,
            delimiter=self._target.delimiter if is_csv else None,
            quote='"' if is_csv else None,
            header=True if is_csv else None,
        )
        return open_files(options, name=str(self._target.path))

    def publish(self) -> str:
        """Flush it to the disk, give it the usual permissions, and rename it into place."""
        try:
            with self.path.open("rb+") as file:
                os.fsync(file.fileno())
            self.path.chmod(self._mode())
            self.path.replace(self._final)
            _flush_folder(self._final.parent)
        except OSError as error:
            self.discard()
            raise BadOutput(
                f"the output {self._target.path} cannot be put in place ({error.strerror})",
                code="output-not-published",
                hint="see that the folder is still there, is writable and has space",
            ) from None
        return str(self._target.path)

    def discard(self) -> None:
        """Remove it; harmless after publish or when called twice."""
        self.path.unlink(missing_ok=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.discard()

    def _mode(self) -> int:
        """The permissions of the file it replaces, or those any new file gets.

        The umask can only be read by setting it; for that moment it is the strictest one.
        """
        with contextlib.suppress(FileNotFoundError):
            return stat.S_IMODE(self._final.stat().st_mode)
        umask = os.umask(0o777)
        os.umask(umask)
        return 0o666 & ~umask


class StagedTable:
    """A recoded table in memory."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table

    def table(self) -> pa.Table:
        """The recoded table."""
        return self._table

    def source(self) -> TableSource:
        """The table, to be counted afresh."""
        from shoal.engines.frame import open_frame

        return open_frame(self._table)

    def publish(self) -> str:
        """Nothing to put in place: the caller takes `table()`."""
        return "memory"

    def discard(self) -> None:
        """Forget the records."""
        self._table = self._table.slice(0, 0)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.discard()


def _check_delimiter(delimiter: str) -> None:
    if len(delimiter) != 1 or delimiter in '"\n\r\0':
        raise BadOutput(
            f"the output's delimiter {delimiter!r} is not a single character that may separate",
            code="bad-delimiter",
            hint="use ',', ';', '|' or a tab",
        )


def _flush_folder(folder: Path) -> None:
    """Make the rename itself durable, where the system can."""
    if hasattr(os, "O_DIRECTORY"):
        handle = os.open(folder, os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
