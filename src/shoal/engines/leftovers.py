"""Temporary files say whose they are, so that those of the dead can be removed by the living."""

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
"""How the name of a file begins that waits beside an output."""
FOLDER = "shoal-"
"""How the name of a folder begins that lies where the system keeps temporary files."""


def owned(beginning: str) -> str:
    """The beginning of a name, with the process and the host that it belongs to."""
    return f"{beginning}{os.getpid()}-{_host()}-"


def temporary_folder() -> Path | None:
    """Where the system keeps temporary files; None where it has no such folder to write to."""
    try:
        return Path(tempfile.gettempdir())
    except FileNotFoundError:
        return None


def sweep(folder: Path) -> None:
    """Remove what processes of this host left behind that are no longer alive.

    Looks beside an output in `folder`, and where the system keeps temporary files. Both may hold
    records, so nothing of a process that was killed is to stay longer than until the next run.
    """
    for path in left_in(folder, HIDDEN):
        remove(path)
    if (temporary := temporary_folder()) is not None:
        sweep_folders(temporary)


def sweep_folders(folder: Path) -> None:
    """Remove what dead processes of this host spilled to a folder."""
    for path in left_in(folder, FOLDER):
        remove(path)


def sweep_own(folder: Path, spill_folder: Path | None = None) -> None:
    """Remove what this process itself left behind: for a process that ends after one run."""
    spilled = spill_folder or temporary_folder()
    for place, beginning in ((folder, HIDDEN), (spilled, FOLDER)):
        for path in () if place is None else place.glob(f"{owned(beginning)}*"):
            remove(path)


def left_in(folder: Path, beginning: str, *, every_host: bool = False) -> list[Path]:
    """What dead processes of this host left in a folder, or those of other hosts too.

    Nobody can tell from here whether a process of another host is alive.
    """
    named = re.compile(rf"{re.escape(beginning)}[0-9]+-(?!{_host()}-)[0-9a-f]{{8}}-")
    return sorted(
        path
        for path in folder.glob(f"{beginning}*")
        if is_left(path.name, beginning) or (every_host and named.match(path.name))
    )


def remove(path: Path) -> bool:
    """Remove a file, or a folder with all that is in it; whether it is gone."""
    with contextlib.suppress(OSError):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
    return not path.exists()


def is_left(name: str, beginning: str) -> bool:
    """Whether a name with this beginning belongs to a process of this host that is gone."""
    match = re.match(rf"{re.escape(beginning)}([0-9]+)[-_]{_host()}[-_]", name)
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
