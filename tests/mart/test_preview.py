"""A preview tells what a request would release and leaves nothing; an estimate tells little."""

from __future__ import annotations

from pathlib import Path

import pytest

from mart.clinic import Clinic, many
from shoal import mart
from shoal.errors import Refused, ShoalError


def written(folder: Path) -> Clinic:
    """A clinic of sixty patients, with its files."""
    it = many(folder)
    it.write()
    return it


def files(folder: Path) -> set[str]:
    return {path.name for path in folder.rglob("*")}


def test_a_preview_is_what_the_release_then_is(tmp_path: Path) -> None:
    it = written(tmp_path)
    asked = {"project": ["PT", "age"], "select": ["PT = 1"]}
    before = files(tmp_path)
    found = mart.preview(it.catalog, asked, asker="anna", folder=tmp_path)
    assert files(tmp_path) == before
    released = mart.request(it.catalog, asked, asker="anna", output=tmp_path / "out.csv")
    assert found.refusal is None
    assert found.released.levels == released.levels
    assert found.released.rows_released == released.rows_released
    assert found.released.rows_unique == released.rows_unique
    assert found.released.digest is None


def test_a_preview_of_a_refused_request_has_the_refusal_and_is_not_logged(tmp_path: Path) -> None:
    it = written(tmp_path)
    before = files(tmp_path)
    asked = {"project": ["PT"], "select": ["age > 200"]}
    found = mart.preview(it.catalog, asked, asker="anna", folder=tmp_path)
    assert found.result is None
    assert found.refusal is not None
    assert found.refusal.code == "few-persons"
    assert files(tmp_path) == before


def overlapping(tmp_path: Path) -> Clinic:
    """A clinic that released all ages; those above 20 would single out the two who are 20."""
    it = written(tmp_path)
    it.keys["policy"] = {"k": 3}
    mart.request(it.catalog, {"project": ["PT"]}, asker="anna", output=tmp_path / "all.csv")
    return it


AFTER = {"project": ["PT"], "select": ["age > 20"]}


def test_a_preview_shows_overlaps_and_that_the_policy_refuses_them(tmp_path: Path) -> None:
    it = overlapping(tmp_path)
    found = mart.preview(it.catalog, AFTER, asker="anna", folder=tmp_path)
    assert found.refusal is not None
    assert found.refusal.code == "overlap"
    assert found.result is not None
    assert found.result.overlaps[0].earlier == (1,)
    with pytest.raises(Refused) as refused:
        mart.request(it.catalog, AFTER, asker="anna", output=tmp_path / "again.csv")
    assert refused.value.what == found.refusal.what


def test_an_estimate_tells_the_order_of_magnitude_and_is_logged(tmp_path: Path) -> None:
    it = written(tmp_path)
    asked = {"project": ["PT"]}
    exact = mart.preview(it.catalog, asked, asker="anna").released
    about = mart.estimate(it.catalog, asked, asker="anna")
    assert about.at_least <= exact.rows_released <= about.at_most
    assert about.at_least in (2, 10, 100)
    assert about.at_most in (9, 99, 999)
    assert about.levels == exact.levels
    (entry,) = mart.log(it.catalog).entries
    assert (entry.kind, entry.asker, entry.recipe) == ("estimated", "anna", None)
    assert entry.result == about.to_dict()


def test_estimates_of_nobody_and_of_one_person_are_the_same_answer(tmp_path: Path) -> None:
    it = written(tmp_path)
    it.patients.append(("old", "f"))
    it.findings.append(("p-old", "old", "2", 99))
    it.survival.append(("old", "heart", 1, "A"))
    it.write()
    answers = set()
    for condition in ("age = 99", "age > 98", "age > 99"):
        asked = {"project": ["PT"], "select": [condition]}
        with pytest.raises(ShoalError) as refused:
            mart.estimate(it.catalog, asked, asker="anna")
        answers.add(refused.value.what.replace(condition, "..."))
    assert [entry.kind for entry in mart.log(it.catalog).entries] == ["estimated"] * 3
    few = {each for each in answers if "fewer than 2 persons" in each}
    assert len(few) == 1
    assert len(answers) == 2  # `age = 99` has the answer of a value that nobody has


def test_an_estimate_counts_for_nothing_in_later_comparisons(tmp_path: Path) -> None:
    it = written(tmp_path)
    mart.estimate(it.catalog, {"project": ["PT"]}, asker="anna")
    found = mart.preview(it.catalog, {"project": ["age"]}, asker="anna")
    assert found.released.overlaps == ()
