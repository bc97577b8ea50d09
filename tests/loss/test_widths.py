"""Iyengar's loss of intervals by their width, against plain Python."""

from __future__ import annotations

import itertools
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.definition.hierarchies.numbers import Cuts, Intervals
from shoal.definition.read import read
from shoal.encode.hierarchy import Hierarchy, build, read_hierarchy, write_hierarchy
from shoal.encode.table import groups_with_missing
from shoal.errors import BadDefinition
from shoal.loss.base import Domain
from shoal.loss.builtin import Iyengar
from shoal.loss.intervals import interval_of, widths_of
from shoal.proof.check import check_file


def domain_of(hierarchy: Hierarchy) -> Domain:
    levels = range(hierarchy.height + 1)
    groups = groups_with_missing(hierarchy)
    leaves = tuple(hierarchy.leaves_under(level) for level in levels)
    return Domain("x", groups, leaves, np.ones(len(groups[0]), int), None, hierarchy.labels)


def costs_of(hierarchy: Hierarchy) -> list[list[float]]:
    return [costs.tolist() for costs in Iyengar("width").cell_costs(domain_of(hierarchy))]


@pytest.mark.parametrize(
    ("label", "interval"),
    [
        ("[20,25)", (20, 25)),
        ("[20, 25[", (20, 25)),
        ("20-24", (20, 24)),
        ("-5--1", (-5, -1)),
        ("[-0.5,1.5)", (-0.5, 1.5)),
        ("20..24", (20, 24)),
        ("<20", (-math.inf, 20)),
        (">=90", (90, math.inf)),
        ("≥ 90", (90, math.inf)),
        ("*", None),
        ("20", None),
        ("25-20", None),
        ("adult", None),
        ("2020-01-05", None),
    ],
)
def test_a_label_states_an_interval_or_none(
    label: str, interval: tuple[float, float] | None
) -> None:
    assert interval_of(label) == interval


def test_a_cell_costs_the_width_of_its_interval_over_the_range() -> None:
    values = dict.fromkeys(["20", "21", "22", "80"], 1)
    hierarchy = build("age", Intervals(intervals=(5, 20)), values)
    assert costs_of(hierarchy) == [
        [0, 0, 0, 0, 0],
        [5 / 60, 5 / 60, 5 / 60, 0, 0],
        [20 / 60, 20 / 60, 20 / 60, 0, 0],
        [1, 1, 1, 1, 0],
    ]


def test_open_intervals_end_with_the_range() -> None:
    hierarchy = build("age", Cuts(cuts=((20, 60),)), dict.fromkeys(["10", "30", "90"], 1))
    assert costs_of(hierarchy)[1] == pytest.approx([10 / 80, 40 / 80, 30 / 80, 0])


def test_a_column_of_words_is_charged_by_its_values() -> None:
    rows = [("a", "ab", "*"), ("b", "ab", "*"), ("c", "c", "*")]
    domain = domain_of(Hierarchy.from_rows("x", rows, str))
    assert widths_of(domain) is None
    by_width, by_values = Iyengar("width").cell_costs(domain), Iyengar().cell_costs(domain)
    assert [each.tolist() for each in by_width] == [each.tolist() for each in by_values]


def test_a_narrower_label_above_a_wider_one_does_not_make_the_cost_fall() -> None:
    rows = [("1", "0-9", "1-2", "*"), ("5", "0-9", "1-2", "*"), ("20", "20-29", "20-29", "*")]
    costs = costs_of(Hierarchy.from_rows("x", rows, str))
    for lower, upper in itertools.pairwise(costs):
        assert all(a <= b for a, b in zip(lower, upper, strict=True))


NUMBERS = st.lists(st.integers(-50, 120), min_size=2, max_size=9, unique=True)


@given(NUMBERS)
@settings(max_examples=60)
def test_costs_are_in_range_rise_with_the_level_and_survive_a_file(numbers: list[int]) -> None:
    values = dict.fromkeys(map(str, numbers), 1)
    hierarchy = build("x", Intervals(intervals=(5, 10, 40)), values)
    costs = costs_of(hierarchy)
    assert all(0 <= cost <= 1 for level in costs for cost in level)
    for lower, upper in itertools.pairwise(costs):
        assert all(a <= b + 1e-12 for a, b in zip(lower, upper, strict=True))


def test_a_hierarchy_costs_the_same_after_it_is_written_and_read(tmp_path: Path) -> None:
    hierarchy = build("x", Intervals(intervals=(5, 10)), dict.fromkeys(["1", "7", "33"], 1))
    write_hierarchy(hierarchy, tmp_path / "x.csv")
    assert costs_of(read_hierarchy("x", tmp_path / "x.csv")) == costs_of(hierarchy)


DEFINITION = """
source: people.csv
output: release.csv
k: 2
suppression: 1
loss: {{name: iyengar, parameters: {{intervals: {intervals}}}}}
search: {{strategy: {strategy}}}
attributes:
  age: {{role: quasi-identifier, hierarchy: {{intervals: [5, 20]}}}}
  sex: {{role: quasi-identifier, hierarchy: suppress}}
"""


def definition(folder: Path, intervals: str, strategy: str = "box") -> Path:
    rows = [(20, "f"), (21, "f"), (22, "m"), (24, "m"), (80, "f"), (81, "f"), (99, "m")]
    text = "age,sex\n" + "".join(f"{age},{sex}\n" for age, sex in rows)
    (folder / "people.csv").write_text(text, encoding="utf-8")
    path = folder / "definition.yaml"
    path.write_text(DEFINITION.format(intervals=intervals, strategy=strategy), encoding="utf-8")
    return path


@pytest.mark.parametrize("strategy", ["box", "exhaustive"])
def test_a_run_minimises_the_width(tmp_path: Path, strategy: str) -> None:
    result = shoal.run(definition(tmp_path, "width", strategy))
    assert result.status == "optimal"
    assert result.levels == {"age": 1, "sex": 0}
    ages = (6 * 5 / 79 + 1) / 7
    assert result.loss == pytest.approx((ages + 1 / 7) / 2)


def test_a_proof_of_the_width_is_accepted(tmp_path: Path) -> None:
    path = definition(tmp_path, "width")
    result = shoal.run(path, proof=tmp_path / "proof.jsonl.gz")
    assert result.status == "optimal"
    checked = check_file(read(path), tmp_path / "proof.jsonl.gz", progress=lambda done, boxes: None)
    assert checked.verdict.safe


def test_another_word_is_a_mistake(tmp_path: Path) -> None:
    with pytest.raises(BadDefinition, match="intervals must be 'values' or 'width'"):
        shoal.run(definition(tmp_path, "wide"))
