"""The private folder of a server: readable for its owner only, used by one server at a time."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from shoal.errors import BadOutput, UserError

LOCK_FILE = "lock"


@dataclass(frozen=True)
class FolderLock:
    """A lock that ends with its process, also when the process is killed."""

    descriptor: int

    def release(self) -> None:
        """Let another server use the folder."""
        os.close(self.descriptor)


def lock_folder(folder: Path) -> FolderLock:
    """Make the folder private and lock it."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.chmod(0o700)
        descriptor = os.open(folder / LOCK_FILE, os.O_CREAT | os.O_RDWR, 0o600)
    except OSError as error:
        raise BadOutput(
            f"the folder {folder} cannot be used: {error.strerror}",
            code="no-permission",
            hint="choose one that belongs to you, with --folder or `folder` in server.toml",
        ) from error
    if not _locked(descriptor):
        os.close(descriptor)
        raise UserError(
            f"another server uses the folder {folder}",
            code="folder-in-use",
            hint="open the address that it has printed, stop it, or choose another folder",
        )
    return FolderLock(descriptor)


def _locked(descriptor: int) -> bool:
    try:
        import fcntl
    except ImportError:
        import msvcrt

        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
        except OSError:
            return False
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
