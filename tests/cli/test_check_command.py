"""`shoal check` measures the k of any file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from shoal.cli.app import app
from shoal.errors import UserError

DATA = 'zip,sex,"home, town"\n12,f,rome\n12,f,rome\n12,f,oslo\n?,m,oslo\n,m,oslo\n'


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "data.csv"
    path.write_text(DATA, encoding="utf-8")
    return path


def check(data: Path, *options: str) -> Result:
    return CliRunner().invoke(app, ["check", str(data), *options])


def measured(data: Path, *options: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(check(data, "--json", *options).output)
    return found


@pytest.mark.slow
def test_the_smallest_class_comes_first(data: Path) -> None:
    done = check(data, "--qi", "zip,sex")
    assert done.exit_code == 0
    assert done.output.splitlines()[0].endswith("data.csv: k = 1")
    assert "unique records" in done.output


def test_nothing_but_plain_text_is_written_to_a_pipe(data: Path) -> None:
    assert "\x1b" not in check(data, "--qi", "zip,sex").output


def test_texts_that_mean_missing_are_one_value(data: Path) -> None:
    assert measured(data, "--qi", "zip,sex")["k"] == 1
    found = measured(data, "--qi", "zip,sex", "--missing-value", "?")
    assert (found["k"], found["classes"], found["incomplete_records"]) == (2, 2, 2)


@pytest.mark.slow
@pytest.mark.parametrize(("k", "code"), [("1", 0), ("2", 0), ("3", 4)])
def test_the_exit_code_says_whether_k_is_reached(data: Path, k: str, code: int) -> None:
    done = check(data, "--qi", "sex", "--k", k)
    assert done.exit_code == code
    assert ("not reached" in done.output) == (code == 4)


def test_a_file_without_records_reaches_no_k(data: Path) -> None:
    data.write_text("zip,sex\n", encoding="utf-8")
    assert check(data, "--qi", "sex").exit_code == 0
    assert check(data, "--qi", "sex", "--k", "2").exit_code == 4


def test_a_column_with_a_comma_in_its_name_has_an_option_of_its_own(data: Path) -> None:
    found = measured(data, "--qi", "home, town", "--qi", "sex,zip,sex")
    assert found["quasi_identifiers"] == ["home, town", "sex", "zip"]


def test_a_column_that_is_not_there_is_an_error_with_a_suggestion(data: Path) -> None:
    done = check(data, "--qi", "zipp")
    assert isinstance(done.exception, UserError)
    assert "did you mean 'zip'" in str(done.exception)


def test_the_delimiter_can_be_said(data: Path) -> None:
    data.write_text("a|b\n1|2\n1|2\n", encoding="utf-8")
    assert measured(data, "--qi", "a,b", "--delimiter", "|")["k"] == 2


def test_no_column_at_all_is_an_error(data: Path) -> None:
    assert check(data, "--qi", ",").exit_code == 2
    assert check(data).exit_code == 2


def test_the_help_shows_an_example() -> None:
    assert "shoal check patients.csv" in CliRunner().invoke(app, ["check", "--help"]).output


SENSITIVE = "zip,ill,pay\n12,flu,1\n12,gout,2\n12,flu,3\n34,flu,1\n34,flu,2\n,gout,3\n"


@pytest.fixture
def patients(tmp_path: Path) -> Path:
    path = tmp_path / "patients.csv"
    path.write_text(SENSITIVE, encoding="utf-8")
    return path


def test_sensitive_attributes_are_measured_by_every_model(patients: Path) -> None:
    found = measured(patients, "--qi", "zip", "--sensitive", "ill,pay")
    ill, pay = found["sensitive"]
    assert (ill["attribute"], ill["distinct_l"], pay["distinct_l"]) == ("ill", 1, 1)
    assert ill["delta"] is None
    assert pay["t_ordered"] == pytest.approx(0.5)
    assert any("homogeneity of ill" in attack for attack in found["attacks"])
    text = check(patients, "--qi", "zip", "--sensitive", "ill,pay").output
    for line in ("entropy l", "t, ordered distance", "enhanced beta", "Attacks found"):
        assert line in text


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "code"),
    [
        (["--l", "1"], 0),
        (["--l", "2"], 4),
        (["--entropy-l", "1.5"], 4),
        (["--t", "0.7"], 0),
        (["--t", "0.6"], 4),
        (["--t", "0.6", "--distance", "ordered"], 4),
        (["--alpha", "1"], 0),
        (["--alpha", "0.9"], 4),
        (["--beta", "2"], 0),
        (["--beta", "1.9"], 4),
        (["--delta", "100"], 4),
    ],
)
def test_demands_on_sensitive_values_decide_the_exit_code(
    patients: Path, options: list[str], code: int
) -> None:
    done = check(patients, "--qi", "zip", "--sensitive", "ill", *options)
    assert done.exit_code == code
    assert ("not reached" in done.output) == (code == 4)


def test_a_demand_on_sensitive_values_needs_to_know_them(patients: Path) -> None:
    assert check(patients, "--qi", "zip", "--l", "2").exit_code == 2


@pytest.mark.slow
def test_a_hierarchy_makes_hierarchical_distance(patients: Path) -> None:
    tree = patients.parent / "ill.csv"
    tree.write_text("flu;any\ngout;any\n", encoding="utf-8")
    known = ("--qi", "zip", "--sensitive", "ill", "--hierarchy", f"ill={tree}")
    found = measured(patients, *known)["sensitive"][0]
    assert found["t_hierarchical"] == pytest.approx(found["t_equal"])
    assert check(patients, *known, "--t", "0.7", "--distance", "hierarchical").exit_code == 0
    assert check(patients, *known[:4], "--t", "1", "--distance", "hierarchical").exit_code == 2
    assert check(patients, *known[:4], "--hierarchy", "ill").exit_code == 2


def test_missing_sensitive_values_count_as_the_definition_says(patients: Path) -> None:
    patients.write_text("zip,ill\n12,flu\n12,?\n", encoding="utf-8")
    known = ("--qi", "zip", "--sensitive", "ill", "--missing-value", "?")
    assert measured(patients, *known)["sensitive"][0]["distinct_l"] == 1
    found = measured(patients, *known, "--missing-sensitive", "value")
    assert found["sensitive"][0]["distinct_l"] == 2


@pytest.mark.slow
def test_all_matches_are_listed_with_the_attack_that_each_does_not_withstand(
    patients: Path,
) -> None:
    done = check(patients, "--qi", "zip", "--missing", "all", "--k", "2")
    assert done.exit_code == 4
    for line in ("right-maybe match does not withstand", "extended match withstands"):
        assert line in done.output
    found = {
        each["match"]: each
        for each in measured(patients, "--qi", "zip", "--missing", "all")["matches"]
    }
    assert {name: each["k"] for name, each in found.items()} == {
        "basic": 0,
        "extended": 1,
        "maybe": 3,
        "right-maybe": 1,
    }
    assert check(patients, "--qi", "zip", "--missing", "maybe", "--k", "3").exit_code == 0


def test_a_file_in_another_encoding_is_read_as_stated(data: Path) -> None:
    data.write_bytes("größe\nä\nä\n".encode("latin-1"))
    failed = check(data, "--qi", "größe").exception
    assert isinstance(failed, UserError)
    assert "--encoding latin-1" in failed.hint
    assert measured(data, "--qi", "größe", "--encoding", "latin-1")["k"] == 2
