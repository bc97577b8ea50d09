"""The process that workers are forked from: it has imported everything they need.

The server starts one such process, the fork server, with `spawn`. For every job it forks a fresh
worker, which takes milliseconds, and no worker ever sees the data of another job. It has no threads
of its own, so forking it is safe; the server, which has many, is never forked.

It talks with the server over one socket, a JSON message a line:
    {"start": id, "folder": ..., "task": ..., "memory": ...}  with the worker's socket attached
    {"signal": id, "number": 9}
    {"ready": true} and {"started": id, "pid": ...} and {"ended": id, "status": ...} come back.
When the socket closes, because the server ended or was killed, the fork server kills its workers
and ends. When the fork server itself is killed, the kernel kills its workers (PR_SET_PDEATHSIG).
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib
import json
import os
import resource
import select
import signal
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa

from shoal.search.compiled.library import is_compiled
from shoal.web import tasks
from shoal.web.jobs.worker import work

LONGEST = 65_536
"""The most bytes that are read at a time."""
PR_SET_PDEATHSIG = 1
LOADED = (
    "shoal.pipeline",
    "shoal.analysis.before_after",
    "shoal.analysis.frontier",
    "shoal.analysis.lattice",
    "shoal.analysis.solutions",
    "shoal.analysis.utility",
    "shoal.definition.write",
    "shoal.engines.duckdb.session",
    "shoal.report.run",
    "shoal.search.compiled.layout",
    "shoal.search.compiled.pool",
    "shoal.search.strategies.box",
)
"""Modules that most tasks need."""


class ForkServer:
    """Forks workers, reports their ends, and passes signals on to them."""

    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._pids: dict[str, int] = {}
        self._sockets: list[int] = []
        self._unread = b""

    def serve(self) -> None:
        """Work until the server's end of the socket closes."""
        woken, wake = os.pipe()
        os.set_blocking(woken, False)
        os.set_blocking(wake, False)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        try:
            self._send({"ready": True})
            while True:
                ready, _, _ = select.select([self._control.fileno(), woken], [], [])
                if woken in ready:
                    with contextlib.suppress(BlockingIOError):
                        os.read(woken, 4096)
                    self._reap()
                if self._control.fileno() in ready and not self._obey():
                    return
        except (BrokenPipeError, ConnectionResetError):
            return
        finally:
            for pid in self._pids.values():
                _kill(pid, signal.SIGKILL)

    def _obey(self) -> bool:
        """Do what the server says; False when it has gone.

        The socket of a worker comes with the line that starts it, or before the line is complete.
        """
        part, sockets, _, _ = socket.recv_fds(self._control, LONGEST, 16)
        if not part:
            return False
        self._sockets += sockets
        *lines, self._unread = (self._unread + part).split(b"\n")
        for line in lines:
            message = json.loads(line)
            if "start" in message:
                self._start(message, self._sockets.pop(0))
            elif message["signal"] in self._pids:
                _kill(self._pids[message["signal"]], message["number"])
        return True

    def _start(self, message: dict[str, Any], fd: int) -> None:
        pid = self._fork(lambda: work(message, socket.socket(fileno=fd)))
        os.close(fd)
        self._pids[message["start"]] = pid
        self._send({"started": message["start"], "pid": pid})

    def _fork(self, do: Callable[[], None]) -> int:
        """Do something in a forked process, after cutting what ties it to the fork server."""
        parent = os.getpid()
        pid = os.fork()
        if pid != 0:
            return pid
        status = 1
        try:
            if sys.platform == "linux":
                ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() != parent:
                os._exit(1)
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            os.setsid()
            os.nice(5)
            self._control.close()
            with contextlib.suppress(OSError):
                Path("/proc/self/oom_score_adj").write_text("1000", encoding="ascii")
            do()
            status = 0
        finally:
            os._exit(status)

    def _reap(self) -> None:
        """Report every worker that has ended."""
        for job, pid in list(self._pids.items()):
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended:
                del self._pids[job]
                self._send({"ended": job, "status": os.waitstatus_to_exitcode(status)})

    def _send(self, message: dict[str, Any]) -> None:
        self._control.sendall(json.dumps(message).encode() + b"\n")


def _kill(pid: int, number: int) -> None:
    """Send a signal; one that kills goes to all processes that the worker has started, too."""
    with contextlib.suppress(ProcessLookupError):
        if number == signal.SIGKILL:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(pid, number)
        os.kill(pid, number)


def load_everything() -> None:
    """Import what tasks need and load the compiled search; no thread is started."""
    for name in LOADED:
        importlib.import_module(name)
    for name in tasks.names():
        with contextlib.suppress(ImportError):  # its jobs say what is missing
            tasks.find(name)
    is_compiled()
    pa.array([""])  # imports pandas, where it is installed


def main() -> None:
    """Load everything, then serve on the socket whose number is the argument."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.umask(0o077)
    load_everything()
    gc.collect()
    gc.freeze()
    try:
        ForkServer(socket.socket(fileno=int(sys.argv[1]))).serve()
    finally:
        os._exit(0)


if __name__ == "__main__":
    main()
