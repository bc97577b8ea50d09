"""Broken hierarchy files: an error of ours, or a safe release."""

from __future__ import annotations

import yaml

from prove.files import csv_file
from prove.mutations import changed, kept
from prove.releasing import canaries, definition, run
from prove.trial import Kind, Trial


def attack(trial: Trial) -> None:
    """Break one of the kept hierarchy files, and release with it, in either recoding."""
    rng, folder = trial.rng, trial.folder
    csv_file(folder / "in.csv").write(rng, canaries(rng, known="q2"))
    chosen = rng.choice(kept("hierarchies"))
    path = folder / chosen.name
    path.write_bytes(changed(rng, chosen.read_bytes()))
    made = definition("in.csv", recoding=rng.choice(["full-domain", "local"]))
    made["attributes"]["q2"]["hierarchy"] = path.name
    (folder / "d.yaml").write_text(yaml.safe_dump(made), encoding="utf-8")
    run(trial, folder / "d.yaml")


KIND = Kind(
    attack,
    tries="a hierarchy file with bytes flipped, cut, moved or mixed is used in a release, "
    "full-domain or local",
    fails="a traceback, exit code 1 or 4, a hang, an unsafe release, or a value of the data in an "
    "error or a log",
    limits="a hierarchy that was changed to another valid one is a hierarchy like any other",
)
