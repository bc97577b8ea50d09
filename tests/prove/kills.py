"""A run is killed at a random moment: the old output is there or the new one, whole."""

from __future__ import annotations

import csv
import json
import subprocess
import time
from pathlib import Path
from random import Random
from typing import Any

import yaml

from commands import TIME_LIMIT, leftovers, shoal, start
from prove.databases import sqlite_table
from prove.files import csv_file, json_file, parquet_file
from prove.tables import Store
from prove.trial import Failed, Trial

RECORDS = 20_000
FILES = {"source.csv", "d.yaml", "result.json", "tmp"}
"""What may lie in the folder besides the output."""


def attack(trial: Trial) -> None:
    """Run to the end, run and kill over the old output, then run again."""
    rng, folder = trial.rng, trial.folder
    _write_source(rng, folder / "source.csv")
    output = _output(rng, folder)
    _define(folder, output, k=40)
    _run(folder)
    old = _seen(output)
    _define(folder, output, k=5)
    began = time.perf_counter()
    _kill(folder, rng.uniform(0.1, 2.5))
    lasted = time.perf_counter() - began
    found = _seen(output)
    _run(folder)
    new = _seen(output)
    if found not in (old, new):
        raise Failed(f"killed after {lasted:.2f} s: the output is neither the old nor the new one")
    if new == old:
        raise Failed("the next run did not release")
    strays = [*leftovers(folder), *(path.name for path in folder.iterdir() if _stray(path, output))]
    if strays:
        raise Failed(f"killed after {lasted:.2f} s: the next run leaves {strays}")


def _write_source(rng: Random, path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["name", "age", "zip", "ill"])
        for i in range(RECORDS):
            zip_code = f"{rng.randrange(800):05}"
            writer.writerow([f"n{i}", rng.randint(1, 90), zip_code, rng.choice("abcdef")])


def _output(rng: Random, folder: Path) -> Store:
    makers = [csv_file, json_file, parquet_file]
    endings = [".csv", ".jsonl", ".parquet"]
    choice = rng.randrange(4)
    if choice == 3:
        return sqlite_table(folder / "release.db", "release")
    return makers[choice](folder / f"release{endings[choice]}")


def _define(folder: Path, output: Store, k: int) -> None:
    named: Any = output.location
    definition = {
        "source": "source.csv",
        "output": {**named, "replace": True} if isinstance(named, dict) else named,
        "k": k,
        "suppression": "10%",
        "attributes": {
            "name": "identifier",
            "age": {"role": "quasi-identifier", "hierarchy": {"intervals": [5, 10, 20]}},
            "zip": {"role": "quasi-identifier", "hierarchy": {"mask": [1, 2, 3, 5]}},
            "ill": "keep",
        },
    }
    (folder / "d.yaml").write_text(yaml.safe_dump(definition), encoding="utf-8")


def _run(folder: Path) -> None:
    done = shoal("run", "d.yaml", "--quiet", "--json", "result.json", folder=folder)
    if done.returncode != 0:
        raise Failed(f"a run ends with {done.returncode}: {done.stderr}")
    json.loads((folder / "result.json").read_text(encoding="utf-8"))


def _kill(folder: Path, seconds: float) -> None:
    process = start("run", "d.yaml", "--quiet", "--json", "result.json", folder=folder)
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
    process.communicate(timeout=TIME_LIMIT)


def _seen(output: Store) -> str:
    """All that lies in the output, order included."""
    return repr(output.read())


def _stray(path: Path, output: Store) -> bool:
    """Whether a file is neither the output nor one that the trial made."""
    named = output.location
    output_path = Path(
        named["url"].removeprefix("sqlite:///") if isinstance(named, dict) else named
    )
    return path.name not in {*FILES, output_path.name}
