"""The same records and the same definition give the same bytes, however they are computed."""

from __future__ import annotations

import hashlib
import os
import secrets
import subprocess
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import yaml

import servers
import shoal
from commands import SHOAL, TIME_LIMIT
from prove.arrow import read_arrow
from prove.files import csv_file, json_file, parquet_file, read_csv
from prove.tables import Column, Grid, Store, Table
from prove.trial import Failed, Kind, Trial, run_or_decline

SIZES = (60, 400)
"""The fewest and the most records of a table."""


def attack(trial: Trial) -> None:
    """Release one table from everywhere, in any order of its records and with any threads.

    The first release is from CSV with one thread. A fresh process has another seed of hashes.
    """
    rng, folder = trial.rng, trial.folder
    table = _table(rng)
    recoding, first = rng.choice(["full-domain", "local"]), csv_file(folder / "first.csv")
    first.write(rng, table)
    expected = _bytes(trial, first, recoding, threads=1)
    for store in _stores(trial):
        store.write(rng, _shuffled(rng, table))
        threads = rng.randint(1, 4)
        if _bytes(trial, store, recoding, threads) != expected:
            raise Failed(f"other bytes from {_kind(store)} with {threads} threads, {recoding}")
        trial.seen["releases compared"] += 1
    _compare_frame(trial, table, recoding)
    if rng.random() < 0.2:
        _compare_process(trial, first, recoding, expected)
    trial.seen[recoding] += 1


def _table(rng: Random) -> Table:
    """Texts alone: every store gives them as they are, and their order is the same everywhere."""
    size = rng.randint(*SIZES)
    columns = [
        Column(name, "text", tuple(f"{name}{rng.randrange(values)}" for _ in range(size)))
        for name, values in (("q1", 4), ("q2", 9), ("q3", 30), ("ill", 6))
    ]
    return Table(tuple(columns))


def _stores(trial: Trial) -> list[Store]:
    """Two stores whose columns are all of text."""
    folder, services = trial.folder, trial.services
    found = [
        csv_file(folder / "other.csv"),
        json_file(folder / "in.json"),
        parquet_file(folder / "in.parquet"),
        _database(f"sqlite:///{folder / 'in.db'}"),
    ]
    found += [_database(url) for url in (services.postgres, services.mariadb) if url is not None]
    return trial.rng.sample(found, 2)


def _database(url: str) -> Store:
    """A table of texts, without the odd types that other trials choose."""
    name = f"prove {secrets.token_hex(6)}"

    def write(rng: Random, table: Table) -> None:
        servers.load(url, name, pa.table({each.name: each.values for each in table.columns}))

    def read() -> Grid:
        return Grid((), tuple(servers.rows_of(url, name)))

    return Store({"url": url, "table": name}, write, read)


def _kind(store: Store) -> str:
    location = store.location
    return str(location["url"]).split(":", 1)[0] if isinstance(location, dict) else str(location)


def _shuffled(rng: Random, table: Table) -> Table:
    order = rng.sample(range(len(table.rows)), len(table.rows))
    return Table(tuple(replace(c, values=tuple(c.values[i] for i in order)) for c in table.columns))


def _definition(source: Any, output: Path, recoding: str, threads: int) -> dict[str, Any]:
    return {
        "source": source,
        "output": str(output),
        "k": 4,
        "suppression": "10%",
        "recoding": recoding,
        "attributes": {**_quasi_identifiers(), "ill": "keep"},
        "search": {"threads": threads},
        "engine": {"threads": threads},
    }


def _quasi_identifiers() -> dict[str, Any]:
    mask = {"role": "quasi-identifier", "hierarchy": {"mask": [1, 2]}}
    return {"q1": {**mask, "hierarchy": "suppress"}, "q2": mask, "q3": mask}


def _bytes(trial: Trial, store: Store, recoding: str, threads: int) -> str:
    output = trial.folder / "release.csv"
    definition = _definition(store.location, output, recoding, threads)
    run_or_decline(lambda: shoal.run(definition, spark=trial.services.spark))
    return hashlib.sha256(output.read_bytes()).hexdigest()


def _compare_frame(trial: Trial, table: Table, recoding: str) -> None:
    """A frame gives the same rows in the same order."""
    shuffled = _shuffled(trial.rng, table)
    frame = pa.table({column.name: column.values for column in shuffled.columns})
    hierarchies = {name: {"hierarchy": a["hierarchy"]} for name, a in _quasi_identifiers().items()}
    options: dict[str, Any] = {
        "k": 4,
        "suppression": "10%",
        "recoding": recoding,
        "attributes": {"ill": "keep"},
    }
    released = run_or_decline(lambda: shoal.anonymize(frame, hierarchies, **options))
    _bytes(trial, csv_file(trial.folder / "first.csv"), recoding, 2)
    written = read_csv(trial.folder / "release.csv")
    if read_arrow(released) != written:
        raise Failed(f"a frame is released in another way than a file, {recoding}")
    trial.seen["releases compared"] += 1


def _compare_process(trial: Trial, store: Store, recoding: str, expected: str) -> None:
    """A process with another seed of hashes gives the same bytes."""
    output = trial.folder / "process.csv"
    definition = _definition(store.location, output, recoding, 2)
    path = trial.folder / "d.yaml"
    path.write_text(yaml.safe_dump(definition), encoding="utf-8")
    done = subprocess.run(
        [*SHOAL, "run", path, "--quiet"],
        env={**os.environ, "PYTHONHASHSEED": str(trial.rng.randrange(2**32))},
        capture_output=True,
        text=True,
        timeout=TIME_LIMIT,
    )
    if done.returncode != 0 or hashlib.sha256(output.read_bytes()).hexdigest() != expected:
        raise Failed(f"other bytes from a process with another seed of hashes: {done.stderr}")
    trial.seen["releases compared"] += 1


KIND = Kind(
    attack,
    tries="a table of texts is released to CSV, full-domain or local: from CSV with one thread, "
    "and again from two of CSV, JSON, Parquet, SQLite, PostgreSQL and MariaDB, with its records "
    "in another order and one to four threads; as a frame; now and then in a process with another "
    "seed of hashes",
    fails="the bytes of the release differ, or the rows of the frame",
    limits="columns are texts: types that engines write in different ways differ in their "
    "outputs too. Spark, which writes several files, is not compared",
    uses=frozenset({"postgres", "mariadb"}),
)
