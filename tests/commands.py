"""The command as a user starts it: a process of its own, with its own streams and exit code."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

SHOAL = [sys.executable, "-m", "shoal"]
TIME_LIMIT = 600.0
"""Seconds that a test waits for a process, a server or a query before it fails.

A healthy run takes seconds. The limit only ends what hangs, so it also holds on a busy machine.
"""


def start(*arguments: str | Path, folder: Path) -> subprocess.Popen[str]:
    """The command, running in a folder, with temporary files of its own beside it."""
    temporary = folder / "tmp"
    temporary.mkdir(exist_ok=True)
    return subprocess.Popen(
        [*SHOAL, *map(str, arguments)],
        cwd=folder,
        env={**os.environ, "TMPDIR": str(temporary)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=_heed_signals,
    )


def _heed_signals() -> None:
    """Tests that run in the background ignore Ctrl-C; the command is not to inherit that."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def shoal(*arguments: str | Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """The command, run to its end."""
    process = start(*arguments, folder=folder)
    output, errors = process.communicate(timeout=TIME_LIMIT)
    return subprocess.CompletedProcess(arguments, process.returncode, output, errors)


def leftovers(folder: Path) -> list[str]:
    """Staged files beside an output, and temporary ones, that a run left behind."""
    temporary = folder / "tmp"
    staged = [path.name for path in folder.glob(".shoal-*")]
    return staged + ([path.name for path in temporary.iterdir()] if temporary.exists() else [])
