"""Two independent readings of one description: the builders and the verifier say the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.definition.model import (
    Csv,
    Cuts,
    Dates,
    Groups,
    Hierarchy,
    Intervals,
    Mask,
    PluggedIn,
    Suppress,
    Taxonomy,
)
from shoal.encode.hierarchy import build
from shoal.verify.labels.built import missing_label
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


def same_labels(spec: Hierarchy, values: set[str]) -> None:
    """Every value, and missing, becomes the same at every level."""
    built = build("column", spec, dict.fromkeys(values, 1))
    known, rows = labels_of(spec, values), list(built.rows())
    assert known.last == built.height
    for level in range(built.height + 1):
        assert known.generalized(level) == {row[0]: row[level] for row in rows}
        only = built.labels[level][0] if len(built.labels[level]) == 1 else None
        assert missing_label(known, level) == (only if level == built.height else None)


def accepted(spec: Hierarchy, values: set[str]) -> None:
    """Every level of the built hierarchy fits itself, and missing leaves at the same level."""
    same_labels(spec, values)
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


@pytest.mark.slow
@given(
    st.sets(NUMBERS, min_size=1),
    st.sampled_from([[0.1, 0.5], [5, 10, 100], [2.5], [1000]]),
    st.sampled_from([{}, {"origin": 3}, {"bottom": 18, "top": 93.5}, {"bottom": -5}]),
)
def test_intervals(values: set[str], widths: list[float], ends: dict[str, Any]) -> None:
    accepted(Intervals.model_validate({"intervals": widths, **ends}), values)


@pytest.mark.slow
@given(
    st.sets(NUMBERS, min_size=1), st.sampled_from([[[0]], [[-10, 0, 2.5, 90], [0]], [[1, 5], []]])
)
def test_cuts(values: set[str], cuts: list[list[float]]) -> None:
    accepted(Cuts.model_validate({"cuts": cuts}), values)


@pytest.mark.slow
@given(
    st.sets(TIMES, min_size=1),
    st.sampled_from([["day", "week"], ["month", "quarter", "year"], ["decade", "century"]]),
)
def test_dates(values: set[str], units: list[str]) -> None:
    accepted(Dates.model_validate({"date": units}), values)


@pytest.mark.slow
@given(
    TEXTS | st.sets(NUMBERS, min_size=1),
    st.sampled_from([[2], [1, 3], [2, 4, 8]]),
    st.sampled_from(["auto", "text"]),
)
def test_groups(values: set[str], sizes: list[int], order: str) -> None:
    accepted(Groups.model_validate({"groups": sizes, "order": order}), values)


@given(
    st.sets(st.dates(date(1000, 1, 1)), min_size=1),
    st.sampled_from(["%d.%m.%Y", "%m/%d/%Y", "%Y%m%d %H"]),
)
def test_dates_of_a_format(days: set[date], form: str) -> None:
    values = {day.strftime(form) for day in days}
    same_labels(Dates.model_validate({"date": ["month", "decade"], "format": form}), values)


@given(
    st.sets(st.dates(date(1000, 1, 1)), min_size=2),
    st.sampled_from([("%d.%m.%Y", "%Y-%m-%d"), ("%m/%d/%Y", "%d.%m.%Y")]),
)
def test_dates_of_several_formats(days: set[date], forms: tuple[str, str]) -> None:
    values = {day.strftime(forms[i % 2]) for i, day in enumerate(sorted(days))}
    both = " | ".join(forms)
    same_labels(Dates.model_validate({"date": ["month", "decade"], "format": both}), values)


TREES = [
    {"any": ["a", "b"]},
    {"north": ["a", "b"], "south": {"sea": ["c"], "hill": {"top": ["d"]}}},
    {"x": None, "y": {"z": None}},
]


@pytest.mark.parametrize("tree", TREES)
def test_trees(tree: dict[str, Any]) -> None:
    spec = Taxonomy.model_validate({"tree": tree})
    same_labels(spec, set())
    same_labels(spec, {"a", "b"} if "x" not in tree else {"x"})


@pytest.mark.parametrize("text", ["a;1;*\nb;1;*\n", 'a;1\n"b;";2\n', "a\nb\n", "a;a\n\nb;a\n"])
def test_files(tmp_path: Path, text: str) -> None:
    (tmp_path / "tree.csv").write_text(text, encoding="utf-8")
    same_labels(Csv(path=tmp_path / "tree.csv"), {"a"})


@dataclass(frozen=True)
class Initials:
    """The first letters of a value; a builder of somebody else."""

    steps: int

    def build(self, values: Sequence[str]) -> list[list[str]]:
        return [[v, *(v[:n] for n in range(self.steps, 0, -1))] for v in values]


@given(TEXTS, st.integers(1, 3))
def test_plug_ins(values: set[str], steps: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("shoal.plugins.find", lambda kind, name: Initials)
        same_labels(PluggedIn(builder="initials", parameters={"steps": steps}), values)


@pytest.mark.parametrize(
    "spec",
    [
        Mask.model_validate({"mask": 3}),
        Suppress(),
        Intervals.model_validate({"intervals": [5, 10]}),
        Cuts.model_validate({"cuts": [[1], []]}),
        Dates.model_validate({"date": ["year"]}),
        Groups.model_validate({"groups": [2]}),
    ],
)
def test_a_column_without_values(spec: Hierarchy) -> None:
    same_labels(spec, set())


OWN_KINDS: list[Hierarchy] = [
    Suppress(),
    Mask.model_validate({"mask": 2}),
    Intervals.model_validate({"intervals": [5, 10]}),
    Cuts.model_validate({"cuts": [[18, 65], [18]]}),
    Dates.model_validate({"date": ["year"]}),
    Groups.model_validate({"groups": [2]}),
    Taxonomy.model_validate({"tree": {"x": ["10", "20"]}}),
]


@pytest.mark.parametrize("spec", OWN_KINDS)
def test_the_verifier_reads_the_kinds_of_shoal_without_building_them(
    spec: Hierarchy, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("the verifier asked the kind that it judges")

    monkeypatch.setattr(type(spec), "rows", refuse)
    labels = labels_of(spec, {"10", "20"})
    for level in range(labels.last + 1):
        known = labels.generalized(level)
        assert labels.misfits(level, list(known.values())) == []
