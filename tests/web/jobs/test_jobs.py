"""Jobs run in processes of their own, within limits, and end in a true state."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import time
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any, TypeVar

import pytest

from shoal.errors import BadDefinition, Infeasible, ShoalError
from shoal.web.jobs.model import Job
from shoal.web.jobs.queue import Jobs, NotDone, TooManyJobs
from shoal.web.refusals import NotFound
from shoal.web.settings import Limits
from shoal.web.store import Store

pytestmark = pytest.mark.slow

Start = Callable[..., Jobs]
Result = TypeVar("Result")


def started(folder: Path, **limits: Any) -> Jobs:
    jobs = Jobs(Store(folder / "store.sqlite"), folder / "jobs", Limits(**limits))
    jobs.start()
    return jobs


@pytest.fixture(scope="module")
def jobs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Jobs]:
    """One server's jobs for the tests that only add some."""
    with closing(started(tmp_path_factory.mktemp("server"))) as jobs:
        yield jobs


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Start jobs in this test's own folder, as a server does."""
    with ExitStack() as stack:

        def begin(**limits: Any) -> Jobs:
            return stack.enter_context(closing(started(tmp_path, **limits)))

        yield begin


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A definition that takes no time."""
    source = tmp_path_factory.mktemp("quick") / "people.csv"
    rows = [f"{age},{zip_}" for age in ("30", "40") for zip_ in ("10115", "10117", "10119")]
    source.write_text("age,zip\n" + "\n".join(rows * 3) + "\n", encoding="utf-8")
    return definition_of(source, {"age": {"intervals": [10]}, "zip": {"mask": 5}})


@pytest.fixture(scope="module")
def slow(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A definition whose search takes much longer than a test."""
    source = tmp_path_factory.mktemp("slow") / "numbers.csv"
    names = [f"c{number}" for number in range(7)]
    numbers = random.Random(7)
    rows = [",".join(str(int(numbers.expovariate(0.05))) for _ in names) for _ in range(1000)]
    source.write_text(",".join(names) + "\n" + "\n".join(rows) + "\n", encoding="utf-8")
    widths = {"intervals": [2, 4, 8, 16, 32, 64, 128, 512]}
    definition = definition_of(source, dict.fromkeys(names, widths))
    return {**definition, "suppression": "5%", "search": {"strategy": "exhaustive"}}


def definition_of(source: Path, hierarchies: dict[str, Any]) -> dict[str, Any]:
    attributes = {
        name: {"role": "quasi-identifier", "hierarchy": hierarchy}
        for name, hierarchy in hierarchies.items()
    }
    return {"source": str(source), "output": "release.csv", "k": 3, "attributes": attributes}


def ended(jobs: Jobs, job: Job) -> Job:
    return run(jobs.finished(job.id, job.owner))


def run(coroutine: Coroutine[Any, Any, Result]) -> Result:
    """Run a coroutine in a thread of its own: this one may have a loop of a browser."""
    with ThreadPoolExecutor(1) as threads:
        return threads.submit(asyncio.run, asyncio.wait_for(coroutine, 60)).result()


def until(jobs: Jobs, job: Job, event: str) -> None:
    """Wait for an event of a job."""

    async def follow() -> None:
        async for each in jobs.follow(job.id, job.owner):
            if each.name == event:
                return
        raise AssertionError(f"{event} did not come")

    run(follow())


def submit(jobs: Jobs, definition: dict[str, Any], owner: str = "ada") -> Job:
    return jobs.submit("release", arguments_of(definition), owner=owner)


def arguments_of(definition: dict[str, Any]) -> dict[str, Any]:
    names = {"report": "report.html", "result": "result.json", "transformation": "plan.json"}
    layout = {"file": "definition", "mapping": definition}
    return {"layout": layout, "names": names, "definitions": {}, "command": ""}


def error_of(jobs: Jobs, job: Job) -> ShoalError:
    with pytest.raises(ShoalError) as caught:
        jobs.result(job.id, job.owner)
    return caught.value


def worker_of(folder: Path) -> int:
    """The process that works in a folder."""
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if (process / "cwd").readlink().is_relative_to(folder / "jobs" / "running"):
                return int(process.name)
        except OSError:
            continue
    raise AssertionError("nobody works there")


def test_a_job_publishes_its_release_and_its_result_when_it_is_done(
    jobs: Jobs, quick: dict[str, Any]
) -> None:
    job = ended(jobs, submit(jobs, quick))
    assert job.state == "done"
    assert job.problem is None
    result = jobs.result(job.id, "ada")
    assert (result["result"]["status"], result["files"]["release"]) == ("optimal", "release.csv")
    files = {path.name for path in jobs.folder(job.id, "ada").iterdir()}
    assert files == {"release.csv", "report.html", "result.json", "plan.json"}


def test_events_are_numbered_from_one_and_can_be_followed_from_any_of_them(
    jobs: Jobs, quick: dict[str, Any]
) -> None:
    job = submit(jobs, quick)

    async def follow(after: int) -> list[int]:
        return [event.number async for event in jobs.follow(job.id, "ada", after)]

    numbers = run(follow(0))
    assert numbers == list(range(1, len(numbers) + 1))
    assert run(follow(3)) == numbers[3:]
    events = jobs.events(job.id, "ada")
    assert [event.number for event in events] == numbers
    assert (events[-1].name, events[-1].data) == ("state", {"state": "done"})


def test_another_user_sees_no_job_and_cannot_tell_it_from_an_unknown_one(
    jobs: Jobs, quick: dict[str, Any]
) -> None:
    job = ended(jobs, submit(jobs, quick))
    assert jobs.of("eve") == []
    for ask in (jobs.get, jobs.cancel, jobs.stop, jobs.events, jobs.result, jobs.folder):
        with pytest.raises(NotFound) as others:
            ask(job.id, "eve")
        with pytest.raises(NotFound) as unknown:
            ask("0" * 32, "eve")
        assert str(others.value) == str(unknown.value)
    assert jobs.get(job.id, "ada").state == "done"


def test_the_error_of_a_job_is_that_of_the_command_line(jobs: Jobs, quick: dict[str, Any]) -> None:
    wrong = ended(jobs, submit(jobs, {**quick, "k": "many"}))
    assert wrong.state == "failed"
    error = error_of(jobs, wrong)
    assert isinstance(error, BadDefinition)
    assert [mistake.key for mistake in error.mistakes] == ["k"]
    impossible = ended(jobs, submit(jobs, {**quick, "k": 1000}))
    assert isinstance(error_of(jobs, impossible), Infeasible)


def test_a_cancelled_job_ends_at_once_and_leaves_nothing(
    start: Start, slow: dict[str, Any], tmp_path: Path
) -> None:
    jobs = start()
    job = submit(jobs, slow)
    until(jobs, job, "improved")
    worker = worker_of(tmp_path)
    assert jobs.cancel(job.id, "ada").state == "cancelled"
    assert error_of(jobs, job).code == "job-cancelled"
    wait_for(lambda: not Path(f"/proc/{worker}").exists())
    wait_for(lambda: list((tmp_path / "jobs" / "running").iterdir()) == [])
    assert list((tmp_path / "jobs" / "done").iterdir()) == []


def test_a_stopped_job_releases_the_best_that_it_found(jobs: Jobs, slow: dict[str, Any]) -> None:
    job = submit(jobs, slow)
    until(jobs, job, "improved")
    jobs.stop(job.id, "ada")
    assert ended(jobs, job).state == "done"
    assert jobs.result(job.id, "ada")["result"]["status"] == "feasible"


def test_a_job_that_takes_too_long_is_ended(start: Start, slow: dict[str, Any]) -> None:
    jobs = start(job_seconds=2)
    job = ended(jobs, submit(jobs, slow))
    assert (job.state, error_of(jobs, job).code) == ("failed", "job-too-long")


def test_a_job_that_takes_too_much_memory_is_ended(start: Start, slow: dict[str, Any]) -> None:
    jobs = start(job_memory=64 * 2**20)
    job = ended(jobs, submit(jobs, slow))
    assert (job.state, error_of(jobs, job).code) == ("failed", "job-too-large")


def test_a_worker_that_crashes_fails_its_job_alone(
    start: Start, slow: dict[str, Any], quick: dict[str, Any], tmp_path: Path
) -> None:
    jobs = start()
    job = submit(jobs, slow)
    until(jobs, job, "improved")
    os.kill(worker_of(tmp_path), signal.SIGSEGV)
    assert ended(jobs, job).state == "failed"
    assert error_of(jobs, job).code == "job-crashed"
    assert ended(jobs, submit(jobs, quick)).state == "done"


def test_when_the_warm_process_dies_its_jobs_are_begun_again(
    start: Start, slow: dict[str, Any], tmp_path: Path
) -> None:
    jobs = start()
    job = submit(jobs, slow)
    until(jobs, job, "improved")
    first = worker_of(tmp_path)
    status = Path(f"/proc/{first}/status").read_text(encoding="utf-8")
    parent = int(status.partition("PPid:\t")[2].split()[0])
    os.kill(parent, signal.SIGKILL)
    wait_for(lambda: not Path(f"/proc/{first}").exists())
    wait_for(lambda: {"state": "waiting", "resumed": True} in states(jobs, job))
    wait_for(lambda: jobs.get(job.id, "ada").state == "running")
    assert jobs.cancel(job.id, "ada").state == "cancelled"


def states(jobs: Jobs, job: Job) -> list[dict[str, Any]]:
    return [dict(event.data) for event in jobs.events(job.id, job.owner) if event.name == "state"]


def test_users_take_turns_and_nobody_has_more_jobs_than_allowed(
    start: Start, slow: dict[str, Any], quick: dict[str, Any]
) -> None:
    jobs = start(jobs_at_once=1, jobs_per_user=3)
    first = submit(jobs, slow)
    until(jobs, first, "phase")
    greedy = [submit(jobs, quick) for _ in range(2)]
    with pytest.raises(TooManyJobs):
        submit(jobs, quick)
    modest = submit(jobs, quick, "eve")
    with pytest.raises(NotDone):
        jobs.result(modest.id, "eve")
    jobs.cancel(first.id, "ada")
    began = [ended(jobs, job).started or 0.0 for job in (modest, *greedy)]
    assert began == sorted(began)


def test_after_a_restart_a_running_job_is_begun_again_once_and_waiting_ones_go_on(
    start: Start, slow: dict[str, Any], quick: dict[str, Any], tmp_path: Path
) -> None:
    jobs = start(jobs_at_once=1)
    running, waiting = submit(jobs, slow), submit(jobs, quick)
    once = jobs.submit("release", arguments_of(quick), owner="ada", resumable=False)
    until(jobs, running, "phase")
    jobs.close()
    jobs = start(jobs_at_once=1)
    wait_for(lambda: jobs.get(running.id, "ada").state == "running")
    assert jobs.get(waiting.id, "ada").state == "waiting"
    jobs.close()
    jobs = start(jobs_at_once=1)
    assert jobs.get(running.id, "ada").state == "interrupted"
    assert error_of(jobs, running).code == "job-interrupted"
    assert ended(jobs, waiting).state == "done"
    assert ended(jobs, once).state == "done"


def test_a_job_that_must_not_run_twice_is_interrupted_by_a_restart(
    start: Start, slow: dict[str, Any]
) -> None:
    jobs = start()
    job = jobs.submit("release", arguments_of(slow), owner="ada", resumable=False)
    until(jobs, job, "phase")
    jobs.close()
    assert start().get(job.id, "ada").state == "interrupted"


def test_a_job_whose_folder_was_published_before_a_crash_is_done(
    start: Start, quick: dict[str, Any], tmp_path: Path
) -> None:
    jobs = start()
    job = ended(jobs, submit(jobs, quick))
    jobs.close()
    store = Store(tmp_path / "store.sqlite")
    store.write("UPDATE jobs SET state = 'running', ended = NULL WHERE id = ?", (job.id,))
    store.close()
    jobs = start()
    assert jobs.get(job.id, "ada").state == "done"
    assert jobs.result(job.id, "ada")["result"]["status"] == "optimal"


def test_the_jobs_of_a_project_are_forgotten_with_it(
    start: Start, quick: dict[str, Any], slow: dict[str, Any], tmp_path: Path
) -> None:
    jobs = start()
    kept = ended(jobs, submit(jobs, quick))
    gone = [
        jobs.submit("release", arguments_of(each), owner="ada", project="p")
        for each in (quick, slow)
    ]
    ended(jobs, gone[0])
    until(jobs, gone[1], "phase")
    jobs.forget("p", "eve")
    assert len(jobs.of("ada", project="p")) == 2
    jobs.forget("p", "ada")
    assert [job.id for job in jobs.of("ada")] == [kept.id]
    wait_for(lambda: list((tmp_path / "jobs" / "running").iterdir()) == [])
    assert [path.name for path in (tmp_path / "jobs" / "done").iterdir()] == [kept.id]


def test_jobs_are_deleted_with_their_files_after_a_set_time(
    start: Start, quick: dict[str, Any], tmp_path: Path
) -> None:
    jobs = start()
    job = ended(jobs, submit(jobs, quick))
    jobs.close()
    time.sleep(0.1)
    jobs = start(keep_seconds=0)
    wait_for(lambda: jobs.of("ada") == [])
    wait_for(lambda: list((tmp_path / "jobs" / "done").iterdir()) == [])
    with pytest.raises(NotFound):
        jobs.get(job.id, "ada")


def wait_for(holds: Callable[[], bool]) -> None:
    limit = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < limit
        time.sleep(0.02)
