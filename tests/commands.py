"""The command as a user starts it: a process of its own, with its own streams and exit code."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import prefork

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


def shoal(
    *arguments: str | Path, folder: Path, kill_after: float | None = None, answer: bytes = b""
) -> subprocess.CompletedProcess[str]:
    """The command, run to its end in a fork that has imported everything already.

    If it takes more seconds than `kill_after` it is killed, and its exit code is -9. Its standard
    input is `answer`.
    """
    return _run_fork(*map(str, arguments), folder=folder, kill_after=kill_after, answer=answer)


def python(code: str, *, folder: Path) -> subprocess.CompletedProcess[str]:
    """Python code, run to its end in a fork that has imported everything already."""
    return _run_fork(folder=folder, code=code)


def _run_fork(
    *arguments: str,
    folder: Path,
    kill_after: float | None = None,
    answer: bytes = b"",
    code: str | None = None,
) -> subprocess.CompletedProcess[str]:
    temporary = folder / "tmp"
    temporary.mkdir(exist_ok=True)
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        with tempfile.TemporaryFile() as typed:
            typed.write(answer)
            typed.seek(0)
            exit_code = prefork.run(
                arguments,
                code=code,
                folder=folder,
                environment={**os.environ, "TMPDIR": str(temporary)},
                streams=[typed.fileno(), output.fileno(), errors.fileno()],
                seconds=TIME_LIMIT,
                kill_after=kill_after,
            )
        output.seek(0)
        errors.seek(0)
        said = output.read().decode(), errors.read().decode()
    return subprocess.CompletedProcess(arguments, exit_code, *said)


def leftovers(folder: Path) -> list[str]:
    """Staged files beside an output, and temporary ones, that a run left behind."""
    temporary = folder / "tmp"
    staged = [path.name for path in folder.glob(".shoal-*")]
    return staged + ([path.name for path in temporary.iterdir()] if temporary.exists() else [])
