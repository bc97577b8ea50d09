"""Whole runs that count persons: what is released is what plain Python would release."""

from __future__ import annotations

import csv
import random
import tempfile
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd  # type: ignore[import-untyped]
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from oracle import Row, outcome
from problems import Case, cases
from shoal.definition.read import from_mapping
from shoal.report.run import text

PERSONS = st.lists(st.integers(0, 6), min_size=14, max_size=14)


def write_case(case: Case, persons: list[int], folder: Path, **keys: Any) -> dict[str, Any]:
    """The case as files, and its definition; two columns together identify a person."""
    with (folder / "data.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["family", "given", *case.names])
        for person, row in zip(persons, case.rows, strict=False):
            cells = ("?" if cell is None else cell for cell in row)
            writer.writerow(["?" if person == 0 else f"f{person % 3}", f"g{person // 3}", *cells])
    attributes: dict[str, Any] = {"family": "identifier"}
    for j, name in enumerate(case.names):
        with (folder / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
            csv.writer(file, delimiter=";").writerows(case.ladders[j].steps.values())
        attributes[name] = {
            "role": "quasi-identifier",
            "hierarchy": str(folder / f"{name}.csv"),
            "limit": case.limits[j],
            "priority": float(case.priorities[j]),
        }
    return {
        "source": str(folder / "data.csv"),
        "output": str(folder / "release.csv"),
        "k": case.k,
        "person": ["family", "given"],
        "suppression": case.suppression,
        "missing": {"values": ["?"]},
        "attributes": attributes,
        "others": "keep",
        **keys,
    }


def best_by_persons(case: Case, persons: list[int]) -> tuple[Fraction, int, tuple[int, ...]] | None:
    """The least loss, the suppressed records and the node of all nodes whose classes are safe."""
    found = []
    for node in nodes_of(case):
        labelled = labels_at(case, node)
        held: dict[Row, set[int]] = {}
        for labels, person in zip(labelled, persons, strict=False):
            held.setdefault(labels, set()).add(person)
        kept = [len(held[labels]) >= case.k for labels in labelled]
        loss = Fraction(0)
        for row, stays in zip(case.rows, kept, strict=True):
            for ladder, cell, level, priority in zip(
                case.ladders, row, node, case.priorities, strict=True
            ):
                loss += priority * (ladder.iyengar(cell, level) if stays else 1)
        suppressed = kept.count(False)
        if suppressed <= case.suppression and any(kept):
            total = loss / len(case.rows) / sum(case.priorities)
            found.append((total, suppressed, node))
    return min(found, default=None)


def nodes_of(case: Case) -> list[tuple[int, ...]]:
    nodes: list[tuple[int, ...]] = [()]
    for limit in case.limits:
        nodes = [(*node, level) for node in nodes for level in range(limit + 1)]
    return nodes


def labels_at(case: Case, node: tuple[int, ...]) -> list[Row]:
    priorities = [Fraction(1)] * len(node)
    return list(outcome(case.rows, case.ladders, node, 1, priorities).released)


@pytest.mark.slow
@given(cases(), PERSONS)
@settings(max_examples=60)
def test_a_run_by_persons_releases_what_plain_python_would(case: Case, persons: list[int]) -> None:
    expected = best_by_persons(case, persons)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        definition = write_case(case, persons, folder)
        if expected is None:
            with pytest.raises(shoal.Infeasible):
                shoal.run(definition)
            assert not (folder / "release.csv").exists()
            return
        result = shoal.run(definition)
        with (folder / "release.csv").open(newline="", encoding="utf-8") as file:
            header, *rows = csv.reader(file)
    loss, suppressed, node = expected
    assert header == list(case.names)
    labels = labels_at(case, node)
    held = {
        each: {p for p, own in zip(persons, labels, strict=False) if own == each} for each in labels
    }
    kept = [each for each in labels if len(held[each]) >= case.k]
    assert Counter(tuple(cell or None for cell in row) for row in rows) == Counter(kept)
    assert tuple(result.levels.values()) == node
    assert result.loss == pytest.approx(float(loss), abs=1e-12)
    assert (result.suppressed, result.status, result.verified) == (suppressed, "optimal", True)
    assert result.persons == len({*persons[: len(case.rows)]})
    assert result.smallest_class_persons == min(len(held[each]) for each in kept)


def visits(patients: int = 250, records: int = 3000) -> pd.DataFrame:
    """Visits: birth and zip are the patient's, ward and diagnosis the visit's."""
    dice = random.Random(3)
    people = [
        (f"P{i:04}", dice.randint(1930, 2005), f"{dice.randint(10, 39)}000")
        for i in range(patients)
    ]
    rows = []
    for _ in range(records):
        patient, birth, place = dice.choice(people)
        ward, diagnosis = dice.choice("ABCD"), dice.choice(["flu", "cold", "cough", "none"])
        rows.append((patient, birth, place, ward, diagnosis))
    return pd.DataFrame(rows, columns=["patient", "birth", "zip", "ward", "diagnosis"])


HIERARCHIES = {"birth": {"intervals": [5, 10, 20, 40]}, "zip": {"mask": 5}, "ward": None}


@pytest.mark.slow
def test_a_class_of_visits_of_one_patient_is_not_released() -> None:
    """Ten records of one person are a class of one person."""
    frame = pd.DataFrame(
        {"id": ["p"] * 10 + [f"q{i}" for i in range(10)], "q": ["a"] * 10 + ["b"] * 10}
    )
    by_records = shoal.anonymize(frame, {"q": "suppress"}, k=5, suppression=0, identifiers=["id"])
    assert sorted(by_records["q"].unique()) == ["a", "b"]
    by_persons = shoal.anonymize(frame, {"q": "suppress"}, k=5, suppression=0, person="id")
    assert list(by_persons["q"].unique()) == ["*"]
    dropped, result = shoal.anonymize(
        frame,
        {"q": {"hierarchy": "suppress", "limit": 0}},
        k=5,
        suppression=0.5,
        person="id",
        with_result=True,
    )
    assert list(dropped["q"].unique()) == ["b"]
    assert (result.suppressed, result.persons, result.smallest_class_persons) == (10, 11, 10)


def test_every_released_class_of_visits_has_k_patients() -> None:
    frame = visits()
    released, result = shoal.anonymize(
        frame,
        HIERARCHIES,
        k=7,
        person="patient",
        others="drop",
        with_result=True,
        attributes={"diagnosis": {"role": "sensitive", "diversity": {"distinct": 2}}},
    )
    assert "patient" not in released.columns
    assert result.smallest_class_persons is not None
    assert result.smallest_class_persons >= 7
    assert result.privacy[0].reached == result.smallest_class_persons
    assert result.persons == frame["patient"].nunique()


def test_the_report_shows_persons(tmp_path: Path) -> None:
    visits().to_csv(tmp_path / "visits.csv", index=False)
    definition = from_mapping(
        {
            "source": str(tmp_path / "visits.csv"),
            "output": str(tmp_path / "out.csv"),
            "k": 5,
            "suppression": "5%",
            "person": "patient",
            "attributes": {
                "birth": {"role": "quasi-identifier", "hierarchy": HIERARCHIES["birth"]},
                "ward": {"role": "quasi-identifier", "hierarchy": "suppress"},
            },
            "others": "drop",
        }
    )
    result = shoal.run(definition)
    shown = " ".join(text(result, definition).split())
    assert f"each has at least {result.smallest_class_persons} persons" in shown
    assert "columns that identify a person" in shown
    assert "P0001" not in shown


@pytest.mark.slow
@pytest.mark.parametrize("demand", [{"distinct": 2}, {"entropy": 1.2}])
def test_tables_too_large_to_read_at_once_give_the_same_release(
    demand: dict[str, float], tmp_path: Path
) -> None:
    """Where the combinations with persons are too many, they are counted from higher levels up."""
    dice = random.Random(5)
    home = {person: f"{dice.randint(1, 3)}00" for person in range(60)}
    rows = [(dice.randrange(60), dice.randrange(1000)) for _ in range(3000)]
    with (tmp_path / "visits.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(
            [("patient", "day", "zip", "diagnosis")]
            + [(who, day, home[who], "flu" if who % 3 else "cold") for who, day in rows]
        )
    given = {
        "source": str(tmp_path / "visits.csv"),
        "k": 6,
        "person": "patient",
        "suppression": "1%",
        "attributes": {
            "day": {"role": "quasi-identifier", "hierarchy": {"intervals": [50, 100, 500]}},
            "zip": {"role": "quasi-identifier", "hierarchy": {"mask": 3}},
            "diagnosis": {"role": "sensitive", "diversity": demand},
        },
    }
    whole = shoal.run({**given, "output": str(tmp_path / "whole.csv")})
    few = {"engine": {"tuples": 2000}, "output": str(tmp_path / "raised.csv")}
    raised = shoal.run({**given, **few})
    assert raised.raised == {"day": 1}
    assert (raised.levels, raised.suppressed) == (whole.levels, whole.suppressed)
    assert raised.smallest_class_persons == whole.smallest_class_persons
    assert (tmp_path / "raised.csv").read_bytes() == (tmp_path / "whole.csv").read_bytes()


@pytest.mark.slow
def test_a_birth_date_may_identify_persons_and_be_generalized() -> None:
    frame = visits().rename(columns={"patient": "name"})
    frame["name"] = frame["name"].str[:3]
    whole = shoal.anonymize(frame, HIERARCHIES, k=5, person=["name", "birth"], others="drop")
    small, result = shoal.anonymize(
        frame,
        HIERARCHIES,
        k=5,
        person=["name", "birth"],
        others="drop",
        engine={"tuples": 2200},
        with_result=True,
    )
    assert result.persons == len({*zip(frame["name"], frame["birth"], strict=True)})
    assert small.equals(whole)
