"""Each judge against plain definitions, and against the model that the search uses."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import models_oracle as plain
from shoal.definition.demands import ModelSpec, demands_of
from shoal.definition.model import Definition
from shoal.encode.table import encode, fill_hierarchies
from shoal.measure.classes import counted_values
from shoal.values import Counts
from shoal.verify.demands import JUDGES, Judge, Members, Reference
from shoal.verify.labels.listed import ancestors_of
from verify.rows import Row, definition, source

DOMAIN = ("-3", "9", "10", "a", "b")
TREE = {"tree": {"low": ["-3", "9"], "high": {"ten": ["10"], "letters": ["a", "b"]}}}
TREE_LEVELS = ((0, 1, 2, 3, 4), (0, 1, 2, 3, 3), (0, 0, 1, 1, 1), (0, 0, 0, 0, 0))
FILE_LEVELS = ((0, 1, 2, 3, 4), (0, 0, 1, 1, 2))
EXACT = Fraction

ORACLES: dict[str, tuple[dict[str, Any], plain.Judge]] = {
    "distinct": ({"diversity": {"distinct": 2}}, plain.distinct(2)),
    "entropy": ({"diversity": {"entropy": 2.6}}, plain.entropy(2.6)),
    "recursive": (
        {"diversity": {"recursive": {"c": 1.5, "l": 2}}},
        plain.recursive(EXACT(3, 2), 2),
    ),
    "recursive 3": ({"diversity": {"recursive": {"c": 2, "l": 3}}}, plain.recursive(EXACT(2), 3)),
    "equal": ({"closeness": {"t": 0.25}}, plain.closeness(EXACT(1, 4), 5, plain.equal_distance)),
    "ordered": (
        {"closeness": {"t": 0.125, "distance": "ordered"}},
        plain.closeness(EXACT(1, 8), 5, plain.ordered_distance),
    ),
    "hierarchical": (
        {"closeness": {"t": 0.25, "distance": "hierarchical"}, "hierarchy": TREE},
        plain.closeness(EXACT(1, 4), 5, plain.tree_distance(TREE_LEVELS)),
    ),
    "alpha": ({"alpha": 0.5}, plain.alpha(EXACT(1, 2))),
    "beta": ({"likeness": 0.5}, plain.beta(EXACT(1, 2), 5, False)),
    "enhanced": ({"likeness": {"beta": 1.5, "enhanced": True}}, plain.beta(EXACT(3, 2), 5, True)),
    "delta": ({"disclosure": 0.7}, plain.delta(0.7, 5)),
}

classes_of_places = st.lists(
    st.lists(st.integers(0, 4), min_size=1, max_size=9), min_size=1, max_size=4
)
cells = st.sampled_from([*DOMAIN, None])
tables = st.lists(st.tuples(st.sampled_from("xyz"), cells), min_size=1, max_size=25)


def of_sensitive(spec: dict[str, Any], missing: str = "none") -> Definition:
    attributes = {
        "q": {"role": "quasi-identifier", "hierarchy": "suppress"},
        "s": {"role": "sensitive", **spec},
    }
    return definition(attributes, missing={"sensitive": missing})


def judge_of(spec: dict[str, Any], table: dict[str | None, int]) -> Judge:
    model = of_sensitive(spec)
    (demand,) = demands_of(model)
    return appointed(demand, model, table)


def appointed(demand: ModelSpec, model: Definition, table: dict[str | None, int]) -> Judge:
    hierarchy = model.attributes["s"].hierarchy
    tree = None if hierarchy is None else ancestors_of(hierarchy)
    return JUDGES[demand.model](demand.parameters, Reference(table, tree))


@pytest.mark.slow
@pytest.mark.parametrize("name", ORACLES)
@given(classes=classes_of_places)
@settings(max_examples=60)
def test_a_judge_agrees_with_the_definition(name: str, classes: list[list[int]]) -> None:
    spec, oracle = ORACLES[name]
    everyone = [value for each in classes for value in each]
    if name in ("ordered", "hierarchical"):
        everyone = [*everyone, *range(5)]  # the oracle measures in the whole domain
    judge = judge_of(spec, Counter(DOMAIN[value] for value in everyone))
    for each in classes:
        values: Counter[str | None] = Counter(DOMAIN[value] for value in each)
        assert judge.holds(Members(len(each), values)) == oracle(each, everyone)


SPECS: dict[str, dict[str, Any]] = {
    **{name: spec for name, (spec, _) in ORACLES.items()},
    "entropy 2": {"diversity": {"entropy": 2}},
    "ordered 1/3": {"closeness": {"t": 1 / 3, "distance": "ordered"}},
    "alpha .3": {"alpha": 0.3},
    "beta 1": {"likeness": 1},
    "delta ln 2": {"disclosure": math.log(2)},
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SPECS)
@given(rows=tables, missing=st.sampled_from(["none", "value"]))
@settings(max_examples=60)
def test_a_judge_agrees_with_the_model_of_the_search_but_on_the_edge(
    name: str, rows: list[Row], missing: str
) -> None:
    agree(of_sensitive(SPECS[name], missing), rows)


@pytest.mark.slow
@given(rows=tables, missing=st.sampled_from(["none", "value"]))
@settings(max_examples=60)
def test_a_hierarchy_file_without_a_single_top_means_the_same_to_both(
    rows: list[Row], missing: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path: Path = tmp_path_factory.getbasetemp() / "two-tops.csv"
    path.write_text("-3;low\n9;low\n10;high\na;high\nb;text\n", encoding="utf-8")
    spec = {"closeness": {"t": 0.3, "distance": "hierarchical"}, "hierarchy": {"path": str(path)}}
    agree(of_sensitive(spec, missing), rows)


def agree(model: Definition, rows: list[Row]) -> None:
    """The search's own model and the judge, on the classes of one encoded table."""
    (demand,) = demands_of(model)
    counted = source("qs", rows).count_by("qs")
    filled = fill_hierarchies(model, counted)
    encoded = encode(filled, counted)
    accepted = demand.make().satisfied(Counts(encoded.weights, encoded.histograms)).tolist()
    labels = encoded.attributes[0].hierarchy.labels[0]
    as_value = model.missing.sensitive == "value"
    judge = appointed(
        demand, model, dict(counted_values(Counter(row[1] for row in rows), as_value))
    )
    classes: dict[str | None, Counter[str | None]] = defaultdict(Counter)
    for label, value in rows:
        classes[label][value] += 1
    for code, accepts in zip(encoded.codes[0].tolist(), accepted, strict=True):
        values = classes[labels[code]]
        members = Members(values.total(), counted_values(values, as_value))
        assert judge.holds(members) >= accepts
        if judge.holds(members) > accepts:
            assert on_the_edge(demand, judge.reached(members)), (members, judge)


def on_the_edge(demand: ModelSpec, reached: float) -> bool:
    given = [value for value in demand.parameters.values() if isinstance(value, int | float)]
    return any(abs(reached - float(value)) < 1e-6 for value in given)


def test_numbers_are_ordered_by_size_before_text_and_missing_comes_last() -> None:
    table: dict[str | None, int] = {"10": 1, "9": 1, "b": 1, "-3": 1, None: 1, "nan": 1}
    judge = judge_of({"closeness": {"t": 1, "distance": "ordered"}}, table)
    order = ["-3", "9", "10", "b", "nan", None]
    away = [judge.reached(Members(1, {value: 1})) for value in order]
    expected = [sum(abs(i - j) for j in range(6)) / 6 / 5 for i in range(6)]
    assert away == pytest.approx(expected)


@pytest.mark.parametrize("name", ORACLES)
def test_a_class_without_any_value_fails(name: str) -> None:
    judge = judge_of(ORACLES[name][0], {"9": 3, "a": 2})
    assert not judge.holds(Members(4, {}))


@pytest.mark.parametrize("name", ["equal", "ordered", "hierarchical", "beta", "delta"])
def test_a_value_that_the_table_lacks_fails(name: str) -> None:
    judge = judge_of(ORACLES[name][0], {"9": 3, "a": 3})
    assert judge.holds(Members(2, {"9": 1, "a": 1}))
    assert not judge.holds(Members(3, {"9": 1, "a": 1, "10": 1}))


def test_recursive_diversity_is_strict() -> None:
    judge = judge_of({"diversity": {"recursive": {"c": 2, "l": 2}}}, {})
    assert judge.holds(Members(6, {"a": 3, "b": 2, "9": 1}))
    assert not judge.holds(Members(6, {"a": 4, "b": 2}))


def test_k_anonymity_is_judged_by_the_number_of_records() -> None:
    judge = JUDGES["k-anonymity"]({"k": 3}, Reference({}))
    assert [judge.holds(Members(size, {})) for size in (2, 3)] == [False, True]
