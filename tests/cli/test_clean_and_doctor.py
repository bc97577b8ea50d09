"""`shoal clean` deletes orphans of ended processes, `shoal doctor` lists what is installed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import servers
from shoal.cli import doctor
from shoal.cli.app import app
from shoal.engines.local_files import FOLDER, HIDDEN, is_left, owned


def run(*arguments: str | Path) -> str:
    done = CliRunner().invoke(app, [str(each) for each in arguments])
    assert done.exit_code == 0, done.output
    return done.output


@pytest.fixture
def ended(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    """How names of a process of this host begin that has ended; temporary files lie apart."""
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return owned("").replace(str(os.getpid()), str(process.pid), 1)


def leave(folder: Path, ended: str) -> None:
    """Orphans of an ended process (a staged file, two folders), and other files."""
    (folder / f"{HIDDEN}{ended}a.csv").touch()
    (folder / f"{HIDDEN}{ended}b").mkdir()
    (folder / f"{HIDDEN}{ended}b" / "part-00000.parquet").touch()
    (folder / "tmp" / f"{FOLDER}{ended}c").mkdir()
    (folder / f"{HIDDEN}{owned('')}d.csv").touch()
    (folder / f"{HIDDEN}{ended.split('-')[0]}-00000000-e.csv").touch()
    (folder / "out.csv").touch()


def names(folder: Path) -> list[str]:
    """The ends of all names, here and among the temporary files."""
    return sorted(path.name[-5:] for path in (*folder.iterdir(), *(folder / "tmp").iterdir()))


def test_orphans_are_deleted_and_files_of_running_processes_kept(
    tmp_path: Path, ended: str
) -> None:
    leave(tmp_path, ended)
    before = names(tmp_path)
    assert run("clean", tmp_path, "--dry-run").count("would remove") == 3
    assert names(tmp_path) == before
    assert run("clean", tmp_path).count("removed") == 3
    assert names(tmp_path) == ["d.csv", "e.csv", "t.csv", "tmp"]
    assert run("clean", tmp_path) == "Nothing is left behind.\n"
    assert "00000000" in run("clean", tmp_path, "--all")
    assert (tmp_path / "out.csv").exists()


def test_a_definition_says_where_to_look(tmp_path: Path, ended: str) -> None:
    for folder in ("data", "spill"):
        (tmp_path / folder).mkdir()
    (tmp_path / "data" / f"{HIDDEN}{ended}a.csv").touch()
    (tmp_path / "spill" / f"{FOLDER}{ended}b").mkdir()
    (tmp_path / "data" / ".old.shoal-before").mkdir()
    (tmp_path / "it.yaml").write_text(
        "source: in.csv\noutput: data/out.csv\nk: 2\nengine: {spill folder: spill}\n"
        "attributes: {a: quasi-identifier}\n"
    )
    said = run("clean", tmp_path / "it.yaml")
    assert said.count("removed") == 2
    assert "put back" in said
    assert [path.name for path in (tmp_path / "data").iterdir()] == ["old"]
    assert list((tmp_path / "spill").iterdir()) == []


def test_staged_tables_are_cleaned_too(tmp_path: Path, ended: str, sqlite_url: str) -> None:
    left = f"shoal_staged_{ended}0a1b".replace("-", "_")
    running = f"{owned('shoal_staged_')}0a1b".replace("-", "_")
    for name in (left, running):
        servers.run_sql(sqlite_url, f"CREATE TABLE {name} (a TEXT)")
    (tmp_path / "it.yaml").write_text(
        f"source: in.csv\noutput: {{url: '{sqlite_url}', table: out}}\nk: 2\n"
        "attributes: {a: quasi-identifier}\n"
    )
    assert left in run("clean", tmp_path / "it.yaml", "--dry-run")
    assert left in run("clean", tmp_path / "it.yaml")
    tables = servers.run_sql(sqlite_url, "SELECT name FROM sqlite_master WHERE name LIKE 'shoal%'")
    assert tables == [(running,)]
    servers.run_sql(sqlite_url, f"DROP TABLE {running}")


def test_staged_tables_of_sparks_catalog_are_cleaned_and_the_old_one_put_back(
    tmp_path: Path, ended: str, spark_session: Any
) -> None:
    left = f"shoal_staged_{ended}0a1b".replace("-", "_")
    running = f"{owned('shoal_staged_')}0a1b".replace("-", "_")
    spark_session.sql("CREATE SCHEMA cleaned")
    for name in (left, running, "release_shoal_before"):
        spark_session.sql(f"CREATE TABLE cleaned.{name} USING parquet AS SELECT 1 AS a")
    (tmp_path / "it.yaml").write_text(
        "source: in.csv\noutput: {spark: cleaned.release, replace: true}\nk: 2\n"
        "attributes: {a: quasi-identifier}\n"
    )
    assert left in run("clean", tmp_path / "it.yaml", "--dry-run")
    assert left in run("clean", tmp_path / "it.yaml")
    tables = sorted(table.name for table in spark_session.catalog.listTables("cleaned"))
    spark_session.sql("DROP SCHEMA cleaned CASCADE")
    assert tables == ["release", running]


@pytest.mark.slow
def test_the_doctor_names_versions_and_what_installs_the_rest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(doctor, "PYTHON", (*doctor.PYTHON, ("nothing", "no-such-thing", "x[y]")))
    found = {part["name"]: part for part in json.loads(run("doctor", "--json"))}
    assert found["duckdb"]["version"].startswith("2.")
    assert found["Java"]["version"] is not None
    assert found["no-such-thing"] == {
        "purpose": "nothing",
        "name": "no-such-thing",
        "version": None,
        "remedy": "pip install 'x[y]'",
    }
    assert "not found; pip install 'x[y]'" in run("doctor").replace("\n", " ")
    assert CliRunner().invoke(app, ["doctor", "--strict"]).exit_code == 1


def test_on_windows_no_process_is_signalled_and_none_counts_as_ended(
    monkeypatch: pytest.MonkeyPatch, ended: str
) -> None:
    assert is_left(f"{HIDDEN}{ended}a.csv", HIDDEN)
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(os, "kill", lambda *_: pytest.fail("signal 0 is Ctrl-C there"))
    assert not is_left(f"{HIDDEN}{ended}a.csv", HIDDEN)
