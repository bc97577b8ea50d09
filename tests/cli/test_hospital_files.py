"""Exports of visits, from `init` to a release without an edit, judged by plain Python alone."""

from __future__ import annotations

import csv
import re
from collections import defaultdict
from pathlib import Path

import pytest

from commands import leftovers, shoal
from hospital_visits import MISSING, NAMES, write_visits
from shoal.definition.read import read

K = 5
PERSON = NAMES.index("Patienten-ID")


def run(folder: Path, *arguments: str) -> str:
    """What the command says, which must succeed."""
    done = shoal(*arguments, folder=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def fits(label: str, value: str) -> bool:
    """Whether a label of a release covers a value of the source."""
    if value in MISSING:
        return label in ("", "*")
    if label in (value, "*"):
        return True
    if interval := re.fullmatch(r"\[(\d+),(\d+)\)", label):
        return value.isdigit() and int(interval[1]) <= int(value) < int(interval[2])
    if label.endswith("*"):
        return len(label) == len(value) and value.startswith(label.rstrip("*"))
    if day := re.fullmatch(r"(\d\d)\.(\d\d)\.(\d{4})", value):
        return label in (f"{day[3]}-{day[2]}", day[3])
    return False


def persons_of(
    rows: list[tuple[str, ...]], released: list[list[str]], names: list[str], quasi: list[str]
) -> list[int]:
    """How many persons each released class has in the source."""
    places = [(NAMES.index(name), names.index(name)) for name in quasi]
    labels: list[dict[str, str]] = []
    for source, release in places:
        known = {row[release] for row in released}
        values = {row[source] for row in rows}
        fitting = {value: [label for label in known if fits(label, value)] for value in values}
        assert all(len(found) <= 1 for found in fitting.values())
        labels.append({value: found[0] for value, found in fitting.items() if found})
    persons: dict[tuple[str | None, ...], set[str]] = defaultdict(set)
    for row in rows:
        key = tuple(own.get(row[source]) for own, (source, _) in zip(labels, places, strict=True))
        persons[key].add(row[PERSON])
    classes = {tuple(row[release] for _, release in places) for row in released}
    return [len(persons[each]) for each in classes]


@pytest.mark.slow
@pytest.mark.parametrize(("visits", "patients"), [(4_000, 4_000), (30_000, 2_500)])
def test_an_export_leads_to_a_safe_and_useful_release_without_an_edit(
    visits: int, patients: int, tmp_path: Path
) -> None:
    rows = write_visits(tmp_path / "Besuche Süd.csv", visits, patients)
    said = run(tmp_path, "init", "Besuche Süd.csv")
    assert said.rstrip().endswith("shoal run 'Besuche Süd.yaml'")
    definition = read(tmp_path / "Besuche Süd.yaml")
    assert set(definition.missing.values) == set(MISSING)
    assert definition.person == ("Patienten-ID",)
    run(tmp_path, "run", "Besuche Süd.yaml")
    with (tmp_path / "Besuche Süd-release.csv").open(encoding="utf-8", newline="") as file:
        names, *released = list(csv.reader(file))
    quasi = list(definition.quasi_identifiers)
    assert {"Geburtsjahr", "Geschlecht", "PLZ"} <= set(quasi)
    assert not {"Fallnummer", "Patienten-ID"} & set(names)
    assert min(persons_of(rows, released, names, quasi)) >= K
    assert len(released) >= 0.95 * visits
    useful = [name for name in quasi if len({row[names.index(name)] for row in released}) > 1]
    assert {"Geburtsjahr", "Geschlecht", "PLZ"} <= set(useful)
    assert leftovers(tmp_path) == []
