"""Whole runs on small random tables: what is released is what plain Python would release."""

from __future__ import annotations

import csv
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from oracle import Row, optimum
from problems import Case, cases
from shoal.errors import UserError


def write_case(case: Case, folder: Path, **keys: Any) -> dict[str, Any]:
    """The case as files, and its definition; the first column is a name that must not get out."""
    with (folder / "data.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["name", *case.names, "note"])
        for i, row in enumerate(case.rows):
            writer.writerow([f"person {i}", *("?" if cell is None else cell for cell in row), "n"])
    attributes: dict[str, Any] = {"name": "identifier", "note": "keep"}
    for name, ladder, limit, priority in zip(
        case.names, case.ladders, case.limits, case.priorities, strict=True
    ):
        with (folder / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
            csv.writer(file, delimiter=";").writerows(ladder.steps.values())
        attributes[name] = {
            "role": "quasi-identifier",
            "hierarchy": str(folder / f"{name}.csv"),
            "limit": limit,
            "priority": float(priority),
        }
    return {
        "source": str(folder / "data.csv"),
        "output": str(folder / "release.csv"),
        "k": case.k,
        "suppression": case.suppression,
        "missing": {"values": ["?"]},
        "attributes": attributes,
        **keys,
    }


def released(path: Path) -> tuple[list[str], list[Row]]:
    """The header and the rows of a release, empty cells as missing."""
    with path.open(newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    return header, [tuple(cell or None for cell in row) for row in rows]


@pytest.mark.slow
@given(cases())
@settings(max_examples=60)
def test_a_run_releases_what_plain_python_would(case: Case) -> None:
    expected = optimum(
        case.rows, case.ladders, case.limits, case.k, case.suppression, case.priorities
    )
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        definition = write_case(case, folder)
        if expected is None:
            with pytest.raises(shoal.Infeasible):
                shoal.run(definition)
            assert not (folder / "release.csv").exists()
            return
        result = shoal.run(definition)
        header, rows = released(folder / "release.csv")
    assert header == [*case.names, "note"]
    assert Counter(row[:-1] for row in rows) == Counter(expected.released)
    assert [row[:-1] for row in rows] == sorted(
        (row[:-1] for row in rows), key=lambda row: [(cell is None, cell or "") for cell in row]
    )
    assert tuple(result.levels.values()) == expected.node
    assert result.loss == pytest.approx(float(expected.loss), abs=1e-12)
    assert result.suppressed == expected.suppressed
    assert result.records == len(case.rows)
    assert result.verified


@pytest.mark.slow
@given(cases())
@settings(max_examples=30)
def test_marked_records_stay_with_nothing_left_of_them(case: Case) -> None:
    expected = optimum(
        case.rows, case.ladders, case.limits, case.k, case.suppression, case.priorities
    )
    if expected is None:
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shoal.run(write_case(case, folder, suppressed="mark"))
        _, rows = released(folder / "release.csv")
    blank = (None,) * len(case.names)
    assert len(rows) == len(case.rows)
    assert Counter(row[:-1] for row in rows) == Counter(
        [*expected.released, *([blank] * expected.suppressed)]
    )


@pytest.mark.slow
@given(cases(), st.booleans())
@settings(max_examples=30)
def test_basic_match_removes_incomplete_records_before_all_else(case: Case, mark: bool) -> None:
    complete = tuple(row for row in case.rows if None not in row)
    expected = complete and optimum(
        complete, case.ladders, case.limits, case.k, case.suppression, case.priorities
    )
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        keys = {"missing": {"match": "basic", "values": ["?"]}}
        definition = write_case(case, folder, suppressed="mark" if mark else "drop", **keys)
        if not expected:
            with pytest.raises(shoal.ShoalError):
                shoal.run(definition)
            return
        result = shoal.run(definition)
        _, rows = released(folder / "release.csv")
    kept = [row[:-1] for row in rows if any(row[:-1])]
    assert Counter(kept) == Counter(expected.released)
    assert len(rows) - len(kept) == (expected.suppressed if mark else 0)
    assert result.removed == len(case.rows) - len(complete)
    assert result.suppressed == expected.suppressed
    assert result.loss == pytest.approx(float(expected.loss), abs=1e-12)


@pytest.mark.slow
@given(cases(), st.sampled_from(["extended", "basic"]), st.booleans())
@settings(max_examples=60)
def test_local_recodings_lose_no_more_and_every_class_has_k_records(
    case: Case, match: str, mark: bool
) -> None:
    missing, suppressed = {"match": match, "values": ["?"]}, "mark" if mark else "drop"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        definition = write_case(case, folder, missing=missing, suppressed=suppressed)
        try:
            full = shoal.run(definition)
            result = shoal.run({**definition, "recoding": "local"})
        except shoal.Infeasible:
            return
        except UserError as error:
            if error.code in ("ambiguous-label", "all-missing", "no-local-recoding"):
                return
            raise
        _, rows = released(folder / "release.csv")
    classes = Counter(row[:-1] for row in rows)
    if mark:
        classes.pop((None,) * len(case.names), None)
    else:
        assert len(rows) == result.records - result.removed - result.suppressed
    assert min(classes.values(), default=case.k) >= case.k
    assert result.loss <= full.loss + 1e-9
    assert result.verified
