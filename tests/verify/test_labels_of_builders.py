"""Two independent readings of one description: what the builders write, the verifier accepts."""

from __future__ import annotations

from datetime import date
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from shoal.definition.model import Cuts, Dates, Groups, Hierarchy, Intervals, Mask, Suppress
from shoal.encode.builders import build
from shoal.verify.levels import labels_of

TEXTS = st.sets(st.text("ab1*. ;", min_size=1, max_size=6).filter(str.strip), min_size=1)
NUMBERS = st.one_of(
    st.integers(-200, 200).map(str),
    st.decimals(-200, 200, places=2, allow_nan=False).map(str),
    st.sampled_from(["1e2", "+7", ".5", " 12", "-0", "007", "1.50"]),
)
DAYS = st.dates(date(1, 1, 1)).map(date.isoformat)
TIMES = DAYS.flatmap(
    lambda day: st.sampled_from([day, f"{day}T10:00:00Z", f"{day} 23:59:59.123456789 +01:00"])
)


def accepted(spec: Hierarchy, values: set[str]) -> None:
    """Every level of the built hierarchy fits itself, and missing leaves at the same level."""
    built = build("column", spec, dict.fromkeys(values, 1))
    known, unknown = labels_of(spec, values), labels_of(spec)
    for level, labels in enumerate(built.labels):
        assert known.misfits(level, labels) == []
        last = level == built.height and len(labels) == 1
        assert known.single(level, labels) == last
        assert not unknown.single(level, labels) or last
        if level > 0 and not any("*" in value for value in values):
            assert unknown.misfits(level, labels) == []


@given(TEXTS, st.sampled_from([[1], [1, 2], [2, 4, 6]]), st.sampled_from(["left", "right"]))
def test_masks(values: set[str], steps: list[int], side: str) -> None:
    accepted(Mask.model_validate({"mask": steps, "from": side}), values)
    accepted(Suppress(), values)


@given(
    st.sets(NUMBERS, min_size=1),
    st.sampled_from([[0.1, 0.5], [5, 10, 100], [2.5], [1000]]),
    st.sampled_from([{}, {"origin": 3}, {"bottom": 18, "top": 93.5}, {"bottom": -5}]),
)
def test_intervals(values: set[str], widths: list[float], ends: dict[str, Any]) -> None:
    accepted(Intervals.model_validate({"intervals": widths, **ends}), values)


@given(
    st.sets(NUMBERS, min_size=1), st.sampled_from([[[0]], [[-10, 0, 2.5, 90], [0]], [[1, 5], []]])
)
def test_cuts(values: set[str], cuts: list[list[float]]) -> None:
    accepted(Cuts.model_validate({"cuts": cuts}), values)


@given(
    st.sets(TIMES, min_size=1),
    st.sampled_from([["day", "week"], ["month", "quarter", "year"], ["decade", "century"]]),
)
def test_dates(values: set[str], units: list[str]) -> None:
    accepted(Dates.model_validate({"date": units}), values)


@given(
    TEXTS | st.sets(NUMBERS, min_size=1),
    st.sampled_from([[2], [1, 3], [2, 4, 8]]),
    st.sampled_from(["auto", "text"]),
)
def test_groups(values: set[str], sizes: list[int], order: str) -> None:
    accepted(Groups.model_validate({"groups": sizes, "order": order}), values)
