"""No file that a run writes overwrites one that it reads, whatever the file is called."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import shoal
from shoal.cli.app import app
from shoal.definition.model import Definition
from shoal.definition.read import from_mapping, read

DEFINITION = """
source: patients.csv
output: release.csv
k: 2
attributes:
  zip: {role: quasi-identifier, hierarchy: zip.csv}
  ward: keep
"""
OWN = ("patients.csv", "zip.csv", "d.yaml")
"""The files that the definition reads."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "patients.csv").write_text("zip,ward\n1,a\n2,a\n1,b\n2,b\n")
    (tmp_path / "zip.csv").write_text("1;*\n2;*\n")
    (tmp_path / "d.yaml").write_text(DEFINITION)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def contents(folder: Path) -> dict[str, bytes]:
    return {str(p): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def same(path: Path) -> str:
    return f"./{path.name}"


def whole(path: Path) -> str:
    return str(path.absolute())


def hard_link(path: Path) -> str:
    os.link(path, "other.html")
    return "other.html"


def soft_link(path: Path) -> str:
    Path("other.html").symlink_to(path)
    return "other.html"


def through_a_linked_folder(path: Path) -> str:
    Path("link").symlink_to(".")
    return f"link/{path.name}"


@pytest.mark.slow
@pytest.mark.parametrize("spelling", [same, whole, hard_link, soft_link, through_a_linked_folder])
@pytest.mark.parametrize("option", ["--output", "--report", "--json", "--proof"])
def test_no_option_of_a_run_overwrites_what_the_definition_reads(
    folder: Path, option: str, spelling: Callable[[Path], str]
) -> None:
    for name in OWN:
        before = contents(folder)
        place = spelling(folder / name)
        done = CliRunner().invoke(app, ["run", "d.yaml", option, place])
        assert isinstance(done.exception, shoal.ShoalError), (name, done.output)
        assert done.exception.exit_code == 2
        assert done.exception.code in ("would-overwrite", "bad-definition")
        for link in ("other.html", "link"):
            Path(link).unlink(missing_ok=True)
        assert contents(folder) == before


@pytest.mark.parametrize(
    "options",
    [
        ["--json", "release.csv"],
        ["--report", "RELEASE.csv", "--json", "r.json"],
        ["--report", "r.json", "--json", "./r.json"],
        ["--report", "r.json", "--proof", "R.json"],
        ["--json", "p.json", "--proof", "p.json"],
        ["--report", "r.html", "--json", "r.failed.html"],
    ],
)
def test_no_two_files_of_a_run_are_one(folder: Path, options: list[str]) -> None:
    done = CliRunner().invoke(app, ["run", "d.yaml", *options])
    assert isinstance(done.exception, shoal.ShoalError), done.output
    assert "the same file as the" in str(done.exception)
    assert not (folder / "release.csv").exists()


def test_python_gets_the_same_error(folder: Path) -> None:
    before = contents(folder)
    for name in OWN:
        with pytest.raises(shoal.BadOutput) as caught:
            shoal.run("d.yaml", proof=f"./{name}")
        assert caught.value.code == "would-overwrite"
    with pytest.raises(shoal.BadOutput, match="same file as the output"):
        shoal.run("d.yaml", proof="release.csv")
    assert contents(folder) == before


def test_a_definition_that_nobody_checked_is_checked_by_the_run(folder: Path) -> None:
    """A link may come after the definition was read."""
    definition: Definition = read("d.yaml")
    (folder / "release.csv").symlink_to("patients.csv")
    before = contents(folder)
    with pytest.raises(shoal.BadOutput, match="is a file of the source"):
        shoal.run(definition)
    assert contents(folder) == before


@pytest.mark.parametrize(
    ("source", "output"),
    [
        ("parts/*.parquet", {"path": "parts", "file size": "1 MB"}),
        ("part?/a.parquet", {"path": "parts", "file size": "1 MB"}),
        ("link/**/*.parquet", {"path": "parts", "file size": "1 MB"}),
        ("link", {"path": "parts", "file size": "1 MB"}),
        ("parts/*.parquet", {"spark": "./parts", "replace": True}),
        ({"spark": "./parts"}, {"path": "parts", "file size": "1 MB"}),
        ({"spark": "file:{folder}/link"}, {"spark": "{folder}/parts", "replace": True}),
        ("parts/*.parquet", "link/b.parquet"),
        ("link/*.parquet", "parts/b.parquet"),
        ("parts", "b.parquet"),
        (["patients.csv", "parts/a.parquet"], "b.parquet"),
        ({"spark": "./parts"}, "link/new.csv"),
    ],
)
def test_folders_and_globs_are_followed(folder: Path, source: Any, output: Any) -> None:
    (folder / "parts").mkdir()
    pq.write_table(pa.table({"zip": ["1", "2"], "ward": ["a", "b"]}), "parts/a.parquet")
    (folder / "link").symlink_to("parts")
    os.link("parts/a.parquet", "b.parquet")
    before = contents(folder)

    def filled(place: Any) -> Any:
        if isinstance(place, dict) and "spark" in place:
            return {**place, "spark": place["spark"].replace("{folder}", str(folder))}
        return place

    attributes = {"zip": "quasi-identifier", "ward": "keep"}
    mapping = {"source": filled(source), "output": filled(output), "k": 2, "attributes": attributes}
    with pytest.raises(shoal.BadDefinition, match="output: "):
        from_mapping(mapping)
    assert contents(folder) == before


@pytest.mark.slow
@pytest.mark.parametrize(
    "url", ["sqlite:///clinic.db", "sqlite:///link/clinic.db", "sqlite:///file:clinic.db?uri=true"]
)
def test_the_file_of_a_database_is_a_file_that_is_read_and_written(folder: Path, url: str) -> None:
    (folder / "link").symlink_to(".")
    with sqlite3.connect("clinic.db") as clinic:
        clinic.execute("CREATE TABLE patients (zip TEXT, ward TEXT)")
        clinic.execute("INSERT INTO patients VALUES ('1', 'a'), ('1', 'b')")
    attributes = {"zip": "quasi-identifier", "ward": "keep"}
    base = {"k": 2, "attributes": attributes}
    table = {"url": url, "table": "patients"}
    for name in ("clinic.db", "clinic.db-wal", "clinic.db-journal"):
        with pytest.raises(shoal.BadDefinition, match="is a file of the source"):
            from_mapping({"source": table, "output": "o.csv", "report": name, **base})
        output = {"url": url, "table": "release"}
        with pytest.raises(shoal.BadDefinition, match="is the database of the output"):
            from_mapping({"source": "patients.csv", "output": output, "report": name, **base})
    assert shoal.run({"source": table, "output": output, **base}).verified


@pytest.mark.slow
def test_other_commands_keep_what_they_read(folder: Path) -> None:
    before = contents(folder)
    commands = [
        ["hierarchy", "make", "d.yaml", "zip", "--force", "-o"],
        ["hierarchy", "make", "--data", "patients.csv", "--column", "zip", "--force", "-o"],
        ["init", "patients.csv", "--force", "-o"],
        ["convert", "d.yaml", "--to", "yaml", "--force"],
        ["compare", "d.yaml", "--json"],
        ["compare", "d.yaml", "--report"],
    ]
    for command in commands:
        reads_all = "d.yaml" in command
        for name in OWN if reads_all else ("patients.csv",):
            done = CliRunner().invoke(app, [*command, f"./{name}"])
            assert isinstance(done.exception, shoal.BadOutput), (command, name, done.output)
            assert done.exception.code == "would-overwrite"
    assert contents(folder) == before


@pytest.mark.slow
def test_what_is_not_read_may_be_written(folder: Path) -> None:
    options = ["--report", "zip.html", "--json", "patients.json", "--proof", "d.gz"]
    done = CliRunner().invoke(app, ["run", "d.yaml", *options])
    assert done.exit_code == 0, done.output
    done = CliRunner().invoke(app, ["run", "d.yaml", *options])
    assert done.exit_code == 0, done.output
