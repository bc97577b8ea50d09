"""`Jobs`: what pages and the API use. Every method that names a job checks its owner, here only."""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import signal
import threading
import time
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.errors import MissingExtra, rebuilt
from shoal.web import tasks
from shoal.web.jobs import limits
from shoal.web.jobs.model import Job, JobEvent
from shoal.web.jobs.runner import Runner
from shoal.web.jobs.table import JobTable
from shoal.web.jobs.worker import FILES, RESULT
from shoal.web.problems import problem_of
from shoal.web.refusals import NotFound, Refusal

if TYPE_CHECKING:
    from shoal.web.settings import Limits
    from shoal.web.store import Store


class NotDone(Refusal):
    """The job has no result yet."""

    status = 409

    def __init__(self, state: str) -> None:
        what = f"the job is {state}: it has no result yet"
        super().__init__(what, code="job-not-done", hint="wait until it is done")


class TooManyJobs(Refusal):
    """The user has as many unfinished jobs as one may have."""

    status = 429

    def __init__(self, most: int) -> None:
        what = f"you have {most} jobs that have not ended, which is as many as one user may have"
        super().__init__(what, code="too-many-jobs", hint="wait for one to end, or cancel one")


def no_such_job() -> NotFound:
    """The job is unknown, deleted, or another user's."""
    return NotFound("there is no such job", "list your jobs to see what there is")


class Jobs:
    """The jobs of all users. `start` runs them until `close`."""

    def __init__(self, store: Store, folder: Path, allowed: Limits) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._limits = allowed
        self._table = JobTable(store)
        self._waiters = _Waiters()
        self._runner = Runner(self._table, folder, allowed, self._waiters.notify)

    def start(self) -> None:
        """Take up what an earlier server left, and begin to run jobs."""
        if not hasattr(os, "fork"):
            raise MissingExtra(
                "this system cannot run jobs",
                code="missing-driver",
                hint="run the server on Linux or macOS; on Windows, in WSL",
            )
        self._runner.recover()
        self._runner.start()

    def close(self) -> None:
        """End all workers; what was running or waiting goes on after the next start."""
        if self._runner.is_alive():
            self._runner.close()

    def is_running(self) -> bool:
        """Whether jobs are run."""
        return self._runner.is_alive()

    def submit(
        self,
        task: str,
        arguments: Mapping[str, Any],
        *,
        owner: str,
        project: str | None = None,
        resumable: bool = True,
    ) -> Job:
        """Put a job in the queue.

        After a restart of the server it is begun again, unless it is not `resumable` because doing
        it twice would do harm.
        """
        if not tasks.exists(task):
            raise LookupError(f"there is no task {task!r}")
        text = json.dumps(arguments)
        id = secrets.token_hex(16)
        job = Job(id, owner, project, task, "waiting", time.time(), None, None, {}, None)
        most = self._limits.jobs_per_user
        if not self._table.add(job, text, resumable=resumable, most=most):
            raise TooManyJobs(most)
        self._runner.wake()
        return job

    def get(self, id: str, owner: str) -> Job:
        """The job; NotFound is the same for unknown ids and for those of others."""
        job = self._table.get(id, owner)
        if job is None:
            raise no_such_job()
        return job

    def of(self, owner: str, *, project: str | None = None, most: int | None = None) -> list[Job]:
        """The jobs of a user, the newest first: all, or so many."""
        return self._table.of(owner, project, -1 if most is None else most)

    def cancel(self, id: str, owner: str) -> Job:
        """End the job without a result; one that has ended stays as it is."""
        self.get(id, owner)
        problem = problem_of(limits.cancelled())
        for before in ("waiting", "running"):
            if self._table.change(id, before, "cancelled", problem):
                self._table.say(id, [("state", {"state": "cancelled"})])
                self._runner.send(id, signal.SIGKILL)
                self._waiters.notify(id)
        return self.get(id, owner)

    def stop(self, id: str, owner: str) -> Job:
        """Let the search of a running job end and keep its best."""
        job = self.get(id, owner)
        if job.state == "running":
            self._runner.send(id, signal.SIGINT)
        return job

    def events(self, id: str, owner: str, after: int = 0) -> list[JobEvent]:
        """The events so far with a greater number than `after`."""
        self.get(id, owner)
        return self._table.events(id, after)

    async def follow(self, id: str, owner: str, after: int = 0) -> AsyncIterator[JobEvent]:
        """Each event as it comes, until the job has ended."""
        with self._waiters.of(id) as changed:
            while True:
                changed.clear()
                ended = self.get(id, owner).has_ended
                for event in self._table.events(id, after):
                    after = event.number
                    yield event
                if ended:
                    return
                await changed.wait()

    async def finished(self, id: str, owner: str) -> Job:
        """Wait until the job has ended."""
        with self._waiters.of(id) as changed:
            while not (job := self.get(id, owner)).has_ended:
                await changed.wait()
                changed.clear()
        return job

    def result(self, id: str, owner: str) -> Any:
        """What the task returned; the job's problem as an error where it failed."""
        try:
            text = (self._published(id, owner) / RESULT).read_text(encoding="utf-8")
        except FileNotFoundError:
            raise no_such_job() from None
        return json.loads(text)

    def folder(self, id: str, owner: str) -> Path:
        """The files of a job that is done."""
        return self._published(id, owner) / FILES

    def arguments(self, id: str, owner: str) -> Any:
        """What the job was submitted with."""
        self.get(id, owner)
        return json.loads(self._table.arguments(id))

    def forget(self, project: str, owner: str) -> None:
        """Cancel and delete the jobs of a project, with their files."""
        for job in self.of(owner, project=project):
            self.cancel(job.id, owner)
            self._runner.delete(job.id)

    def counts(self) -> dict[str, int]:
        """How many jobs there are in each state, of all users."""
        return self._table.counts()

    def _published(self, id: str, owner: str) -> Path:
        job = self.get(id, owner)
        if job.problem is not None:
            raise rebuilt(job.problem)
        if job.state != "done":
            raise NotDone(job.state)
        return self._runner.published(id)


class _Waiters:
    """Coroutines that wait for something to happen in a job, told from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: dict[str, set[_Waiter]] = {}

    def of(self, id: str) -> _Waiter:
        """An event for the running coroutine; it is known while its context lasts."""
        return _Waiter(self, id)

    def notify(self, id: str) -> None:
        """Wake all who wait for this job."""
        with self._lock:
            waiting = tuple(self._waiting.get(id, ()))
        for waiter in waiting:
            waiter.set_from_any_thread()

    def add(self, id: str, waiter: _Waiter) -> None:
        with self._lock:
            self._waiting.setdefault(id, set()).add(waiter)

    def remove(self, id: str, waiter: _Waiter) -> None:
        with self._lock:
            self._waiting[id].discard(waiter)
            if not self._waiting[id]:
                del self._waiting[id]


class _Waiter:
    """One coroutine that waits."""

    def __init__(self, waiters: _Waiters, id: str) -> None:
        self._waiters, self._id = waiters, id
        self._loop = asyncio.get_running_loop()
        self._event = asyncio.Event()

    def __enter__(self) -> asyncio.Event:
        self._waiters.add(self._id, self)
        return self._event

    def __exit__(self, *_: object) -> None:
        self._waiters.remove(self._id, self)

    def set_from_any_thread(self) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._event.set)
