"""Demands on the risk of the whole release: judged by plain counting, searched without error."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracle import Ladder, Row
from problems import Case, cases, problem_of, sensitive_problem
from shoal.events import NO_PROOF, Proved, Stopped
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
from shoal.privacy.risk import AverageRisk, RecordsAbove
from shoal.privacy.t_closeness import TCloseness
from shoal.search.incumbent import Limits
from shoal.search.problem import Problem
from shoal.search.strategies import Strategy
from shoal.search.strategies.best_first import BestFirst
from shoal.search.strategies.bfs import BranchAndBound
from shoal.search.strategies.box import Bounds, BoxSearch
from shoal.search.strategies.datafly import Datafly
from shoal.search.strategies.exhaustive import Exhaustive
from shoal.search.strategies.flash import Flash
from shoal.search.strategies.igreedy import IGreedy
from shoal.search.strategies.ola import Ola
from shoal.search.strategies.priority_path import PriorityPath
from shoal.values import Best, Node

RISKS: tuple[PrivacyModel, ...] = (
    AverageRisk(0.45),
    AverageRisk(0.3),
    AverageRisk(0.2),
    RecordsAbove(0.3, 0.25),
    RecordsAbove(0.26, 0.5),
    RecordsAbove(0.2, 0.0),
)
OTHERS: tuple[PrivacyModel, ...] = (DistinctDiversity("s", 2), TCloseness("s", 0.3))
LOSSES: tuple[tuple[Loss, str], ...] = (
    (Iyengar(), "mean"),
    (Iyengar(), "geometric"),
    (Precision(), "mean"),
    (NonUniformEntropy(), "mean"),
    (Weighted(), "mean"),
    (Discernibility(), "mean"),
    (ClassSize(), "mean"),
)
WALKS: tuple[type[Strategy], ...] = (
    BestFirst,
    BranchAndBound,
    Datafly,
    Flash,
    IGreedy,
    Ola,
    PriorityPath,
)
SENSITIVE = st.lists(st.integers(-1, 3), min_size=14, max_size=14)
SOME_RISKS = st.lists(st.sampled_from(RISKS), min_size=1, max_size=2)
SOME_OTHERS = st.lists(st.sampled_from(OTHERS), max_size=1)
BOXES = st.sampled_from([BoxSearch(), BoxSearch(in_numpy=True)])


def labelled(case: Case, node: Node) -> list[Row]:
    """The generalized rows of a case."""
    return [
        tuple(
            ladder.label(cell, level)
            for ladder, cell, level in zip(case.ladders, row, node, strict=True)
        )
        for row in case.rows
    ]


def rank_of_labels(case: Case, node: Node) -> list[dict[str | None, int]]:
    """For each attribute the order of its labels: that of the hierarchy, missing last."""
    ranks = []
    for ladder, level in zip(case.ladders, node, strict=True):
        labels = dict.fromkeys(steps[level] for steps in ladder.steps.values())
        ranks.append({label: i for i, label in enumerate([*labels, None])})
    return ranks


def holds(model: PrivacyModel, sizes: list[int]) -> bool:
    """Whether released classes of these sizes meet a demand, by fractions."""
    records = sum(sizes)
    if isinstance(model, AverageRisk):
        return len(sizes) <= Fraction(str(model.average)) * records
    assert isinstance(model, RecordsAbove)
    above = [size for size in sizes if Fraction(1, size) > Fraction(str(model.threshold))]
    return sum(above) <= Fraction(str(model.share)) * records


def released_by_hand(case: Case, node: Node, models: list[PrivacyModel]) -> Counter[Row]:
    """The released classes of a node: those of k records without the smallest, one by one."""
    ranks = rank_of_labels(case, node)
    sizes = Counter(labelled(case, node))
    classes = sorted(
        (size, [rank[cell] for rank, cell in zip(ranks, row, strict=True)], row)
        for row, size in sizes.items()
        if size >= case.k
    )
    while classes and not all(holds(model, [size for size, *_ in classes]) for model in models):
        classes.pop(0)
    return Counter({row: size for size, _, row in classes})


def nodes_of(problem: Problem) -> list[Node]:
    ranges = zip(problem.lattice.bottom, problem.lattice.top, strict=True)
    return list(itertools.product(*(range(low, high + 1) for low, high in ranges)))


def truth_of(problem: Problem) -> Best | None:
    """The best node of all, each of them checked."""
    found = [best for node in nodes_of(problem) if (best := problem.check(node)) is not None]
    return min(found, key=lambda best: best.rank, default=None)


@pytest.mark.slow
@given(cases(), SOME_RISKS)
@settings(max_examples=150)
def test_a_node_releases_what_plain_counting_releases(
    case: Case, models: list[PrivacyModel]
) -> None:
    problem = replace(problem_of(case), models=(*problem_of(case).models, *models))
    for node in nodes_of(problem):
        classes = problem.partition(node)
        expected = released_by_hand(case, node, models)
        rows = labelled(case, node)
        row_of = dict(zip(Counter(case.rows), range(problem.table.tuples), strict=True))
        kept = Counter(
            label
            for row, label in zip(case.rows, rows, strict=True)
            if classes.kept[classes.class_of[row_of[row]]]
        )
        assert kept == expected
        assert classes.suppressed == len(case.rows) - expected.total()


@pytest.mark.slow
@given(cases(), SENSITIVE, SOME_RISKS, SOME_OTHERS)
@settings(max_examples=150)
def test_no_node_below_suppresses_less_than_the_bound(
    case: Case, values: list[int], risks: list[PrivacyModel], others: list[PrivacyModel]
) -> None:
    problem = sensitive_problem(case, values, [*risks, *others], Iyengar())
    suppressed = {node: problem.partition(node).suppressed for node in nodes_of(problem)}
    for top in suppressed:
        bound = problem.least_suppressed(top)
        for node, number in suppressed.items():
            if all(level <= high for level, high in zip(node, top, strict=True)):
                assert bound <= number


@pytest.mark.slow
@given(cases(), SENSITIVE, SOME_RISKS, SOME_OTHERS, st.sampled_from(LOSSES))
@settings(max_examples=200)
def test_no_node_of_a_box_costs_less_than_its_bound(
    case: Case,
    values: list[int],
    risks: list[PrivacyModel],
    others: list[PrivacyModel],
    loss: tuple[Loss, str],
) -> None:
    problem = sensitive_problem(case, values, [*risks, *others], *loss)
    costs = {
        node: problem.objective.measure(node, problem.partition(node)) for node in nodes_of(problem)
    }
    for hi in costs:
        classes = problem.partition(hi)
        for lo, cost in costs.items():
            if all(level <= high for level, high in zip(lo, hi, strict=True)):
                removal = problem.removal(classes)
                assert Bounds(problem).cost(lo, hi, classes, removal) <= cost + 1e-9


def test_further_records_of_a_bound_are_the_cheapest() -> None:
    """Two records of a class that is nearly as general as suppressed, four of a single value."""
    ladder = Ladder({f"v{i}": (f"v{i}", "few" if i < 4 else "one") for i in range(5)})
    rows = (("v0",), ("v0",), *[("v4",)] * 4)
    case = Case(rows, (ladder,), (1,), (Fraction(1),), k=2, suppression=2)
    problem = replace(problem_of(case), models=(AverageRisk(0.3),))
    classes = problem.partition((1,))
    removal = problem.removal(classes)
    assert (removal.records, removal.further) == (2, 2)
    best = problem.check((1,))
    assert best is not None
    assert best.loss == pytest.approx(2 / 6)
    assert Bounds(problem).cost((1,), (1,), classes, removal) == pytest.approx(2 / 6)


@pytest.mark.slow
@given(cases(), SENSITIVE, SOME_RISKS, SOME_OTHERS, st.sampled_from(LOSSES), BOXES)
@settings(max_examples=400)
def test_the_box_search_proves_the_optimum(
    case: Case,
    values: list[int],
    risks: list[PrivacyModel],
    others: list[PrivacyModel],
    loss: tuple[Loss, str],
    strategy: BoxSearch,
) -> None:
    problem = sensitive_problem(case, values, [*risks, *others], *loss)
    truth = truth_of(problem)
    events = list(strategy.search(problem, Limits(threads=1)))
    assert isinstance(events[-1], Proved)
    assert events[-1].best == truth
    assert truth is None or all(event.bound <= truth.loss + 1e-9 for event in events)


@pytest.mark.slow
@given(cases(), SENSITIVE, SOME_RISKS, SOME_OTHERS, st.sampled_from(LOSSES), st.sampled_from(WALKS))
@settings(max_examples=500)
def test_every_other_strategy_makes_true_claims(
    case: Case,
    values: list[int],
    risks: list[PrivacyModel],
    others: list[PrivacyModel],
    loss: tuple[Loss, str],
    strategy: type[Strategy],
) -> None:
    problem = sensitive_problem(case, values, [*risks, *others], *loss)
    truth = truth_of(problem)
    events = list(strategy().search(problem, Limits()))
    for event in events:
        assert event.best is None or problem.check(event.best.node) == event.best
        assert truth is None or event.bound <= truth.loss + 1e-9
    last = events[-1]
    if isinstance(last, Proved):
        assert (last.best is None) == (truth is None)
        assert last.best is None or truth is None or last.best.loss <= truth.loss + 1e-9
    else:
        assert isinstance(last, Stopped)
        assert last.reason == NO_PROOF


@pytest.mark.slow
@given(cases(), SENSITIVE, SOME_RISKS, SOME_OTHERS, st.sampled_from(LOSSES))
@settings(max_examples=100)
def test_the_exhaustive_search_leaves_out_no_better_node(
    case: Case,
    values: list[int],
    risks: list[PrivacyModel],
    others: list[PrivacyModel],
    loss: tuple[Loss, str],
) -> None:
    problem = sensitive_problem(case, values, [*risks, *others], *loss)
    *_, last = Exhaustive().search(problem, Limits())
    assert last.best == truth_of(problem)


@pytest.mark.slow
@given(cases(), st.sampled_from(RISKS))
@settings(max_examples=50)
def test_what_is_released_reaches_what_is_demanded(case: Case, model: PrivacyModel) -> None:
    problem = replace(problem_of(case), models=(*problem_of(case).models, model))
    classes = problem.partition(problem.lattice.top)
    demanded = model.average if isinstance(model, AverageRisk) else model.share  # type: ignore[attr-defined]
    assert model.reached(classes.released()) <= demanded + 1e-9


@pytest.mark.parametrize("average", [0, -0.1, 1.1])
def test_an_average_that_cannot_be_meant_is_refused(average: float) -> None:
    with pytest.raises(ValueError, match="above 0 and at most 1"):
        AverageRisk(average)


@pytest.mark.parametrize(("threshold", "share"), [(0, 0.1), (1, 0.1), (0.2, 1), (0.2, -0.1)])
def test_a_threshold_or_share_that_cannot_be_meant_is_refused(
    threshold: float, share: float
) -> None:
    with pytest.raises(ValueError, match="must be"):
        RecordsAbove(threshold, share)
