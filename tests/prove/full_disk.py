"""The disk fills up while a run replaces an output on it: the output is old or new, and whole."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

from prove.replacing import FILLER, replacing
from prove.trial import Declined, Kind, Trial

RECORDS, RUNS = 1_500, 5
DISK, BLOCK = 8 * 2**20, 4096


def attack(trial: Trial) -> None:
    """Run on a small disk with less and less space, or more than enough; then with space again."""
    rng = trial.rng
    with _small_disk(trial.folder / "disk") as folder:
        made = replacing(rng, folder, RECORDS)
        for _ in range(RUNS):
            free = int(rng.uniform(0, 80_000))
            _fill(folder / FILLER, free)
            made.accident(f"{free:,} bytes were free", made.command)
            trial.seen["runs on a full disk"] += 1
            trial.seen["of them released"] += made.ended == 0
            (folder / FILLER).unlink()
            made.settle(made.other, after="a full disk")


@contextlib.contextmanager
def _small_disk(folder: Path) -> Iterator[Path]:
    """A file system of its own in memory, where the system lets this process mount one."""
    folder.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={DISK}", "shoal-prove", folder], capture_output=True
    )
    if done.returncode != 0:
        raise Declined("no-mount")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


def _fill(path: Path, free: int) -> None:
    """Write a file that leaves so many bytes of the disk."""
    path.touch()
    there = os.statvfs(path)
    size = there.f_bavail * there.f_bsize - free
    with path.open("wb") as file, contextlib.suppress(OSError):
        for _ in range(max(size, 0) // BLOCK):
            file.write(b"\0" * BLOCK)


KIND = Kind(
    attack,
    tries=f"{RUNS} runs replace an output on a disk that has a random number of bytes free, "
    "from none to more than enough; between them a run has space again",
    fails="the output is neither the old nor the new one, the run ends with a traceback or says "
    "that it released where it did not, or the next whole run leaves a stray file",
    limits="the disk is a file system in memory of 8 MiB, which keeps the promises of the system "
    "about renaming. Needs the right to mount",
)
