"""The risk of tables, against ARX's numbers and counted by hand."""

from __future__ import annotations

import csv
import json
import os
import sqlite3
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from typer.testing import CliRunner

import shoal
from shoal.cli.app import app
from shoal.errors import BadData, BadDefinition, BadOutput, UserError

DATA = Path(os.environ.get("SHOAL_DATA", Path(__file__).parents[3] / "shared" / "data"))
ARX = DATA / "arx_risk_reference.csv"


def reference() -> dict[tuple[str, int], dict[tuple[str, str, str], str]]:
    """ARX's numbers of the inputs, by table and number of columns."""
    found: dict[tuple[str, int], dict[tuple[str, str, str], str]] = {}
    if ARX.is_file():
        with ARX.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                if row["state"] == "input":
                    table = found.setdefault((row["dataset"], int(row["quasi_identifiers"])), {})
                    table[row["measure"], row["subject"], row["parameter"]] = row["value"]
    return found


@pytest.mark.slow
@pytest.mark.parametrize(("table", "columns"), sorted(reference()))
def test_the_numbers_are_those_of_arx(table: str, columns: int) -> None:
    arx = reference()[table, columns]
    names = arx["quasi_identifier_list", "", ""].split("|")
    sets = 3 if any("|" in subject for _, subject, _ in arx) else 1
    for threshold in ("0.2", "0.05"):
        found = shoal.risk(
            DATA / table / "data.csv", names, threshold=float(threshold), largest_set=sets
        ).before
        assert found.records == int(arx["records", "", ""])
        assert found.classes == int(arx["classes", "", ""])
        assert found.sample_uniques == int(arx["sample_uniques", "", ""])
        assert found.average_class == pytest.approx(float(arx["class_size_average", "", ""]))
        for name, attacker in (("prosecutor", found.prosecutor), ("journalist", found.journalist)):
            said = {
                "summary_highest_risk": attacker.highest,
                "summary_success_rate": attacker.average,
                "summary_records_at_risk": attacker.records_above,
            }
            for measure, value in said.items():
                expected = float(arx[measure, name, f"threshold={threshold}"])
                assert value == pytest.approx(expected)
        marketer = float(arx["summary_success_rate", "marketer", f"threshold={threshold}"])
        assert found.marketer.average == pytest.approx(marketer)
    for each in found.attributes:
        for measure in ("distinction", "separation"):
            subjects = {s: v for (m, s, _), v in arx.items() if m == measure}
            same = [v for s, v in subjects.items() if set(s.split("|")) == set(each.columns)]
            if same:
                assert getattr(each, measure) == pytest.approx(float(same[0]))


FRAME = pa.table({"zip": ["1", "1", "1", "2", "2", None], "sex": ["f", "f", "m", "m", "m", "m"]})


def test_risks_are_counted_by_hand() -> None:
    found = shoal.risk(FRAME, ["zip", "sex"], threshold=0.5).before
    assert (found.records, found.classes, found.sample_uniques) == (6, 4, 2)
    assert (found.smallest_class, found.largest_class) == (1, 2)
    assert found.prosecutor.highest == 1
    assert found.prosecutor.average == pytest.approx(4 / 6)
    assert found.prosecutor.records_above == pytest.approx(2 / 6)
    assert sum(each.records for each in found.distribution) == pytest.approx(1)


def test_the_journalist_sees_the_population(tmp_path: Path) -> None:
    people = tmp_path / "people.csv"
    rows = ["1,f"] * 4 + ["1,m"] * 5 + ["2,m"] * 2 + ["3,f"] * 9 + [",m"] * 10
    people.write_text("\n".join(["zip,sex", *rows]), encoding="utf-8")
    found = shoal.risk(FRAME, ["zip", "sex"], population=people).before
    assert found.journalist.highest == pytest.approx(1 / 2)
    assert found.journalist.records_above == pytest.approx(4 / 6)
    mean = (2 / 4 + 1 / 5 + 2 / 2 + 1 / 10) / 6
    assert found.marketer.average == pytest.approx(mean)
    assert found.journalist.average == pytest.approx(max(4 / 21, mean))
    assert found.prosecutor.highest == 1


def test_a_population_that_lacks_people_is_refused(tmp_path: Path) -> None:
    people = tmp_path / "people.csv"
    people.write_text("zip,sex\n1,f\n", encoding="utf-8")
    with pytest.raises(BadData, match="in 4 of 4 classes"):
        shoal.risk(FRAME, ["zip", "sex"], population=people)
    with pytest.raises(BadData, match="a population of 5 cannot have the 6 records"):
        shoal.risk(FRAME, ["zip", "sex"], population=5)


@pytest.mark.parametrize("name", ["threshold", "fraction", "key_distinction"])
def test_shares_are_between_0_and_1(name: str) -> None:
    options: dict[str, Any] = {name: 1.5}
    with pytest.raises(BadDefinition, match=name):
        shoal.risk(FRAME, ["zip"], **options)


def test_an_unknown_column_is_one_clear_error() -> None:
    with pytest.raises(UserError, match="zipp"):
        shoal.risk(FRAME, ["zipp"])


@pytest.fixture
def definition(tmp_path: Path) -> Path:
    lines = ["zip,sex,ill,name"]
    for i in range(60):
        lines.append(f"{10 + i % 7},{'fm'[i % 2]},{'abc'[i % 3]},Ann {'ABCDEFGHIJ'[i % 10]}")
    (tmp_path / "data.csv").write_text("\n".join(lines), encoding="utf-8")
    path = tmp_path / "it.yaml"
    path.write_text(
        "source: data.csv\noutput: out.csv\nk: 5\nsuppressed: mark\nsuppression: 20%\n"
        "attributes:\n  zip: {role: quasi-identifier, hierarchy: {mask: 2}, limit: 1}\n"
        "  sex: {role: quasi-identifier, hierarchy: suppress}\n  ill: keep\n  name: identifier\n",
        encoding="utf-8",
    )
    return path


@pytest.mark.slow
def test_a_definition_is_measured_before_and_after(definition: Path) -> None:
    assert shoal.risk(definition).after is None
    result = shoal.run(definition)
    found = shoal.risk(definition)
    assert found.after is not None
    assert found.before.records == 60
    assert found.after.records == 60 - result.suppressed
    assert found.after.smallest_class == result.smallest_class >= 5
    assert found.after.prosecutor.records_above == 0
    assert [each.column for each in found.before.identifiers] == ["zip", "name"]


@pytest.mark.slow
def test_the_command_writes_what_scripts_rely_on(definition: Path) -> None:
    shoal.run(definition)
    done = CliRunner().invoke(app, ["risk", str(definition), "--fraction", "0.1", "--json", "-"])
    assert done.exit_code == 0
    found = json.loads(done.output)
    assert set(found) == {"before", "after"}
    for table in found.values():
        assert {"highest", "average", "records_above"} <= set(table["prosecutor"])
        assert {"records", "classes", "sample_uniques", "journalist", "marketer"} <= set(table)
        assert set(table["population"]["uniques"]) == {"zayatz", "pitman", "snb", "dankar"}
        assert {"columns", "distinction", "separation"} == set(table["attributes"][0])
    assert found["before"]["population"]["fraction"] == pytest.approx(0.1)


@pytest.mark.slow
def test_the_command_prints_before_beside_after(definition: Path, tmp_path: Path) -> None:
    shoal.run(definition)
    written = tmp_path / "risk.json"
    done = CliRunner().invoke(
        app, ["risk", str(definition), "--population", "1000", "--json", str(written)]
    )
    assert done.exit_code == 0
    assert "before" in done.output
    assert "after" in done.output
    assert "Ann" not in done.output
    assert json.loads(written.read_text(encoding="utf-8"))["before"]["records"] == 60


def test_two_populations_are_one_too_many(definition: Path) -> None:
    done = CliRunner().invoke(
        app, ["risk", str(definition), "--population", "1000", "--fraction", "0.1"]
    )
    assert done.exit_code == 2


@pytest.mark.parametrize("name", ["data.csv", "it.yaml", "out.csv", "people.csv"])
def test_the_json_of_a_measure_overwrites_nothing_that_is_there(
    definition: Path, name: str
) -> None:
    shoal.run(definition)
    folder = definition.parent
    people = folder / "people.csv"
    people.write_bytes((folder / "data.csv").read_bytes())
    before = (folder / name).read_bytes()
    for options in (
        [str(definition), "--population-file", str(people)],
        [str(folder / "data.csv"), "--qi", "zip,sex", "--population-file", str(people)],
    ):
        if name in ("it.yaml", "out.csv") and "--qi" in options:
            continue
        done = CliRunner().invoke(app, ["risk", *options, "--json", str(folder / name)])
        assert isinstance(done.exception, BadOutput)
        assert done.exception.code == "would-overwrite"
        assert (folder / name).read_bytes() == before


def test_a_path_that_cannot_be_written_is_refused_before_measuring(definition: Path) -> None:
    place = definition.parent / "nowhere" / "risk.json"
    done = CliRunner().invoke(app, ["risk", str(definition), "--json", str(place)])
    assert isinstance(done.exception, BadOutput)
    assert done.output == ""


@pytest.mark.slow
def test_a_release_in_a_table_is_measured_once_it_is_there(
    definition: Path, tmp_path: Path
) -> None:
    text = definition.read_text(encoding="utf-8")
    table = f"output: {{url: 'sqlite:///{tmp_path / 'out.db'}', table: released}}"
    definition.write_text(text.replace("output: out.csv", table), encoding="utf-8")
    with sqlite3.connect(tmp_path / "out.db") as made:
        made.execute("CREATE TABLE other (a TEXT)")
    assert shoal.risk(definition).after is None
    result = shoal.run(definition)
    after = shoal.risk(definition).after
    assert after is not None
    assert after.smallest_class == result.smallest_class


def test_a_release_that_cannot_be_read_is_an_error(definition: Path) -> None:
    (definition.parent / "out.csv").write_text("zip\n1\n", encoding="utf-8")
    with pytest.raises(UserError, match="sex"):
        shoal.risk(definition)


def test_a_data_file_without_quasi_identifiers_says_what_is_missing(definition: Path) -> None:
    done = CliRunner().invoke(app, ["risk", str(definition.parent / "data.csv")])
    assert done.exit_code == 2
    assert "--qi" in done.output
