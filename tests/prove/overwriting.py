"""An output, report, result or proof over something that the run reads is refused.

The same run must release elsewhere, so that it was refused for this reason.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

import psycopg
import yaml

import commands
import shoal
from prove.databases import postgres_table, sqlite_table
from prove.files import csv_file, json_file, parquet_file
from prove.tables import Column, Store, Table
from prove.trial import Declined, Failed, Kind, Trial, run_or_decline

PEOPLE = Table(
    (
        Column("age", "text", tuple(str(20 + i % 5) for i in range(20))),
        Column("ward", "text", tuple("ab"[i % 2] for i in range(20))),
    )
)


def attack(trial: Trial) -> None:
    """Aim an output at a file that is read, or at a table that is read."""
    if trial.rng.random() < 0.5:
        _at_a_file(trial)
    elif trial.services.postgres is not None and trial.rng.random() < 0.5:
        _at_a_table_of_postgres(trial, trial.services.postgres)
    else:
        _at_a_table_of_sqlite(trial)


def _at_a_file(trial: Trial) -> None:
    rng, folder = trial.rng, trial.folder
    (folder / "age.csv").write_text("".join(f"{20 + i};*\n" for i in range(5)))
    store = _file(rng, folder)
    store.write(rng, PEOPLE)
    read = Path(store.location)
    written = rng.choice(["output", "report", "result", "proof"])
    victim = rng.choice([read, folder / "age.csv", folder / "d.yaml"])
    ending = ".csv" if written == "output" else rng.choice([victim.suffix, ".html", ".csv"])
    aimed = _spelling(rng, folder, victim, ending)
    _define(folder, read, written, aimed)
    before = _bytes(folder)
    refused = _refused(lambda: _run(folder, written, aimed))
    _expect(refused, before, _bytes(folder), f"{written} {aimed!r}")
    elsewhere = str(folder / "elsewhere.csv")
    _define(folder, read, written, elsewhere)
    run_or_decline(lambda: _run(folder, written, elsewhere))


def _define(folder: Path, source: Path, written: str, path: str) -> None:
    definition: dict[str, Any] = {"source": source.name, "output": "release.csv", "k": 2}
    age = {"role": "quasi-identifier", "hierarchy": "age.csv"}
    definition["attributes"] = {"age": age, "ward": "keep"}
    if written in ("output", "report"):
        definition[written] = path
    (folder / "d.yaml").write_text(yaml.safe_dump(definition), encoding="utf-8")


def _run(folder: Path, written: str, path: str) -> None:
    """Run the definition; what the command alone can write is written by the command."""
    if written != "result":
        shoal.run(folder / "d.yaml", proof=path if written == "proof" else None)
        return
    done = commands.shoal("run", "d.yaml", "--json", path, folder=folder)
    if done.returncode == 2:
        raise Declined(done.stderr)
    if done.returncode != 0:
        raise Failed(f"exit code {done.returncode}: {done.stderr}")


def _file(rng: Random, folder: Path) -> Store:
    makers = [csv_file, parquet_file, json_file]
    return makers[i := rng.randrange(3)](folder / f"source{('.csv', '.parquet', '.json')[i]}")


def _spelling(rng: Random, folder: Path, path: Path, ending: str) -> str:
    """Another way to name a file, which need not be there yet; a link gets the ending."""
    way = rng.choice(["absolute", "roundabout", "soft link", "hard link", "linked folder"])
    if way == "roundabout":
        (folder / "sub").mkdir()
        return str(folder / "sub" / ".." / path.name)
    if way == "soft link":
        (folder / f"other{ending}").symlink_to(path.name)
        return str(folder / f"other{ending}")
    if way == "hard link" and path.exists():
        os.link(path, folder / f"other{ending}")
        return str(folder / f"other{ending}")
    if way == "linked folder":
        (folder / "link").symlink_to(".")
        return str(folder / "link" / path.name)
    return str(path)


def _at_a_table_of_sqlite(trial: Trial) -> None:
    rng, folder = trial.rng, trial.folder
    sqlite_table(folder / "it.db", "people").write(rng, PEOPLE)
    (folder / "link.db").symlink_to("it.db")
    (folder / "sub").mkdir()
    urls = [f"sqlite:///{folder / name}" for name in ("it.db", "link.db", "sub/../it.db")]
    with closing(sqlite3.connect(folder / "it.db")) as connection, connection:
        connection.execute("CREATE VIEW seen AS SELECT * FROM people WHERE age > 0")
        connection.execute("CREATE VIEW far AS SELECT * FROM seen")
    sources = _sources("people", ["main.people", "PEOPLE"])
    source = {"url": rng.choice(urls), **rng.choice(sources)}
    named = rng.choice(["people", "People", "main.people", "MAIN.PEOPLE"])
    output = {"url": rng.choice(urls), "table": named, "replace": True}
    before = _bytes(folder)
    refused = _refused(lambda: shoal.run(_definition(source, output)))
    _expect(refused, before, _bytes(folder), f"{source} to {output}")
    elsewhere = {**output, "table": "elsewhere"}
    run_or_decline(lambda: shoal.run(_definition(source, elsewhere)))


def _at_a_table_of_postgres(trial: Trial, url: str) -> None:
    rng = trial.rng
    store = postgres_table(url)
    store.write(rng, PEOPLE)
    name = store.location["table"]
    with psycopg.connect(url) as connection:
        for view, of in ((f"{name} seen", name), (f"{name} far", f"{name} seen")):
            connection.execute(f'CREATE VIEW "{view}" AS SELECT * FROM "{of}"'.encode())
    urls = [url, url.replace("127.0.0.1", "localhost"), f"{url}?application_name=x"]
    sources = [
        *({"table": table} for table in (name, f"public.{name}", f"{name} seen", f"{name} far")),
        {"query": f'SELECT * FROM public."{name}"'},
        {"query": f'SELECT age, max(ward) AS ward FROM "{name} far" GROUP BY age'},
    ]
    source = {"url": rng.choice(urls), **rng.choice(sources)}
    output = {"url": rng.choice(urls), "table": rng.choice([name, f"public.{name}"])}
    output["replace"] = True
    before = repr(store.read())
    refused = _refused(lambda: shoal.run(_definition(source, output)))
    _expect(refused, before, repr(store.read()), f"{source} to {output}")
    elsewhere = {**output, "table": f"{name} elsewhere"}
    run_or_decline(lambda: shoal.run(_definition(source, elsewhere)))


def _sources(name: str, others: list[str]) -> list[dict[str, str]]:
    """Ways to read a table of SQLite: by name, through views, and by a query."""
    tables = [{"table": table} for table in (name, *others, "seen", "far")]
    queries = [f"SELECT * FROM {name}", "WITH a AS (SELECT * FROM far) SELECT * FROM a"]
    return [*tables, *({"query": query} for query in queries)]


def _definition(source: Any, output: Any) -> dict[str, Any]:
    attributes = {"age": {"role": "quasi-identifier", "hierarchy": "suppress"}, "ward": "keep"}
    return {"source": source, "output": output, "k": 2, "attributes": attributes}


def _refused(act: Callable[[], Any]) -> bool:
    try:
        act()
    except shoal.ShoalError as error:
        return error.exit_code == 2
    except Declined:
        return True
    return False


def _bytes(folder: Path) -> dict[str, str]:
    """What every file of the folder holds, and where links lead."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        if path.is_file() and not path.is_symlink()
        else str(path.resolve())
        for path in sorted(folder.rglob("*"))
        if path.parent.name != "tmp" and path.name != "tmp"
    }


def _expect(refused: bool, before: Any, after: Any, what: str) -> None:
    if before != after:
        raise Failed(f"something was changed: {what}")
    if not refused:
        raise Failed(f"not refused: {what}")


KIND = Kind(
    attack,
    tries="output, report, result or proof is something that is read, by another spelling, link, "
    "table name, view or query",
    fails="it is not refused, or any source has changed",
    limits="links and views that are made while a run is going on are not tried",
    uses=frozenset({"postgres"}),
)
