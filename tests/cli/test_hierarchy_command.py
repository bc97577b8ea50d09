"""`shoal hierarchy show|make|check` on small files."""

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from shoal.cli.hierarchy import app
from shoal.errors import BadData, BadDefinition, BadHierarchy, BadOutput

DEFINITION = """\
source: patients.csv
k: 2
missing: {values: ["?"]}
attributes:
  age: {role: quasi-identifier, hierarchy: {intervals: [5, 10]}}
  sex: quasi-identifier
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "patients.csv").write_text("age,sex\n34,f\n47,m\n36,f\n?,m\n36,?\n")
    (tmp_path / "patients.yaml").write_text(DEFINITION)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def shoal(*words: str) -> Result:
    """Run the command; errors of ours are raised as `main` would see them."""
    result = CliRunner().invoke(app, words, env={"COLUMNS": "200"})
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def test_show_lists_the_levels_and_draws_the_tree(folder: Path) -> None:
    result = shoal("show", "patients.yaml", "age")
    assert result.exit_code == 0
    assert "[30,35), [35,40), [45,50)" in result.stdout
    assert result.stdout.index("[30,40)") < result.stdout.index("└── ")


def test_show_says_when_a_hierarchy_is_proposed(folder: Path) -> None:
    result = shoal("show", "patients.yaml", "sex")
    assert "proposed" in result.stdout
    assert "f, m" in result.stdout


def test_show_of_an_unknown_attribute_suggests_a_near_one(folder: Path) -> None:
    with pytest.raises(BadDefinition, match=r"no attribute 'aeg'.*did you mean 'age'"):
        shoal("show", "patients.yaml", "aeg")


def test_show_keeps_terminal_escapes_in_values_harmless(folder: Path) -> None:
    (folder / "patients.csv").write_text("age,sex\n34,\x1b[31mf\n")
    assert "\\x1b[31mf" in shoal("show", "patients.yaml", "sex").stdout


def test_make_writes_the_hierarchy_of_a_definition(folder: Path) -> None:
    assert shoal("make", "patients.yaml", "age", "-o", "age.csv").exit_code == 0
    assert (folder / "age.csv").read_text() == (
        "34;[30,35);[30,40);*\n36;[35,40);[30,40);*\n47;[45,50);[40,50);*\n"
    )


@pytest.mark.parametrize(
    ("words", "first"),
    [
        (("--intervals", "5,50"), "34;[30,35);[0,50)"),
        (("--mask", "2"), "34;3*;**"),
        (("--mask", "1"), "34;3*;*"),
        (("--groups", "2"), "34;<40;*"),
        (("--suppress",), "34;*"),
        ((), "34;[34,36);[30,40);*"),
    ],
)
def test_make_builds_from_data_alone(folder: Path, words: tuple[str, ...], first: str) -> None:
    data = ("--data", "patients.csv", "--column", "age", "--missing-value", "?")
    assert shoal("make", *data, *words, "-o", "age.csv").exit_code == 0
    assert (folder / "age.csv").read_text().splitlines()[0] == first


def test_make_builds_dates(folder: Path) -> None:
    (folder / "births.csv").write_text("birth,n\n2020-03-07,1\n1999-01-01,2\n")
    data = ("--data", "births.csv", "--column", "birth")
    shoal("make", *data, "--date", "month,year", "-o", "birth.csv")
    assert (folder / "birth.csv").read_text().startswith("1999-01-01;1999-01;1999;*\n")


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("patients.yaml",),
        ("patients.yaml", "age", "--suppress"),
        ("--data", "patients.csv"),
        ("--data", "patients.csv", "--column", "age", "--suppress", "--mask", "2"),
        ("--data", "patients.csv", "--column", "age", "--mask", "x"),
        ("--data", "patients.csv", "--column", "age", "--date", "fortnight"),
    ],
)
def test_make_refuses_words_that_do_not_fit_together(folder: Path, words: tuple[str, ...]) -> None:
    assert shoal("make", *words, "-o", "age.csv").exit_code == 2
    assert not (folder / "age.csv").exists()


def test_make_overwrites_only_by_force(folder: Path) -> None:
    (folder / "age.csv").write_text("old")
    with pytest.raises(BadOutput, match="--force"):
        shoal("make", "patients.yaml", "age", "-o", "age.csv")
    assert (folder / "age.csv").read_text() == "old"
    assert shoal("make", "patients.yaml", "age", "-o", "age.csv", "--force").exit_code == 0
    assert (folder / "age.csv").read_text() != "old"


def test_make_of_an_unknown_column_names_it(folder: Path) -> None:
    with pytest.raises(BadData, match="aeg"):
        shoal("make", "--data", "patients.csv", "--column", "aeg", "-o", "age.csv")


def test_check_shows_levels_and_coverage(folder: Path) -> None:
    shoal("make", "patients.yaml", "age", "-o", "age.csv")
    assert "age.csv is nested." in shoal("check", "age.csv").stdout
    data = ("--data", "patients.csv", "--column", "age", "--missing-value", "?")
    result = shoal("check", "age.csv", *data)
    assert "covers all 3 values of 'age'" in result.stdout


def test_check_refuses_a_file_that_does_not_cover_the_data(folder: Path) -> None:
    (folder / "age.csv").write_text("34;*\n47;*\n?;*\n")
    with pytest.raises(BadHierarchy, match=r"'36' \(2 records\)"):
        shoal("check", "age.csv", "--data", "patients.csv", "--column", "age")


def test_check_refuses_a_file_that_is_not_nested(folder: Path) -> None:
    (folder / "age.csv").write_text("34;x;p\n47;x;q\n")
    with pytest.raises(BadHierarchy, match=r"age\.csv line 2"):
        shoal("check", "age.csv")


def test_check_takes_another_delimiter(folder: Path) -> None:
    (folder / "age.csv").write_text("34,x\n47,x\n")
    assert "is nested" in shoal("check", "age.csv", "--delimiter", ",").stdout


def test_check_refuses_a_delimiter_that_cannot_separate(folder: Path) -> None:
    (folder / "age.csv").write_text("34,x\n")
    assert shoal("check", "age.csv", "--delimiter", ";;").exit_code == 2


def test_check_wants_data_and_column_together(folder: Path) -> None:
    (folder / "age.csv").write_text("34;x\n")
    assert shoal("check", "age.csv", "--data", "patients.csv").exit_code == 2


@pytest.mark.parametrize("command", ["show", "make", "check"])
def test_help_has_an_example(command: str) -> None:
    assert f"shoal hierarchy {command}" in shoal(command, "--help").stdout
