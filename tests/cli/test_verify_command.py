"""`shoal verify` answers yes or no from a file, with an exit code to match."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import pytest
from typer.testing import CliRunner, Result

from shoal.cli.app import app
from shoal.definition.model import Intervals
from shoal.errors import BadData, BadDefinition, UserError
from shoal.verify.stated import judge_proposal

DEFINITION = """
source: people.csv
output: release.csv
k: 2
suppression: 1
attributes:
  name: identifier
  age: {role: quasi-identifier, hierarchy: {intervals: [10, 50]}}
  zip: {role: quasi-identifier, hierarchy: {mask: 3}}
  pay: keep
"""
SOURCE = "name,age,zip,pay\nann,21,123,1\nbo,22,124,2\ncy,31,123,3\ndi,35,129,4\ned,88,,5\n"
RELEASE = """age,zip,pay
"[20,30)",12*,1
"[20,30)",12*,2
"[30,40)",12*,3
"[30,40)",12*,4
"""
RESULT = {"levels": {"age": 1, "zip": 1}, "records": 5, "removed": 0, "hierarchies": {}}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "definition.yaml").write_text(DEFINITION, encoding="utf-8")
    (tmp_path / "people.csv").write_text(SOURCE, encoding="utf-8")
    (tmp_path / "release.csv").write_text(RELEASE, encoding="utf-8")
    (tmp_path / "result.json").write_text(json.dumps(RESULT), encoding="utf-8")
    return tmp_path


def verify(folder: Path, *options: str) -> Result:
    command = ["verify", str(folder / "release.csv"), "--definition"]
    return CliRunner().invoke(app, [*command, str(folder / "definition.yaml"), *options])


def change(file: Path, old: str, new: str) -> None:
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new, 1), encoding="utf-8")


def test_yes_comes_first_and_the_exit_code_is_0(folder: Path) -> None:
    done = verify(folder)
    assert done.output.startswith("Yes: ")
    assert done.exit_code == 0
    for finding in ("columns", "level of age", "level of zip", "k-anonymity", "suppression"):
        assert finding in done.output


def test_no_comes_first_and_the_exit_code_is_4(folder: Path) -> None:
    change(folder / "release.csv", "12*,1", "123,1")
    done = verify(folder)
    assert done.output.startswith("No: ")
    assert done.exit_code == 4


def test_labels_with_brackets_are_not_taken_for_markup(folder: Path) -> None:
    change(folder / "release.csv", '"[20,30)",12*,1\n', "")
    done = verify(folder, "--records", "3")
    assert "{age='[20,30)'," in " ".join(done.output.split())


def test_the_verdict_is_printed_as_json(folder: Path) -> None:
    verdict = json.loads(verify(folder, "--json").output)
    assert verdict["safe"] is True
    assert (verdict["records"], verdict["classes"], verdict["smallest_class"]) == (4, 2, 2)
    assert all(finding["holds"] for finding in verdict["findings"])


def findings(folder: Path, *options: str) -> dict[str, Any]:
    found = json.loads(verify(folder, "--json", *options).output)["findings"]
    return {finding["name"]: finding for finding in found}


@pytest.mark.slow
def test_records_are_counted_in_the_source_when_it_can_be_read(folder: Path) -> None:
    assert findings(folder)["suppression"]["saw"].startswith("1 of 5 records suppressed")
    (folder / "people.csv").unlink()
    assert findings(folder)["suppression"]["saw"].startswith("not judged")
    assert verify(folder).exit_code == 0
    assert verify(folder, "--records", "5").exit_code == 0
    assert verify(folder, "--records", "6").exit_code == 4


@pytest.mark.slow
def test_the_levels_and_records_of_a_result_are_held_against_the_release(folder: Path) -> None:
    result = ("--result", str(folder / "result.json"))
    assert verify(folder, *result).exit_code == 0
    change(folder / "result.json", '"age": 1', '"age": 2')
    assert not findings(folder, *result)["level of age"]["holds"]
    change(folder / "result.json", '"age": 2', '"age": 1')
    change(folder / "result.json", '"records": 5', '"records": 7')
    seen = findings(folder, *result)
    assert seen["source"] == {
        "name": "source",
        "holds": False,
        "saw": "5 records, but 7 stated",
    }
    assert seen["suppression"]["saw"].startswith("1 of 5 records suppressed")
    (folder / "people.csv").unlink()
    seen = findings(folder, *result)
    assert seen["source"]["saw"].startswith("not judged: it cannot be read")
    assert not seen["suppression"]["holds"]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["file", "table"])
def test_a_wrong_number_of_records_fails_a_good_release_of_a_readable_source(
    folder: Path, kind: str
) -> None:
    if kind == "table":
        header, *rows = (line.split(",") for line in SOURCE.splitlines())
        with closing(sqlite3.connect(folder / "people.db")) as connection, connection:
            connection.execute(f"CREATE TABLE people ({', '.join(header)})")
            connection.executemany("INSERT INTO people VALUES (?, ?, ?, ?)", rows)
        table = f"{{url: 'sqlite:///{folder / 'people.db'}', table: people}}"
        change(folder / "definition.yaml", "people.csv", table)
    assert verify(folder, "--records", "5").exit_code == 0
    for wrong in ("4", "6", "0"):
        done = verify(folder, "--records", wrong)
        assert done.exit_code == 4
        seen = findings(folder, "--records", wrong)["source"]
        assert (seen["holds"], seen["saw"]) == (False, f"5 records, but {wrong} given")


@pytest.mark.slow
def test_a_stated_number_of_records_counts_only_where_the_source_cannot_be_read(
    folder: Path,
) -> None:
    change(folder / "release.csv", '"[20,30)",12*,1\n"[20,30)",12*,2\n', "")
    assert verify(folder, "--records", "3").exit_code == 4
    assert findings(folder, "--records", "3")["source"]["saw"] == "5 records, but 3 given"
    (folder / "people.csv").unlink()
    assert verify(folder, "--records", "3").exit_code == 0
    result = ("--result", str(folder / "result.json"))
    seen = findings(folder, *result, "--records", "3")
    assert seen["source"]["saw"] == "5 records, but 3 given"
    assert not seen["suppression"]["holds"]


@pytest.mark.slow
def test_a_release_of_other_numbers_than_the_result_states_is_refused(folder: Path) -> None:
    result = ("--result", str(folder / "result.json"))
    numbers = '"suppressed": 1, "classes": 2, "smallest_class": 2, "removed"'
    change(folder / "result.json", '"removed"', numbers)
    assert findings(folder, *result)["numbers"]["holds"]
    with (folder / "release.csv").open("a", encoding="utf-8") as file:
        file.write('"[30,40)",12*,4\n')
    seen = findings(folder, *result)
    assert seen["suppression"]["holds"]
    assert seen["numbers"]["saw"] == "records 5, but 4 stated"
    assert verify(folder, *result).exit_code == 4


def test_a_source_that_is_not_the_one_of_the_result_fails(folder: Path) -> None:
    result = ("--result", str(folder / "result.json"))
    change(folder / "result.json", '"removed"', f'"input_sha256": "{"0" * 64}", "removed"')
    (finding,) = [each for each in findings(folder, *result).values() if not each["holds"]]
    assert finding["name"] == "source"
    assert "its checksum is another" in finding["saw"]
    (folder / "people.csv").unlink()
    assert verify(folder, *result).exit_code == 0


@pytest.mark.slow
def test_hierarchies_that_the_run_proposed_are_taken_from_the_result(folder: Path) -> None:
    change(folder / "definition.yaml", ", hierarchy: {mask: 3}", "")
    assert findings(folder)["level of zip"]["saw"].startswith("not judged")
    change(folder / "result.json", '"hierarchies": {}', '"hierarchies": {"zip": {"mask": 3}}')
    result = ("--result", str(folder / "result.json"))
    assert findings(folder, *result)["level of zip"]["saw"] == "1 label at level 1"
    change(folder / "release.csv", "12*,1", "123,1")
    assert not findings(folder, *result)["level of zip"]["holds"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("hierarchy", "saw"),
    [
        ('{"tree": {"12*": ["123", "124", "129"]}}', "of a kind that no run proposes"),
        ('{"groups": [3]}', "of a kind that no run proposes"),
        ('{"date": ["year"]}', "lacks 3 of 3 values"),
    ],
)
def test_a_hierarchy_of_the_result_is_checked(folder: Path, hierarchy: str, saw: str) -> None:
    change(folder / "definition.yaml", ", hierarchy: {mask: 3}", "")
    change(folder / "result.json", '"hierarchies": {}', f'"hierarchies": {{"zip": {hierarchy}}}')
    seen = findings(folder, "--result", str(folder / "result.json"))["hierarchy of zip"]
    assert not seen["holds"]
    assert saw in seen["saw"]


def test_a_hierarchy_of_the_result_that_is_not_nested_fails() -> None:
    crossing = Intervals.model_validate({"intervals": [2, 3]})
    assert (
        judge_proposal("age", crossing, {"1", "2", "3"}).saw
        == "the one of the result is not nested"
    )
    assert judge_proposal("age", crossing, {"0", "1"}).holds


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"levels": {"age": "x"}, "records": 5}', "\0"])
def test_a_file_that_is_no_result_is_refused(folder: Path, text: str) -> None:
    (folder / "result.json").write_text(text, encoding="utf-8")
    done = verify(folder, "--result", str(folder / "result.json"))
    assert isinstance(done.exception, BadData)
    assert done.exception.code == "bad-result"


def test_a_release_that_is_not_there_is_an_error_and_no_verdict(folder: Path) -> None:
    (folder / "release.csv").unlink()
    assert isinstance(verify(folder).exception, UserError)


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        "age,zip,pay\n",
        "age,zip\n1,2\n",
        "a,b,c\n1,2,3\n",
        "age,zip,zip\n1,2,3\n",
        RELEASE + "1,2\n",
        RELEASE.replace("age,", "age,name,", 1).replace('"[', 'x,"['),
    ],
)
def test_a_file_that_is_no_such_table_is_not_safe_and_gives_no_traceback(
    folder: Path, text: str
) -> None:
    (folder / "release.csv").write_text(text, encoding="utf-8")
    done = verify(folder)
    assert done.exit_code == 4
    assert done.output.startswith("No: ")


def test_the_release_is_read_with_the_delimiter_of_the_output(folder: Path) -> None:
    change(folder / "definition.yaml", "release.csv", '{path: release.csv, delimiter: ";"}')
    text = "age;zip;pay\n" + "[20,30);12*;1\n" * 2 + "[30,40);12*;1\n" * 2
    (folder / "release.csv").write_text(text, encoding="utf-8")
    assert verify(folder).exit_code == 0


@pytest.mark.slow
@pytest.mark.parametrize("ending", [".parquet", ".json", ".jsonl", ".csv.gz"])
def test_a_release_of_any_format_is_read(folder: Path, ending: str) -> None:
    path = folder / f"other{ending}"
    duckdb.sql(f"COPY (FROM read_csv('{folder / 'release.csv'}', all_varchar = true)) TO '{path}'")
    command = ["verify", str(path), "--definition", str(folder / "definition.yaml")]
    assert CliRunner().invoke(app, command).exit_code == 0


@pytest.mark.slow
def test_other_columns_that_are_kept_are_those_of_the_source(folder: Path) -> None:
    change(folder / "definition.yaml", "  pay: keep", "others: keep")
    assert verify(folder).exit_code == 0
    change(folder / "people.csv", "pay", "wage")
    assert not findings(folder)["columns"]["holds"]
    (folder / "people.csv").unlink()
    done = verify(folder, "--records", "5")
    assert isinstance(done.exception, BadData)
    assert done.exception.code == "unknown-others"


def test_a_definition_that_does_not_fit_the_source_is_an_error(folder: Path) -> None:
    change(folder / "definition.yaml", "  pay: keep", "  wage: keep")
    assert isinstance(verify(folder).exception, BadDefinition)


def test_the_help_shows_an_example() -> None:
    assert "shoal verify release.csv" in CliRunner().invoke(app, ["verify", "--help"]).output


@pytest.mark.slow
def test_demands_on_sensitive_values_are_held_against_the_source(folder: Path) -> None:
    change(folder / "definition.yaml", "  pay: keep", "  pay: {role: sensitive, closeness: 0.7}")
    assert findings(folder)["t-closeness of pay"]["holds"]
    change(folder / "release.csv", "12*,2", "12*,1")
    saw = findings(folder)["t-closeness of pay"]["saw"]
    assert saw.startswith("1 of 2 classes fail, t <= 0.7 (equal distance) demanded: {age='[20,30)'")
    (folder / "people.csv").unlink()
    done = verify(folder, "--records", "5")
    assert done.exit_code == 4
    assert findings(folder)["t-closeness of pay"]["saw"].startswith("not judged")


def test_diversity_is_judged_without_the_source(folder: Path) -> None:
    demand = "{role: sensitive, diversity: {distinct: 2}}"
    change(folder / "definition.yaml", "  pay: keep", f"  pay: {demand}")
    (folder / "people.csv").unlink()
    assert verify(folder).exit_code == 0
    change(folder / "release.csv", "12*,2", "12*,1")
    assert verify(folder).exit_code == 4
