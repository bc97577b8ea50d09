"""`check` with persons: what a class hides are persons, counted with sets and loops."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import shoal
from shoal.cli.app import app
from shoal.errors import BadData
from shoal.measure.table import measure
from verify.persons_oracle import classes_of, pairs_of
from verify.rows import Row, source

NAMES = ("id", "born", "town", "ill")
CELLS = st.sampled_from(["a", "b", "?", "", None])
TABLES = st.lists(st.tuples(CELLS, CELLS, CELLS, CELLS), max_size=25)


def seen(row: Row) -> Row:
    return tuple(None if cell in ("?", "") else cell for cell in row)


def value(row: Row) -> str | None:
    return seen(row)[3]


@pytest.mark.slow
@given(TABLES, st.sampled_from([("id",), ("id", "born"), ("born",)]), st.booleans(), st.booleans())
def test_a_measure_counts_the_persons_that_plain_sets_count(
    rows: list[Row], person: tuple[str, ...], basic: bool, as_value: bool
) -> None:
    def whose(row: Row) -> Row:
        return tuple(seen(row)[NAMES.index(name)] for name in person)

    classes = classes_of(rows, lambda row: seen(row)[1:3], whose, value)
    found = measure(
        source(NAMES, rows),
        ["born", "town"],
        ["?"],
        person=person,
        sensitive=["ill"],
        match="basic" if basic else "extended",
        missing_as_value=as_value,
        k=2,
    )
    assert found.persons is not None
    sizes = [len(each.persons) for each in classes.values()]
    assert found.persons.everybody == len({whose(row) for row in rows})
    assert found.persons.smallest_class == min(sizes, default=0)
    assert found.persons.largest_class == max(sizes, default=0)
    lone = [each.persons for each in classes.values() if len(each.persons) == 1]
    assert found.persons.unique_persons == len(set().union(*lone) if lone else set())
    assert (found.records, found.smallest_class) == (
        len(rows),
        min((each.records for each in classes.values()), default=0),
    )
    for bucket in found.persons.class_sizes:
        inside = [
            each
            for each in classes.values()
            if bucket.least <= len(each.persons) <= (bucket.most or 99)
        ]
        assert bucket.classes == len(inside)
        assert bucket.records == sum(each.records for each in inside)
    crowds = {
        label: 0 if basic and None in label else len(each.persons)
        for label, each in classes.items()
    }
    assert found.k == min(crowds.values(), default=0)
    below = [each.records for label, each in classes.items() if crowds[label] < 2]
    assert found.matches[0].records_below == sum(below)
    counted = [[v for v in each.values() if as_value or v is not None] for each in classes.values()]
    (ill,) = found.sensitive
    assert ill.distinct_l == min((len(set(values)) for values in counted), default=0)
    if counted and all(counted):
        most = max(max(Counter(values).values()) / len(values) for values in counted)
        assert ill.alpha == pytest.approx(most)
    table = [v for v in pairs_of(rows, whose, value) if as_value or v is not None]
    assert ill.values == len(set(table))


VISITS = "patient,zip,ill\n" + "ann,1,flu\n" * 3 + "bo,1,gout\n" + "cy,2,flu\n" * 4


def test_shares_compare_with_the_pairs_of_the_whole_table() -> None:
    """Flu is known of two persons, gout of one: in the first class they are half and half."""
    rows: list[Row] = [tuple(line.split(",")) for line in VISITS.split()[1:]]
    found = measure(
        source(("patient", "zip", "ill"), rows), ["zip"], person=["patient"], sensitive=["ill"]
    )
    assert found.sensitive[0].t_equal == pytest.approx(1 / 3)
    unique, homogeneous = found.attacks
    assert unique == "uniqueness: 1 person alone in a class"
    assert homogeneous.startswith("homogeneity of ill: 1 class with one value only, 4 records")


@pytest.fixture
def visits(tmp_path: Path) -> Path:
    (tmp_path / "visits.csv").write_text(VISITS, encoding="utf-8")
    return tmp_path / "visits.csv"


def check(visits: Path, *options: str) -> Any:
    return CliRunner().invoke(app, ["check", str(visits), "--qi", "zip", *options])


@pytest.mark.slow
def test_the_command_counts_persons_and_shows_records_too(visits: Path) -> None:
    done = check(visits, "--person", "patient", "--k", "2")
    assert done.exit_code == 4
    text = " ".join(done.output.split())
    assert "k = 1 (persons), 2 demanded: not reached" in text
    assert "smallest class (k) persons: 1, records: 4" in text
    assert "persons in a class classes records" in text
    assert check(visits, "--k", "4").exit_code == 0


def test_the_json_has_both(visits: Path) -> None:
    fields = json.loads(check(visits, "--person", "patient", "--json").output)
    assert (fields["k"], fields["smallest_class"]) == (1, 4)
    assert fields["persons"]["columns"] == ["patient"]
    assert (fields["persons"]["everybody"], fields["persons"]["unique_persons"]) == (3, 1)
    assert "persons" not in json.loads(check(visits, "--json").output)


@pytest.mark.parametrize("match", ["all", "maybe", "right-maybe"])
def test_matches_that_make_no_classes_cannot_count_persons(visits: Path, match: str) -> None:
    done = check(visits, "--person", "patient", "--missing", match)
    assert isinstance(done.exception, BadData)
    assert done.exception.code == "persons-without-classes"


def test_a_column_that_is_not_there_is_an_error(visits: Path) -> None:
    assert check(visits, "--person", "pat").exception.code == "unknown-column"


def test_frames_are_measured_by_persons_too(visits: Path) -> None:
    rows = [line.split(",") for line in VISITS.split()[1:]]
    frame = pa.table(
        [list(column) for column in zip(*rows, strict=True)], ["patient", "zip", "ill"]
    )
    found = shoal.check(frame, "zip", person="patient")
    assert found.k == 1
    assert "persons: 3\n" in str(found)
    assert "smallest class (k): persons: 1, records: 4" in str(found)
    assert "persons in a class" in found._repr_html_()
    assert shoal.check(visits, "zip", person=["patient"]).k == 1
