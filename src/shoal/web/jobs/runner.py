"""The thread that runs jobs: it starts workers, reads what they say, and watches their limits.

Only this thread talks with the fork server. It sleeps in `select` until a worker, the fork server
or `wake` has something for it, and looks at memory and time twice a second.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import selectors
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.web.jobs import limits
from shoal.web.jobs.worker import ARGUMENTS, FILES, TEMPORARY
from shoal.web.problems import problem_of

if TYPE_CHECKING:
    from shoal.errors import ShoalError
    from shoal.web.jobs.table import JobTable, Order
    from shoal.web.settings import Limits

LOG = logging.getLogger("shoal.web.jobs")
ATTEMPTS = 2
"""How often a job is begun before it is called interrupted."""
TICK, SWEEP = 0.5, 60.0
"""Seconds between looks at limits, and between looks for jobs to delete."""
PASSED_ON = ("PATH", "HOME", "LANG", "LC_ALL", "TZ", "PYTHONPATH", "SHOAL_LIBRARY", "JAVA_HOME")
"""The variables of the environment that workers get; no other one, so no secret of the server."""


@dataclass(eq=False)
class Running:
    """A job that a worker works on."""

    order: Order
    folder: Path
    channel: socket.socket
    began: float
    pid: int | None = None
    unread: bytes = b""
    outcome: dict[str, Any] | None = None
    killed: ShoalError | None = None
    said: list[tuple[str, dict[str, Any]]] = field(default_factory=list)


class Runner(threading.Thread):
    """Runs waiting jobs, at most `jobs_at_once` at a time, until `close`."""

    def __init__(
        self, table: JobTable, folder: Path, allowed: Limits, changed: Callable[[str], None]
    ) -> None:
        super().__init__(name="shoal-jobs", daemon=True)
        self._table, self._limits, self._changed = table, allowed, changed
        self._working, self._done = folder / "running", folder / "done"
        self._running: dict[str, Running] = {}
        self._requests: deque[tuple[str, int]] = deque()
        self._selector = selectors.DefaultSelector()
        self._woken, self._wake = os.pipe()
        os.set_blocking(self._woken, False)
        os.set_blocking(self._wake, False)
        self._closing = False
        self._fork_server: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._ready = False
        self._heard = b""

    def published(self, id: str) -> Path:
        """Where the folder of a job that is done is."""
        return self._done / id

    def wake(self) -> None:
        """Look at once whether there is something to do; any thread may call it."""
        with contextlib.suppress(BlockingIOError):  # then it is awake already
            os.write(self._wake, b"!")

    def send(self, id: str, number: int) -> None:
        """Send a signal to the worker of a job, where it has one; any thread may call it."""
        self._requests.append((id, number))
        self.wake()

    def close(self) -> None:
        """End the thread and all workers. Jobs that are running go on after the next start."""
        self._closing = True
        self.wake()
        self.join()

    def delete(self, id: str) -> None:
        """Delete a job that has ended, with its files; any thread may call it."""
        self._table.delete(id)
        shutil.rmtree(self.published(id), ignore_errors=True)

    def recover(self) -> None:
        """Give every job that was running when the server ended a true state.

        One whose folder was published is done. One that was begun too often, or that must not be
        done twice, is interrupted; any other one waits again.
        """
        for folder in (self._working, self._done):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for order in self._table.running():
            if self.published(order.id).exists():
                self._end(order.id, "done")
            else:
                self._lose(order)
        known = self._table.ids()
        leftovers = [each for each in self._done.iterdir() if each.name not in known]
        for leftover in (*self._working.iterdir(), *leftovers):
            shutil.rmtree(leftover, ignore_errors=True)

    def run(self) -> None:
        """The thread itself."""
        self._selector.register(self._woken, selectors.EVENT_READ, self._drain_wake)
        next_tick = next_sweep = 0.0
        try:
            while not self._closing:
                try:
                    if self._fork_server is None:
                        self._start_fork_server()
                    for key, _ in self._selector.select(TICK):
                        key.data()
                    self._pass_signals()
                    now = time.monotonic()
                    if now >= next_tick:
                        next_tick = now + TICK
                        self._watch(now)
                    if now >= next_sweep:
                        next_sweep = now + SWEEP
                        self._sweep()
                    self._dispatch()
                except Exception:
                    LOG.exception("the job runner failed and goes on")
                    time.sleep(TICK)
        finally:
            self._stop_fork_server()

    # The fork server

    def _start_fork_server(self) -> None:
        ours, theirs = socket.socketpair()
        environment = {key: os.environ[key] for key in PASSED_ON if key in os.environ}
        environment["OPENBLAS_NUM_THREADS"] = "1"
        self._fork_server = subprocess.Popen(  # noqa: S603 no word of it comes from a client
            [sys.executable, "-m", "shoal.web.jobs.fork_server", str(theirs.fileno())],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            pass_fds=[theirs.fileno()],
            env=environment,
            start_new_session=True,
        )
        theirs.close()
        self._control, self._ready, self._heard = ours, False, b""
        self._selector.register(ours, selectors.EVENT_READ, self._read_fork_server)

    def _stop_fork_server(self) -> None:
        """Close the fork server's socket: it kills its workers and ends."""
        if self._control is not None:
            self._selector.unregister(self._control)
            self._control.close()
            self._control = None
        if self._fork_server is not None:
            try:
                self._fork_server.wait(5)
            except subprocess.TimeoutExpired:
                self._fork_server.kill()
                self._fork_server.wait()
            self._fork_server = None
        for running in self._running.values():
            self._forget_channel(running)
            running.channel.close()
            shutil.rmtree(running.folder, ignore_errors=True)
        self._running.clear()

    def _read_fork_server(self) -> None:
        packet = b""
        with contextlib.suppress(ConnectionResetError):
            packet = self._control.recv(65_536) if self._control is not None else b""
        if not packet:
            self._fork_server_ended()
            return
        *lines, self._heard = (self._heard + packet).split(b"\n")
        for line in lines:
            self._heed(json.loads(line))

    def _heed(self, message: dict[str, Any]) -> None:
        """Take note of what the fork server says."""
        if "ready" in message:
            self._ready = True
        elif "started" in message:
            if (running := self._running.get(message["started"])) is not None:
                running.pid = message["pid"]
        elif (ended := self._running.pop(message["ended"], None)) is not None:
            self._finish(ended)

    def _fork_server_ended(self) -> None:
        """Its workers died with it: begin their jobs again, as after a restart."""
        LOG.error("the process that workers are forked from has ended; starting another")
        lost = [running.order for running in self._running.values()]
        self._stop_fork_server()
        for order in lost:
            self._lose(order)
        time.sleep(TICK)

    def _send_to_fork_server(self, message: dict[str, Any], *fds: int) -> None:
        if self._control is not None:
            line = json.dumps(message).encode() + b"\n"
            socket.send_fds(self._control, [line], list(fds))

    # Jobs

    def _dispatch(self) -> None:
        """Start waiting jobs while there is room."""
        while self._ready and len(self._running) < self._limits.jobs_at_once:
            order = self._table.next_order()
            if order is None:
                return
            self._start(order)

    def _start(self, order: Order) -> None:
        folder = self._working / f"{order.id}-{order.attempt}"
        shutil.rmtree(folder, ignore_errors=True)
        for each in (folder, folder / FILES, folder / TEMPORARY):
            each.mkdir(mode=0o700)
        (folder / ARGUMENTS).write_text(order.arguments, encoding="utf-8")
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        running = Running(order, folder, ours, time.monotonic())
        self._running[order.id] = running
        self._selector.register(ours, selectors.EVENT_READ, lambda: self._hear(running))
        message = {
            "start": order.id,
            "folder": str(folder),
            "task": order.task,
            "memory": self._limits.job_memory,
        }
        self._send_to_fork_server(message, theirs.fileno())
        theirs.close()
        self._say(order.id, [("state", {"state": "running"})])

    def _hear(self, running: Running) -> bool:
        """Read what a worker says; False at the end of what it said."""
        try:
            part = running.channel.recv(1 << 20)
        except BlockingIOError:
            return False
        except ConnectionResetError:
            part = b""
        *lines, running.unread = (running.unread + part).split(b"\n")
        for line in lines:
            message = json.loads(line)
            if "event" in message:
                running.said.append((message["event"], message["data"]))
            else:
                running.outcome = message
        if running.said:
            said, running.said = running.said, []
            self._say(running.order.id, said)
        if not part:
            self._forget_channel(running)
        return bool(part)

    def _forget_channel(self, running: Running) -> None:
        if running.channel in self._selector.get_map():
            self._selector.unregister(running.channel)

    def _finish(self, running: Running) -> None:
        """The worker has ended: read the rest, then publish its folder or say why not."""
        while self._hear(running):
            pass
        self._forget_channel(running)
        running.channel.close()
        id, outcome = running.order.id, running.outcome or {}
        if running.killed is not None:
            self._end(id, "failed", problem_of(running.killed))
        elif "done" in outcome:
            self._publish(running)
        elif "problem" in outcome:
            problem = outcome["problem"]
            if problem["code"] == "bug":
                LOG.error("job %s: %s\n%s", id, problem["title"], outcome["where"])
            self._end(id, "cancelled" if problem["code"] == "interrupted" else "failed", problem)
        else:
            self._end(id, "failed", problem_of(limits.crashed()))
        shutil.rmtree(running.folder, ignore_errors=True)

    def _publish(self, running: Running) -> None:
        """Give the folder its final name in one step, then say that the job is done.

        After a crash between the two, `recover` finds the folder and says it.
        """
        shutil.rmtree(running.folder / TEMPORARY, ignore_errors=True)
        (running.folder / ARGUMENTS).unlink()
        running.folder.rename(self.published(running.order.id))
        if not self._end(running.order.id, "done"):
            shutil.rmtree(self.published(running.order.id), ignore_errors=True)

    def _end(self, id: str, state: str, problem: dict[str, Any] | None = None) -> bool:
        """Change the state of a running job; False where the user cancelled it before."""
        if not self._table.change(id, "running", state, problem):
            return False
        self._say(id, [("state", {"state": state})])
        return True

    def _lose(self, order: Order) -> None:
        """A job whose worker is gone without an outcome waits again, once."""
        if order.resumable and order.attempt < ATTEMPTS:
            if self._table.change(order.id, "running", "waiting"):
                self._say(order.id, [("state", {"state": "waiting", "resumed": True})])
        else:
            self._end(order.id, "interrupted", problem_of(limits.lost()))

    def _say(self, id: str, said: list[tuple[str, dict[str, Any]]]) -> None:
        self._table.say(id, said)
        self._changed(id)

    # Watching

    def _pass_signals(self) -> None:
        while self._requests:
            id, number = self._requests.popleft()
            if id in self._running:
                self._send_to_fork_server({"signal": id, "number": number})

    def _watch(self, now: float) -> None:
        """Kill the workers that take too much memory or time."""
        for running in self._running.values():
            if running.killed is not None or running.pid is None:
                continue
            if limits.resident_with_children(running.pid) > self._limits.job_memory:
                running.killed = limits.too_large()
            elif now - running.began > self._limits.job_seconds:
                running.killed = limits.too_long(self._limits.job_seconds)
            else:
                continue
            self._send_to_fork_server({"signal": running.order.id, "number": int(signal.SIGKILL)})

    def _sweep(self) -> None:
        """Delete the jobs that ended long ago, with their files."""
        for id in self._table.ended_before(time.time() - self._limits.keep_seconds):
            self.delete(id)

    def _drain_wake(self) -> None:
        os.read(self._woken, 4096)
