"""The use case of the data-mart paper, from its own sources: what it reports comes out."""

from __future__ import annotations

import csv
import sqlite3
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from examples.mart import make_sources

ROOT = Path(__file__).parent.parent.parent
EXAMPLE = ROOT / "examples" / "mart"
STAGE_ONE = ("1mic", "1a", "1b", "1c", "1", "1a(m)", "1b(m)", "1c(m)", "1(m)")

Case = tuple[str, ...]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("mart") / "data"
    make_sources.main(folder)
    return folder


def selected_cases(data: Path) -> list[Case]:
    """PT, PN, PM, R of the cases that the paper's request selects, read by sqlite3."""
    connection = sqlite3.connect(data / "hospital.sqlite")
    rows = connection.execute(
        "SELECT PT, PN, PM, R, PatId FROM findings WHERE Loc = 'Mamma' AND G = '1'"
    ).fetchall()
    connection.close()
    assert len({row[4] for row in rows if row[0] in STAGE_ONE}) == 313
    return [row[:4] for row in rows if row[0] in STAGE_ONE]


def classes_and_singles(cases: Sequence[Case]) -> tuple[int, int]:
    sizes = Counter(cases)
    return len(sizes), sum(size == 1 for size in sizes.values())


def test_the_generated_sources_have_the_sizes_of_the_paper(data: Path) -> None:
    connection = sqlite3.connect(data / "hospital.sqlite")
    (mamma,) = connection.execute("SELECT count(*) FROM findings WHERE Loc = 'Mamma'").fetchone()
    (patients,) = connection.execute("SELECT count(*) FROM patient").fetchone()
    connection.close()
    assert mamma == 16_417
    assert len(selected_cases(data)) == 313
    assert pq.read_metadata(data / "survival.parquet").num_rows == patients


def test_the_selected_cases_have_the_classes_of_the_paper(data: Path) -> None:
    cases = selected_cases(data)
    part = {"1mi": "1", "1a": "1", "1b": "1"}
    assert classes_and_singles(cases) == (107, 67)
    assert classes_and_singles([(pt, pn, pm) for pt, pn, pm, _ in cases]) == (98, 49)
    assert classes_and_singles([(pn, pm) for _, pn, pm, _ in cases]) == (16, 0)
    assert classes_and_singles([(pn, pm, r) for _, pn, pm, r in cases])[1] > 0
    assert classes_and_singles([(part.get(pn, pn), pm, r) for _, pn, pm, r in cases]) == (20, 0)


def test_every_selected_case_has_a_profile_and_a_survival(data: Path) -> None:
    with (data / "genes.csv").open(encoding="utf-8", newline="") as file:
        profiles = Counter(int(row["PrepId"]) for row in csv.DictReader(file))
    connection = sqlite3.connect(data / "hospital.sqlite")
    selected = connection.execute(
        "SELECT PrepId, Name, Surname, DayOfBirth FROM findings JOIN patient USING (PatId)"
        f" WHERE Loc = 'Mamma' AND G = '1' AND PT IN ({','.join('?' * len(STAGE_ONE))})",
        STAGE_ONE,
    ).fetchall()
    connection.close()
    registry = pq.read_table(data / "survival.parquet").to_pylist()
    known = {(r["GivenName"], r["FamilyName"], str(r["Born"])) for r in registry}
    assert len(known) == len(registry)
    assert max(profiles.values()) == 1
    assert {row[0] for row in selected} <= set(profiles)
    assert {row[1:] for row in selected} <= known


def test_the_sources_are_the_same_each_time(data: Path, tmp_path: Path) -> None:
    make_sources.main(tmp_path)
    for name in ("hospital.sqlite", "survival.parquet", "genes.csv"):
        assert (tmp_path / name).read_bytes() == (data / name).read_bytes()
