"""What a result and its report say of columns with labels of several levels."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import shoal
from recoding.test_local_release import NAMES, definition_in, released, write_table
from shoal.definition.read import from_mapping
from shoal.report.result import ShownResult, to_dict
from shoal.report.run import page, sections, text

K = 5


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("local")


@pytest.fixture(scope="module")
def result(folder: Path) -> ShownResult:
    write_table(folder, records=400, missing=True)
    return shoal.run(definition_in(folder))


def test_every_label_that_is_shown_is_one_of_k_released_records(
    folder: Path, result: ShownResult
) -> None:
    rows = released(folder)
    for name in NAMES:
        treatment = result.treatments[name]
        having = Counter(row[name] or "missing" for row in rows)
        counted = [each for each in treatment.labels if each.label is not None]
        assert counted
        for each in counted:
            assert having[str(each.label)] == each.after >= K
        assert sum(each.after for each in treatment.labels) == len(rows)
        if len(result.levels[name]) > 1:
            assert all(each.before is None for each in treatment.labels)
            assert all(having[part] >= K for part in treatment.example.split(" or "))
        for level in treatment.levels:
            if result.levels[name].get(level.level):
                assert having[str(level.example)] >= K


def test_a_level_below_all_that_is_released_has_no_example(result: ShownResult) -> None:
    assert 0 not in result.levels["zip"]
    assert result.treatments["zip"].levels[0].example is None


def test_the_report_shows_the_records_at_each_level_as_a_table_and_as_pictures(
    folder: Path, result: ShownResult
) -> None:
    definition = from_mapping(definition_in(folder))
    by_title = {each.title: each for each in sections(result, definition)}
    levels = by_title["The levels of each column"]
    shown = {(row[0], int(row[1])): int(row[3].replace(",", "")) for row in levels.rows}
    for name in NAMES:
        heights = range(result.treatments[name].height + 1)
        expected = {(name, level): result.levels[name].get(level, 0) for level in heights}
        assert expected.items() <= shown.items()
    assert [each.title for each in levels.pictures] == list(NAMES)
    share = result.levels["age"][1] / 400
    assert f"{share:.1%} at level 1" in levels.pictures[1].shows
    assert "The levels that were chosen" not in by_title
    assert "Labels of the release" in by_title


def test_no_form_speaks_of_nodes_or_boxes(folder: Path, result: ShownResult) -> None:
    definition = from_mapping(definition_in(folder))
    for form in (text(result, definition), page(result, definition), repr(result)):
        words = re.sub(r"<style>.*?</style>", "", form, flags=re.DOTALL)
        assert not re.search(r"\bnodes?\b|\bboxes opened\b", words)
    assert "sweeps" in text(result, definition)
    assert "no local recoding loses less" in text(result, definition)


def test_the_picture_of_a_result_has_the_levels(result: ShownResult) -> None:
    assert "Levels of age" in result.plot().svg


def test_a_result_of_mixed_levels_is_plain_json(result: ShownResult) -> None:
    plain: dict[str, Any] = to_dict(result)
    for name in NAMES:
        assert plain["treatments"][name]["records_at"] == plain["levels"][name]
