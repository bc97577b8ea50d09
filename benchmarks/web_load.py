"""Can 50 clients use one server at the same time?

Each client has data of its own. Again and again it uploads them, submits a release, follows the
events, downloads release and result, and deletes the upload; in between it asks for its jobs,
checks a definition, and tries to get at a job of another client. A release must be the very one of
the client's own data. Prints how many requests and releases there were, their times, every error,
and the memory of the server as it went.

    python -m benchmarks.web_load --clients 50 --seconds 60 --output benchmarks/results/web_load.txt
"""

from __future__ import annotations

import argparse
import os
import platform
import random
import statistics
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.web_server import Server, serving

import shoal
from shoal.errors import ShoalError

DEFINITION = {
    "source": "data.csv",
    "output": "release.csv",
    "k": 3,
    "attributes": {
        "name": "identifier",
        "age": {"role": "quasi-identifier", "hierarchy": {"intervals": [10, 20, 100]}},
        "zip": {"role": "quasi-identifier", "hierarchy": {"mask": 5}},
        "owner": "keep",
    },
}


@dataclass
class Seen:
    """What all clients saw together."""

    seconds: dict[str, list[float]] = field(default_factory=dict)
    errors: Counter[str] = field(default_factory=Counter)
    lock: threading.Lock = field(default_factory=threading.Lock)
    memory: list[tuple[float, int]] = field(default_factory=list)

    @contextmanager
    def timed(self, what: str) -> Iterator[None]:
        """Time an operation, and note its error."""
        begun = time.monotonic()
        try:
            yield
        except ShoalError as error:
            self.note(f"{what}: {error.code}")
        finally:
            with self.lock:
                self.seconds.setdefault(what, []).append(time.monotonic() - begun)

    def note(self, error: str) -> None:
        """Count an error."""
        with self.lock:
            self.errors[error] += 1


def data_of(client: int) -> str:
    """Data that name the client they belong to, in a column that is released as it is."""
    numbers = random.Random(client)
    rows = [
        f"p{row},{numbers.randrange(20, 70)},{numbers.randrange(10000, 10100)},client{client}"
        for row in range(200)
    ]
    return "name,age,zip,owner\n" + "\n".join(rows) + "\n"


def expected_of(client: int, folder: Path) -> bytes:
    """The release of a client's data."""
    source, output = folder / f"{client}.csv", folder / f"{client}-release.csv"
    source.write_text(data_of(client), encoding="utf-8")
    shoal.run({**DEFINITION, "source": str(source), "output": str(output)})
    return output.read_bytes()


@dataclass
class Visitor:
    """One client, with data of its own, until the time is over."""

    server: Server
    number: int
    folder: Path
    expected: bytes
    seen: Seen
    others: list[str]

    def visit(self, until: float) -> None:
        """Use the server as a person with a script would."""
        token = self.server.tokens[self.number]
        with shoal.Client(self.server.base, token, timeout=120) as client:
            while time.monotonic() < until:
                with self.seen.timed("release, all steps"):
                    self.release(client)
                with self.seen.timed("list jobs"):
                    client.jobs()
                with self.seen.timed("check a definition"):
                    client.check({**DEFINITION, "source": {"upload": self.upload}})
                self.pry(client)
                with self.seen.timed("delete an upload"):
                    client.delete_upload(self.upload)

    def release(self, client: shoal.Client) -> None:
        """Upload, release, download and compare."""
        with self.seen.timed("upload"):
            self.upload = client.upload(self.folder / f"{self.number}.csv")
        job = client.run(DEFINITION, {"data.csv": self.upload})
        self.others.append(job.id)
        result = job.wait()
        path = job.save_release(self.folder / f"{self.number}-got.csv")
        if path.read_bytes() != self.expected or result["result"]["records"] != 200:
            self.seen.note("WRONG RELEASE")

    def pry(self, client: shoal.Client) -> None:
        """Ask for any job: another client's must not be found."""
        own = {job["id"] for job in client.jobs()}
        job = random.Random().choice(self.others)
        try:
            client.job(job)
        except ShoalError as error:
            if error.code != "not-found":
                self.seen.note(f"pry: {error.code}")
        else:
            if job not in own:
                self.seen.note("A JOB OF ANOTHER USER WAS SHOWN")


def run(folder: Path, clients: int, seconds: float) -> tuple[Seen, Server]:
    """Let all clients work at once."""
    expected = [expected_of(number, folder) for number in range(clients)]
    seen, others = Seen(), list[str]()
    with serving(folder, clients, jobs_at_once=os.cpu_count() or 1) as server:
        begun = time.monotonic()
        visitors = [
            Visitor(server, number, folder, expected[number], seen, others)
            for number in range(clients)
        ]
        with ThreadPoolExecutor(clients) as threads:
            working = [threads.submit(each.visit, begun + seconds) for each in visitors]
            while not all(each.done() for each in working):
                seen.memory.append((time.monotonic() - begun, server.resident))
                time.sleep(1)
        for each in working:
            each.result()
    return seen, server


def report(seen: Seen, clients: int, seconds: float, load: float) -> Iterator[str]:
    """What was seen, in lines."""
    yield f"{clients} clients, {seconds:.0f} s; {platform.machine()}, {os.cpu_count()} cores"
    yield f"load of the machine before: {load:.1f}"
    yield f"{'operation':24} {'times':>7} {'median s':>9} {'95 % s':>9} {'longest s':>10}"
    for what, times in sorted(seen.seconds.items()):
        ordered = sorted(times)
        high = ordered[int(len(ordered) * 0.95)]
        yield (
            f"{what:24} {len(times):7,} {statistics.median(times):9.3f} {high:9.3f} "
            f"{ordered[-1]:10.3f}"
        )
    yield "errors: " + (", ".join(f"{k} {v}" for k, v in seen.errors.items()) or "none")
    yield "memory of the server, MiB, by seconds:"
    step = max(1, len(seen.memory) // 12)
    yield "  " + "  ".join(f"{at:.0f}: {size / 2**20:.0f}" for at, size in seen.memory[::step])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder:
        seen, _ = run(Path(folder), options.clients, options.seconds)
    text = "\n".join(report(seen, options.clients, options.seconds, load)) + "\n"
    print(text, end="")
    if options.output:
        options.output.write_text(text, encoding="utf-8")
    return 1 if seen.errors else 0


if __name__ == "__main__":
    raise SystemExit(main())
