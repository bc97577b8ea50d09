"""`shoal verify` and `shoal.verify` count persons in whatever source the definition names."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import shoal
from shoal.cli.app import app
from shoal.report.result import write_result
from shoal.values import Verdict
from verify.test_persons import KINDS

HEADER = "patient,age,zip,ill"
VISITS = [
    *["ann,21,123,flu", "ann,21,123,gout", "bo,24,124,flu", "bo,24,124,flu"],
    *["cy,31,123,flu", "cy,33,129,flu", "di,35,128,gout", ",38,127,cold"],
    "ed,88,,flu",
]
RELEASE = """age,zip,ill
"[20,30)",12*,flu
"[20,30)",12*,gout
"[20,30)",12*,flu
"[20,30)",12*,flu
"[30,40)",12*,flu
"[30,40)",12*,flu
"[30,40)",12*,gout
"[30,40)",12*,cold
"""
RESULT: dict[str, Any] = {
    "levels": {"age": 1, "zip": 1},
    "records": 9,
    "removed": 0,
    "suppressed": 1,
    "classes": 2,
    "smallest_class": 4,
    "hierarchies": {},
    "persons": 6,
    "smallest_class_persons": 2,
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "visits.csv").write_text("\n".join([HEADER, *VISITS, ""]), encoding="utf-8")
    (tmp_path / "release.csv").write_text(RELEASE, encoding="utf-8")
    (tmp_path / "result.json").write_text(json.dumps(RESULT), encoding="utf-8")
    return tmp_path


def definition(folder: Path, **others: Any) -> dict[str, Any]:
    return {
        "source": str(folder / "visits.csv"),
        "k": 2,
        "person": "patient",
        "suppression": 1,
        "attributes": {
            "patient": "identifier",
            "age": {"role": "quasi-identifier", "hierarchy": {"intervals": [10, 50]}},
            "zip": {"role": "quasi-identifier", "hierarchy": {"mask": 3}},
            "ill": {"role": "sensitive", "diversity": {"distinct": 2}},
        },
        **others,
    }


def judged(folder: Path, *, result: bool = True, **others: Any) -> Verdict:
    stated = folder / "result.json" if result else None
    return shoal.verify(folder / "release.csv", definition(folder, **others), result=stated)


def saw(verdict: Verdict, name: str = "persons") -> str:
    return next(finding.saw for finding in verdict.findings if finding.name == name)


def failing(verdict: Verdict) -> set[str]:
    return {finding.name for finding in verdict.failures}


def in_database(folder: Path) -> dict[str, str]:
    with sqlite3.connect(folder / "visits.db") as connection:
        connection.execute("CREATE TABLE visits (patient TEXT, age INTEGER, zip TEXT, ill TEXT)")
        rows = [visit.split(",") for visit in VISITS]
        connection.executemany("INSERT INTO visits VALUES (?, ?, ?, ?)", rows)
    connection.close()
    return {"url": f"sqlite:///{folder / 'visits.db'}", "table": "visits"}


def united(folder: Path) -> list[str]:
    """Two files that have patients in common."""
    for name, visits in {"one": VISITS[::2], "two": VISITS[1::2]}.items():
        (folder / f"{name}.csv").write_text("\n".join([HEADER, *visits, ""]), encoding="utf-8")
    return [str(folder / "one.csv"), str(folder / "two.csv")]


@pytest.mark.slow
@pytest.mark.parametrize("place", ["file", "database", "united"])
@pytest.mark.parametrize("result", [True, False])
def test_persons_are_counted_in_any_source(folder: Path, place: str, result: bool) -> None:
    sources = {"database": in_database, "united": united}
    others = {"source": sources[place](folder)} if place in sources else {}
    verdict = judged(folder, result=result, **others)
    assert verdict.failures == ()
    assert saw(verdict) == "2 classes, the smallest of 2 persons; 2 demanded"
    assert failing(judged(folder, result=result, k=3, **others)) == {"persons"}


@pytest.mark.parametrize("number", ["persons", "smallest_class_persons"])
def test_a_result_with_another_number_of_persons_is_refused(folder: Path, number: str) -> None:
    changed = RESULT | {number: RESULT[number] + 1}
    (folder / "result.json").write_text(json.dumps(changed), encoding="utf-8")
    assert failing(judged(folder)) == {"numbers"}


def test_records_of_other_persons_in_the_source_are_other_persons(folder: Path) -> None:
    text = (folder / "visits.csv").read_text(encoding="utf-8").replace("bo,", "ann,")
    (folder / "visits.csv").write_text(text, encoding="utf-8")
    verdict = judged(folder, result=False)
    assert failing(verdict) == {"persons"}
    assert saw(verdict).endswith("{age='[20,30)', zip='12*'} has 1")


@pytest.mark.slow
def test_diversity_counts_each_person_once_with_a_value(folder: Path) -> None:
    """In the first class flu is known of two persons and gout of one, of four records."""
    attributes = definition(folder)["attributes"]
    ill = {"role": "sensitive", "alpha": 0.7}
    assert judged(folder, attributes={**attributes, "ill": ill}).safe
    ill = {"role": "sensitive", "alpha": 0.6}
    verdict = judged(folder, attributes={**attributes, "ill": ill})
    assert "{age='[20,30)', zip='12*'} reaches 0.666667" in saw(verdict, "alpha-anonymity of ill")


def test_a_source_that_cannot_be_read_leaves_persons_unjudged(folder: Path) -> None:
    (folder / "visits.csv").unlink()
    verdict = judged(folder)
    assert failing(verdict) == {"persons", "distinct-diversity of ill"}
    assert saw(verdict).startswith("not judged: persons are counted in the source")
    assert saw(verdict, "distinct-diversity of ill") == "not judged: see persons"


def test_a_source_that_is_not_the_one_of_the_result_leaves_persons_unjudged(folder: Path) -> None:
    changed = RESULT | {"input_sha256": "0" * 64}
    (folder / "result.json").write_text(json.dumps(changed), encoding="utf-8")
    assert failing(judged(folder)) == {"source", "persons", "distinct-diversity of ill"}


def test_a_hierarchy_that_only_the_result_knows_is_taken_from_it(folder: Path) -> None:
    attributes = definition(folder)["attributes"] | {"age": "quasi-identifier"}
    verdict = judged(folder, result=False, attributes=attributes)
    assert saw(verdict) == (
        "not judged: the level of 'age' is not known; give the result of the run"
    )
    changed = RESULT | {"hierarchies": {"age": {"intervals": [10, 20]}}}
    (folder / "result.json").write_text(json.dumps(changed), encoding="utf-8")
    assert judged(folder, attributes=attributes).safe


@pytest.mark.slow
def test_the_command_says_how_many_persons_the_classes_have(folder: Path) -> None:
    text = json.dumps(definition(folder))
    (folder / "definition.json").write_text(text, encoding="utf-8")
    command = ["verify", str(folder / "release.csv"), "-d", str(folder / "definition.json")]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0
    assert "the smallest of 2 persons" in " ".join(done.output.split())
    (folder / "visits.csv").unlink()
    assert CliRunner().invoke(app, command).exit_code == 4


MANY = [
    f"p{i % 31},{20 + i * i % 37},{['123', '124', '133', '?'][i % 4]},"
    f"{['ache', 'burn', 'cold', '?', ''][i * 3 % 7 % 5]}"
    for i in range(150)
]


@pytest.mark.slow
@pytest.mark.parametrize("demand", sorted(set(KINDS) - {"nothing"}))
@pytest.mark.parametrize("match", ["extended", "basic"])
def test_whatever_a_run_releases_by_persons_is_found_safe_again(
    folder: Path, demand: str, match: str
) -> None:
    """The search and the verifier count persons, pairs and the whole table alike."""
    (folder / "visits.csv").write_text("\n".join([HEADER, *MANY, ""]), encoding="utf-8")
    others: dict[str, Any] = {
        "attributes": definition(folder)["attributes"]
        | {"ill": {"role": "sensitive", **KINDS[demand]}},
        "missing": {"match": match, "values": ["?"], "sensitive": "value"},
        "suppressed": "mark" if match == "extended" else "drop",
        "suppression": "30%",
        "output": str(folder / "release.csv"),
    }
    result = shoal.run(definition(folder, **others))
    assert result.levels != {"age": 3, "zip": 3}
    write_result(result, folder / "result.json")
    verdict = judged(folder, **others)
    assert verdict.failures == ()
    assert f"the smallest of {result.smallest_class_persons} persons" in saw(verdict)
    strict = judged(folder, **others | {"k": (result.smallest_class_persons or 0) + 1})
    assert "persons" in failing(strict)
