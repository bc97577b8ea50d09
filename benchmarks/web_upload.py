"""Does a large upload leave the memory of the server as it is?

One file of 200 MB is uploaded over loopback, then one that is larger than the server allows. Prints
the seconds, the memory of the server before, at most during and after, and how many bytes of the
second one were sent before it was refused.

    python -m benchmarks.web_upload --megabytes 200 --output benchmarks/results/web_upload.txt
"""

from __future__ import annotations

import argparse
import contextlib
import os
import platform
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
from benchmarks.web_server import Server, serving

import shoal

ROW = b"0123456789,abcdefghijklmnopqrstuvwxyz,0123456789,abcdefghijklmnopqrstuvwxyz\n"
MIB = 2**20


class Watch(threading.Thread):
    """The most memory that the server had while the context lasted."""

    def __init__(self, server: Server) -> None:
        super().__init__(daemon=True)
        self.server, self.most, self.over = server, 0, threading.Event()

    def run(self) -> None:
        while not self.over.wait(0.02):
            self.most = max(self.most, self.server.resident)

    def __enter__(self) -> Watch:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.over.set()
        self.join()


def too_large(server: Server, size: int) -> tuple[int, int]:
    """The status of an upload that is larger than allowed, and the bytes that were sent of it."""
    sent = 0

    def body() -> Iterator[bytes]:
        nonlocal sent
        while sent < size:
            sent += MIB
            yield b"x" * MIB

    headers = {"authorization": f"Bearer {server.tokens[0]}"}
    status = 0
    with contextlib.suppress(httpx.TransportError):
        answer = httpx.post(f"{server.base}/api/v1/uploads", content=body(), headers=headers)
        status = answer.status_code
    return status, sent


@dataclass(frozen=True)
class Uploaded:
    """An upload: its size, its seconds, and the memory of the server before, at most and after."""

    size: int
    seconds: float
    before: int
    most: int
    after: int


def upload(server: Server, folder: Path, megabytes: int) -> Uploaded:
    """Upload a file of so many megabytes."""
    file = folder / "large.csv"
    with file.open("wb") as opened:
        opened.write(b"a,b,c,d\n")
        for _ in range(megabytes * 1_000_000 // (len(ROW) * 10_000)):
            opened.write(ROW * 10_000)
    with shoal.Client(server.base, server.tokens[0], timeout=600) as client:
        client.jobs()
        before, begun = server.resident, time.monotonic()
        with Watch(server) as watch:
            client.upload(file)
    seconds = time.monotonic() - begun
    return Uploaded(file.stat().st_size, seconds, before, watch.most, server.resident)


def run(folder: Path, megabytes: int) -> Iterator[str]:
    """Upload, and say what was seen."""
    load = os.getloadavg()[0]
    yield f"{platform.machine()}, {os.cpu_count()} cores, load of the machine before: {load:.1f}"
    with serving(folder, 1, upload=f'"{megabytes + 10} MB"') as server:
        seen = upload(server, folder, megabytes)
        yield f"{seen.size / 1e6:,.0f} MB uploaded in {seen.seconds:.1f} s"
        sizes = [f"{size / MIB:.0f}" for size in (seen.before, seen.most, seen.after)]
        yield "memory of the server, MiB: {} before, {} at most, {} after".format(*sizes)
        status, sent = too_large(server, 4 * megabytes * 1_000_000)
        end = f"refused with {status}" if status else "the connection was closed"
        yield f"of unstated length, at most {megabytes + 10} MB are allowed: {end}"
        yield f"after {sent / 1e6:,.0f} MB were sent"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--megabytes", type=int, default=200)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        text = "\n".join(run(Path(folder), options.megabytes)) + "\n"
    print(text, end="")
    if options.output:
        options.output.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
