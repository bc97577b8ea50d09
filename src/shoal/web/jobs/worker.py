"""A worker: one process that does one job and ends.

It reads its arguments from `arguments.json` in its folder, writes its files to `files/`, and at the
end the result to `result.json`. What it says on its socket, a JSON message a line:
    {"event": name, "data": {...}}
    {"done": true}  or  {"problem": {...}, "where": "..."}
The server publishes the folder only after the first of these two.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import tempfile
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.errors import Bug, Interrupted, ShoalError
from shoal.events import Phase, Stopped
from shoal.web import tasks
from shoal.web.jobs import limits
from shoal.web.jobs.events import Thinned
from shoal.web.jobs.model import Context
from shoal.web.places import without_places
from shoal.web.problems import problem_of

if TYPE_CHECKING:
    from shoal.events import Event

ARGUMENTS, FILES, RESULT, TEMPORARY = "arguments.json", "files", "result.json", "tmp"


class Stop:
    """The signal with which a user stops a search and keeps its best.

    It raises KeyboardInterrupt. A library that calls back into Python may swallow that, so the next
    event raises it again, until the search says that it has stopped. Nothing can be stopped from
    the moment a release is published.
    """

    def __init__(self) -> None:
        self._pending = False
        signal.signal(signal.SIGINT, self._raise)

    def _raise(self, *_: object) -> None:
        self._pending = True
        raise KeyboardInterrupt

    def watch(self, observe: Callable[[Event], None]) -> Callable[[Event], None]:
        """Observe events, and raise what was swallowed."""

        def watched(event: Event) -> None:
            if isinstance(event, Stopped):
                self._pending = False
            if self._pending:
                raise KeyboardInterrupt
            if isinstance(event, Stopped) or event == Phase("publish"):
                self.ignore()
            observe(event)

        return watched

    @staticmethod
    def ignore() -> None:
        """Let the signal do nothing from now on."""
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def work(message: Mapping[str, Any], channel: socket.socket) -> None:
    """Do the job of a message of the server, and say how it ended."""
    folder = Path(message["folder"])
    out = channel.makefile("w", encoding="utf-8")

    def send(**said: Any) -> None:
        out.write(json.dumps(said) + "\n")
        out.flush()

    _seclude(folder, message["memory"])
    stop = Stop()
    try:
        _run(message, folder, lambda name, data: send(event=name, data=data), stop)
        stop.ignore()
        send(done=True)
    except BaseException as error:
        stop.ignore()
        where = "".join(traceback.format_tb(error.__traceback__))
        problem = without_places(problem_of(_explained(error)), _arguments(folder))
        send(problem=problem, where=where)
    finally:
        with contextlib.suppress(OSError):
            out.close()


def _run(
    message: Mapping[str, Any],
    folder: Path,
    say: Callable[[str, Mapping[str, Any]], None],
    stop: Stop,
) -> None:
    arguments = _arguments(folder)
    context = Context(folder / FILES, stop.watch(Thinned(say)), say, message["memory"])
    result = tasks.find(message["task"])(arguments, context)
    text = json.dumps(result, ensure_ascii=False, allow_nan=False)
    (folder / RESULT).write_text(text, encoding="utf-8")


def _arguments(folder: Path) -> Any:
    return json.loads((folder / ARGUMENTS).read_text(encoding="utf-8"))


def _seclude(folder: Path, memory: int) -> None:
    """Give the process its own temporary folder and memory limit, and no terminal."""
    os.chdir(folder / FILES)
    os.environ["TMPDIR"] = tempfile.tempdir = str(folder / TEMPORARY)
    os.environ["SHOAL_MEMORY"] = str(memory)
    nothing = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nothing, standard)


def _explained(error: BaseException) -> ShoalError:
    """The error in words. That of a bug names its class only: its message may hold data."""
    if isinstance(error, ShoalError):
        return error
    if isinstance(error, KeyboardInterrupt):
        return Interrupted("interrupted; nothing was released", code="interrupted")
    if isinstance(error, MemoryError):
        return limits.too_large()
    what = f"internal error ({type(error).__name__}); nothing was released"
    return Bug(what, code="bug", hint="report it, without data")
