"""Runs that may have only so much memory: the old output stays, or the new one is whole."""

from __future__ import annotations

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


def attack(trial: Trial) -> None:
    """Run with a random amount of memory, then with all of it."""
    rng = trial.rng
    made = replacing(rng, trial.folder, RECORDS)
    for _ in range(RUNS):
        more = int(2 ** rng.uniform(20, 29))

        def run(name: str, more: int = more) -> CompletedProcess[str]:
            return commands.python(CODE.format(more=more, name=name), folder=trial.folder)

        made.accident(f"with {more:,} more bytes of memory", run)
        trial.seen["runs with little memory"] += 1
        trial.seen["of them released"] += made.ended == 0
        trial.seen["of them ended by the system"] += made.ended < 0
        made.settle(made.other, after="a run with little memory")


KIND = Kind(
    attack,
    tries=f"{RUNS} runs replace an output in a process that may have 1 to 512 MiB more memory "
    "than it has at its start",
    fails="the output is neither the old nor the new one, the run ends with a traceback or an "
    "internal error, or the next whole run leaves a stray file",
    limits="address space is limited, which libraries meet as a failed allocation; a system that "
    "kills the process instead is what kills tries",
)
