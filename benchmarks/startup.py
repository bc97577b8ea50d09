"""What does a new process cost: importing, `--help`, a whole run on a small table, and the disk?

Each is run in new processes of each environment in turn, so that a busy machine slows all of them
alike. Prints the least seconds of the processor and the least seconds on the clock; on a busy
machine only the first can be compared. The table is Adult with 9 quasi-identifiers.

    python benchmarks/startup.py --python before/bin/python --python after/bin/python
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

DATA = Path(os.environ.get("SHOAL_DATA", "../shared/data")) / "adult"
COMMANDS = {
    "python alone": ["-c", "pass"],
    "import shoal": ["-c", "import shoal"],
    "shoal --help": ["-m", "shoal", "--help"],
    "shoal run": ["-m", "shoal", "run", "adult.yaml", "--quiet"],
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", action="append", help="an interpreter with Shoal installed")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    load = os.getloadavg()[0]
    print(f"{platform.machine()}, {os.cpu_count()} cores, load before: {load:.2f}")
    with tempfile.TemporaryDirectory() as folder:
        write_definition(Path(folder))
        report(options.python or [sys.executable], options.rounds, Path(folder))


def write_definition(folder: Path) -> None:
    """A definition for Adult, all of whose columns are quasi-identifiers."""
    header = (DATA / "data.csv").open(encoding="utf-8").readline()
    hierarchies = (DATA / "hierarchies").resolve()
    lines = [
        f"source: {(DATA / 'data.csv').resolve()}",
        *("output: release.csv", "k: 5", "suppression: 5%", "attributes:"),
        *(
            f"  {name}: {{role: quasi-identifier, hierarchy: {hierarchies / name}.csv}}"
            for name in header.strip().split(";")
        ),
    ]
    (folder / "adult.yaml").write_text("\n".join(lines), encoding="utf-8")


def report(pythons: Sequence[str], rounds: int, folder: Path) -> None:
    """For each command and environment the least of some rounds; the first run is shown apart."""
    absolute = [str(Path(each).absolute()) for each in pythons]
    for name, arguments in COMMANDS.items():
        first = [cost([each, *arguments], folder) for each in absolute]
        rest = [[cost([each, *arguments], folder) for each in absolute] for _ in range(rounds)]
        for number, python in enumerate(pythons):
            processor = min(each[number][0] for each in rest)
            clock = min(each[number][1] for each in rest)
            print(
                f"{name:14} {python}: processor {processor:.2f} s, clock {clock:.2f} s; "
                f"the first time {first[number][0]:.2f} s and {first[number][1]:.2f} s"
            )
    for python in pythons:
        print(f"{'installed':14} {python}: {installed(python)} MB")


def cost(command: Sequence[str], folder: Path) -> tuple[float, float]:
    """Seconds of the processor and on the clock of a process and its children."""
    before, begun = os.times(), time.perf_counter()
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    after = os.times()
    used = after.children_user + after.children_system
    return used - before.children_user - before.children_system, time.perf_counter() - begun


def installed(python: str) -> int:
    """The bytes of all files of the environment, in MB."""
    root = Path(python).absolute().parent.parent
    files = (file for file in root.rglob("*") if file.is_file() and not file.is_symlink())
    return round(sum(file.stat().st_size for file in files) / 2**20)


if __name__ == "__main__":
    main()
