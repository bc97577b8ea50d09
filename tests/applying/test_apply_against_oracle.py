"""Applying a transformation to random new records releases what plain Python would, or nothing."""

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
from pipeline.test_run_against_oracle import released, write_case
from problems import Case, cases

UNKNOWN = "unheard of"


def write_new(case: Case, rows: list[Row], path: Path) -> None:
    """New records with the columns in another order, and one column less."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["note", *reversed(case.names)])
        writer.writerows(
            ["n", *reversed(["?" if cell is None else cell for cell in row])] for row in rows
        )


def labels(case: Case, row: Row, node: tuple[int, ...]) -> Row | None:
    """What a new record becomes, None if it has a value without a label."""
    if UNKNOWN in row:
        return None
    pairs = zip(case.ladders, row, node, strict=True)
    return tuple(ladder.label(cell, level) for ladder, cell, level in pairs)


@pytest.mark.slow
@given(cases(), st.data())
@settings(max_examples=30)
def test_new_records_are_released_as_plain_python_would(case: Case, data: Any) -> None:
    found = optimum(case.rows, case.ladders, case.limits, case.k, case.suppression, case.priorities)
    if found is None:
        return
    cells = [st.sampled_from([*ladder.steps, None]) for ladder in case.ladders]
    known = data.draw(st.lists(st.tuples(*cells), min_size=1, max_size=14))
    strange = data.draw(st.integers(0, 2))
    rows = known + [(UNKNOWN, *row[1:]) for row in known[:strange]]
    together, suppress = data.draw(st.booleans()), data.draw(st.booleans())

    every = [labels(case, row, found.node) for row in rows]
    sizes = Counter(each for each in every if each is not None)
    both = sizes + Counter(found.released) if together else sizes
    kept = [each for each in every if each is not None and both[each] >= case.k]
    suppressed = len(rows) - len(kept)
    allowed = case.suppression if suppress else 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shoal.run(write_case(case, folder), transformation=folder / "t.json")
        write_new(case, rows, folder / "new.csv")

        def apply() -> shoal.Applied[Any]:
            return shoal.apply(
                folder / "t.json",
                folder / "new.csv",
                folder / "new-release.csv",
                release=folder / "release.csv" if together else None,
                suppress_new=suppress,
            )

        if suppressed > allowed or not kept:
            with pytest.raises(shoal.ShoalError) as refused:
                apply()
            codes = {"unknown-values", "too-many-unknown", "new-small-classes"}
            assert refused.value.code in codes
            assert UNKNOWN not in str(refused.value)
            assert not (folder / "new-release.csv").exists()
            return
        applied = apply()
        header, written = released(folder / "new-release.csv")
    assert header == [*case.names, "note"]
    assert Counter(row[:-1] for row in written) == Counter(kept)
    assert applied.unknown == sum(1 for each in every if each is None)
    result = applied.result
    assert (result.status, result.verified) == ("applied", True)
    assert (result.records, result.suppressed) == (len(rows), suppressed)
    union = Counter(kept) + (Counter(found.released) if together else Counter())
    assert min(union.values()) >= case.k
    if together:
        assert applied.together is not None
        assert applied.together.records == union.total()
        assert applied.together.classes == len(union)
        assert applied.together.smallest_class == min(union.values())
        assert result.smallest_class == min(union[each] for each in kept)


@pytest.mark.slow
@given(cases(), st.sampled_from(["extended", "basic"]), st.sampled_from(["drop", "mark"]))
@settings(max_examples=20)
def test_the_same_data_gives_the_same_release(case: Case, match: str, suppressed: str) -> None:
    keys = {"missing": {"match": match, "values": ["?"]}, "suppressed": suppressed}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        try:
            first = shoal.run(write_case(case, folder, **keys), transformation=folder / "t.json")
        except shoal.ShoalError:
            return
        applied = shoal.apply(folder / "t.json", folder / "data.csv", folder / "again.csv")
        assert (folder / "again.csv").read_bytes() == (folder / "release.csv").read_bytes()
    assert applied.result.levels == first.levels
    assert applied.result.loss == pytest.approx(first.loss, abs=1e-12)
    for name in ("records", "removed", "suppressed", "classes", "smallest_class", "privacy"):
        assert getattr(applied.result, name) == getattr(first, name)
