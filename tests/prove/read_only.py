"""Runs of a user who may not write somewhere: home, temporary folder, or that of the output."""

from __future__ import annotations

from subprocess import CompletedProcess

import commands
from prove.files import csv_file
from prove.replacing import replacing
from prove.trial import Failed, Kind, Trial

RECORDS, RUNS = 1_000, 4
CODE = """
import ctypes, os, sys
os.environ.update(HOME={home!r}, TMPDIR={temporary!r})
header, none = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
assert ctypes.CDLL(None).capset(header, none) == 0
sys.argv = ["shoal", "run", {name!r}, "--quiet", "--json", {result!r}]
from shoal.cli.main import main
main()
"""
"""Runs the command without the capabilities by which an administrator may write anywhere."""


def attack(trial: Trial) -> None:
    """Run where some of the folders may not be written to."""
    rng = trial.rng
    folders = {name: trial.folder / name for name in ("out", "home", "temporary", "results")}
    for folder in folders.values():
        folder.mkdir()
    made = replacing(rng, trial.folder, RECORDS, csv_file(folders["out"] / "release.csv"))
    for _ in range(RUNS):
        for name in ("out", "home", "temporary"):
            folders[name].chmod(rng.choice([0o755, 0o555]))
        code = {
            "home": str(folders["home"]),
            "temporary": str(folders["temporary"]),
            "result": str(folders["results"] / "result.json"),
        }

        def run(name: str, code: dict[str, str] = code) -> CompletedProcess[str]:
            return commands.python(CODE.format(name=name, **code), folder=trial.folder)

        modes = {name: oct(folder.stat().st_mode & 0o777) for name, folder in folders.items()}
        made.accident(f"folders of {modes}", run)
        trial.seen["runs in folders that are read-only"] += 1
        trial.seen["runs refused"] += made.ended != 0
        for name in ("out", "home", "temporary"):
            folders[name].chmod(0o755)
        left = {
            path.name for name in ("out", "home", "temporary") for path in folders[name].iterdir()
        }
        if left != {"release.csv"}:
            raise Failed(f"{left} are left in {modes}")


KIND = Kind(
    attack,
    tries=f"{RUNS} runs replace an output where some of home, folder for temporary files and "
    "folder of the output are read-only, at random",
    fails="the output is neither the old nor the new one, the run ends with a traceback, or "
    "leaves a stray file",
    limits="permissions of folders; file systems that are mounted read-only are not tried",
)
