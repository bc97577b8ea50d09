"""Intervals and cut points, judged by plain arithmetic with fractions."""

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.definition.hierarchies.numbers import parse_number
from shoal.definition.model import Cuts, Intervals
from shoal.encode.hierarchy import Hierarchy, build
from shoal.errors import BadHierarchy


def intervals(values: list[str], widths: list[float], **options: Any) -> Hierarchy:
    spec = Intervals.model_validate({"intervals": widths, **options})
    return build("age", spec, dict.fromkeys(values, 1))


def cuts(values: list[str], points: list[list[float]]) -> Hierarchy:
    return build("age", Cuts.model_validate({"cuts": points}), dict.fromkeys(values, 1))


def labels(hierarchy: Hierarchy, level: int) -> dict[str, str]:
    return {row[0]: row[level] for row in hierarchy.rows()}


def test_numbers_fall_into_intervals_in_their_order_with_a_top() -> None:
    assert list(intervals(["30", "9", "24"], [5, 10]).rows()) == [
        ("9", "[5,10)", "[0,10)", "*"),
        ("24", "[20,25)", "[20,30)", "*"),
        ("30", "[30,35)", "[30,40)", "*"),
    ]


def test_no_top_is_added_where_the_last_width_joins_all_values() -> None:
    assert intervals(["3", "9"], [5, 10]).labels[-1] == ("[0,10)",)


def test_widths_of_a_tenth_are_exact() -> None:
    values = [f"0.{digit}" for digit in range(10)]
    expected = {f"0.{d}": f"[{d / 10:g},{(d + 1) / 10:g})" for d in range(10)}
    assert labels(intervals(values, [0.1]), 1) == expected


def test_numbers_are_read_in_every_usual_spelling() -> None:
    values = ["1e3", "+7", " 8 ", "-0.5", ".5", "5.", "1E-2", "-0", "007"]
    assert labels(intervals(values, [5]), 1) == {
        "1e3": "[1000,1005)",
        "+7": "[5,10)",
        " 8 ": "[5,10)",
        "-0.5": "[-5,0)",
        ".5": "[0,5)",
        "5.": "[5,10)",
        "1E-2": "[0,5)",
        "-0": "[0,5)",
        "007": "[5,10)",
    }


def test_huge_and_tiny_numbers_stay_exact() -> None:
    huge, tiny = "9" * 40, "0." + "0" * 40 + "1"
    found = labels(intervals([huge, "-" + huge, tiny], [10]), 1)
    assert found[huge] == f"[{'9' * 39}0,1{'0' * 40})"
    assert found["-" + huge] == f"[-1{'0' * 40},-{'9' * 39}0)"
    assert found[tiny] == "[0,10)"


def test_labels_have_no_needless_zeros() -> None:
    assert labels(intervals(["3.75", "20"], [2.5]), 1) == {"3.75": "[2.5,5)", "20": "[20,22.5)"}


def test_intervals_begin_at_the_origin() -> None:
    assert labels(intervals(["3", "4", "-7"], [10], origin=3.5), 1) == {
        "-7": "[-16.5,-6.5)",
        "3": "[-6.5,3.5)",
        "4": "[3.5,13.5)",
    }


def test_bottom_and_top_share_open_intervals_and_cut_their_neighbours() -> None:
    found = intervals(["3", "18", "20", "89.9", "90", "120"], [5, 100], bottom=18, top=90)
    assert list(found.rows()) == [
        ("3", "<18", "<18", "*"),
        ("18", "[18,20)", "[18,90)", "*"),
        ("20", "[20,25)", "[18,90)", "*"),
        ("89.9", "[85,90)", "[18,90)", "*"),
        ("90", ">=90", ">=90", "*"),
        ("120", ">=90", ">=90", "*"),
    ]


@pytest.mark.parametrize(
    "text", ["NaN", "inf", "-Infinity", "1_000", "abc", "", "1e99999", "٣", "0x1"]
)
def test_what_is_no_finite_number_is_not_covered(text: str) -> None:
    assert parse_number(text) is None
    with pytest.raises(BadHierarchy) as caught:
        intervals(["5", text], [10])
    assert caught.value.code == "uncovered-value"


@pytest.mark.parametrize(
    ("widths", "options"),
    [
        ([], {}),
        ([0], {}),
        ([5, -5], {}),
        ([5], {"bottom": 9, "top": 9}),
    ],
)
def test_settings_that_make_no_intervals_are_refused(
    widths: list[float], options: dict[str, float]
) -> None:
    with pytest.raises(BadHierarchy) as caught:
        intervals(["1"], widths, **options)
    assert caught.value.code == "bad-levels"


def test_a_width_that_is_no_multiple_of_the_one_before_is_refused() -> None:
    with pytest.raises(BadHierarchy) as caught:
        intervals(["2", "3", "4"], [2, 3])
    assert caught.value.code == "not-nested"
    assert "multiple" in caught.value.hint


decimals = st.decimals(-1000, 1000, allow_nan=False, allow_infinity=False, places=2).map(str)


@pytest.mark.slow
@given(
    values=st.lists(decimals, min_size=1, max_size=20, unique=True),
    width=st.sampled_from(["0.1", "0.25", "1", "7"]),
    factor=st.integers(1, 5),
    origin=st.sampled_from(["0", "0.3", "-11"]),
    ends=st.sampled_from([(None, None), ("-5.5", None), (None, "70"), ("0", "0.1"), ("-90", "33")]),
)
def test_every_interval_is_the_one_that_fractions_give(
    values: list[str],
    width: str,
    factor: int,
    origin: str,
    ends: tuple[str | None, str | None],
) -> None:
    bottom, top = ends
    hierarchy = intervals(
        values,
        [float(width), float(Fraction(width) * factor)],
        origin=float(origin),
        bottom=bottom and float(bottom),
        top=top and float(top),
    )
    for level, step in ((1, Fraction(width)), (2, Fraction(width) * factor)):
        for value, label in labels(hierarchy, level).items():
            number = Fraction(value)
            if bottom is not None and number < Fraction(bottom):
                assert label == f"<{bottom}"
            elif top is not None and number >= Fraction(top):
                assert label == f">={top}"
            else:
                start = Fraction(origin) + (number - Fraction(origin)) // step * step
                low = start if bottom is None else max(start, Fraction(bottom))
                high = start + step if top is None else min(start + step, Fraction(top))
                assert [Fraction(end) for end in label[1:-1].split(",")] == [low, high]
                assert low <= number < high
    assert sorted(hierarchy.labels[0]) == sorted(values)
    assert [Fraction(leaf) for leaf in hierarchy.labels[0]] == sorted(map(Fraction, values))


def test_cut_points_leave_both_ends_open() -> None:
    assert list(cuts(["70", "3", "18", "29.9"], [[18, 30, 65], [30], []]).rows()) == [
        ("3", "<18", "<30", "*"),
        ("18", "[18,30)", "<30", "*"),
        ("29.9", "[18,30)", "<30", "*"),
        ("70", ">=65", ">=30", "*"),
    ]


def test_cut_points_that_are_no_subset_of_those_before_are_refused() -> None:
    with pytest.raises(BadHierarchy) as caught:
        cuts(["10", "20", "30"], [[15], [25]])
    assert caught.value.code == "not-nested"
    assert "cut points" in caught.value.hint


@pytest.mark.slow
@given(
    values=st.lists(decimals, min_size=1, max_size=20, unique=True),
    points=st.sets(st.integers(-900, 900), min_size=1, max_size=5),
    data=st.data(),
)
def test_every_value_lies_between_its_cut_points(
    values: list[str], points: set[int], data: st.DataObject
) -> None:
    kept = data.draw(st.sets(st.sampled_from(sorted(points))))
    hierarchy = cuts(values, [sorted(points), sorted(kept)])
    for level, chosen in ((1, sorted(points)), (2, sorted(kept))):
        for value, label in labels(hierarchy, level).items():
            below = [point for point in chosen if point <= Fraction(value)]
            above = [point for point in chosen if point > Fraction(value)]
            if not chosen:
                expected = "*"
            elif not below:
                expected = f"<{above[0]}"
            elif not above:
                expected = f">={below[-1]}"
            else:
                expected = f"[{below[-1]},{above[0]})"
            assert label == expected


@pytest.mark.slow
def test_a_hundred_thousand_distinct_numbers_are_built() -> None:
    hierarchy = intervals([f"{n / 100}" for n in range(100_000)], [1, 10, 100])
    assert [len(found) for found in hierarchy.labels] == [100_000, 1000, 100, 10, 1]
