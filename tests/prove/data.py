"""Broken data in CSV, JSON, XML, Excel, Parquet and SQLite: an error of ours, or a safe release."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from pathlib import Path
from random import Random

import yaml

from prove.databases import sqlite_table
from prove.files import csv_file, excel_file, json_file, parquet_file, xml_file
from prove.mutations import changed, kept
from prove.releasing import canaries, definition, run
from prove.tables import Store
from prove.trial import Kind, Trial


def attack(trial: Trial) -> None:
    """Break a file of data, a kept one or one that is made now, and run a definition on it."""
    rng, folder = trial.rng, trial.folder
    if rng.random() < 0.3:
        chosen = rng.choice(kept("data"))
        path = folder / chosen.name
        path.write_bytes(chosen.read_bytes())
        location = str(path)
    else:
        store = _store(rng, folder)
        store.write(rng, canaries(rng))
        location, path = store.location, next(iter(folder.iterdir()))
    whole = path.read_bytes()
    is_book = path.suffix == ".xlsx" and rng.random() < 0.8
    path.write_bytes(_changed_book(rng, whole) if is_book else changed(rng, whole))
    trial.seen[path.suffix[1:]] += 1
    (folder / "d.yaml").write_text(yaml.safe_dump(definition(location)), encoding="utf-8")
    run(trial, folder / "d.yaml")


def _store(rng: Random, folder: Path) -> Store:
    makers: list[Callable[[], Store]] = [
        lambda: csv_file(folder / "in.csv"),
        lambda: json_file(folder / "in.json"),
        lambda: json_file(folder / "in.jsonl"),
        lambda: xml_file(folder / "in.xml", rng.choice(["elements", "attributes"])),
        lambda: excel_file(folder / "in.xlsx"),
        lambda: parquet_file(folder / "in.parquet"),
        lambda: sqlite_table(folder / "in.db", "it"),
    ]
    return rng.choice(makers)()


def _changed_book(rng: Random, book: bytes) -> bytes:
    """A workbook with a change in one of its parts: its zip is whole, so readers look inside."""
    with zipfile.ZipFile(io.BytesIO(book)) as parts:
        found = {name: parts.read(name) for name in parts.namelist()}
    sheets = [name for name in found if "sheet" in name]
    name = rng.choice([*found, *sheets * 4])
    found[name] = changed(rng, found[name])
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as parts:
        for each, content in found.items():
            parts.writestr(each, content)
    return written.getvalue()


KIND = Kind(
    attack,
    tries="a data file in CSV, JSON, XML, Excel, Parquet or SQLite with bytes flipped, cut, moved "
    "or mixed is released",
    fails="a traceback, exit code 1 or 4, a hang, an unsafe release, or a value of the data in an "
    "error or a log",
    limits="mutations of small files by chance. A change that leaves the file readable is a "
    "change of the data, which nobody can see. Where the row with the names is broken, a record is "
    "taken for it, and errors may name its values as columns",
)
