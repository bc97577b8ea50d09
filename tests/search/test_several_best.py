"""The several best nodes, and searches from nodes that are known: against every node checked."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from problems import Case, cases, person_problem, problem_of, sensitive_problem
from shoal.events import Proved
from shoal.loss.base import Loss
from shoal.loss.builtin import (
    ClassSize,
    Discernibility,
    Iyengar,
    NonUniformEntropy,
    Precision,
    Weighted,
)
from shoal.privacy.base import PrivacyModel
from shoal.privacy.distinct_diversity import DistinctDiversity
from shoal.privacy.entropy_diversity import EntropyDiversity
from shoal.privacy.recursive_diversity import RecursiveDiversity
from shoal.privacy.risk import AverageRisk, RecordsAbove
from shoal.privacy.t_closeness import TCloseness
from shoal.search.incumbent import Incumbent, Limits
from shoal.search.problem import Problem
from shoal.search.strategies.box import BoxSearch
from shoal.values import Best

COMPILED, GENERAL = BoxSearch(), BoxSearch(in_numpy=True)
BY_CLASS = BoxSearch(room=0)
BY_SMALL = BoxSearch(list_from=0)
STRATEGIES = (COMPILED, GENERAL, BY_CLASS, BY_SMALL)
MODELS: tuple[PrivacyModel, ...] = (
    DistinctDiversity("s", 2),
    EntropyDiversity("s", 1.7),
    RecursiveDiversity("s", 1.5, 2),
    AverageRisk(0.3),
    RecordsAbove(0.3, 0.2),
    TCloseness("s", 0.3),
)
LOSSES: tuple[tuple[Loss, str], ...] = (
    (Iyengar(), "mean"),
    (Iyengar(), "geometric"),
    (Precision(), "mean"),
    (NonUniformEntropy(), "mean"),
    (Weighted(), "mean"),
    (Discernibility(), "mean"),
    (ClassSize(), "mean"),
)
VALUES = st.lists(st.integers(-1, 3), min_size=14, max_size=14)
PERSONS = st.lists(st.integers(0, 5), min_size=14, max_size=14)


def safe_nodes(problem: Problem) -> list[Best]:
    """Every safe node, the best first, by checking all of them."""
    bottom, top = problem.lattice.bottom, problem.lattice.top
    nodes = itertools.product(*(range(a, b + 1) for a, b in zip(bottom, top, strict=True)))
    safe = [found for node in nodes if (found := problem.check(node)) is not None]
    return sorted(safe, key=lambda each: each.rank)


def several(problem: Problem, strategy: BoxSearch, count: int, threads: int = 1) -> list[Best]:
    """The best nodes by a search that ends with a proof."""
    incumbent = Incumbent(Limits(threads=threads), count)
    *_, last = strategy.improve(problem, incumbent)
    assert isinstance(last, Proved)
    return incumbent.found


@pytest.mark.slow
@given(cases(), st.integers(1, 12), st.sampled_from(STRATEGIES), st.integers(1, 2))
@settings(max_examples=200)
def test_the_several_best_nodes_are_those_of_exhaustive_search(
    case: Case, count: int, strategy: BoxSearch, threads: int
) -> None:
    problem = problem_of(case)
    assert several(problem, strategy, count, threads) == safe_nodes(problem)[:count]


@pytest.mark.slow
@given(
    cases(),
    VALUES,
    st.none() | PERSONS,
    st.lists(st.sampled_from(MODELS), max_size=2),
    st.sampled_from(LOSSES),
    st.sampled_from(STRATEGIES),
    st.integers(1, 30),
)
@settings(max_examples=600)
def test_several_best_nodes_by_every_model_and_loss(
    case: Case,
    values: list[int],
    persons: list[int] | None,
    models: Sequence[PrivacyModel],
    loss: tuple[Loss, str],
    strategy: BoxSearch,
    count: int,
) -> None:
    if persons is None:
        problem = sensitive_problem(case, values, models, *loss)
    else:
        rows = len(case.rows)
        problem = person_problem(case, persons[:rows], values[:rows], models, *loss)
    assert several(problem, strategy, count) == safe_nodes(problem)[:count]


@pytest.mark.slow
@given(cases(), st.sampled_from(STRATEGIES), st.data())
@settings(max_examples=100)
def test_a_search_from_a_known_node_ends_with_the_same_optimum(
    case: Case, strategy: BoxSearch, data: st.DataObject
) -> None:
    problem = problem_of(case)
    safe = safe_nodes(problem)
    start = [data.draw(st.sampled_from(safe))] if safe else []
    incumbent = Incumbent(Limits(threads=1), found=start)
    *_, last = strategy.improve(problem, incumbent)
    assert isinstance(last, Proved)
    assert incumbent.found == safe[:1]
