"""Temporary files are named by process ID and host, so that later runs delete orphans.

A file is an orphan when its process runs no more. Processes of other hosts are left alone: whether
they run cannot be found out here.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
import re
import shutil
import tempfile
from pathlib import Path

HIDDEN = ".shoal-"
"""Prefix of staged files beside an output."""
FOLDER = "shoal-"
"""Prefix of folders in the system's temporary folder, or in the spill folder."""


def owned(prefix: str) -> str:
    """A prefix with the process ID and the host that the file belongs to."""
    return f"{prefix}{os.getpid()}-{_host()}-"


def temporary_folder() -> Path | None:
    """The system's temporary folder; None where it has none that can be written."""
    try:
        return Path(tempfile.gettempdir())
    except FileNotFoundError:
        return None


def sweep(folder: Path) -> None:
    """Delete orphans in the folder of an output, and in the system's temporary folder.

    Both may hold records, so what a killed process left is deleted by the next run.
    """
    for path in left_in(folder, HIDDEN):
        remove(path)
    if (temporary := temporary_folder()) is not None:
        sweep_folders(temporary)


def sweep_folders(folder: Path) -> None:
    """Delete orphans in a folder that processes spill to."""
    for path in left_in(folder, FOLDER):
        remove(path)


def sweep_own(folder: Path, spill_folder: Path | None = None) -> None:
    """Delete the files of this process itself: for a process that ends after one run."""
    spilled = spill_folder or temporary_folder()
    for where, prefix in ((folder, HIDDEN), (spilled, FOLDER)):
        for path in () if where is None else where.glob(f"{owned(prefix)}*"):
            remove(path)


def left_in(folder: Path, prefix: str, *, every_host: bool = False) -> list[Path]:
    """The orphans of this host in a folder; with `every_host`, all files of other hosts too."""
    named = re.compile(rf"{re.escape(prefix)}[0-9]+-(?!{_host()}-)[0-9a-f]{{8}}-")
    return sorted(
        path
        for path in folder.glob(f"{prefix}*")
        if is_left(path.name, prefix) or (every_host and named.match(path.name))
    )


def remove(path: Path) -> bool:
    """Remove a file, or a folder with all that is in it; whether it is gone."""
    with contextlib.suppress(OSError):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
    return not path.exists()


def is_left(name: str, prefix: str) -> bool:
    """Whether a name with this prefix belongs to a process of this host that runs no more."""
    match = re.match(rf"{re.escape(prefix)}([0-9]+)[-_]{_host()}[-_]", name)
    return match is not None and not _alive(int(match[1]))


def _host() -> str:
    return hashlib.sha256(platform.node().encode()).hexdigest()[:8]


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True
    return True
