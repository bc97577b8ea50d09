"""What becomes of jobs when the server is killed with SIGKILL while they run?

Jobs of distinct data are submitted; then the server is killed, again and again, at odd moments, and
started again. At the end every job must be in a true state: done, with the very release that
`shoal.run` makes of its data, or interrupted, with no file to be had. No worker may outlive its
server. Prints what was found; the exit code is 1 where anything was wrong.

    python -m benchmarks.web_kill --jobs 10 --kills 4
"""

from __future__ import annotations

import argparse
import random
import signal
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from benchmarks.web_server import Server, serving

import shoal
from shoal.errors import ShoalError


def definition_of(columns: str) -> dict[str, Any]:
    """A definition whose search takes the longer the more columns there are."""
    hierarchy = {"intervals": [2, 4, 8, 16, 32, 64]}
    attribute = {"role": "quasi-identifier", "hierarchy": hierarchy}
    return {
        "source": "data.csv",
        "output": "release.csv",
        "k": 3,
        "suppression": "5%",
        "search": {"strategy": "exhaustive"},
        "attributes": dict.fromkeys(columns, attribute),
    }


def data_of(number: int, columns: str, records: int = 300) -> str:
    """Data that no other job has."""
    numbers = random.Random(number)
    rows = [",".join(str(int(numbers.expovariate(0.05))) for _ in columns) for _ in range(records)]
    return ",".join(columns) + "\n" + "\n".join(rows) + "\n"


def expected_of(number: int, columns: str, folder: Path) -> bytes:
    """The release of a job's data."""
    (folder / "data.csv").write_text(data_of(number, columns), encoding="utf-8")
    definition = definition_of(columns)
    paths = {key: str(folder / definition[key]) for key in ("source", "output")}
    shoal.run({**definition, **paths})
    return (folder / "release.csv").read_bytes()


def run(folder: Path, jobs: int, kills: int, columns: str) -> tuple[Counter[str], list[str]]:
    """The number of jobs that ended in each state, and what was wrong."""
    wrong: list[str] = []
    moments = random.Random(7)
    with serving(folder, 1) as server:
        submitted = _submit(server, folder, jobs, columns)
        for _ in range(kills):
            _wait_for_a_running_job(server)
            time.sleep(moments.uniform(0.0, 1.5))
            server.end(signal.SIGKILL)
            wrong += _survivors(server)
            server.start()
        states: Counter[str] = Counter()
        with shoal.Client(server.base, server.tokens[0]) as client:
            for number, job in enumerate(submitted):
                state, release, problem = _end_of(client, job, folder)
                states[state] += 1
                wrong += [f"job {number} {each}" for each in problem]
                if release is not None and release != expected_of(number, columns, folder):
                    wrong.append(f"job {number} has a wrong release")
        running = list((folder / "data" / "jobs" / "running").iterdir())
        wrong += [f"{len(running)} folders of jobs that do not run"] if running else []
    return states, wrong


def _submit(server: Server, folder: Path, jobs: int, columns: str) -> list[str]:
    submitted = []
    with shoal.Client(server.base, server.tokens[0]) as client:
        for number in range(jobs):
            (folder / "data.csv").write_text(data_of(number, columns), encoding="utf-8")
            files = {"data.csv": folder / "data.csv"}
            submitted.append(client.run(definition_of(columns), files).id)
    return submitted


def _wait_for_a_running_job(server: Server) -> None:
    with shoal.Client(server.base, server.tokens[0]) as client:
        while {job["state"] for job in client.jobs()} & {"waiting", "running"} == {"waiting"}:
            time.sleep(0.05)


def _survivors(server: Server) -> list[str]:
    """Workers that are alive some time after their server was killed."""
    limit = time.monotonic() + 5
    while workers := server.workers():
        if time.monotonic() > limit:
            return [f"{len(workers)} workers outlive their server"]
        time.sleep(0.05)
    return []


def _end_of(client: shoal.Client, job_id: str, folder: Path) -> tuple[str, bytes | None, list[str]]:
    """The state that a job ends in, its release, and what is wrong with it."""
    job = client.job(job_id)
    for _ in job.events():
        pass
    state = job.state()
    wrong = [] if state in ("done", "interrupted") else [f"is {state}"]
    try:
        release = job.save_release(folder / "got.csv").read_bytes()
    except ShoalError as error:
        if state == "done" or error.code != "job-interrupted":
            wrong.append(f"is {state}: its release is refused by {error.code}")
        return state, None, wrong
    return state, release, wrong if state == "done" else [*wrong, f"is {state}, but has a release"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=10)
    parser.add_argument("--kills", type=int, default=4)
    parser.add_argument("--columns", default="abcde", help="more columns, longer jobs")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        states, wrong = run(Path(folder), options.jobs, options.kills, options.columns)
    print(f"{options.jobs} jobs, server killed {options.kills} times: {dict(states)}")
    print("\n".join(wrong) or "every job ended in a true state, with its own release or none")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
