"""The clock is wrong, or jumps while a run goes on: the release is the same as ever."""

from __future__ import annotations

import os
import subprocess
import threading
from pathlib import Path
from subprocess import CompletedProcess

from commands import SHOAL, TIME_LIMIT
from prove.replacing import CLOCK, Replacing, replacing
from prove.trial import Declined, Kind, Trial

RECORDS, RUNS = 1_500, 3
LIBRARIES = sorted(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"))
JUMPS = ("-10y", "+30d", "-1d", "+1h", "-5", "+20y", "+0")


def attack(trial: Trial) -> None:
    """Run with a clock that is wrong from the start and jumps to another time in the middle."""
    if not LIBRARIES:
        raise Declined("no-faketime")
    rng = trial.rng
    made = replacing(rng, trial.folder, RECORDS)
    clock = made.folder / CLOCK
    for _ in range(RUNS):
        first, second = rng.sample(JUMPS, 2)
        moment = rng.uniform(0.5, 4) * made.seconds
        clock.write_text(f"{first}\n")
        timer = threading.Timer(moment, clock.write_text, [f"{second}\n"])
        timer.start()
        made.accident(f"the clock said {first}, then {second}", lambda name: _run(made, name))
        timer.cancel()
        timer.join()
        clock.unlink()
        trial.seen["runs with a wrong clock"] += 1
        made.settle(made.other, after="a wrong clock")


def _run(made: Replacing, name: str) -> CompletedProcess[str]:
    """A process that asks the library for the time, also for time that only goes on."""
    faked = {"LD_PRELOAD": str(LIBRARIES[0]), "FAKETIME_TIMESTAMP_FILE": str(made.folder / CLOCK)}
    return subprocess.run(
        [*SHOAL, "run", name, "--quiet", "--json", "result.json"],
        cwd=made.folder,
        env={
            **os.environ,
            **faked,
            "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            "TMPDIR": str(made.folder / "tmp"),
        },
        capture_output=True,
        text=True,
        timeout=TIME_LIMIT,
    )


KIND = Kind(
    attack,
    tries=f"{RUNS} runs replace an output while the clock is wrong by seconds to years, and jumps "
    "to another time in the middle (libfaketime)",
    fails="a run fails, the release is another one, or a later run leaves a stray file",
    limits="the time of day jumps; the clock that only goes on, which measures time limits, does "
    "not",
)
