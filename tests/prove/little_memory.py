"""Runs that may have only so much memory: the old output stays, or the new one is whole."""

from __future__ import annotations

import signal
from subprocess import CompletedProcess

import commands
from prove.replacing import replacing
from prove.trial import Kind, Trial

RECORDS, RUNS = 1_500, 5
CODE = """
import resource, sys
with open("/proc/self/statm") as file:
    used = int(file.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + {more},) * 2)
sys.argv = ["shoal", "run", "{name}", "--quiet", "--json", "result.json"]
from shoal.cli.main import main
main()
"""
"""Runs the command in a process that may map some bytes more than it has at its start."""

LOADER, LOADERS_WORDS = 127, "cannot allocate memory for thread-local data"
"""How the loader of the system ends a process when a thread begins: no program can say more."""


def attack(trial: Trial) -> None:
    """Run with a random amount of memory, then with all of it."""
    rng = trial.rng
    made = replacing(rng, trial.folder, RECORDS)
    for _ in range(RUNS):
        more = int(2 ** rng.uniform(24, 32))

        def run(name: str, more: int = more) -> CompletedProcess[str]:
            done = commands.python(CODE.format(more=more, name=name), folder=trial.folder)
            if done.returncode == LOADER and LOADERS_WORDS in done.stderr:
                done.returncode = -signal.SIGABRT
            return done

        made.accident(f"with {more:,} more bytes of memory", run)
        trial.seen["runs with little memory"] += 1
        trial.seen["of them released"] += made.ended == 0
        trial.seen["of them ended by the system"] += made.ended < 0
        made.settle(made.other, after="a run with little memory")


KIND = Kind(
    attack,
    tries=f"{RUNS} runs replace an output in a process that may have 16 MiB to 4 GiB more memory "
    "than it has at its start",
    fails="the output is neither the old nor the new one, the run ends with a traceback or an "
    "internal error, or the next whole run leaves a stray file",
    limits="address space is limited, which libraries meet as a failed allocation; a system that "
    "kills the process instead is what kills tries",
)
