"""The prices that bound local recodings, checked by plain Python that shares nothing with them."""

from __future__ import annotations

import itertools
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from recoding.local_problems import random_problem
from shoal.proof.price_check import PricedColumn, TooManyLabelsError, priced_too_high
from shoal.proof.prices import Column, Violation, check_prices
from shoal.recoding.local.bound import DISTANCES, VISITS, Bound
from shoal.recoding.local.groups import NEAREST, Groups
from shoal.recoding.local.prepare import UNIT, prepare
from shoal.recoding.local.prices import VISITED, Prices
from shoal.recoding.local.run import LocalSearch
from shoal.recoding.local.solution import SUPPRESSED, LocalBest, Recoding
from shoal.search.incumbent import Limits
from shoal.search.objective import CellObjective
from shoal.search.problem import Problem

K = 4


def bound_of(problem: Problem, aggregate: str = "mean") -> Bound:
    """A bound that is not computed yet, for a problem and what its best recoding pays."""
    assert isinstance(problem.objective, CellObjective)
    problem = replace(problem, objective=replace(problem.objective, aggregate=aggregate))
    *_, last = LocalSearch("low").search(problem, Limits(threads=1))
    assert last.best is not None
    return Bound(prepare(problem), last.best.loss, ThreadPoolExecutor(1))


def price(bound: Bound, visits: int = VISITS) -> None:
    """Bound by prices that start at a third of what a suppressed record costs."""
    for _ in bound.by_prices(np.full(len(bound.prices), UNIT // 3), visits):
        pass


def by_records(bound: Bound, distances: int = DISTANCES) -> None:
    """Bound record by record."""
    for _ in bound.by_records(distances):
        pass


def violation(bound: Bound, prices: NDArray[np.int64]) -> Violation | None:
    """What the plain check finds."""
    problem = bound.prepared.problem
    objective, table = problem.objective, problem.table
    assert isinstance(objective, CellObjective)
    columns = [
        Column(
            [each.tolist() for each in attribute.groups],
            [[Fraction(cost) for cost in each.tolist()] for each in objective.costs[j]],
            problem.lattice.bottom[j],
            problem.lattice.top[j],
            Fraction(float(bound.scale.shares[j])),
        )
        for j, attribute in enumerate(table.attributes)
    ]
    tuples = np.stack(table.codes, axis=1).tolist()
    fractions = [Fraction(price, UNIT) for price in prices.tolist()]
    return check_prices(columns, tuples, table.weights.tolist(), fractions, K)


@pytest.mark.parametrize("aggregate", ["mean", "geometric"])
def test_plain_python_accepts_the_prices_of_both_bounds(aggregate: str) -> None:
    bound = bound_of(random_problem(7, 60, K), aggregate)
    by_records(bound)
    known = bound.loss
    assert known > 0
    assert violation(bound, bound.prices) is None
    price(bound)
    assert bound.loss > known
    assert violation(bound, bound.prices) is None


def test_plain_python_refuses_prices_that_are_too_high() -> None:
    bound = bound_of(random_problem(7, 60, K))
    price(bound)
    higher = bound.prices + bound.prices // 10
    found = violation(bound, higher)
    assert found is not None
    assert found.levels is not None
    assert len(found.tuples) > 1
    above = bound.prices.copy()
    above[3] = 2 * UNIT
    assert violation(bound, above) == Violation(None, (3,))


@pytest.mark.parametrize("seed", range(12))
def test_the_check_of_large_tables_agrees_with_that_of_every_node(seed: int) -> None:
    bound = bound_of(random_problem(20 + seed, 25, K))
    price(bound)
    random = np.random.default_rng(seed)
    table, costs = bound.prepared.problem.table, bound.costs
    columns = []
    for j, attribute in enumerate(table.attributes):
        rows = costs.cost[costs.start[j] :].reshape(-1)[: costs.codes[j] * (attribute.limit + 1)]
        levels = tuple(rows.reshape(attribute.limit + 1, -1))
        columns.append(PricedColumn(attribute.groups[: len(levels)], levels, table.codes[j]))
    answers = set()
    for _ in range(8):
        prices = bound.prices.copy()
        some = random.integers(len(prices), size=2)
        prices[some] += random.integers(0, UNIT // 300, size=2)
        refused = priced_too_high(columns, table.weights, prices, K)
        assert refused == (violation(bound, prices) is not None)
        answers.add(refused)
    assert priced_too_high(columns, table.weights, bound.prices, K) is False
    assert True in answers
    with pytest.raises(TooManyLabelsError):
        priced_too_high(columns, table.weights, bound.prices, K, most=30)


@pytest.mark.parametrize("visits", [0, 200, 5000])
def test_prices_are_a_bound_whatever_the_effort(visits: int) -> None:
    bound = bound_of(random_problem(8, 60, K))
    price(bound, visits)
    assert violation(bound, bound.prices) is None


def test_prices_that_nobody_waits_for_are_ended_soon_and_are_a_bound() -> None:
    problem = random_problem(8, 3000, K)
    prepared = prepare(problem)
    bound = Bound(prepared, 0.5, ThreadPoolExecutor(1))
    dual = Prices(prepared, bound.costs, K)
    work = dual.cap(np.full(problem.table.tuples, UNIT // 3), 10**15, bound.pool)
    next(work, None)
    work.close()
    assert dual.done[VISITED] < 10**12
    assert (dual.capped <= UNIT // 3).all()


def test_groups_that_nobody_waits_for_leave_no_thread_in_their_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("shoal.recoding.local.groups.BATCH", 16)
    problem = random_problem(8, 3000, K)
    bound = bound_of(problem)
    groups = Groups(bound.prepared, bound.costs, ThreadPoolExecutor(2))
    call, running = groups.memory.call, set()

    def call_slowly(name: str, *arguments: object) -> int:
        running.add(threading.get_ident())
        time.sleep(0.05)
        found = call(name, *arguments)
        running.remove(threading.get_ident())
        return found

    monkeypatch.setattr(groups.memory, "call", call_slowly)
    work = groups.compare(np.arange(problem.table.tuples), NEAREST, fresh=True)
    next(work)
    del work
    assert running == set()


@pytest.mark.parametrize("distances", [0, 10, 20])
def test_records_are_bounded_whatever_the_effort(distances: int) -> None:
    bound, less = (bound_of(random_problem(9, 300, K)) for _ in range(2))
    by_records(bound, 10**9)
    by_records(less, distances)
    assert (less.prices <= bound.prices).all()
    assert less.loss < bound.loss


def by_labels(bound: Bound, branches: int = 10**6) -> None:
    """Bound by the cheapest labels, from what a recoding pays."""
    *_, last = LocalSearch("low").search(bound.prepared.problem, Limits(threads=1))
    assert isinstance(last.best, LocalBest)
    for _ in bound.by_labels(last.best.recoding, branches=branches):
        pass


def cheapest_labels(bound: Bound, k: int) -> list[int]:
    """What the cheapest label costs that each tuple shares with `k` records, node by node."""
    problem, costs = bound.prepared.problem, bound.costs
    table, lattice = problem.table, problem.lattice
    found = [UNIT] * table.tuples
    ranges = (range(low, top + 1) for low, top in zip(lattice.bottom, lattice.top, strict=True))
    for node in itertools.product(*ranges):
        classes = problem.partition(node)
        sizes = classes.counts.sizes[classes.class_of]
        for t in np.flatnonzero(sizes >= k).tolist():
            cost = 0
            for j, level in enumerate(node):
                cell = costs.start[j] + level * costs.codes[j] + table.codes[j][t]
                cost += int(costs.cost[cell])
            found[t] = min(found[t], cost)
    return found


@pytest.mark.parametrize("aggregate", ["mean", "geometric"])
@pytest.mark.parametrize(("seed", "records"), [(11, 30), (12, 150), (13, 700)])
def test_a_record_costs_at_least_its_cheapest_label_with_k_records(
    seed: int, records: int, aggregate: str
) -> None:
    bound = bound_of(random_problem(seed, records, K), aggregate)
    by_labels(bound)
    least = cheapest_labels(bound, K)
    assert (bound.prices <= least).all()
    assert (bound.prices == least).mean() > 0.9
    assert violation(bound, bound.prices) is None


@pytest.mark.parametrize("branches", [0, 1, 2])
def test_labels_are_a_bound_whatever_the_effort(branches: int) -> None:
    bound, less = (bound_of(random_problem(14, 150, K)) for _ in range(2))
    by_labels(bound)
    by_labels(less, branches)
    assert (less.prices <= bound.prices).all()
    assert 0 < less.loss < bound.loss


def test_labels_are_closer_than_distances_and_not_tried_where_that_takes_long() -> None:
    bound = bound_of(random_problem(15, 300, K))
    by_records(bound, 10**9)
    known = bound.loss
    assert list(bound.by_labels(no_recoding(bound.prepared.problem), most_work=10)) == []
    by_labels(bound)
    assert bound.loss > known


def no_recoding(problem: Problem) -> Recoding:
    """All tuples suppressed."""
    attributes = len(problem.table.attributes)
    return Recoding(np.full(problem.table.tuples, SUPPRESSED), np.zeros((0, attributes), np.int64))


def test_a_record_costs_at_least_its_distance_to_the_nearest_that_make_k() -> None:
    problem = random_problem(10, 150, K)
    bound = bound_of(problem)
    by_records(bound)
    table, objective = problem.table, problem.objective
    assert isinstance(objective, CellObjective)
    for t in range(table.tuples):
        records = []
        for u in range(table.tuples):
            cost = 0.0
            for j, attribute in enumerate(table.attributes):
                codes = table.codes[j]
                level = next(
                    level
                    for level in range(attribute.limit + 1)
                    if attribute.groups[level][codes[t]] == attribute.groups[level][codes[u]]
                )
                cost += objective.costs[j][level][codes[t]] / len(table.attributes)
            records += [cost] * int(table.weights[u])
        assert bound.prices[t] / UNIT == pytest.approx(sorted(records)[K - 1], abs=1e-7)
