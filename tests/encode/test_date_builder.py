"""Dates and timestamps, coarsened to units."""

import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.definition.hierarchies.dates import parse_date
from shoal.definition.model import Dates
from shoal.encode.hierarchy import Hierarchy, build
from shoal.errors import BadHierarchy

NESTED = ["day", "month", "quarter", "year", "decade", "century"]


def dates(values: list[str], units: list[str], pattern: str | None = None) -> Hierarchy:
    spec = Dates.model_validate({"date": units, "format": pattern})
    return build("birth", spec, dict.fromkeys(values, 1))


def test_each_unit_has_its_label() -> None:
    assert list(dates(["2020-03-07", "1999-12-31"], NESTED).rows()) == [
        ("1999-12-31", "1999-12-31", "1999-12", "1999-Q4", "1999", "1990-1999", "1900-1999", "*"),
        ("2020-03-07", "2020-03-07", "2020-03", "2020-Q1", "2020", "2020-2029", "2000-2099", "*"),
    ]


def test_weeks_are_those_of_the_iso_year() -> None:
    hierarchy = dates(["2020-03-07", "2021-01-03", "2018-12-31"], ["week"])
    assert hierarchy.labels[1] == ("2019-W01", "2020-W10", "2020-W53")


@pytest.mark.parametrize(
    "text",
    [
        "2020-03-07",
        " 2020-03-07 ",
        "2020-03-07T10:11",
        "2020-03-07 10:11:12",
        "2020-03-07T10:11:12Z",
        "2020-03-07 10:11:12+00",
        "2020-03-07T10:11:12.5+01:00",
        "2020-03-07 10:11:12.123456789 -0330",
        "2020-03-07 23:59:59 UTC",
    ],
)
def test_dates_and_timestamps_are_read_as_written(text: str) -> None:
    date = parse_date(text)
    assert date is not None
    assert date.date() == datetime.date(2020, 3, 7)


@pytest.mark.parametrize(
    "text",
    ["2020-02-30", "2020-3-7", "20200307", "2020", "0000-01-01", "2020-03-07T25:00", "x", ""],
)
def test_what_is_no_iso_date_is_not_covered(text: str) -> None:
    with pytest.raises(BadHierarchy) as caught:
        dates(["2020-01-01", text], ["year"])
    assert caught.value.code == "uncovered-value"
    assert "format" in caught.value.hint


def test_another_format_is_read_when_given_and_sorted_by_time() -> None:
    hierarchy = dates(["02.01.2020", "01.02.2020"], ["month"], "%d.%m.%Y")
    assert hierarchy.labels == (("02.01.2020", "01.02.2020"), ("2020-01", "2020-02"), ("*",))


def test_dates_of_several_formats_are_read_and_sorted_by_time() -> None:
    hierarchy = dates(["02.01.2020", "2019-12-31"], ["month"], "%d.%m.%Y | %Y-%m-%d")
    assert hierarchy.labels == (("2019-12-31", "02.01.2020"), ("2019-12", "2020-01"), ("*",))


def test_a_text_that_is_two_dates_in_two_formats_is_not_covered() -> None:
    both = "%d/%m/%Y | %m/%d/%Y"
    assert dates(["31/12/2020", "12/31/2020", "05/05/2020"], ["year"], both).labels[1] == ("2020",)
    with pytest.raises(BadHierarchy) as caught:
        dates(["31/12/2020", "03/04/2020"], ["year"], both)
    assert caught.value.code == "uncovered-value"


@pytest.mark.parametrize("pattern", ["%d.%m.%Y |", "|", "%d.%m.%Y || %Y-%m-%d"])
def test_an_empty_format_beside_others_is_a_mistake(pattern: str) -> None:
    spec = Dates.model_validate({"date": "year", "format": pattern})
    assert [each.key for each in spec.mistakes("hierarchy")] == ["hierarchy.format"]


@pytest.mark.parametrize("pattern", ["%Y-%m", "%Q", "%"])
def test_a_format_that_does_not_fit_is_named_in_the_remedy(pattern: str) -> None:
    with pytest.raises(BadHierarchy) as caught:
        dates(["2020-01-01"], ["year"], pattern)
    assert repr(pattern) in caught.value.hint


def test_weeks_do_not_nest_in_months() -> None:
    with pytest.raises(BadHierarchy) as caught:
        dates(["2020-03-31", "2020-04-01"], ["week", "month"])
    assert caught.value.code == "not-nested"
    assert "week" in caught.value.hint


@pytest.mark.slow
@given(
    days=st.lists(st.dates(), min_size=1, max_size=20, unique=True),
    units=st.sets(st.sampled_from(NESTED), min_size=1).map(lambda s: sorted(s, key=NESTED.index)),
)
def test_units_from_short_to_long_always_nest(days: list[datetime.date], units: list[str]) -> None:
    hierarchy = dates([day.isoformat() for day in days], units)
    assert hierarchy.labels[0] == tuple(day.isoformat() for day in sorted(days))
    for row, day in zip(hierarchy.rows(), sorted(days), strict=True):
        expected = {
            "day": day.isoformat(),
            "month": day.isoformat()[:7],
            "quarter": f"{day.isoformat()[:4]}-Q{'111222333444'[day.month - 1]}",
            "year": day.isoformat()[:4],
            "decade": f"{day.isoformat()[:3]}0-{day.isoformat()[:3]}9",
            "century": f"{day.isoformat()[:2]}00-{day.isoformat()[:2]}99",
        }
        assert row[1 : len(units) + 1] == tuple(expected[unit] for unit in units)
