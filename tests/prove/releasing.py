"""What fuzzed releases have in common: a small table full of canaries, a run, and its judge."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import yaml

import commands
import shoal
from prove.files import read_csv
from prove.judge import Demands, faults
from prove.tables import SERIAL, Column, Grid, Table
from prove.trial import CANARY, NAME_COLUMNS, Failed, Trial, run_or_decline

K = 3
LOADER = yaml.CSafeLoader
"""Reads what libyaml reads: it takes a few tabs that the loader in Python refuses."""


def canaries(rng: Random, known: str = "") -> Table:
    """A table whose texts are all canaries, but for some that are missing.

    The `known` column has values that are written in a definition or a hierarchy too: their errors
    may name them.
    """
    size = rng.randint(6, 30)
    names = [f"{CANARY}-{i}" for i in range(4)]
    columns = [Column(SERIAL, "integer", tuple(range(size)))]
    for name in ("q1", "q2", "kept"):
        texts = [f"v-{i}" for i in range(4)] if name == known else names
        values = tuple(None if rng.random() < 0.1 else rng.choice(texts) for _ in range(size))
        columns.append(Column(name, "text", values))
    return Table(tuple(columns))


def definition(source: Any, **changes: Any) -> dict[str, Any]:
    """A release of the table, to release.csv."""
    return {
        "source": source,
        "output": "release.csv",
        "k": K,
        "suppression": "20%",
        "missing": {"values": ["?"]},
        "attributes": {
            "serial": "drop",
            "q1": {"role": "quasi-identifier", "limit": 1},
            "q2": {"role": "quasi-identifier", "hierarchy": "suppress"},
            "kept": "keep",
        },
        "others": "drop",
        **changes,
    }


def run(trial: Trial, path: Path) -> None:
    """Run the definition, now and then as a command, and judge what it releases."""
    if trial.rng.random() < 0.05:
        _run_the_command(trial, path)
    else:
        run_or_decline(lambda: shoal.run(path))
    _judge(trial, path)


def _run_the_command(trial: Trial, path: Path) -> None:
    done = commands.shoal("run", path.name, folder=trial.folder)
    said = done.stdout + done.stderr
    if done.returncode not in (0, 2, 3) or "Traceback" in said:
        raise Failed(f"exit code {done.returncode}: {said[-2000:]}")
    named = any(f"[{code}]" in said for code in NAME_COLUMNS)
    if done.returncode != 0 and CANARY in said and not named:
        raise Failed(f"a value of the data in what the command says: {said[-2000:]}")


def _judge(trial: Trial, path: Path) -> None:
    """A release has no class below the k of the definition, as it now is."""
    written = trial.folder / "release.csv"
    if not written.exists() or path.suffix == ".xml":
        return
    text = path.read_bytes()
    asked = json.loads(text) if path.suffix == ".json" else yaml.load(text, LOADER)
    release = read_csv(written)
    quasi = tuple(name for name, each in asked["attributes"].items() if _is_quasi(each))
    sizes = Demands(int(asked.get("k", K)), quasi, kept=tuple(set(release.names) - set(quasi)))
    wrong = faults(sizes, Grid(release.names, release.rows), release)
    if wrong and asked.get("suppressed") != "mark":
        raise Failed("; ".join(wrong))
    trial.seen["releases judged"] += 1


def _is_quasi(attribute: Any) -> bool:
    role = attribute.get("role") if isinstance(attribute, dict) else attribute
    return role == "quasi-identifier"
