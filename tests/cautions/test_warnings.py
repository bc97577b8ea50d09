"""Warnings of a run: what kept columns give away, said everywhere and without a value."""

from __future__ import annotations

import csv
import json
import random
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from typer.testing import CliRunner

import shoal
from shoal.cautions import examine, kept
from shoal.cli.app import app
from shoal.engines.duckdb.files import open_files
from shoal.engines.duckdb.session import Session
from shoal.engines.frames.source import open_frame
from shoal.engines.options import FileOptions
from shoal.report.result import ShownResult

Columns = dict[str, list[str]]


def people(records: int = 400, seed: int = 4) -> Columns:
    """Ages and sexes, and columns of many kinds beside them."""
    draw = random.Random(seed)
    age = [draw.randint(20, 79) for _ in range(records)]
    return {
        "age": [str(each) for each in age],
        "sex": [draw.choice("mf") for _ in age],
        "w": [f"{1.5 * each}" for each in age],
        "noise": [draw.choice("abcdef") for _ in age],
        "key": [f"key-{number:05}" for number in range(records)],
        "note": [f"came at {draw.random()} and felt much better" for _ in age],
    }


AGE = {"role": "quasi-identifier", "hierarchy": {"intervals": [20]}, "from": 1}
ROLES: dict[str, Any] = {"age": AGE, "sex": "quasi-identifier"}


def released(columns: Columns, **keys: Any) -> ShownResult:
    attributes = {**ROLES, **keys.pop("attributes", {})}
    _, result = shoal.anonymize(
        pa.table(columns), {}, k=5, attributes=attributes, others="keep", with_result=True, **keys
    )
    return result


def codes(result: ShownResult) -> dict[str | None, str]:
    return {each.attribute: each.code for each in result.warnings}


@pytest.mark.slow
def test_each_kind_of_column_is_warned_of_and_others_are_not() -> None:
    result = released(people())
    assert codes(result) == {"w": "kept-tells-more", "key": "kept-unique", "note": "kept-free-text"}
    assert [each.records for each in result.warnings] == [400, 400, 400]


def test_a_sensitive_column_is_looked_at_like_a_kept_one() -> None:
    w = {"role": "sensitive", "diversity": {"distinct": 2}}
    assert codes(released(people(), attributes={"w": w}))["w"] == "kept-tells-more"


def test_columns_that_are_not_released_are_not_warned_of() -> None:
    gone = {"w": "drop", "key": "identifier", "note": "drop"}
    assert released(people(), attributes=gone).warnings == ()


def test_no_warning_is_about_a_quasi_identifier_that_is_released_as_it_is() -> None:
    gone = {"key": "drop", "note": "drop", "age": {**AGE, "from": 0, "limit": 0}}
    assert released(people(2000), attributes=gone).warnings == ()


def test_no_value_of_the_data_is_in_a_warning() -> None:
    columns = people()
    said = " ".join(each.text for each in released(columns).warnings)
    for name in ("w", "key", "note"):
        assert not any(value in said for value in columns[name])


def test_missing_values_are_not_rare_ones() -> None:
    columns = people()
    columns["key"] = ["", "?", "a", "b"] * 100
    assert "key" not in codes(released(columns, missing={"values": ["?"]}))


@pytest.mark.slow
def test_a_column_with_too_many_values_to_read_is_counted_by_the_engine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    columns = people()
    columns["half"] = [str(number // 2) for number in range(400)]
    del columns["note"], columns["w"]
    exact = released(columns)
    monkeypatch.setattr(kept, "MOST_VALUES", 10)
    assert released(columns).warnings == exact.warnings


@pytest.mark.slow
def test_pairs_are_asked_one_by_one_where_there_are_too_many_combinations(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    exact = released(people())
    monkeypatch.setattr(kept, "MOST_COMBINATIONS", 100)
    assert released(people()).warnings == exact.warnings


def test_columns_that_are_too_many_are_not_passed_over_in_silence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(examine, "MOST_KEPT", 5)
    columns = {name: values for name, values in people().items() if name in ROLES}
    columns |= {f"c{number}": ["x", "y"] * 200 for number in range(8)}
    (warning,) = released(columns).warnings
    assert (warning.code, warning.attribute) == ("kept-unseen", None)
    assert "3 kept columns" in warning.text
    assert "'c7'" in warning.text


def test_a_column_of_lists_is_released_and_said_not_to_be_looked_at() -> None:
    table = pa.table({"sex": ["m", "f"] * 30, "given": [[1], [2]] * 30, "id": [[1], [2]] * 30})
    _, result = shoal.anonymize(
        table, ["sex"], k=5, identifiers=["id"], others="keep", with_result=True
    )
    assert codes(result) == {"given": "kept-unseen"}
    assert [each.code for each in shoal.check(table, "sex").warnings] == ["kept-unseen"] * 2


def test_fewer_columns_of_a_wide_table_are_looked_at() -> None:
    assert [examine.how_many(range(n)) for n in (10, 300, 1000, 10**4, 10**6)] == [
        *(100, 100, 30, 3, 1)
    ]


def visits(name: str, persons: int = 100) -> Columns:
    """Five visits of each person; wards and doctors have nothing to do with persons."""
    draw = random.Random(6)
    columns: Columns = {column: [] for column in (name, "age", "sex", "doctor")}
    for person in range(persons):
        age, sex = str(draw.randint(20, 79)), draw.choice("mf")
        for _ in range(5):
            row = (f"n{person:04}", age, sex, f"Dr {draw.randint(0, 30)}")
            for column, value in zip(columns, row, strict=True):
                columns[column].append(value)
    return columns


@pytest.mark.parametrize("name", ["patient_id", "Patientennummer", "x"])
def test_an_identifier_that_repeats_proposes_to_count_persons(name: str) -> None:
    identifiers = {name: "identifier", "doctor": "identifier"}
    (warning,) = released(visits(name), attributes=identifiers).warnings
    assert (warning.code, warning.attribute) == ("repeated-identifier", name)
    assert f"500 records have 100 different values of {name!r}" in warning.text
    assert f"person: {name}" in warning.text


def test_identifiers_that_are_shared_by_chance_are_no_persons() -> None:
    columns = {k: v for k, v in visits("x").items() if k != "x"}
    draw = random.Random(2)
    columns["name"] = [draw.choice("ABCDEFGHIJKLMNOPQRSTUVWXYZ") for _ in columns["age"]]
    attributes = {"doctor": "identifier", "name": "identifier"}
    assert released(columns, attributes=attributes).warnings == ()


def test_identifiers_that_do_not_repeat_are_not_warned_of() -> None:
    columns = people()
    gone = {"w": "drop", "note": "drop", "key": "identifier"}
    assert released(columns, attributes=gone).warnings == ()


def test_no_identifier_is_warned_of_where_persons_are_counted() -> None:
    columns = visits("patient_id")
    attributes = {"doctor": "drop"}
    assert released(columns, attributes=attributes, person="patient_id").warnings == ()


def test_a_strict_definition_refuses_what_it_would_warn_of() -> None:
    with pytest.raises(shoal.Refused) as caught:
        released(people(), strict=True)
    assert caught.value.code == "strict"
    assert caught.value.exit_code == 4
    for code in ("kept-tells-more", "kept-unique", "kept-free-text"):
        assert code in str(caught.value)


@pytest.mark.slow
def test_a_strict_definition_refuses_cells_that_a_spreadsheet_would_run(tmp_path: Path) -> None:
    lines = ["sex,note", *(f"{'mf'[number % 2]},=1+{number % 3}" for number in range(60))]
    (tmp_path / "in.csv").write_text("\n".join(lines), encoding="utf-8")
    definition = {
        "source": str(tmp_path / "in.csv"),
        "output": str(tmp_path / "out.csv"),
        "k": 5,
        "attributes": {"sex": "quasi-identifier", "note": "keep"},
    }
    assert [each.code for each in shoal.run(definition).warnings] == ["formula-cells"]
    (tmp_path / "out.csv").unlink()
    with pytest.raises(shoal.Refused, match="formula-cells"):
        shoal.run({**definition, "strict": True})
    assert [path.name for path in tmp_path.iterdir()] == ["in.csv"]


def test_a_strict_definition_without_warnings_releases() -> None:
    gone = {"w": "drop", "key": "drop", "note": "drop"}
    assert released(people(), attributes=gone, strict=True).verified


@pytest.fixture
def definition(tmp_path: Path) -> Path:
    columns = people()
    with (tmp_path / "people.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    told = {
        "source": "people.csv",
        "output": "release.csv",
        "report": "report.txt",
        "k": 5,
        "attributes": ROLES,
        "others": "keep",
    }
    path = tmp_path / "people.json"
    path.write_text(json.dumps(told), encoding="utf-8")
    return path


def test_the_command_its_result_and_its_report_say_the_same(definition: Path) -> None:
    folder = definition.parent
    ran = CliRunner().invoke(app, ["run", str(definition), "--json", str(folder / "result.json")])
    assert ran.exit_code == 0
    result = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    report = " ".join((folder / "report.txt").read_text(encoding="utf-8").split())
    assert [each["code"] for each in result["warnings"]] == [
        "kept-tells-more",
        "kept-unique",
        "kept-free-text",
    ]
    for each in result["warnings"]:
        assert each.keys() == {"code", "attribute", "text", "records"}
        assert f"Warning: {each['text']} [{each['code']}]" in ran.output
        assert f"{each['text']} [{each['code']}]" in report


def test_the_html_of_a_result_shows_warnings_as_text() -> None:
    columns = people()
    columns["<b>w</b>"] = columns.pop("w")
    shown = released(columns)._repr_html_()
    assert "Warnings" in shown
    assert "&lt;b&gt;w&lt;/b&gt;" in shown
    assert "<b>" not in shown


@pytest.mark.slow
def test_a_strict_run_leaves_the_output_alone(definition: Path) -> None:
    told = {**json.loads(definition.read_text(encoding="utf-8")), "strict": True}
    definition.write_text(json.dumps(told), encoding="utf-8")
    output = definition.parent / "release.csv"
    output.write_text("old", encoding="utf-8")
    before = set(definition.parent.iterdir())
    ran = subprocess.run(
        [sys.executable, "-m", "shoal", "run", str(definition)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 4
    assert "[strict]" in ran.stderr
    assert output.read_text(encoding="utf-8") == "old"
    assert set(definition.parent.iterdir()) == before


@pytest.mark.slow
def test_check_warns_of_columns_that_are_no_quasi_identifiers(definition: Path) -> None:
    data = str(definition.parent / "people.csv")
    shown = CliRunner().invoke(app, ["check", data, "--qi", "age,sex"]).output
    assert "[kept-unique]" in shown
    assert "[kept-free-text]" in shown
    told = json.loads(CliRunner().invoke(app, ["check", data, "--qi", "age,sex", "--json"]).output)
    assert {each["attribute"]: each["code"] for each in told["warnings"]} == {
        "key": "kept-unique",
        "note": "kept-free-text",
    }
    quiet = CliRunner().invoke(app, ["check", data, "--qi", "age,sex", "--no-warnings"]).output
    assert "Warning" not in quiet


def test_check_in_python_warns_too_and_names_persons_that_repeat() -> None:
    found = shoal.check(pa.table(visits("patient_id")), ["age", "sex"])
    assert [each.code for each in found.warnings] == ["repeated-identifier"]
    assert "--person patient_id" in str(found)
    assert not shoal.check(pa.table(visits("patient_id")), ["age"], warnings=False).warnings
    counted = shoal.check(pa.table(visits("patient_id")), ["age", "sex"], person="patient_id")
    assert not counted.warnings


def test_at_least_so_many_records_are_unique_as_the_distinct_values_say() -> None:
    values = [str(max(number, 30)) for number in range(100)]
    with closing(open_frame(pa.table({"v": values}))) as source:
        examined = kept.examine_kept(source, "v", (), (), records=100)
    assert examined is not None
    exact, _ = examined
    assert (exact.distinct, exact.unique) == (70, 69)
    assert max(0, 2 * exact.distinct - 100) <= exact.unique


@pytest.fixture
def statements(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The queries that DuckDB gets from now on."""
    found: list[str] = []
    for method in (Session.table, Session.execute):

        def spy(self: Session, statement: str, method: Any = method) -> Any:
            found.append(statement)
            return method(self, statement)

        monkeypatch.setattr(Session, method.__name__, spy)
    return found


def test_a_csv_file_is_parsed_once_for_ten_kept_columns(
    definition: Path, statements: list[str]
) -> None:
    with closing(open_files(FileOptions(str(definition.parent / "people.csv")))) as source:
        expected = ["kept-unique", "kept-free-text"]
        statements.clear()
        found = examine.examine_table(source, ["age", "sex"], (), 400)
    assert [each.code for each in found] == expected
    assert sum("read_csv" in statement for statement in statements) == 1


def test_a_csv_file_is_parsed_for_each_question_where_there_is_no_room_for_a_copy(
    definition: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: Session, statement: str) -> None:
        raise duckdb.OutOfMemoryException("no room")

    path = str(definition.parent / "people.csv")
    exact = shoal.check(path, ["age", "sex"]).warnings
    monkeypatch.setattr(Session, "execute", full)
    assert shoal.check(path, ["age", "sex"]).warnings == exact != ()


@pytest.mark.slow
def test_a_kept_column_takes_two_questions_and_a_long_one_takes_one(
    monkeypatch: pytest.MonkeyPatch, statements: list[str]
) -> None:
    before = len(statements)
    gone = dict.fromkeys(("w", "noise", "key", "note"), "drop")
    released(people(), attributes=gone)
    without = len(statements) - before
    released(people(), attributes={**gone, "w": "keep"})
    assert len(statements) - before - 2 * without == 2
    monkeypatch.setattr(kept, "MOST_VALUES", 10)
    released(people(), attributes={**gone, "key": "keep"})
    assert len(statements) - before - 3 * without == 3
