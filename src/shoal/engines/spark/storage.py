"""A folder on any file system that Spark knows, by Hadoop's API: made, moved and removed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

from shoal.engines.local_files import HIDDEN, is_left, replace_folder, restore_folder

if TYPE_CHECKING:
    from shoal.engines.spark.session import Session

Answer = TypeVar("Answer")


class Folder:
    """A path that need not exist yet; errors of Spark are explained.

    `path` is the path with its file system, and `local` the same where it is one of this machine.
    """

    def __init__(self, session: Session, path: str) -> None:
        self._session = session

        def resolved() -> tuple[Any, Any]:
            java = session.jvm.org.apache.hadoop.fs.Path(path)
            settings = session.spark._jsparkSession.sessionState().newHadoopConf()
            system = java.getFileSystem(settings)
            return system, system.makeQualified(java)

        self._system, self._java = session.run(resolved, path)
        self.path = str(self._java.toString())
        is_local = self._system.getScheme() == "file"
        self.local = Path(self._java.toUri().getPath()) if is_local else None

    def beside(self, name: str) -> Self:
        """A path in the same folder."""
        parent = self._java.getParent().toString().rstrip("/")
        return type(self)(self._session, f"{parent}/{name}")

    @property
    def name(self) -> str:
        """The last part of the path."""
        return str(self._java.getName())

    def exists(self) -> bool:
        """Whether there is anything."""
        return bool(self._do(lambda: self._system.exists(self._java)))

    def is_folder(self) -> bool:
        """Whether there is a folder."""
        return self.exists() and bool(
            self._do(lambda: self._system.getFileStatus(self._java).isDirectory())
        )

    def entries(self) -> list[str]:
        """The names in the folder, in their order; without Hadoop's checksum files."""
        found = self._do(lambda: self._system.listStatus(self._java))
        return sorted(str(each.getPath().getName()) for each in found)

    def make_private(self) -> None:
        """Make the folder, and let only its owner look into it."""
        private = self._session.jvm.org.apache.hadoop.fs.permission.FsPermission("700")

        def make() -> None:
            self._system.mkdirs(self._java.getParent())
            self._system.mkdirs(self._java, private)
            self._system.setPermission(self._java, private)

        self._do(make)

    def open_to_others(self) -> None:
        """Give it the permissions that any new folder gets."""
        permission = self._session.jvm.org.apache.hadoop.fs.permission.FsPermission
        umask = permission.getUMask(self._system.getConf())
        usual = permission.getDirDefault().applyUMask(umask)
        self._do(lambda: self._system.setPermission(self._java, usual))

    def rename_entry(self, old: str, new: str) -> None:
        """Give an entry of the folder another name."""
        path = self._session.jvm.org.apache.hadoop.fs.Path
        self._do(lambda: self._system.rename(path(self._java, old), path(self._java, new)))

    def remove(self) -> None:
        """Remove it with all that is in it; harmless when it is not there."""
        self._do(lambda: self._system.delete(self._java, True))

    def remove_checksums(self) -> None:
        """Remove the checksum files that Hadoop keeps on local file systems."""
        for path in self.local.glob(".*.crc") if self.local else ():
            path.unlink()

    def sweep(self) -> None:
        """Remove what killed processes of this host left, undo an unfinished replacement."""
        parent = type(self)(self._session, str(self._java.getParent().toString()))
        for name in parent.entries() if parent.is_folder() else ():
            if is_left(name, HIDDEN):
                self.beside(name).remove()
        if self.local is not None:
            restore_folder(self.local)
        elif self._aside.exists():
            if self.exists():
                self._aside.remove()
            else:
                self._aside._move_to(self)

    def take_the_place_of(self, other: Folder) -> None:
        """Put this folder where another is, or will be.

        One rename, which Hadoop's file systems do in one step (object stores do not). Where a
        folder is replaced, one exchange on this machine; elsewhere two renames, between which there
        is no folder of that name, and `sweep` can undo the first of them.
        """
        if self.local is not None and other.local is not None:
            replace_folder(self.local, other.local)
        elif not other.exists():
            self._move_to(other)
        else:
            other._move_to(other._aside)
            try:
                self._move_to(other)
            except BaseException:
                other._aside._move_to(other)
                raise
            other._aside.remove()

    @property
    def _aside(self) -> Self:
        return self.beside(f".{self.name}.shoal-before")

    def _move_to(self, other: Folder) -> None:
        """Hadoop reports a failed rename by its result, not by an exception."""
        if not self._do(lambda: self._system.rename(self._java, other._java)):
            raise OSError(0, f"{self.name} could not be renamed")

    def _do(self, work: Callable[[], Answer]) -> Answer:
        return self._session.run(work, self.path, self.path)
