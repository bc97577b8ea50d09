"""The examples of the ANON report, run from XML: its tables come out, and its numbers.

The data of its experiments is not part of the repository. Where it is not at hand, the tests of the
experiments are not collected.
"""

from __future__ import annotations

import csv
import os
import shutil
from collections import Counter
from pathlib import Path

import pytest

import shoal
from shoal.definition.read import read

EXAMPLES = Path(__file__).parents[2] / "examples" / "anon"
DATA = Path(os.environ.get("SHOAL_DATA", Path(__file__).parents[3] / "shared" / "data"))
ADULT = DATA / "adult-uci" / "data.csv"

LEFT = """
130** < 30|Hepatitis Hepatitis Flu Flu
148** ≥ 40|Cancer Hepatitis Flu Flu
130** 3*|Cancer Cancer Cancer Cancer
"""
RIGHT = """
1305* ≤ 40|Hepatitis Flu Cancer Cancer
1485* > 40|Cancer Hepatitis Flu Flu
1306* ≤ 40|Hepatitis Flu Cancer Cancer
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(EXAMPLES, tmp_path / "anon"))


def table(text: str) -> Counter[tuple[str, ...]]:
    """A side of table 2: in each line a group, and the conditions of its records."""
    rows = []
    for line in text.strip().splitlines():
        group, conditions = line.split("|")
        zipcode, age = group.split(" ", 1)
        rows += [(zipcode, age, "*", condition) for condition in conditions.split()]
    return Counter(rows)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "expected", "levels"),
    [("four-anonymous", LEFT, (2, 1, 1)), ("three-diverse", RIGHT, (1, 2, 1))],
)
def test_table_1_becomes_table_2(
    name: str, expected: str, levels: tuple[int, ...], folder: Path
) -> None:
    result = shoal.run(folder / f"{name}.xml")
    assert (result.status, result.verified, result.suppressed) == ("optimal", True, 0)
    assert tuple(result.levels.values()) == levels
    assert (result.classes, result.smallest_class) == (3, 4)
    with (folder / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    assert header == ["ZIP", "Age", "Sex", "Condition"]
    assert Counter(map(tuple, rows)) == table(expected)


def test_the_definition_in_the_guide_is_good(tmp_path: Path) -> None:
    guide = EXAMPLES.parents[1] / "docs" / "guides" / "definition-xml.md"
    text = guide.read_text(encoding="utf-8").split("```xml\n")[1].split("```")[0]
    (tmp_path / "guide.xml").write_text(text, encoding="utf-8")
    assert read(tmp_path / "guide.xml").quasi_identifiers == ("sex", "stage")


SIZES = {
    "age": 74,
    "sex": 2,
    "race": 5,
    "marital-status": 7,
    "education": 16,
    "native-country": 41,
    "workclass": 7,
    "salary-class": 2,
    "occupation": 14,
}
"""Table 3 of the report."""

if ADULT.exists():

    def adult(folder: Path, k: int, suppression: str) -> Path:
        """The definition of the experiments for one setting, l being 2 and k."""
        path = folder / "adult.xml"
        text = path.read_text(encoding="utf-8")
        text = text.replace("../../../shared/data/adult-uci/data.csv", str(ADULT))
        text = text.replace("<k>10</k>", f"<k>{k}</k>").replace('l="10"', f'l="{k}"')
        text = text.replace("<max_supp>1%<", f"<max_supp>{suppression}<")
        path.write_text(text, encoding="utf-8")
        return path

    @pytest.mark.slow
    def test_the_data_without_missing_values_is_that_of_table_3(folder: Path) -> None:
        missing = set(read(adult(folder, 2, "0%")).missing.values)
        with ADULT.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file, delimiter=";"))
        complete = [row for row in rows if not missing & set(row.values())]
        assert (len(rows), len(complete)) == (48_842, 45_222)
        assert {name: len({row[name] for row in complete}) for name in SIZES} == SIZES
        assert sum(row["occupation"] == "Armed-Forces" for row in complete) == 14

    @pytest.mark.slow
    @pytest.mark.parametrize("suppression", ["0%", "1%", "10%"])
    @pytest.mark.parametrize("k", [2, 10])
    def test_the_setting_of_the_experiments_runs(k: int, suppression: str, folder: Path) -> None:
        result = shoal.run(adult(folder, k, suppression))
        assert (result.records - result.removed, result.lattice) == (45_222, 2_160)
        assert (result.status, result.verified) == ("optimal", True)
        assert result.suppressed <= int(suppression.removesuffix("%")) * 45_222 // 100
        demanded = zip(result.privacy, (k, 2, k), strict=True)
        assert all(verdict.reached >= least for verdict, least in demanded)
