"""Definitions and files with bytes flipped, cut and mixed: an error of ours, or a safe release."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import yaml

import commands
import shoal
from prove.databases import sqlite_table
from prove.files import csv_file, json_file, parquet_file, read_csv
from prove.judge import Demands, faults
from prove.tables import Grid, Store, table
from prove.trial import Failed, Trial, run_or_decline

K = 3


def attack(trial: Trial) -> None:
    """Break the definition, a hierarchy or the data: nothing unsafe comes out, nothing crashes."""
    rng, folder = trial.rng, trial.folder
    source = _source(rng, folder)
    source.write(rng, table(rng, ["q1", "q2", "kept"], persons=False))
    definition = _definition(source)
    (folder / "d.yaml").write_text(yaml.safe_dump(definition, sort_keys=False), encoding="utf-8")
    (folder / "q2.csv").write_text("a;x;*\nb;x;*\n1;y;*\n", encoding="utf-8")
    read = [path for path in folder.iterdir() if path.is_file()]
    broken = rng.choice([*read, folder / "d.yaml"])
    for _ in range(rng.choice([1, 1, 3])):
        _break(rng, folder, broken)
    if rng.random() < 0.15:
        _run_the_command(folder)
    else:
        run_or_decline(lambda: shoal.run(folder / "d.yaml"))
    _judge(folder)


def _source(rng: Random, folder: Path) -> Store:
    makers: list[Callable[[], Store]] = [
        lambda: csv_file(folder / "in.csv"),
        lambda: parquet_file(folder / "in.parquet"),
        lambda: json_file(folder / "in.json"),
        lambda: json_file(folder / "in.jsonl"),
        lambda: sqlite_table(folder / "in.db", "it"),
    ]
    return rng.choice(makers)()


def _definition(source: Store) -> dict[str, Any]:
    return {
        "source": source.location,
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
    }


def _break(rng: Random, folder: Path, path: Path) -> None:
    """Change some bytes; a definition must still write into the folder, whatever else it says."""
    before = path.read_bytes()
    for _ in range(100):
        after = _changed(rng, before)
        if path.name != "d.yaml" or _stays_inside(folder, after):
            path.write_bytes(after)
            return


ODD = [
    b"\0",
    b"\xff",
    b"\xed\xa0\x80",
    b'"',
    b"'",
    b"\n",
    b"\r",
    b",",
    b";",
    b"{",
    b"]",
    b": ",
    b"&a",
]
ODD += [b"1e999", b"-1", b"null", b"!!python/x", b"\xef\xbb\xbf", b"\xf0\x9f\x90\x9f", b"NaN", b"*"]


def _changed(rng: Random, data: bytes) -> bytes:
    at = rng.randrange(len(data) + 1)
    to = min(len(data), at + rng.choice([1, 2, 10, 100]))
    way = rng.choice(["flip", "cut", "end", "insert", "repeat", "word"])
    if way == "flip" and at < len(data):
        return data[:at] + bytes([data[at] ^ (1 << rng.randrange(8))]) + data[at + 1 :]
    if way == "cut":
        return data[:at] + data[to:]
    if way == "end":
        return data[:at]
    if way == "repeat":
        return data[:to] + data[at:]
    if way == "word":
        words = data.split(b" ")
        words[rng.randrange(len(words))] = rng.choice([*ODD, b"true", b"[]", b"{}", b"7", b""])
        return b" ".join(words)
    return data[:at] + rng.choice(ODD) + data[at:]


def _stays_inside(folder: Path, definition: bytes) -> bool:
    try:
        read = yaml.safe_load(definition)
    except (yaml.YAMLError, UnicodeDecodeError, ValueError):
        return True
    return not isinstance(read, dict) or read.get("output") == "release.csv"


def _run_the_command(folder: Path) -> None:
    done = commands.shoal("run", "d.yaml", folder=folder)
    if done.returncode not in (0, 2, 3) or "Traceback" in done.stderr:
        raise Failed(f"exit code {done.returncode}: {done.stderr[-2000:]}")


def _judge(folder: Path) -> None:
    """A release has no class below the k of the definition, as it now is."""
    if not (folder / "release.csv").exists():
        return
    definition = yaml.safe_load((folder / "d.yaml").read_bytes())
    release = read_csv(folder / "release.csv")
    quasi = tuple(n for n, a in definition["attributes"].items() if _is_quasi(a))
    sizes = Demands(int(definition.get("k", K)), quasi, kept=tuple(set(release.names) - set(quasi)))
    wrong = faults(sizes, Grid(release.names, release.rows), release)
    if wrong and definition.get("suppressed") != "mark":
        raise Failed("; ".join(wrong))


def _is_quasi(attribute: Any) -> bool:
    role = attribute.get("role") if isinstance(attribute, dict) else attribute
    return role == "quasi-identifier"
