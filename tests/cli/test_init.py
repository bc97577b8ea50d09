"""`shoal init` on real files: what it writes can be read, and it overwrites nothing."""

from __future__ import annotations

import random
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import typer
from typer.testing import CliRunner

from shoal.cli.init import init
from shoal.definition.model import Dates, Files, Intervals, Mask, OutputFile, Suppress
from shoal.definition.read import read
from shoal.errors import BadData, BadOutput

app = typer.Typer()
app.command()(init)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a small registry, as the working folder."""
    chance = random.Random(3)
    rows = [
        f"p{i:04},{chance.randint(18, 90)},{chance.choice('mf')},"
        f"{chance.randint(10, 19)}{i % 7:03},19{chance.randint(30, 99)}-0{chance.randint(1, 9)}-11,"
        f"{chance.choice(['flu', 'cold', '?'])}"
        for i in range(300)
    ]
    lines = "\n".join(["patient id,age,sex,zip,born,diagnosis", *rows])
    (tmp_path / "patients.csv").write_text(f"{lines}\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments: str) -> str:
    result = CliRunner().invoke(app, list(arguments), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_a_column_of_lists_is_dropped(folder: Path) -> None:
    table = pa.table({"age": [30, 40] * 20, "tags": [["a"], ["b"]] * 20})
    pq.write_table(table, folder / "listed.parquet")
    run("listed.parquet")
    assert read("listed.yaml").attributes["tags"].role == "drop"


def test_the_definition_is_named_after_the_data_and_can_be_read(folder: Path) -> None:
    assert "shoal run patients.yaml" in run("patients.csv")
    definition = read("patients.yaml")
    assert isinstance(definition.source, Files)
    assert definition.source.path == "patients.csv"
    assert isinstance(definition.output, OutputFile)
    assert definition.output.path == Path("patients-release.csv")
    assert (definition.k, definition.suppression) == (5, 0.05)
    assert definition.missing.values == ("?",)
    assert definition.quasi_identifiers == ("age", "sex", "zip", "born")
    hierarchies = [definition.attributes[n].hierarchy for n in definition.quasi_identifiers]
    assert [type(found) for found in hierarchies] == [Intervals, Suppress, Mask, Dates]
    assert definition.attributes["patient id"].role == "identifier"


def test_no_raw_value_is_in_the_definition(folder: Path) -> None:
    run("patients.csv")
    text = (folder / "patients.yaml").read_text()
    assert "flu" not in text
    assert "p0001" not in text


def test_paths_are_relative_to_the_definition(folder: Path) -> None:
    (folder / "definitions").mkdir()
    run("patients.csv", "-o", "definitions/own.yaml", "--k", "7")
    definition = read("definitions/own.yaml")
    assert isinstance(definition.source, Files)
    assert Path(definition.source.path).resolve() == (folder / "patients.csv").resolve()
    assert definition.k == 7


def test_the_release_of_a_glob_is_no_file_that_the_glob_reads(folder: Path) -> None:
    run("*.csv")
    definition = read("definition.yaml")
    assert isinstance(definition.output, OutputFile)
    assert definition.output.path == Path("release.parquet")


def test_a_definition_is_overwritten_only_by_force(folder: Path) -> None:
    (folder / "patients.yaml").write_text("mine")
    with pytest.raises(BadOutput, match="exists already"):
        run("patients.csv")
    assert (folder / "patients.yaml").read_text() == "mine"
    run("patients.csv", "--force")
    assert read("patients.yaml").k == 5


def test_a_folder_that_does_not_exist_is_refused(folder: Path) -> None:
    with pytest.raises(BadOutput, match="cannot write"):
        run("patients.csv", "-o", "nowhere/own.yaml")


def test_a_table_without_records_is_refused(folder: Path) -> None:
    (folder / "empty.csv").write_text("a,b\n")
    with pytest.raises(BadData, match="no records"):
        run("empty.csv")


def test_a_missing_file_is_refused_with_a_near_miss(folder: Path) -> None:
    with pytest.raises(BadData, match=r"patients\.csv"):
        run("patient.csv")


def test_how_the_data_is_read_is_in_the_definition(folder: Path) -> None:
    (folder / "old.csv").write_bytes(
        "straße|sex\n".encode("latin-1") + "größe|m\n".encode("latin-1")
    )
    run("old.csv", "--encoding", "latin-1", "--delimiter", "|")
    definition = read("old.yaml")
    assert isinstance(definition.source, Files)
    assert (definition.source.encoding, definition.source.delimiter) == ("latin-1", "|")
    assert set(definition.attributes) == {"straße", "sex"}


def test_one_value_is_not_called_values(folder: Path) -> None:
    (folder / "same.csv").write_text("sex,land\nm,x\nf,x\n")
    run("same.csv")
    assert "# 1 distinct value, 0 missing." in (folder / "same.yaml").read_text()
