"""All minimal safe nodes, against every node checked."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from problems import Case, cases, person_problem, problem_of, sensitive_problem
from shoal.analysis.minimal import MinimalNodes, not_above
from shoal.analysis.nodes import Clock
from shoal.encode.table import Raised
from shoal.loss.builtin import Discernibility, Iyengar
from shoal.privacy.base import PrivacyModel
from shoal.privacy.distinct_diversity import DistinctDiversity
from shoal.privacy.entropy_diversity import EntropyDiversity
from shoal.privacy.recursive_diversity import RecursiveDiversity
from shoal.privacy.risk import AverageRisk, RecordsAbove
from shoal.privacy.t_closeness import TCloseness
from shoal.search.problem import Problem
from shoal.values import Best, Node

MODELS: tuple[PrivacyModel, ...] = (
    DistinctDiversity("s", 2),
    EntropyDiversity("s", 1.7),
    RecursiveDiversity("s", 1.5, 2),
    AverageRisk(0.3),
    RecordsAbove(0.3, 0.2),
    TCloseness("s", 0.3),
    TCloseness("s", 0.2, "ordered"),
)
VALUES = st.lists(st.integers(-1, 3), min_size=14, max_size=14)
PERSONS = st.lists(st.integers(0, 5), min_size=14, max_size=14)


def every_node(problem: Problem) -> list[Node]:
    bottom, top = problem.lattice.bottom, problem.lattice.top
    return list(itertools.product(*(range(a, b + 1) for a, b in zip(bottom, top, strict=True))))


def below(lower: Node, upper: Node) -> bool:
    return lower != upper and all(a <= b for a, b in zip(lower, upper, strict=True))


def minimal_of(problem: Problem) -> dict[Node, Best]:
    """The safe nodes with no safe node below, from the definition of the word."""
    safe = {node: best for node in every_node(problem) if (best := problem.check(node))}
    return {
        node: best for node, best in safe.items() if not any(below(other, node) for other in safe)
    }


def found_in(problem: Problem) -> dict[Node, Best]:
    search = MinimalNodes(problem, Clock(), most=10**6)
    assert search.search()
    return search.found


@pytest.mark.slow
@given(cases())
@settings(max_examples=300)
def test_the_minimal_nodes_are_those_of_exhaustive_search(case: Case) -> None:
    problem = problem_of(case)
    assert found_in(problem) == minimal_of(problem)


@pytest.mark.slow
@given(
    cases(),
    VALUES,
    st.none() | PERSONS,
    st.lists(st.sampled_from(MODELS), min_size=1, max_size=2),
    st.sampled_from([Iyengar(), Discernibility()]),
)
@settings(max_examples=500)
def test_minimal_nodes_are_right_for_models_that_can_fail_further_up(
    case: Case,
    values: list[int],
    persons: list[int] | None,
    models: Sequence[PrivacyModel],
    loss: Iyengar | Discernibility,
) -> None:
    if persons is None:
        problem = sensitive_problem(case, values, models, loss)
    else:
        rows = len(case.rows)
        problem = person_problem(case, persons[:rows], values[:rows], models, loss)
    assert found_in(problem) == minimal_of(problem)


@pytest.mark.slow
@given(cases(), st.data())
@settings(max_examples=100)
def test_no_level_below_the_lowest_is_listed(case: Case, data: st.DataObject) -> None:
    problem = problem_of(case)
    lowest = tuple(data.draw(st.integers(0, limit)) for limit in case.limits)
    raised = Raised(lowest, problem.table.records_of)
    problem = replace(problem, table=replace(problem.table, raised=raised))
    assert found_in(problem) == minimal_of(problem)


@given(st.data())
@settings(max_examples=100)
def test_a_box_without_what_is_above_a_node_is_split_into_disjoint_boxes(
    data: st.DataObject,
) -> None:
    levels = st.tuples(*[st.integers(0, 3)] * 3)
    first, second, node = (data.draw(levels) for _ in range(3))
    lo, hi = tuple(map(min, first, second)), tuple(map(max, first, second))
    node = tuple(map(min, node, hi))
    inside = [
        each
        for a, b in not_above(lo, hi, node)
        for each in itertools.product(*(range(x, y + 1) for x, y in zip(a, b, strict=True)))
    ]
    box = itertools.product(*(range(x, y + 1) for x, y in zip(lo, hi, strict=True)))
    expected = [each for each in box if not all(x >= y for x, y in zip(each, node, strict=True))]
    assert sorted(inside) == sorted(expected)


@pytest.mark.slow
@given(cases(), st.integers(0, 3))
@settings(max_examples=50)
def test_a_search_that_is_ended_early_lists_minimal_nodes_only(case: Case, most: int) -> None:
    problem = problem_of(case)
    search = MinimalNodes(problem, Clock(), most)
    complete, expected = search.search(), minimal_of(problem)
    assert search.certain
    assert search.found.items() <= expected.items()
    assert complete == (len(expected) <= most) or len(search.found) == len(expected)
