"""The first groups of a local recoding: cut from one order, safe by the models at once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from oracle import Row
from problems import Case, person_problem, problem_of, sensitive_problem
from recoding.local_problems import EIGHT
from shoal.events import Proved
from shoal.loss.builtin import Iyengar
from shoal.privacy.base import PrivacyModel
from shoal.privacy.distinct_diversity import DistinctDiversity
from shoal.privacy.entropy_diversity import EntropyDiversity
from shoal.privacy.recursive_diversity import RecursiveDiversity
from shoal.privacy.risk import AverageRisk
from shoal.privacy.t_closeness import TCloseness
from shoal.recoding.local.groups import Groups
from shoal.recoding.local.prepare import costs_of, prepare
from shoal.recoding.local.run import LocalSearch
from shoal.recoding.local.solution import LocalBest, judge, recoding_of
from shoal.search.incumbent import Limits
from shoal.search.problem import Problem

STRICT: tuple[PrivacyModel, ...] = (
    DistinctDiversity("s", 3),
    EntropyDiversity("s", 2.5),
    RecursiveDiversity("s", 4.0, 3),
    TCloseness("s", 0.2),
)


def case_of(seed: int, records: int, limit: int = 3, suppression: int = 0) -> Case:
    """Records of three attributes, with their highest levels at a limit."""
    random = np.random.default_rng(seed)
    rows: list[Row] = [
        tuple(f"v{int(random.integers(8))}" for _ in range(3)) for _ in range(records)
    ]
    return Case(tuple(rows), (EIGHT,) * 3, (limit,) * 3, (Fraction(1),) * 3, 4, suppression)


def values_of(seed: int, records: int) -> list[int]:
    random = np.random.default_rng(seed + 1000)
    return [int(value) for value in random.choice(4, records, p=[0.55, 0.25, 0.1, 0.1])]


def first_groups(problem: Problem) -> LocalBest | None:
    """What is released of the first groups."""
    shares = np.full(len(problem.table.attributes), 1 / len(problem.table.attributes))
    with ThreadPoolExecutor(1) as pool:
        groups = Groups(prepare(problem), costs_of(problem, shares, by_label=True), pool)
        groups.cut()
        return judge(problem, recoding_of(problem.table, groups.group_of, groups.levels))


@pytest.mark.parametrize("model", STRICT, ids=lambda each: each.name)
def test_the_first_groups_meet_a_model_of_sensitive_values(model: PrivacyModel) -> None:
    case = case_of(1, 400)
    problem = sensitive_problem(case, values_of(1, 400), (model,), Iyengar())
    found = first_groups(problem)
    assert found is not None
    assert found.suppressed == 0
    assert found.classes > 3


def test_the_first_groups_have_enough_persons() -> None:
    case = case_of(2, 400)
    random = np.random.default_rng(2)
    persons = [int(random.integers(60)) for _ in range(400)]
    models = (DistinctDiversity("s", 3),)
    found = first_groups(person_problem(case, persons, values_of(2, 400), models))
    assert found is not None
    assert found.suppressed == 0
    assert found.classes > 3


def test_the_first_groups_are_large_enough_for_demands_on_all_of_them() -> None:
    problem = problem_of(case_of(3, 400))
    found = first_groups(replace(problem, models=(*problem.models, AverageRisk(0.1))))
    assert found is not None
    assert found.smallest_class >= 10


@pytest.mark.parametrize("limit", [1, 2])
def test_the_first_groups_have_no_label_above_a_limit(limit: int) -> None:
    problem = problem_of(case_of(4, 3000, limit))
    at_the_limit = problem.partition((limit,) * 3)
    assert bool((at_the_limit.counts.sizes >= 4).all())
    found = first_groups(problem)
    assert found is not None
    assert found.suppressed == 0
    assert int(found.recoding.levels.max()) <= limit


def test_first_groups_that_no_label_makes_safe_are_suppressed() -> None:
    case = case_of(5, 400, 2, suppression=3)
    rows = tuple(("v0", *row[1:]) for row in case.rows) + (("v7", "v0", "v0"),) * 3
    found = first_groups(problem_of(replace(case, rows=rows)))
    assert found is not None
    assert found.suppressed == 3


def test_a_tuple_that_is_left_never_joins_a_large_group_above_a_limit() -> None:
    rows = (("v0", "v0", "v0"),) * 100 + (("v0", "v0", "v4"),) * 1000 + (("v7", "v7", "v7"),)
    problem = problem_of(Case(rows, (EIGHT,) * 3, (3, 3, 2), (Fraction(1),) * 3, 4, 0))
    with ThreadPoolExecutor(1) as pool:
        costs = costs_of(problem, np.full(3, 1 / 3), by_label=True)
        groups = Groups(prepare(problem), costs, pool)
        for _ in groups.pack():
            pass
        total = groups.total
        found = judge(problem, recoding_of(problem.table, groups.group_of, groups.levels))
        groups.set(groups.group_of)
        assert total == groups.total
    assert found is not None
    assert found.suppressed == 0


def test_a_search_with_nothing_left_to_find_ends_at_once() -> None:
    rows = tuple((f"v{i % 8}", f"v{i % 4}", "v0") for i in range(80))
    problem = problem_of(Case(rows, (EIGHT,) * 3, (3,) * 3, (Fraction(1),) * 3, 4, 0))
    *_, last = LocalSearch().search(problem, Limits(threads=1))
    assert isinstance(last, Proved)
    assert isinstance(last.best, LocalBest)
    assert (last.best.loss, last.bound, last.best.classes) == (0, 0, 8)
    assert last.best.full_domain is not None
    assert last.boxes == 1


def test_groups_that_no_ball_is_large_enough_for_are_sought_from_the_top() -> None:
    random = np.random.default_rng(7)
    rows: list[Row] = [
        tuple(f"v{int(8 * random.beta(1, 3))}" for _ in range(5)) for _ in range(3000)
    ]
    case = Case(tuple(rows), (EIGHT,) * 5, (3,) * 5, (Fraction(1),) * 5, 200, 0)
    problem = problem_of(case)
    first = first_groups(problem)
    *_, last = LocalSearch("low").search(problem, Limits(threads=1))
    assert first is not None
    assert last.best is not None
    assert last.best.smallest_class >= 200
    assert last.best.loss < 0.9 * first.loss
