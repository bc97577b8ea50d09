"""Suppression, masks and groups of neighbours."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.definition.hierarchies.numbers import parse_number
from shoal.definition.model import Groups, Mask, Suppress
from shoal.encode.hierarchy import Hierarchy, build
from shoal.errors import BadHierarchy


def masks(values: list[str], steps: Any, side: str = "right") -> Hierarchy:
    spec = Mask.model_validate({"mask": steps, "from": side})
    return build("zip", spec, dict.fromkeys(values, 1))


def groups(values: list[str], sizes: list[int], order: str = "auto") -> Hierarchy:
    spec = Groups.model_validate({"groups": sizes, "order": order})
    return build("ward", spec, dict.fromkeys(values, 1))


def test_suppress_is_the_value_then_a_star_in_the_order_of_the_text() -> None:
    hierarchy = build("sex", Suppress(), {"w": 3, "m": 2})
    assert list(hierarchy.rows()) == [("m", "*"), ("w", "*")]


def test_suppress_has_two_levels_even_for_one_value() -> None:
    assert build("sex", Suppress(), {"w": 3}).labels == (("w",), ("*",))


def test_a_mask_hides_one_character_more_at_each_level() -> None:
    assert list(masks(["81675", "81667"], 5).rows()) == [
        ("81667", "8166*", "816**", "81***", "8****", "*****"),
        ("81675", "8167*", "816**", "81***", "8****", "*****"),
    ]


def test_a_mask_hides_as_many_characters_as_listed_and_gets_a_top() -> None:
    assert list(masks(["8166", "9166"], [1, 3]).rows()) == [
        ("8166", "816*", "8***", "*"),
        ("9166", "916*", "9***", "*"),
    ]


def test_a_mask_from_the_left_keeps_the_right_end() -> None:
    assert list(masks(["abc", "xbc"], 2, "left").rows()) == [
        ("abc", "*bc", "**c"),
        ("xbc", "*bc", "**c"),
    ]


def test_a_wholly_masked_value_does_not_show_its_length() -> None:
    assert list(masks(["a", "bcd"], 3).rows()) == [
        ("a", "***", "***", "***"),
        ("bcd", "bc*", "b**", "***"),
    ]


def test_a_mask_that_hides_nothing_is_refused() -> None:
    with pytest.raises(BadHierarchy) as caught:
        masks(["a"], [0, 1])
    assert caught.value.code == "bad-levels"


def test_a_mask_that_shows_again_what_it_hid_is_refused() -> None:
    with pytest.raises(BadHierarchy) as caught:
        masks(["ab", "cb"], [2, 1])
    assert caught.value.code == "not-nested"
    assert "rising" in caught.value.hint


@pytest.mark.slow
@given(
    values=st.lists(st.text("ab*", min_size=1, max_size=5), min_size=1, max_size=12, unique=True),
    steps=st.sets(st.integers(1, 6), min_size=1).map(sorted),
    side=st.sampled_from(["left", "right"]),
)
def test_masks_always_nest_and_hide_what_they_must(
    values: list[str], steps: list[int], side: str
) -> None:
    hierarchy = masks(values, steps, side)
    longest = max(len(value) for value in values)
    assert hierarchy.labels[0] == tuple(sorted(values))
    for row in hierarchy.rows():
        for step, label in zip(steps, row[1:], strict=False):
            if len(row[0]) <= step:
                assert label == "*" * longest
            else:
                hidden = range(step) if side == "left" else range(len(row[0]) - step, len(row[0]))
                expected = "".join("*" if i in hidden else c for i, c in enumerate(row[0]))
                assert label == expected
    assert len(hierarchy.labels[-1]) == 1


def test_neighbours_in_order_share_a_run() -> None:
    towns = ["Essen", "Aachen", "Dresden", "Berlin", "Celle"]
    assert list(groups(towns, [2, 4]).rows()) == [
        ("Aachen", "<C", "<E", "*"),
        ("Berlin", "<C", "<E", "*"),
        ("Celle", "[C,E)", "<E", "*"),
        ("Dresden", "[C,E)", "<E", "*"),
        ("Essen", ">=E", ">=E", "*"),
    ]


def test_the_label_of_a_run_publishes_no_rare_value() -> None:
    hierarchy = groups(["RAREZED", "ann", "bea", "cleo"], [2])
    assert hierarchy.labels[1] == ("<b", ">=b")


def test_runs_are_numbered_where_a_separator_would_disclose_half_a_value() -> None:
    assert groups(["I20", "I21", "I22", "J18"], [2]).labels[1] == ("group 1 of 2", "group 2 of 2")
    assert groups(["a", "b", "c"], [1]).labels[1] == (
        "group 1 of 3",
        "group 2 of 3",
        "group 3 of 3",
    )
    assert groups(["Bonn", "O Alba", "O Brienz", "Rome"], [2]).labels[1] == (
        "group 1 of 2",
        "group 2 of 2",
    )


def test_a_single_run_says_nothing() -> None:
    assert groups(["ann", "bea"], [2]).labels == (("ann", "bea"), ("*",))


def test_groups_of_numbers_are_in_the_order_of_numbers() -> None:
    assert groups(["10", "9", "8"], [2]).labels[0] == ("8", "9", "10")


def test_runs_of_numbers_are_separated_by_the_roundest_number_between_them() -> None:
    incomes = ["1234567", "23411", "24899", "31000", "-250", "98000"]
    assert groups(incomes, [2]).labels[1] == ("<24000", "[24000,40000)", ">=40000")
    assert groups(["0.25", "0.31", "0.5", "1.75"], [2]).labels[1] == ("<0.4", ">=0.4")
    assert groups(["-7", "-3", "12", "13"], [2]).labels[1] == ("<0", ">=0")


def test_runs_of_numbers_that_lie_close_are_numbered() -> None:
    assert groups(["37", "38", "39", "40"], [2]).labels[1] == ("group 1 of 2", "group 2 of 2")
    assert groups(["1000", "2000", "4000"], [2]).labels[1] == ("group 1 of 2", "group 2 of 2")
    assert groups(["1", "1.0", "1e0"], [2]).labels[1] == ("group 1 of 2", "group 2 of 2")


def test_groups_with_one_text_among_the_numbers_are_in_the_order_of_text() -> None:
    assert groups(["10", "9", "x"], [2]).labels[0] == ("10", "9", "x")
    assert groups(["10", "9"], [2], "text").labels[0] == ("10", "9")


def test_groups_by_number_do_not_cover_text() -> None:
    with pytest.raises(BadHierarchy) as caught:
        groups(["10", "x"], [2], "number")
    assert caught.value.code == "uncovered-value"


def test_sizes_that_are_no_multiples_are_refused() -> None:
    with pytest.raises(BadHierarchy) as caught:
        groups(["a", "b", "c", "d", "e", "f"], [2, 3])
    assert caught.value.code == "not-nested"
    assert "multiple" in caught.value.hint


def test_groups_of_no_value_are_refused() -> None:
    with pytest.raises(BadHierarchy) as caught:
        groups(["a"], [0])
    assert caught.value.code == "bad-levels"


WORDS = st.text("abcAZ' é", min_size=1, max_size=9)
NUMBERS = st.decimals(-(10**7), 10**7, allow_nan=False, places=2).map(str) | st.integers().map(str)


@pytest.mark.slow
@given(
    values=st.sets(WORDS | NUMBERS, min_size=1, max_size=30) | st.sets(NUMBERS, min_size=1),
    size=st.integers(1, 4),
)
def test_no_label_of_a_run_has_a_value_in_it(values: set[str], size: int) -> None:
    """Not by its text, and not by its number."""
    numbers = {number for value in values if (number := parse_number(value)) is not None}
    for label in groups(list(values), [size]).labels[1]:
        if label.startswith(("<", "[", ">=")):
            ends = label.strip("<>=[)").split(",")
            assert not set(ends) & values
            assert not {parse_number(end) for end in ends} & numbers
        else:
            assert label == "*" or re.fullmatch(r"group \d+ of \d+", label)


@pytest.mark.slow
@given(
    values=st.sets(WORDS, min_size=1, max_size=30).map(list)
    | st.sets(NUMBERS, min_size=1, max_size=30).map(list),
    size=st.integers(1, 4),
    factor=st.integers(1, 4),
)
def test_runs_have_their_size_and_keep_the_order(values: list[str], size: int, factor: int) -> None:
    hierarchy = groups(values, [size, size * factor])
    ordered = hierarchy.labels[0]
    for level, step in ((1, size), (2, size * factor)):
        runs = [ordered[start : start + step] for start in range(0, len(ordered), step)]
        assert len(hierarchy.labels[level]) == len(runs)
        assert hierarchy.leaves_under(level).tolist() == [len(run) for run in runs]
