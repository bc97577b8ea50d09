"""`shoal init`, `check` and `convert -o` take every address that a definition can name."""

from __future__ import annotations

import csv
import io
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
import yaml
from typer.testing import CliRunner

import servers
import shoal
from shoal.cli.app import app
from shoal.errors import ShoalError

ROWS = [("zip", "sex", "note")] + [
    (f"{10115 + i % 4}", "mf"[i % 2], f"note {i % 5}") for i in range(40)
]
AS_MEASURED = (10, 40)
"""The k and the records of the table by zip and sex."""


def table() -> pa.Table:
    text = io.StringIO()
    csv.writer(text).writerows(ROWS)
    return pyarrow.csv.read_csv(
        io.BytesIO(text.getvalue().encode()),
        convert_options=pyarrow.csv.ConvertOptions(column_types={"zip": pa.string()}),
    )


def invoke(*arguments: str) -> str:
    done = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def released(folder: Path, *address: str) -> Any:
    """The definition that `init` writes of an address, in a folder of its own, run and checked."""
    (folder / "made").mkdir()
    definition = folder / "made" / "address.yaml"
    invoke("init", *address, "-o", str(definition), "--k", "4")
    invoke("convert", str(definition), "-o", str(definition.with_suffix(".json")))
    measured = invoke("check", *address, "--qi", "zip,sex", "--json")
    assert (yaml.safe_load(measured)["k"], yaml.safe_load(measured)["records"]) == AS_MEASURED
    result = shoal.run(definition.with_suffix(".json"))
    assert (result.verified, result.records) == (True, 40)
    return yaml.safe_load(definition.read_text(encoding="utf-8"))["source"]


def put_file(folder: Path) -> list[str]:
    pyarrow.csv.write_csv(table(), folder / "people.csv")
    return [str(folder / "people.csv")]


def put_parts(folder: Path) -> list[str]:
    (folder / "parts").mkdir()
    pq.write_table(table().slice(0, 15), folder / "parts" / "a.parquet")
    pq.write_table(table().slice(15), folder / "parts" / "b.parquet")
    return [str(folder / "parts")]


def put_glob(folder: Path) -> list[str]:
    return [f"{put_parts(folder)[0]}/*.parquet"]


def put_sheet(folder: Path) -> list[str]:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    sheet = book.create_sheet("people")
    for row in ROWS:
        sheet.append(row)
    book.save(folder / "people.xlsx")
    return [str(folder / "people.xlsx"), "--sheet", "people"]


def put_duckdb(folder: Path) -> list[str]:
    import duckdb

    with duckdb.connect(folder / "people.duckdb") as connection:
        connection.register("given", table())
        connection.execute("CREATE TABLE people AS FROM given")
    return [f"duckdb:///{folder / 'people.duckdb'}", "--table", "people"]


@pytest.mark.slow
@pytest.mark.parametrize("put", [put_file, put_parts, put_glob, put_sheet, put_duckdb])
def test_a_file_or_folder_is_an_address(put: Callable[[Path], list[str]], tmp_path: Path) -> None:
    released(tmp_path, *put(tmp_path))


@pytest.mark.slow
@pytest.mark.parametrize("server", ["sqlite_url", "postgres_url", "mariadb_url"])
def test_a_table_of_a_database_is_an_address(
    server: str, request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = request.getfixturevalue(server)
    servers.load(url, "people", table())
    monkeypatch.setenv("CLINIC_PASSWORD", servers.PASSWORD)
    url = url.replace(servers.PASSWORD, "${CLINIC_PASSWORD}")
    assert released(tmp_path, url, "--table", "people") == {"url": url, "table": "people"}
    shutil.rmtree(tmp_path / "made")
    query = "SELECT zip, sex, note FROM people"
    assert released(tmp_path, url, "--query", query) == {"url": url, "query": query}
    source = {"url": url, "table": "people"}
    assert shoal.check(source, ["zip", "sex"]).k == AS_MEASURED[0]
    assert shoal.risk(source, ["zip", "sex"]).before.prosecutor.highest == 1 / AS_MEASURED[0]


def test_what_spark_reads_is_an_address(
    spark_session: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (path,) = put_parts(tmp_path)
    frame = spark_session.read.parquet(path)
    frame.createOrReplaceTempView("people_to_check")
    for address in ("people_to_check", path):
        assert shoal.check({"spark": address}, ["zip", "sex"], spark=spark_session).records == 40
    spark_session.catalog.dropTempView("people_to_check")
    assert shoal.check(frame, ["zip", "sex"]).k == AS_MEASURED[0]
    assert released(tmp_path, path, "--spark") == {"spark": path}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["sqlite:///clinic.db"], "say which table of the database"),
        (["people.csv", "--table", "people"], "is no URL of a database"),
        (["people.csv", "--query", "SELECT 1"], "is no URL of a database"),
        (["people.csv", "--master", "local"], "goes with --spark"),
        (["http://people.csv", "--table", "t"], "http"),
        (["https://example.org/people.csv"], "download the file, and give its path"),
    ],
)
def test_an_address_that_is_none_is_an_error_with_its_remedy(
    arguments: list[str], words: str
) -> None:
    for command in (["init"], ["check", "--qi", "zip"]):
        done = CliRunner().invoke(app, [*command, *arguments])
        assert done.exit_code in (1, 2)
        said = str(done.exception) if isinstance(done.exception, ShoalError) else done.output
        assert words in " ".join(said.split())


@pytest.mark.parametrize("url", ["postgresql://me:secret@host/db", "mysql://h/db?password=secret"])
def test_a_password_is_not_written_into_a_definition(url: str) -> None:
    done = CliRunner().invoke(app, ["init", url, "--table", "people"])
    assert done.exit_code == 2
    assert "${CLINIC_PASSWORD}" in done.output
    assert "secret" not in done.output


def test_a_token_is_not_written_into_a_definition() -> None:
    master = "sc://host:443/;use_ssl=true;token=secret"
    done = CliRunner().invoke(app, ["init", "clinic.visits", "--spark", "--master", master])
    assert done.exit_code == 2
    assert "SPARK_CONNECT_AUTHENTICATE_TOKEN" in done.output
    assert "secret" not in done.output
