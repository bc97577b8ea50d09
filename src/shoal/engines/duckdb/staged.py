"""Outputs that nobody can see until they are published, and that are gone when they are not."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
import tempfile
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from shoal.engines.base import FileOptions, FileTarget, Resources
from shoal.engines.duckdb.writing import check_names_for, layout_of, write
from shoal.engines.leftovers import HIDDEN, owned, sweep
from shoal.engines.swap import check_replaceable, restore
from shoal.errors import BadOutput

if TYPE_CHECKING:
    from shoal.engines.duckdb.session import Session
    from shoal.engines.duckdb.source import TableSource


def check_file(target: FileTarget) -> None:
    """Refuse, before any long work, a file that could not be written in the end.

    Also removes what killed processes left behind.
    """
    layout_of(target)
    _check_delimiter(target.delimiter)
    path, folder = target.path, target.path.resolve().parent
    if target.is_folder:
        restore(path.resolve())
        check_replaceable(path)
    elif path.exists() and not path.is_file():
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

    def __init__(self, target: FileTarget, resources: Resources = Resources()) -> None:  # noqa: B008
        self._target = target
        self._resources = resources
        self._final = target.path.resolve()
        self._layout = layout_of(target)
        name = f"{owned(HIDDEN)}{secrets.token_hex(4)}{self._layout.ending}"
        self.path = self._final.parent / name
        os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))

    def write(self, session: Session, query: str, names: tuple[str, ...]) -> None:
        """Write the columns r0, r1, ... of a query, in its order, under these names."""
        check_names_for(self._layout.kind, names)
        write(session, query, names, self.path, self._layout)

    def source(self) -> TableSource:
        """The staged file, read with no memory of how it was written."""
        from shoal.engines.duckdb.files import open_files

        is_csv = self._layout.kind == "csv"
        options = FileOptions(
            path=str(self.path),
            format="json" if self._layout.kind == "json lines" else self._layout.kind,
            delimiter=self._target.delimiter if is_csv else None,
            quote='"' if is_csv else None,
            header=True if is_csv else None,
            formulas=self._layout.formulas,
            options=self._layout.options,
        )
        name = str(self._target.path)
        return open_files(options, name=name, resources=self._resources, stored=True)

    def publish(self) -> str:
        """Flush it to the disk, give it the usual permissions, and rename it into place."""
        try:
            with self.path.open("rb+") as file:
                os.fsync(file.fileno())
            self.path.chmod(self._mode())
            self.path.replace(self._final)
            flush_folder(self._final.parent)
        except OSError as error:
            self.discard()
            raise not_published(self._target, error) from None
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
        """The permissions of the file it replaces, or those any new file gets."""
        with contextlib.suppress(FileNotFoundError):
            return stat.S_IMODE(self._final.stat().st_mode)
        return 0o666 & ~umask()


class StagedTable:
    """A release in memory: an Arrow table, or the kind of frame that the caller gave.

    What is counted is the very object that the caller gets in the end.
    """

    def __init__(self, frame: Any, resources: Resources = Resources()) -> None:  # noqa: B008
        self._frame = frame
        self._resources = resources

    def frame(self) -> Any:
        """The release."""
        return self._frame

    def source(self) -> TableSource:
        """The release, to be counted afresh."""
        from shoal.engines.frames.source import open_frame

        return open_frame(self._frame, resources=self._resources, stored=True)

    def publish(self) -> str:
        """Nothing to put in place: the caller takes `frame()`."""
        return "memory"

    def discard(self) -> None:
        """Forget the records."""
        self._frame = self._frame[:0]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.discard()


def not_written(target: FileTarget, error: OSError) -> BadOutput:
    """What a failed write means for the user."""
    return BadOutput(
        f"the output {target.path} cannot be written ({error.strerror})",
        code="output-not-written",
        hint="see that its folder exists, is writable and has space",
    )


def not_published(target: FileTarget, error: OSError) -> BadOutput:
    """What a failed rename means for the user."""
    return BadOutput(
        f"the output {target.path} cannot be put in place ({error.strerror})",
        code="output-not-published",
        hint="see that the folder is still there, is writable and has space",
    )


def umask() -> int:
    """What new files lack; it can only be read by setting it, for that moment to the strictest."""
    mask = os.umask(0o777)
    os.umask(mask)
    return mask


def _check_delimiter(delimiter: str) -> None:
    if len(delimiter) != 1 or delimiter in '"\n\r\0':
        raise BadOutput(
            f"the output's delimiter {delimiter!r} is not a single character that may separate",
            code="bad-delimiter",
            hint="use ',', ';', '|' or a tab",
        )


def flush_folder(folder: Path) -> None:
    """Make the rename itself durable, where the system can."""
    if hasattr(os, "O_DIRECTORY"):
        handle = os.open(folder, os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
