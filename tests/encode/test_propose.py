"""Proposed hierarchies: the kind that fits, and always one that works."""

import datetime
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.definition.model import Dates, Intervals, Mask, Suppress
from shoal.encode.hierarchy import build
from shoal.encode.propose import propose


def test_ages_get_round_widths() -> None:
    assert propose([str(age) for age in range(17, 91)]) == Intervals(intervals=(5.0, 10.0, 20.0))


def test_a_number_far_from_all_others_does_not_widen_the_intervals() -> None:
    ages = [str(age) for age in range(17, 91)]
    for far in (["999"], ["9999"], ["-9999"], ["999", "99999"], ["-1e9", "7e200"]):
        assert propose([*ages, *far]) == propose(ages)
    assert propose([*ages, "180"]) != propose(ages)
    assert propose(["1", "10", "100", "1000"]) == Intervals(intervals=(50.0, 100.0, 200.0))


def test_fractions_get_small_widths() -> None:
    assert propose(["0.1", "0.25", "0.9"]) == Intervals(intervals=(0.05, 0.1, 0.2))


def test_two_numbers_side_by_side_are_suppressed() -> None:
    assert propose(["0", "1"]) == Suppress()


def test_dates_get_the_units_that_join_some_of_them() -> None:
    first = datetime.date(1980, 1, 1)
    days = [str(first + datetime.timedelta(days)) for days in range(0, 10_000, 10)]
    assert propose(days) == Dates(date=("month", "year", "decade"))
    assert propose(days[:100]) == Dates(date=("month", "year"))
    assert propose([day + " 10:00" for day in days[:9]] + ["1980-01-01"]) == Dates(
        date=("day", "month")
    )


def test_timestamps_of_one_day_are_suppressed() -> None:
    assert propose(["2020-01-01 10:00", "2020-01-01 11:00"]) == Suppress()


def test_dates_of_another_format_are_known_when_only_one_format_fits() -> None:
    german = Dates(date=("month",), format="%d.%m.%Y")
    assert propose(["07.03.2020", "08.03.2020", "08.04.2020"]) == german
    american = Dates(date=("month",), format="%m/%d/%Y")
    assert propose(["03/17/2020", "03/18/2020", "04/01/2020"]) == american
    assert propose(["03/07/2020", "04/07/2020"]) == Suppress()


def test_dates_of_two_formats_get_both_where_each_is_certain() -> None:
    both = Dates(date=("month",), format="%Y-%m-%d | %d.%m.%Y")
    assert propose(["07.03.2020", "2020-03-09", "08.04.2020"]) == both
    slashes = Dates(date=("month",), format="%Y-%m-%d | %d/%m/%Y")
    assert propose(["2020-03-09", "17/03/2020", "05/04/2020"]) == slashes
    assert propose(["2020-03-09", "03/07/2020", "04/07/2020"]) == Suppress()
    same_day = ["07.03.2020", "2020-03-07", "2020-03-09", "08.04.2020"]
    assert propose(same_day) == Dates(date=("month",), format="%Y-%m-%d | %d.%m.%Y")
    assert propose(["2020-03-09", "07.03.2020", "x"]) == Suppress()
    assert propose(["2020-03-09 10:00", "07.03.2020", "08.04.2020"]) == Suppress()


@pytest.mark.parametrize(
    ("values", "length"),
    [(["81667", "12345"], 5), (["007", "123"], 3), (["A12", "B07"], 3), (["AB1", "1CD"], 3)],
)
def test_codes_of_one_length_get_a_mask(values: list[str], length: int) -> None:
    assert propose(values) == Mask(mask=tuple(range(1, length + 1)))


@pytest.mark.parametrize(
    "values",
    [["male", "female"], ["?", "17", "35"], ["a1", "b22"], ["x" * 10_000], ["abc", "def"], []],
)
def test_everything_else_is_kept_or_suppressed(values: list[str]) -> None:
    assert propose(values) == Suppress()


def test_years_are_numbers() -> None:
    assert isinstance(propose([str(year) for year in range(1900, 2000)]), Intervals)


numbers = st.decimals(-(10**9), 10**9, allow_nan=False, allow_infinity=False, places=3).map(str)


@given(st.lists(numbers, min_size=2, max_size=10, unique=True))
def test_proposed_widths_nest_and_lie_within_the_range(values: list[str]) -> None:
    spec = propose(values)
    if isinstance(spec, Intervals):
        widths = [Fraction(repr(width)) for width in spec.widths]
        span = max(map(Fraction, values)) - min(map(Fraction, values))
        assert 1 <= len(widths) <= 4
        assert all(above > below and above % below == 0 for below, above in pairwise(widths))
        assert span / 200 <= widths[0]
        assert widths[-1] <= span


odd = st.text(min_size=1, max_size=12) | st.from_regex(r"[0-9+\-.eE/: T]{1,12}", fullmatch=True)


@pytest.mark.slow
@given(st.lists(odd | numbers, max_size=10, unique=True))
def test_whatever_the_values_a_proposal_covers_them_and_is_always_the_same(
    values: list[str],
) -> None:
    hierarchy = build("any", propose(values), dict.fromkeys(values, 1))
    assert sorted(hierarchy.labels[0]) == sorted(values)
    assert len(hierarchy.labels[-1]) == 1
    assert propose(list(values)) == propose(list(values))
