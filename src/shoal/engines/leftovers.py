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


def sweep(folder: Path) -> None:
    """Remove what processes of this host left behind that are no longer alive.

    Looks beside an output in `folder`, and where the system keeps temporary files. Both may hold
    records, so nothing of a process that was killed is to stay longer than until the next run.
    """
    _remove(folder, HIDDEN, dead=True)
    _remove(Path(tempfile.gettempdir()), FOLDER, dead=True)


def sweep_own(folder: Path) -> None:
    """Remove what this process itself left behind: for a process that ends after one run."""
    _remove(folder, HIDDEN, dead=False)
    _remove(Path(tempfile.gettempdir()), FOLDER, dead=False)


def _remove(folder: Path, beginning: str, *, dead: bool) -> None:
    pattern = re.compile(rf"{re.escape(beginning)}([0-9]+)-{_host()}-")
    for path in folder.glob(f"{beginning}*"):
        match = pattern.match(path.name)
        if match is None:
            continue
        process = int(match[1])
        if not _alive(process) if dead else process == os.getpid():
            with contextlib.suppress(OSError):
                if path.is_dir() and not path.is_symlink():
                    shutil.rmtree(path)
                else:
                    path.unlink()


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
