"""Replace a folder by another, so that at every moment the old or the new one is there.

Linux exchanges two names in one step. Elsewhere there are two renames: the old folder gets a hidden
backup name, then the new one gets its name. A process that is killed between the two leaves no
folder of that name, and `restore` puts the old one back.
"""

from __future__ import annotations

import ctypes
import errno
import os
import shutil
from pathlib import Path

from shoal.errors import BadOutput

_AT_FDCWD, _RENAME_EXCHANGE = -100, 2
_BEFORE = ".shoal-before"


def check_replaceable(path: Path) -> None:
    """Refuse to replace anything but an earlier release: a folder of nothing but Parquet files."""
    if not path.exists():
        return
    strangers = [path] if not path.is_dir() else _strangers(path)
    if strangers:
        raise BadOutput(
            f"the output {path} is there already, and {strangers[0].name} is no Parquet file",
            code="output-not-replaceable",
            hint="only a folder of Parquet files is replaced; choose another, or empty it yourself",
        )


def _strangers(folder: Path) -> list[Path]:
    files = (path for path in folder.rglob("*") if not path.is_dir() or path.is_symlink())
    return sorted(path for path in files if path.suffix != ".parquet" or path.is_symlink())


def restore(path: Path) -> None:
    """Put back the backup that a killed process left, or delete it where the folder is there."""
    aside = _aside(path)
    if aside.exists():
        if path.exists():
            shutil.rmtree(aside)
        else:
            aside.rename(path)


def stepped_aside(folder: Path) -> list[Path]:
    """The paths in a folder of which a killed process left a backup."""
    found = folder.glob(f".*{_BEFORE}")
    return sorted(folder / path.name[1:].removesuffix(_BEFORE) for path in found)


def put_in_place(new: Path, path: Path) -> None:
    """Rename a folder to a path, in place of the folder that is there."""
    if not path.exists():
        new.rename(path)
        return
    if not _exchange(new, path):
        aside = _aside(path)
        path.rename(aside)
        new.rename(path)
        aside.rename(new)
    shutil.rmtree(new)


def _aside(path: Path) -> Path:
    return path.with_name(f".{path.name}{_BEFORE}")


def _exchange(one: Path, other: Path) -> bool:
    """Exchange two names in one step; False where the system or the file system cannot."""
    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if rename is None:
        return False
    names = os.fsencode(one), os.fsencode(other)
    if rename(_AT_FDCWD, names[0], _AT_FDCWD, names[1], _RENAME_EXCHANGE) == 0:
        return True
    number = ctypes.get_errno()
    if number in (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP):
        return False
    raise OSError(number, os.strerror(number))
