"""A folder of Parquet files that nobody can see until it is published."""

from __future__ import annotations

import os
import secrets
import shutil
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from shoal.engines.base import FileOptions, FileTarget, Resources
from shoal.engines.duckdb.partitions import write_folder
from shoal.engines.duckdb.staged import StagedFile, flush_folder, not_published, not_written, umask
from shoal.engines.duckdb.writing import check_names_for
from shoal.engines.leftovers import HIDDEN, owned
from shoal.engines.swap import put_in_place

if TYPE_CHECKING:
    from shoal.engines.duckdb.session import Session
    from shoal.engines.duckdb.source import TableSource


def write_staged(
    target: FileTarget, session: Session, query: str, names: tuple[str, ...]
) -> StagedFile | StagedFolder:
    """Write the columns r0, r1, ... of a query to a staged file, or folder; all of it or nothing.

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
        raise not_written(target, error) from None
    return staged


class StagedFolder:
    """A folder beside the output, which only its owner can look into, published by a rename.

    Inside are the files with the permissions of any new file. An earlier release in its place is
    exchanged with it in one step where the system can (see swap.py).
    """

    def __init__(self, target: FileTarget, resources: Resources = Resources()) -> None:  # noqa: B008
        self._target = target
        self._resources = resources
        self._final = target.path.resolve()
        self.path = self._final.parent / f"{owned(HIDDEN)}{secrets.token_hex(4)}"
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

    def source(self) -> TableSource:
        """The staged files, read with no memory of how they were written."""
        from shoal.engines.duckdb.files import open_files

        options = FileOptions(path=str(self.path), format="parquet")
        name = str(self._target.path)
        return open_files(options, name=name, resources=self._resources, stored=True)

    def publish(self) -> str:
        """Flush it to the disk, open it to those who may look, and put it into place."""
        try:
            for folder, _, files in os.walk(self.path):
                for name in files:
                    _flush(Path(folder, name))
                flush_folder(Path(folder))
            self.path.chmod(0o777 & ~umask())
            put_in_place(self.path, self._final)
            flush_folder(self._final.parent)
        except OSError as error:
            self.discard()
            raise not_published(self._target, error) from None
        return str(self._target.path)

    def discard(self) -> None:
        """Remove it; harmless after publish or when called twice."""
        shutil.rmtree(self.path, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.discard()


def _flush(path: Path) -> None:
    with path.open("rb+") as file:
        os.fsync(file.fileno())
