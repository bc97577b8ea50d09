"""Hierarchies made from rows: what they promise and what they refuse."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.encode.hierarchy import Hierarchy
from shoal.errors import BadHierarchy

ROWS: list[tuple[str, ...]] = [("1a", "1", "*"), ("1b", "1", "*"), ("2", "2", "*")]


def from_rows(rows: list[tuple[str, ...]]) -> Hierarchy:
    return Hierarchy.from_rows("stage", rows, lambda index: f"row {index + 1}")


def refusal(rows: list[tuple[str, ...]]) -> BadHierarchy:
    with pytest.raises(BadHierarchy) as caught:
        from_rows(rows)
    assert "'stage'" in caught.value.what
    assert caught.value.hint
    return caught.value


def test_groups_are_numbered_by_first_appearance() -> None:
    hierarchy = from_rows(ROWS)
    assert hierarchy.height == 2
    assert hierarchy.labels == (("1a", "1b", "2"), ("1", "2"), ("*",))
    assert [groups.tolist() for groups in hierarchy.groups] == [[0, 1, 2], [0, 0, 1], [0, 0, 0]]


def test_leaves_under_each_group_are_counted() -> None:
    hierarchy = from_rows(ROWS)
    assert [hierarchy.leaves_under(level).tolist() for level in range(3)] == [
        [1, 1, 1],
        [2, 1],
        [3],
    ]


def test_rows_come_back_as_they_were_given() -> None:
    assert list(from_rows(ROWS).rows()) == ROWS


def test_no_rows_are_refused() -> None:
    assert refusal([]).code == "empty-hierarchy"


def test_a_ragged_row_is_refused_with_its_line() -> None:
    error = refusal([("a", "*"), ("b", "x", "*")])
    assert error.code == "ragged-hierarchy"
    assert "row 2 has 3 cells where row 1 has 2" in error.what


def test_a_repeated_value_is_refused_with_both_rows() -> None:
    error = refusal([("a", "*"), ("b", "*"), ("c", "*"), ("b", "*")])
    assert error.code == "value-twice"
    assert "'b' occurs twice, at row 2 and at row 4" in error.what


@pytest.mark.parametrize("row", [("", "x", "*"), ("b", "", "*"), ("b", "x", "")])
def test_an_empty_cell_is_refused_at_any_level(row: tuple[str, ...]) -> None:
    error = refusal([("a", "x", "*"), row])
    assert error.code == "empty-label"
    assert f"row 2 is empty at level {row.index('')}" in error.what


def test_rows_that_do_not_nest_are_refused_with_both_rows_and_labels() -> None:
    error = refusal([("a", "x", "p"), ("b", "y", "p"), ("c", "x", "q")])
    assert error.code == "not-nested"
    assert "level 1 the label 'x' is at row 1 and at row 3" in error.what
    assert "level 2 says 'p' at the first and 'q' at the second" in error.what


cells = st.sampled_from(["a", "b", "c"])


@given(st.lists(st.tuples(cells, cells, cells, cells), min_size=1, max_size=6))
def test_rows_are_taken_exactly_when_equal_labels_stay_equal_above(
    rows: list[tuple[str, ...]],
) -> None:
    rows = [(str(leaf), *row) for leaf, row in enumerate(rows)]
    nested = all(
        one[level + 1 :] == other[level + 1 :]
        for one in rows
        for other in rows
        for level in range(5)
        if one[level] == other[level]
    )
    if nested:
        assert list(from_rows(rows).rows()) == rows
    else:
        assert refusal(rows).code == "not-nested"


def test_a_hierarchy_without_leaves_has_only_the_top_label() -> None:
    hierarchy = Hierarchy.without_leaves("stage", levels=2)
    assert hierarchy.labels == ((), (), ("*",))
    assert hierarchy.leaves_under(2).tolist() == [0]
    assert list(hierarchy.rows()) == []


@pytest.mark.slow
def test_a_hundred_thousand_leaves_on_ten_levels_are_proven_nested_in_seconds() -> None:
    rows = [tuple(f"{leaf >> level}/{level}" for level in range(11)) for leaf in range(100_000)]
    start = time.process_time()
    hierarchy = from_rows(rows)
    assert time.process_time() - start < 5
    assert hierarchy.height == 10
    assert hierarchy.leaves_under(10).tolist() == [1024] * 97 + [672]
