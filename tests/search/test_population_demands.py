"""Demands against a population: judged by plain counting, searched without error."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracle import Row
from problems import Case, cases, sensitive_problem
from search.test_risk_demands import BOXES, LOSSES, WALKS, labelled, nodes_of, truth_of
from shoal.encode.table import Population
from shoal.events import NO_PROOF, Proved, Stopped
from shoal.loss.base import Loss
from shoal.loss.builtin import Iyengar
from shoal.privacy.base import PrivacyModel
from shoal.privacy.distinct_diversity import DistinctDiversity
from shoal.privacy.population import DeltaPresence, KMap
from shoal.privacy.risk import AverageRisk, RecordsAbove
from shoal.privacy.t_closeness import TCloseness
from shoal.search.incumbent import Limits
from shoal.search.problem import Problem
from shoal.search.strategies import Strategy
from shoal.search.strategies.box import Bounds, BoxSearch

DEMANDS: tuple[PrivacyModel, ...] = (
    KMap(3),
    KMap(5),
    DeltaPresence(0, 0.7),
    DeltaPresence(0, 0.4),
    DeltaPresence(0.2, 0.9),
    DeltaPresence(0.4, 1),
)
OTHERS: tuple[PrivacyModel, ...] = (
    DistinctDiversity("s", 2),
    TCloseness("s", 0.3),
    AverageRisk(0.3),
    RecordsAbove(0.3, 0.25),
)


@dataclass(frozen=True)
class PeopleCase:
    """A case with further people beside its rows, and sensitive values of the rows."""

    case: Case
    people: tuple[Row, ...]
    values: tuple[int, ...]

    def problem(
        self, *models: PrivacyModel, loss: tuple[Loss, str] = (Iyengar(), "mean")
    ) -> Problem:
        problem = sensitive_problem(self.case, self.values, models, *loss)
        table, tuples = problem.table, Counter((*self.case.rows, *self.people))
        codes = []
        for j, attribute in enumerate(table.attributes):
            code: dict[str | None, int] = {
                leaf: i for i, leaf in enumerate(attribute.hierarchy.labels[0])
            }
            column = [code.get(row[j], attribute.missing_code) for row in tuples]
            codes.append(np.array(column, dtype=np.int64))
        weights = np.array(list(tuples.values()), dtype=np.int64)
        table = replace(table, population=Population(tuple(codes), weights))
        objective = replace(problem.objective, table=table)  # type: ignore[type-var]
        return Problem(table, problem.models, objective, problem.limit)


@st.composite
def people_cases(draw: st.DrawFn) -> PeopleCase:
    case = draw(cases())
    cells = [st.sampled_from([*ladder.steps, None]) for ladder in case.ladders]
    people = draw(st.lists(st.tuples(*cells), max_size=14))
    more = draw(st.lists(st.sampled_from(case.rows), max_size=14))
    values = draw(st.lists(st.integers(-1, 3), min_size=14, max_size=14))
    return PeopleCase(case, (*people, *more), tuple(values))


def allowed(model: PrivacyModel) -> Callable[[int, int], bool]:
    """Whether a class of so many records and so many people may be released, by fractions."""
    if isinstance(model, KMap):
        k = model.k
        return lambda _, people: people >= k
    assert isinstance(model, DeltaPresence)
    least, most = Fraction(str(model.least)), Fraction(str(model.most))
    return lambda size, people: least <= Fraction(size, people) <= most


def released_by_hand(found: PeopleCase, node: tuple[int, ...], model: PrivacyModel) -> Counter[Row]:
    """The released classes of a node, by one demand beside k."""
    sizes = Counter(labelled(found.case, node))
    whole = replace(found.case, rows=(*found.case.rows, *found.people))
    people = Counter(labelled(whole, node))
    fine = allowed(model)
    kept = {
        row: size for row, size in sizes.items() if size >= found.case.k and fine(size, people[row])
    }
    if isinstance(model, DeltaPresence) and model.least > 0 and kept.keys() != people.keys():
        return Counter()
    return Counter(kept)


@pytest.mark.slow
@given(people_cases(), st.sampled_from(DEMANDS))
@settings(max_examples=150)
def test_a_node_releases_what_plain_counting_releases(
    found: PeopleCase, model: PrivacyModel
) -> None:
    problem = found.problem(model)
    number = {row: i for i, row in enumerate(Counter(found.case.rows))}
    for node in nodes_of(problem):
        classes = problem.partition(node)
        kept = Counter(
            label
            for row, label in zip(found.case.rows, labelled(found.case, node), strict=True)
            if classes.kept[classes.class_of[number[row]]]
        )
        assert kept == released_by_hand(found, node, model)


SOME_DEMANDS = st.lists(st.sampled_from(DEMANDS), min_size=1, max_size=2)
SOME_OTHERS = st.lists(st.sampled_from(OTHERS), max_size=1)


@pytest.mark.slow
@given(people_cases(), SOME_DEMANDS, SOME_OTHERS, st.sampled_from(LOSSES))
@settings(max_examples=150)
def test_no_node_below_suppresses_or_costs_less_than_the_bounds(
    found: PeopleCase,
    models: list[PrivacyModel],
    others: list[PrivacyModel],
    loss: tuple[Loss, str],
) -> None:
    problem = found.problem(*others, *models, loss=loss)
    classes = {node: problem.partition(node) for node in nodes_of(problem)}
    for hi, of_hi in classes.items():
        removal = problem.removal(of_hi)
        for lo, of_lo in classes.items():
            if all(level <= high for level, high in zip(lo, hi, strict=True)):
                assert removal.records <= of_lo.suppressed
                cost = problem.objective.measure(lo, of_lo)
                assert Bounds(problem).cost(lo, hi, of_hi, removal) <= cost + 1e-9


@pytest.mark.slow
@given(people_cases(), SOME_DEMANDS, SOME_OTHERS, st.sampled_from(LOSSES), BOXES)
@settings(max_examples=400)
def test_the_box_search_proves_the_optimum(
    found: PeopleCase,
    models: list[PrivacyModel],
    others: list[PrivacyModel],
    loss: tuple[Loss, str],
    strategy: BoxSearch,
) -> None:
    problem = found.problem(*others, *models, loss=loss)
    truth = truth_of(problem)
    events = list(strategy.search(problem, Limits(threads=1)))
    assert isinstance(events[-1], Proved)
    assert events[-1].best == truth
    assert truth is None or all(event.bound <= truth.loss + 1e-9 for event in events)


@pytest.mark.slow
@given(people_cases(), SOME_DEMANDS, SOME_OTHERS, st.sampled_from(LOSSES), st.sampled_from(WALKS))
@settings(max_examples=200)
def test_every_other_strategy_makes_true_claims(
    found: PeopleCase,
    models: list[PrivacyModel],
    others: list[PrivacyModel],
    loss: tuple[Loss, str],
    strategy: type[Strategy],
) -> None:
    problem = found.problem(*others, *models, loss=loss)
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


def test_a_k_of_the_population_that_cannot_be_meant_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 2"):
        KMap(1)


@pytest.mark.parametrize(("least", "most"), [(-0.1, 0.5), (0.6, 0.5), (0, 1.1), (0, 0)])
def test_shares_of_the_population_that_cannot_be_meant_are_refused(
    least: float, most: float
) -> None:
    with pytest.raises(ValueError, match="share"):
        DeltaPresence(least, most)
