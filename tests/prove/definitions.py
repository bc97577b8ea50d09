"""Broken definitions in YAML, JSON and XML: an error of ours, or a safe release."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import yaml

from prove.files import csv_file
from prove.mutations import changed, kept
from prove.releasing import LOADER, canaries, run
from prove.trial import Kind, Trial

TRIES = 50
"""Mutations that are drawn until one writes nowhere but into the folder of the trial."""


def attack(trial: Trial) -> None:
    """Break one of the kept definitions and run it."""
    rng, folder = trial.rng, trial.folder
    csv_file(folder / "in.csv").write(rng, canaries(rng, known="q2"))
    chosen = rng.choice(kept("definitions"))
    path, whole = folder / chosen.name, chosen.read_bytes()
    path.write_bytes(whole)
    for _ in range(TRIES):
        broken = changed(rng, whole)
        if _stays_inside(path, broken):
            path.write_bytes(broken)
            break
    trial.seen[path.suffix[1:]] += 1
    run(trial, path)


def _stays_inside(path: Path, data: bytes) -> bool:
    """Whether a definition can be read by nobody, or writes release.csv."""
    try:
        if path.suffix == ".xml":
            found = ElementTree.fromstring(data)
            outputs = [each for each in found.iter() if each.tag.endswith("output")]
            return bool(outputs) and all(o.get("path") == "release.csv" for o in outputs)
        read = yaml.load(data, LOADER)
    except (yaml.YAMLError, ElementTree.ParseError, ValueError, LookupError, RecursionError):
        return True
    return not isinstance(read, dict) or read.get("output") == "release.csv"


KIND = Kind(
    attack,
    tries="a definition in YAML, JSON or XML with bytes flipped, cut, moved or mixed is run",
    fails="a traceback, exit code 1 or 4, a hang, an unsafe release, or a value of the data in an "
    "error or a log",
    limits="mutations of small files by chance, which coverage does not guide",
)
