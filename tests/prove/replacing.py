"""An output that runs replace, again and again: after any accident it holds the old or the new.

The folder has a source, two definitions that release it differently, and an output. `accident` runs
one of them while something goes wrong; `settle` lets one run to its end.
"""

from __future__ import annotations

import csv
import hashlib
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from subprocess import CompletedProcess
from typing import Any

import yaml

from commands import leftovers, shoal
from prove.databases import sqlite_table
from prove.files import csv_file, json_file, parquet_file
from prove.tables import Store
from prove.trial import Failed

KS = {"strict.yaml": 40, "loose.yaml": 5}
"""The two definitions, and what k they demand."""

SOURCE, FILLER, CLOCK = "source.csv", "filler", "clock"
FILES = {SOURCE, FILLER, CLOCK, *KS, "tmp"}
"""What may lie in the folder besides the output and results."""

CLEAN = (0, 2, 3)
"""Exit codes of a run that released, or that said what is wrong."""


@dataclass
class Replacing:
    """A folder whose output either definition writes.

    `wholes` are the complete contents of the output, each with the definition that releases it.
    `holds` is the definition of what lies there now, `ended` the exit code of the last accident,
    and `seconds` how long the last whole run took.
    """

    folder: Path
    output: Store
    wholes: dict[str, str] = field(default_factory=dict)
    holds: str = ""
    ended: int = 0
    seconds: float = 0.0

    @property
    def other(self) -> str:
        """The definition that did not write what the output holds."""
        return next(name for name in KS if name != self.holds)

    def learn(self) -> None:
        """Run both definitions to the end, and take what they release for right."""
        before = len(self.wholes)
        for name in KS:
            self._run_to_the_end(name, "the start")
            self.wholes[self.content()] = self.holds = name
        if len(self.wholes) < before + len(KS):
            raise Failed("two definitions with different k release the same")

    def settle(self, name: str, after: str) -> None:
        """Run to the end: a release as before, and nothing else is left in the folder."""
        self._run_to_the_end(name, after)
        if self.wholes.get(self.content()) != name:
            raise Failed(f"after {after}: the same definition releases something else")
        self.holds = name
        if strays := self.strays():
            raise Failed(f"after {after}: the next run leaves {strays}")

    def _run_to_the_end(self, name: str, after: str) -> None:
        began = time.perf_counter()
        done = self.command(name)
        self.seconds = time.perf_counter() - began
        if done.returncode != 0:
            raise Failed(f"after {after}: a run ends with {done.returncode}: {done.stderr}")
        json.loads((self.folder / "result.json").read_text(encoding="utf-8"))

    def accident(self, what: str, run: Callable[[str], CompletedProcess[str]]) -> None:
        """Let a run of the other definition meet with an accident; the output stays whole.

        Where the run says that it released, the output is the new one. A run that the system ended
        with a signal could not say anything.
        """
        name = self.other
        done = run(name)
        found = self.content()
        if found not in self.wholes:
            raise Failed(f"{what}: the output is neither the old nor the new one")
        self.holds = self.wholes[found]
        self.ended = done.returncode
        if self.ended < 0:
            return
        if self.ended not in CLEAN or "Traceback" in done.stderr:
            raise Failed(f"{what}: exit code {self.ended}: {done.stderr[-2000:]}")
        if self.ended == 0 and self.holds != name:
            raise Failed(f"{what}: it says that it released, but the output is the old one")

    def command(
        self, name: str, result: str = "result.json", **options: Any
    ) -> CompletedProcess[str]:
        """Run a definition in a process of its own."""
        arguments = ("run", name, "--quiet", "--json", result)
        return shoal(*arguments, folder=self.folder, **options)

    def content(self) -> str:
        """All that lies in the output, order included."""
        location = self.output.location
        if isinstance(location, dict):
            found = self.output.read()
            return repr((found.names, sorted(map(repr, found.rows))))
        return hashlib.sha256(Path(location).read_bytes()).hexdigest()

    def strays(self) -> list[str]:
        """Files that are neither the output nor one that the trial made."""
        named = self.output.location
        place = named["url"].removeprefix("sqlite:///") if isinstance(named, dict) else named
        known = {*FILES, Path(place).name}
        others = [
            path for path in self.folder.iterdir() if path.is_file() and path.name not in known
        ]
        results = [path for path in others if path.match("[!.]*.json")]
        return [*leftovers(self.folder), *(path.name for path in others if path not in results)]


def replacing(rng: Random, folder: Path, records: int, output: Store | None = None) -> Replacing:
    """A source of so many records, which both definitions have released once.

    The output is a file or a table of SQLite, unless one is given.
    """
    write_source(rng, folder / SOURCE, records)
    made = Replacing(folder, _output(rng, folder) if output is None else output)
    for name, k in KS.items():
        _define(folder / name, made.output, k)
    made.learn()
    if len(made.output.read().rows) < records // 2:
        raise Failed("the complete release is too small")
    return made


def write_source(rng: Random, path: Path, records: int) -> None:
    """Write so many random records as CSV."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["name", "age", "zip", "ill"])
        for i in range(records):
            zip_code = f"{rng.randrange(800):05}"
            writer.writerow([f"n{i}", rng.randint(1, 90), zip_code, rng.choice("abcdef")])


def _output(rng: Random, folder: Path) -> Store:
    makers = [csv_file, json_file, parquet_file]
    endings = [".csv", ".jsonl", ".parquet"]
    choice = rng.randrange(4)
    if choice == 3:
        return sqlite_table(folder / "release.db", "release")
    return makers[choice](folder / f"release{endings[choice]}")


def _define(path: Path, output: Store, k: int) -> None:
    named: Any = output.location
    definition = {
        "source": SOURCE,
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
    path.write_text(yaml.safe_dump(definition), encoding="utf-8")
