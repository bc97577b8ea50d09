"""Local recoding beside the best of all partitions of a few records."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models_oracle import (
    Judge,
    alpha,
    beta,
    closeness,
    delta,
    distinct,
    entropy,
    equal_distance,
    ordered_distance,
    recursive,
    tree_distance,
)
from problems import Case, ladders, person_problem, problem_of, sensitive_problem, table_of
from recoding.local_oracle import least_loss
from recoding.local_problems import EIGHT, random_problem
from shoal.errors import UserError
from shoal.events import Progress
from shoal.loss.builtin import Discernibility, Iyengar, NonUniformEntropy, Precision
from shoal.privacy.alpha import AlphaAnonymity
from shoal.privacy.base import PrivacyModel, released
from shoal.privacy.beta_likeness import BetaLikeness
from shoal.privacy.delta_disclosure import DeltaDisclosure
from shoal.privacy.distinct_diversity import DistinctDiversity
from shoal.privacy.entropy_diversity import EntropyDiversity
from shoal.privacy.k_anonymity import KAnonymity
from shoal.privacy.population import KMap
from shoal.privacy.recursive_diversity import RecursiveDiversity
from shoal.privacy.risk import AverageRisk, RecordsAbove
from shoal.privacy.t_closeness import TCloseness
from shoal.recoding.local.refusal import refusal
from shoal.recoding.local.run import LocalSearch, _Run, quick_loss
from shoal.recoding.local.solution import SUPPRESSED, LocalBest, counts_of_classes
from shoal.search.incumbent import Limits
from shoal.search.objective import CellObjective, objective_of
from shoal.search.problem import Problem
from shoal.search.strategies.exhaustive import Exhaustive

TOLERANCE = 1e-9
TREE = ((0, 1, 2, 3), (0, 0, 1, 1), (0, 0, 0, 0))
MODELS: tuple[tuple[PrivacyModel, Judge], ...] = (
    (DistinctDiversity("s", 2), distinct(2)),
    (EntropyDiversity("s", 1.8), entropy(1.8)),
    (RecursiveDiversity("s", 2.5, 2), recursive(Fraction(5, 2), 2)),
    (AlphaAnonymity("s", 0.7), alpha(Fraction(7, 10))),
    (BetaLikeness("s", 1.3), beta(Fraction(13, 10), 4, enhanced=False)),
    (DeltaDisclosure("s", 1.45), delta(1.45, 4)),
    (TCloseness("s", 0.41), closeness(Fraction(41, 100), 4, equal_distance)),
    (TCloseness("s", 0.31, "ordered"), closeness(Fraction(31, 100), 4, ordered_distance)),
    (TCloseness("s", 0.36, "hierarchical"), closeness(Fraction(36, 100), 4, tree_distance(TREE))),
)


@st.composite
def small_cases(draw: st.DrawFn, most: int = 7) -> Case:
    """A problem whose records can be partitioned in every way.

    Under basic match no cell is missing.
    """
    hierarchies = tuple(draw(st.lists(ladders(), min_size=1, max_size=3)))
    missing = draw(st.sampled_from([(), (None,)]))
    cells = [st.sampled_from([*ladder.steps, *missing]) for ladder in hierarchies]
    rows = tuple(draw(st.lists(st.tuples(*cells), min_size=2, max_size=most)))
    priority = st.sampled_from([Fraction(1), Fraction(1, 2)])
    return Case(
        rows,
        hierarchies,
        tuple(
            draw(st.integers(max(ladder.height - 1, 0), ladder.height)) for ladder in hierarchies
        ),
        tuple(draw(priority) for _ in hierarchies),
        draw(st.integers(2, 3)),
        draw(st.integers(0, 2)),
    )


def any_sizes(_: Sequence[int]) -> bool:
    """No demand on all classes together."""
    return True


def last_event(problem: Problem, threads: int = 1) -> Progress:
    """The last event of a search."""
    *_, last = LocalSearch("normal").search(problem, Limits(threads=threads))
    return last


def assert_right(
    problem: Problem,
    case: Case,
    judge: Callable[[Sequence[int]], bool],
    judge_all: Callable[[Sequence[int]], bool] = any_sizes,
) -> None:
    """The loss is at least the optimum, the bound at most; safe; not worse than full-domain."""
    objective = problem.objective
    assert isinstance(objective, CellObjective)
    attributes = problem.table.attributes

    def cost(j: int, cell: str | None, level: int) -> float:
        labels = attributes[j].hierarchy.labels[0]
        code = attributes[j].missing_code if cell is None else labels.index(cell)
        return float(objective.costs[j][level][code])

    levels = [range(each.lowest, each.limit + 1) for each in attributes]
    best = least_loss(
        case.rows, case.ladders, levels, case.suppression, judge, judge_all, cost, objective.join
    )
    last = last_event(problem)
    *_, full = Exhaustive().search(problem, Limits())
    if full.best is not None:
        assert last.best is not None
        assert last.best.loss <= full.best.loss + TOLERANCE
    if last.best is None:
        return
    assert best is not None
    assert last.bound <= best + TOLERANCE <= last.best.loss + 2 * TOLERANCE
    assert isinstance(last.best, LocalBest)
    assert_safe(problem, last.best)


def assert_safe(problem: Problem, best: LocalBest) -> None:
    """Tuples of a class have the same labels, those of two classes have not; all are accepted."""
    recoding, table = best.recoding, problem.table
    labels: dict[tuple[tuple[int, int], ...], int] = {}
    for t in np.flatnonzero(recoding.class_of != SUPPRESSED).tolist():
        levels = recoding.levels[recoding.class_of[t]].tolist()
        label = tuple(
            (level, int(attribute.groups[level][codes[t]]))
            for level, attribute, codes in zip(levels, table.attributes, table.codes, strict=True)
        )
        assert labels.setdefault(label, int(recoding.class_of[t])) == recoding.class_of[t]
        for level, lowest, highest in zip(
            levels, problem.lattice.bottom, problem.lattice.top, strict=True
        ):
            assert lowest <= level <= highest
    assert len(labels) == recoding.classes == best.classes
    counts = counts_of_classes(table, recoding)
    assert released(problem.models, counts).all()
    assert int(counts.sizes.min()) == best.smallest_class
    assert table.records - int(counts.sizes.sum()) == best.suppressed <= problem.limit


@given(case=small_cases(8))
@settings(max_examples=40, deadline=None)
def test_the_loss_is_at_least_and_the_bound_at_most_that_of_the_best_partition(case: Case) -> None:
    assert_right(problem_of(case), case, lambda group: len(group) >= case.k)


@pytest.mark.parametrize("loss", [Precision(), NonUniformEntropy()], ids=["precision", "entropy"])
@given(case=small_cases(6), aggregate=st.sampled_from(["mean", "geometric"]))
@settings(max_examples=20, deadline=None)
def test_every_cell_loss_and_both_joins_are_bounded(
    loss: Precision | NonUniformEntropy, case: Case, aggregate: str
) -> None:
    table = table_of(case)
    objective = objective_of(table, loss, aggregate)
    problem = Problem(table, (KAnonymity(case.k),), objective, case.suppression)
    assert_right(problem, case, lambda group: len(group) >= case.k)


@pytest.mark.parametrize(("model", "judge"), MODELS, ids=lambda each: getattr(each, "name", ""))
@given(case=small_cases(), data=st.data())
@settings(max_examples=12, deadline=None)
def test_every_model_of_sensitive_values_is_met(
    model: PrivacyModel, judge: Judge, case: Case, data: st.DataObject
) -> None:
    values = data.draw(st.lists(st.integers(-1, 3), min_size=len(case.rows)))[: len(case.rows)]
    table = [value for value in values if value >= 0]

    def accepts(group: Sequence[int]) -> bool:
        held = [values[i] for i in group if values[i] >= 0]
        return len(group) >= case.k and judge(held, table)

    assert_right(sensitive_problem(case, values, (model,), Iyengar()), case, accepts)


RISKS: tuple[tuple[PrivacyModel, Callable[[Sequence[int]], bool]], ...] = (
    (AverageRisk(0.4), lambda sizes: 5 * len(sizes) <= 2 * sum(sizes)),
    (RecordsAbove(0.4, 0.5), lambda sizes: 2 * sum(n for n in sizes if n < 3) <= sum(sizes)),
)


@pytest.mark.parametrize(("model", "judge"), RISKS, ids=lambda each: getattr(each, "name", ""))
@given(case=small_cases())
@settings(max_examples=30, deadline=None)
def test_demands_on_all_classes_together_are_met(
    model: PrivacyModel, judge: Callable[[Sequence[int]], bool], case: Case
) -> None:
    case = replace(case, k=2)
    problem = problem_of(case)
    problem = replace(problem, models=(*problem.models, model))
    assert_right(problem, case, lambda group: len(group) >= 2, judge)


@pytest.mark.parametrize("model", [AverageRisk(0.1), RecordsAbove(0.15, 0.3)])
def test_small_classes_are_released_where_large_ones_make_up_for_them(model: PrivacyModel) -> None:
    problem = random_problem(6, 400, 2)
    problem = replace(problem, models=(*problem.models, model))
    last = last_event(problem)
    assert isinstance(last.best, LocalBest)
    assert_safe(problem, last.best)
    sizes = counts_of_classes(problem.table, last.best.recoding).sizes
    assert sizes.min() < 7
    strict = last_event(replace(problem, models=(KAnonymity(10 if model.name[0] == "a" else 7),)))
    assert strict.best is not None
    assert last.best.loss < strict.best.loss


@given(case=small_cases(), data=st.data())
@settings(max_examples=30, deadline=None)
def test_levels_may_begin_above_the_lowest(case: Case, data: st.DataObject) -> None:
    problem = problem_of(case)
    lowest = [data.draw(st.integers(0, limit)) for limit in case.limits]
    attributes = tuple(
        replace(each, lowest=level)
        for each, level in zip(problem.table.attributes, lowest, strict=True)
    )
    table = replace(problem.table, attributes=attributes)
    problem = replace(problem, table=table, objective=objective_of(table, Iyengar(), "mean"))
    assert_right(problem, case, lambda group: len(group) >= case.k)


@given(case=small_cases(), data=st.data())
@settings(max_examples=30, deadline=None)
def test_persons_are_counted_once(case: Case, data: st.DataObject) -> None:
    size = len(case.rows)
    persons = data.draw(st.lists(st.integers(0, 4), min_size=size, max_size=size))
    values = data.draw(st.lists(st.integers(-1, 3), min_size=size, max_size=size))

    def accepts(group: Sequence[int]) -> bool:
        held = {values[i] for i in group if values[i] >= 0}
        return len({persons[i] for i in group}) >= case.k and len(held) >= 2

    problem = person_problem(case, persons, values, (DistinctDiversity("s", 2),))
    assert_right(problem, case, accepts)


def test_the_answer_is_the_same_for_every_number_of_threads() -> None:
    problem = random_problem(1, 400)
    one, four = last_event(problem, 1).best, last_event(problem, 4).best
    assert isinstance(one, LocalBest)
    assert isinstance(four, LocalBest)
    assert one.loss == four.loss
    assert (one.recoding.class_of == four.recoding.class_of).all()
    assert_safe(problem, one)


def test_it_loses_much_less_than_the_full_domain_optimum_and_says_how_far_it_may_be_off() -> None:
    problem = random_problem(2, 400)
    last = last_event(problem)
    *_, full = Exhaustive().search(problem, Limits())
    assert last.best is not None
    assert full.best is not None
    assert last.best.loss < full.best.loss / 2
    assert 0 < last.bound <= last.best.loss
    assert last.gap < 0.5


def test_suppression_is_used_where_it_pays_and_only_up_to_its_limit() -> None:
    rows = (("v0",),) * 4 + (("v1",),) * 4 + (("v7",),)
    case = Case(rows, (EIGHT,), (3,), (Fraction(1),), 4, 1)
    last = last_event(problem_of(case))
    assert last.best is not None
    assert last.best.suppressed == 1
    assert last.best.loss == pytest.approx(1 / 9)
    last = last_event(problem_of(replace(case, suppression=0)))
    assert last.best is not None
    assert last.best.suppressed == 0


def test_a_missing_cell_joins_values_only_where_one_label_is_left() -> None:
    rows = ((None, "v0"),) * 2 + (("v0", "v0"),) * 2 + ((None, "v1"),) + (("v1", "v1"),)
    case = Case(rows, (EIGHT,) * 2, (3, 3), (Fraction(1),) * 2, 3, 0)
    last = last_event(problem_of(case))
    assert isinstance(last.best, LocalBest)
    assert_safe(problem_of(case), last.best)


def test_levels_below_the_one_that_an_attribute_must_have_are_not_used() -> None:
    problem = random_problem(5, 200)
    first, *others = problem.table.attributes
    table = replace(problem.table, attributes=(replace(first, lowest=2), *others))
    problem = replace(problem, table=table, objective=objective_of(table, Iyengar(), "mean"))
    last = last_event(problem)
    assert isinstance(last.best, LocalBest)
    assert_safe(problem, last.best)
    assert last.best.recoding.levels[:, 0].min() >= 2
    assert last.best.recoding.levels[:, 1].min() == 0
    assert last.bound > 3 / 7 / 3


def test_a_loss_of_classes_is_refused_with_the_reason() -> None:
    problem = random_problem(3, 20)
    refused = replace(problem, objective=objective_of(problem.table, Discernibility(), "mean"))
    assert refusal(problem) is None
    with pytest.raises(UserError, match="does not charge cells") as error:
        next(iter(LocalSearch().search(refused, Limits())))
    assert error.value.code == "no-local-recoding"


def test_a_demand_on_the_population_is_refused_with_the_reason() -> None:
    problem = random_problem(3, 20)
    reason = refusal(replace(problem, models=(KMap(3),)))
    assert reason is not None
    assert "cover the same persons" in reason


def test_a_model_of_a_plug_in_is_refused_with_its_name() -> None:
    class Own(KAnonymity):
        """A model that looks like one that is known."""

    problem = replace(random_problem(3, 20), models=(Own(2),))
    assert refusal(problem) == "local recoding does not know the model k-anonymity"


def test_the_last_event_says_what_full_domain_recoding_would_lose_at_least() -> None:
    problem = random_problem(2, 400)
    last = last_event(problem)
    *_, full = Exhaustive().search(problem, Limits())
    assert isinstance(last.best, LocalBest)
    assert full.best is not None
    found = last.best.full_domain
    assert found is not None
    assert last.best.loss <= found.bound <= full.best.loss + TOLERANCE
    assert found.loss is None or found.loss >= full.best.loss - TOLERANCE


def test_a_quick_loss_is_that_of_a_recoding_and_none_where_it_is_refused() -> None:
    problem = random_problem(2, 400)
    last = last_event(problem)
    quick = quick_loss(problem, 60)
    assert last.best is not None
    assert quick is not None
    assert last.best.loss <= quick < 1.2 * last.best.loss
    assert quick_loss(replace(problem, models=(KMap(3),)), 60) is None


@given(case=small_cases(), seconds=st.sampled_from([0.0, 0.001, 0.01]))
@settings(max_examples=30, deadline=None)
def test_a_recoding_that_a_limit_ended_is_safe_and_its_bound_holds(
    case: Case, seconds: float
) -> None:
    problem = problem_of(case)
    *_, last = LocalSearch().search(problem, Limits(seconds=seconds, threads=1))
    *_, whole = LocalSearch().search(problem, Limits(threads=1))
    if last.best is None:
        return
    assert isinstance(last.best, LocalBest)
    assert_safe(problem, last.best)
    assert whole.best is not None
    assert last.bound <= whole.best.loss + TOLERANCE


def test_with_a_time_limit_the_first_node_of_the_full_domain_search_counts() -> None:
    problem = random_problem(4, 200)
    run = _Run(problem, Limits(seconds=1000.0, threads=1))
    run.best = None
    list(LocalSearch()._first_look(run))
    *_, full = Exhaustive().search(problem, Limits())
    assert run.best is not None
    assert full.best is not None
    assert run.best.loss == pytest.approx(full.best.loss)
    assert_safe(problem, run.best)


def test_a_time_limit_ends_with_the_best_so_far() -> None:
    *_, last = LocalSearch().search(random_problem(4, 200), Limits(seconds=0.0))
    assert last.best is not None
    assert getattr(last, "reason", "") == "time limit"
