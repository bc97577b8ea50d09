"""A catalog checked against its sources: sizes where all is well, every problem where not."""

from __future__ import annotations

import copy
import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from mart_catalogs import CLINIC
from shoal.mart.check import check_catalog
from shoal.mart.check_view import CatalogCheck
from shoal.mart.read import catalog_from_mapping

pytestmark = pytest.mark.slow

FILES = {
    "patient.csv": "PatId,sex,birth\n1,f,1950-01-01\n2,m,1960-02-02\n3,f,1970-03-03\n",
    "findings.csv": "PatId,PrepId,PT,age\n1,a,1a,50\n1,b,2,51\n2,c,1c,61\n",
    "genes.csv": "PrepId,g1,age\na,0.1,7\nb,0.2,8\nc,0.3,9\n",
}


def checked(folder: Path, files: dict[str, str] | None = None, **columns: Any) -> CatalogCheck:
    """The check of the small clinic with other files, and other columns of its findings."""
    for name, text in (FILES | (files or {})).items():
        (folder / name).write_text(text)
    data = copy.deepcopy(CLINIC)
    data["sources"]["findings"]["columns"] |= columns
    return check_catalog(catalog_from_mapping(data, folder))


def problems(check: CatalogCheck) -> list[tuple[str, str]]:
    assert check.verified == (not check.problems)
    return [(problem.key, problem.code) for problem in check.problems]


def test_a_sound_catalog_shows_its_sizes(tmp_path: Path) -> None:
    days = {"role": "quasi-identifier", "derive": "days(patient.birth, date('2000-01-01'))"}
    check = checked(tmp_path, days=days)
    assert problems(check) == []
    assert [(each.source, each.records, each.persons) for each in check.sources] == [
        ("patient", 3, 3),
        ("findings", 3, 2),
        ("genes", 3, 2),
    ]
    assert [(each.name, each.values, each.proposed) for each in check.columns] == [
        ("sex", 2, True),
        ("PT", 3, False),
        ("findings.age", 3, False),
        ("days", 2, True),
    ]
    assert "can be asked" in str(check)
    assert json.loads(json.dumps(check.to_dict()))["sound"] is True


@pytest.mark.parametrize(
    ("files", "columns", "found"),
    [
        ({"genes.csv": "PrepID,g1,age\na,1,1\n"}, {}, [("links.1.between", "unknown-column")]),
        (
            {"genes.csv": "PrepId,g,age\na,1,1\n"},
            {},
            [("sources.genes.columns.g1", "unknown-column")],
        ),
        ({"patient.csv": "PatId,sex\n1,f\n1,m\n2,f\n"}, {}, [("links.0", "duplicate-key")]),
        (
            {"patient.csv": "PatId,sex\n1,f\n,m\n2,f\n"},
            {},
            [("person", "missing-key"), ("links.0", "missing-key")],
        ),
        (
            {"findings.csv": "PatId,PrepId,PT,age\n1,a,9z,5\n"},
            {},
            [("sources.findings.columns.PT", "uncovered-value")],
        ),
        (
            {"findings.csv": "PatId,PrepId,PT,age\n1,a,1a,young\n"},
            {},
            [("sources.findings.columns.age", "uncovered-value")],
        ),
        (
            {},
            {"ratio": {"role": "quasi-identifier", "derive": "1 / (age - 50)"}},
            [("sources.findings.columns.ratio", "division-by-zero")],
        ),
        (
            {},
            {"kept": {"role": "keep", "derive": "number(PT)"}},
            [("sources.findings.columns.kept", "not-a-number")],
        ),
        (
            {},
            {"PrepId2": {"role": "quasi-identifier", "derive": "nosuch + 1"}},
            [("sources.findings.columns.PrepId2.derive", "unknown-column")],
        ),
        (
            {},
            {"age": {"role": "quasi-identifier", "derive": "1 + 1"}},
            [("sources.findings.columns.age", "column-exists")],
        ),
        (
            {"towns.csv": "North;*\n"},
            {"age": {"role": "quasi-identifier", "hierarchy": "towns.csv"}},
            [("sources.findings.columns.age", "uncovered-value")],
        ),
        (
            {},
            {"who": {"role": "quasi-identifier", "derive": "PT", "limit": "9"}},
            [("sources.findings.columns.who", "limit-above-hierarchy")],
        ),
        (
            {},
            {
                "who": {
                    "role": "quasi-identifier",
                    "derive": "PT",
                    "information loss": ["0", "0.1", "0.2", "0.3", "0.4", "1"],
                }
            },
            [("sources.findings.columns.who", "losses-of-levels")],
        ),
    ],
)
def test_what_would_stop_a_request_is_found(
    tmp_path: Path,
    files: dict[str, str],
    columns: dict[str, Any],
    found: list[tuple[str, str]],
) -> None:
    check = checked(tmp_path, files, **columns)
    assert problems(check) == found
    assert all(problem.what and problem.remedy for problem in check.problems)
    assert "would stop requests" in str(check)


def test_a_source_that_is_gone_is_a_problem_and_the_others_are_checked(tmp_path: Path) -> None:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text.replace("1a", "9z"))
    (tmp_path / "genes.csv").unlink()
    check = check_catalog(catalog_from_mapping(CLINIC, tmp_path))
    assert [key for key, _ in problems(check)] == [
        "sources.genes.source",
        "sources.findings.columns.PT",
    ]
    assert [each.source for each in check.sources] == ["patient", "findings"]
    assert {each.persons for each in check.sources} == {None}


def test_no_value_of_the_data_is_shown(tmp_path: Path) -> None:
    files = {
        "patient.csv": "PatId,sex,birth\nSecret1,secret2,x\nSecret1,secret3,x\n",
        "findings.csv": "PatId,PrepId,PT,age\nSecret1,a,secret4,secret5\nSecret1,a,1a,secret6\n",
    }
    broken = checked(tmp_path, files, bad={"role": "keep", "derive": "number(PT)"})
    assert len(broken.problems) >= 4
    for check in (broken, checked(tmp_path, {"patient.csv": files["patient.csv"]})):
        for text in (str(check), json.dumps(check.to_dict()), check._repr_html_()):
            assert "secret" not in text.casefold()


def test_sources_of_several_engines_are_checked_together(tmp_path: Path) -> None:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    path = tmp_path / "clinic.sqlite"
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE p (PatId TEXT, sex TEXT, birth TEXT)")
        database.executemany("INSERT INTO p VALUES (?, ?, '')", [("1", "f"), ("2", "m")])
    database.close()
    data = copy.deepcopy(CLINIC)
    data["sources"]["patient"]["source"] = {"url": f"sqlite:///{path}", "table": "p"}
    check = check_catalog(catalog_from_mapping(data, tmp_path))
    assert problems(check) == []
    assert check.sources[0].records == 2
