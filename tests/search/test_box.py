"""The box search, compiled and general, against the exhaustive search."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracle import Ladder
from problems import Case, cases, problem_of, sensitive_problem, table_of
from shoal.events import Progress, Proved, Stopped
from shoal.loss.base import Loss
from shoal.loss.builtin import (
    ClassSize,
    Discernibility,
    Iyengar,
    NonUniformEntropy,
    Precision,
    Weighted,
)
from shoal.privacy.alpha import AlphaAnonymity
from shoal.privacy.base import PrivacyModel
from shoal.privacy.beta_likeness import BetaLikeness
from shoal.privacy.delta_disclosure import DeltaDisclosure
from shoal.privacy.distinct_diversity import DistinctDiversity
from shoal.privacy.entropy_diversity import EntropyDiversity
from shoal.privacy.k_anonymity import KAnonymity
from shoal.privacy.recursive_diversity import RecursiveDiversity
from shoal.privacy.t_closeness import TCloseness
from shoal.search.compiled.boxes import Box, Candidate
from shoal.search.compiled.explorer import Explorer
from shoal.search.compiled.layout import prepare
from shoal.search.compiled.pool import Pool
from shoal.search.incumbent import Incumbent, Limits
from shoal.search.objective import objective_of
from shoal.search.problem import Problem
from shoal.search.strategies.box import BoxSearch
from shoal.search.strategies.exhaustive import Exhaustive

if TYPE_CHECKING:
    from shoal.values import Bools, Counts

COMPILED, GENERAL = BoxSearch(), BoxSearch(in_numpy=True)
BY_CLASS = BoxSearch(room=0)
BY_SMALL = BoxSearch(list_from=0)
"""The compiled search when a tally of more than two classes does not fit."""

MODELS: tuple[PrivacyModel, ...] = (
    DistinctDiversity("s", 2),
    DistinctDiversity("s", 3),
    EntropyDiversity("s", 1.7),
    RecursiveDiversity("s", 1.5, 2),
    TCloseness("s", 0.3),
    TCloseness("s", 0.2, "ordered"),
    TCloseness("s", 0.3, "hierarchical"),
    AlphaAnonymity("s", 0.6),
    BetaLikeness("s", 0.8),
    BetaLikeness("s", 1.5, True),
    DeltaDisclosure("s", 1.2),
)
LOSSES: tuple[tuple[Loss, str], ...] = (
    (Iyengar(), "mean"),
    (Iyengar(), "geometric"),
    (Precision(), "mean"),
    (Precision(), "geometric"),
    (NonUniformEntropy(), "mean"),
    (NonUniformEntropy(), "geometric"),
    (Weighted(), "mean"),
    (Discernibility(), "mean"),
    (ClassSize(), "mean"),
)


def agrees(strategy: BoxSearch, problem: Problem, limits: Limits) -> list[Progress]:
    """The events of a strategy, which end with the answer of the exhaustive search."""
    *_, truth = Exhaustive().search(problem, Limits())
    events = list(strategy.search(problem, limits))
    last = events[-1]
    assert isinstance(last, Proved)
    assert (last.best is None) == (truth.best is None)
    if truth.best is not None and last.best is not None:
        assert last.best == truth.best
        assert last.gap == 0.0
        assert all(event.bound <= truth.best.loss + 1e-9 for event in events)
    return events


@pytest.mark.slow
@given(cases(), st.sampled_from([1, 2]), st.sampled_from([COMPILED, BY_CLASS, BY_SMALL]))
@settings(max_examples=600)
def test_the_compiled_search_is_right(case: Case, threads: int, strategy: BoxSearch) -> None:
    agrees(strategy, problem_of(case), Limits(threads=threads))


@pytest.mark.parametrize("models", [[], [DistinctDiversity("s", 2)]], ids=["sizes", "values"])
@pytest.mark.parametrize("seed", range(12))
def test_classes_counted_one_by_one_give_the_same(models: list[PrivacyModel], seed: int) -> None:
    """The same bounds close the same boxes, in the same order, and leave the same nodes."""
    random = np.random.default_rng(seed)
    ladders = (
        Ladder(
            {f"{i}": (f"{i}", f"a{i // 3}", f"b{i // 9}", f"c{i // 27}", "*") for i in range(60)}
        ),
        Ladder({f"{i}": (f"{i}", f"a{i // 4}", "*") for i in range(20)}),
        *[Ladder({f"{i}": (f"{i}", "*") for i in range(size)}) for size in (3, 4)],
    )
    cells = [random.geometric(3 / len(each.steps), 400) % len(each.steps) for each in ladders]
    rows = tuple(tuple(str(code) for code in row) for row in np.column_stack(cells))
    tops, priorities = tuple(each.height for each in ladders), (Fraction(1),) * 4
    case = Case(rows, ladders, tops, priorities, int(random.integers(2, 7)), 20 + 10 * (seed % 8))
    values = random.integers(-1, 4, 400).tolist()
    problem = sensitive_problem(case, values, models, Iyengar(), "mean")
    agrees(BY_CLASS, problem, Limits(threads=1))
    agrees(BY_SMALL, problem, Limits(threads=2))
    assert explored(problem, room=0) == explored(problem, room=10_000)


def explored(problem: Problem, room: int) -> Sequence[object]:
    """What one thread does with the whole lattice when it knows of no solution."""
    explorer = Explorer(prepare(problem, room), np.array([np.inf, 0.0, 0.0]), log=True)
    explorer.take(Box(0.0, problem.lattice.bottom, problem.lattice.top))
    outcomes = []
    while explorer.open:
        found = explorer.explore((np.inf, 0), 10**9)
        nodes = [(each.node, each.removed) for each in found.candidates]
        outcomes.append((found.opened, nodes, found.closed))
    return outcomes


@pytest.mark.slow
@given(cases())
@settings(max_examples=150)
def test_the_general_search_is_right(case: Case) -> None:
    agrees(GENERAL, problem_of(case), Limits())


@pytest.mark.slow
@given(
    cases(),
    st.lists(st.integers(-1, 3), min_size=14, max_size=14),
    st.lists(st.sampled_from(MODELS), max_size=2),
    st.sampled_from(LOSSES),
    st.sampled_from([COMPILED, BY_CLASS, BY_SMALL, GENERAL]),
)
@settings(max_examples=1000)
def test_every_model_and_loss_gives_the_optimum(
    case: Case,
    values: list[int],
    models: list[PrivacyModel],
    loss: tuple[Loss, str],
    strategy: BoxSearch,
) -> None:
    agrees(strategy, sensitive_problem(case, values, models, *loss), Limits(threads=1))


@pytest.mark.slow
@given(cases(), st.sampled_from([COMPILED, GENERAL]), st.integers(0, 5))
@settings(max_examples=100)
def test_stopping_after_any_event_leaves_something_safe(
    case: Case, strategy: BoxSearch, after: int
) -> None:
    problem = problem_of(case)
    for number, event in enumerate(strategy.search(problem, Limits(threads=2))):
        if event.best is not None:
            assert problem.check(event.best.node) == event.best
        if number == after:
            break


class OddClasses(KAnonymity):
    """A model that takes after another one, and asks for something else."""

    closed_under_union = False

    def satisfied(self, counts: Counts) -> Bools:
        odd: Bools = counts.sizes % 2 == 1
        return super().satisfied(counts) & odd


@pytest.mark.slow
@given(cases(), st.sampled_from([COMPILED, GENERAL]))
@settings(max_examples=100)
def test_a_model_that_takes_after_another_is_searched_by_what_it_says(
    case: Case, strategy: BoxSearch
) -> None:
    problem = replace(problem_of(case), models=(OddClasses(case.k),))
    agrees(strategy, problem, Limits(threads=1))


def large_problem(attributes: int = 9, records: int = 3000) -> Problem:
    """Many attributes of few values: enough boxes for several slices and threads."""
    generator = np.random.default_rng(3)
    ladder = Ladder({f"v{i}": (f"v{i}", f"g{i // 2}", f"h{i // 4}", "*") for i in range(8)})
    draws = np.minimum(generator.geometric(0.35, (records, attributes)) - 1, 7)
    rows = tuple(tuple(f"v{value}" for value in row) for row in draws.tolist())
    case = Case(
        rows, (ladder,) * attributes, (3,) * attributes, (Fraction(1),) * attributes, 5, 150
    )
    return problem_of(case)


def test_one_and_eight_threads_give_the_same_answer() -> None:
    problem = large_problem()
    ends = [
        list(COMPILED.search(problem, Limits(threads=threads)))[-1].best for threads in (1, 2, 8)
    ]
    assert ends[0] is not None
    assert ends[0] == ends[1] == ends[2]


def test_explorations_of_one_box_each_end_with_the_same_answer() -> None:
    problem = large_problem(attributes=6, records=500)
    *_, whole = COMPILED.search(problem, Limits(threads=1))
    pool = Pool(problem, prepare(problem), Incumbent(Limits()), threads=2, slice=1, turn=0)
    with ThreadPoolExecutor(2) as threads:
        *_, last = pool.run(threads)
    assert isinstance(last, Proved)
    assert last.best == whole.best


def test_bounds_rise_and_never_pass_the_optimum() -> None:
    events = list(COMPILED.search(large_problem(), Limits(threads=2)))
    assert isinstance(events[-1], Proved)
    assert events[-1].best is not None
    bounds = [event.bound for event in events]
    assert all(after >= before - 1e-12 for before, after in pairwise(bounds))
    assert max(bounds) <= events[-1].best.loss + 1e-9
    assert events[-1].boxes > 300


@pytest.mark.parametrize("strategy", [COMPILED, GENERAL])
def test_a_time_limit_stops_with_a_true_gap(strategy: BoxSearch) -> None:
    problem = large_problem()
    *_, last = strategy.search(problem, Limits(seconds=1e-6, threads=1))
    assert isinstance(last, Stopped)
    assert last.reason == "time limit"
    *_, proved = COMPILED.search(problem, Limits())
    assert proved.best is not None
    assert last.bound <= proved.best.loss + 1e-9


def test_after_a_limit_waiting_nodes_are_checked_until_one_is_safe_then_for_a_moment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("shoal.search.compiled.pool.LAST_CHECKS", 0.0)
    problem = large_problem(attributes=4, records=200)
    bottom, top = problem.lattice.bottom, problem.lattice.top
    below = (*top[:-1], top[-1] - 1)
    assert problem.check(bottom) is None
    assert problem.check(top) is not None
    incumbent = Incumbent(Limits(threads=1))
    waiting = [Candidate(cost, 0, node) for cost, node in ((0.1, bottom), (0.2, top), (0.3, below))]
    pool = Pool(problem, prepare(problem), incumbent, 1, candidates=waiting)
    with ThreadPoolExecutor(1) as executor:
        list(pool._last_checks(executor))
    assert incumbent.best is not None
    assert incumbent.best.node == top
    assert incumbent.checked == 2
    assert pool.candidates == [Candidate(0.3, 0, below)]


def test_a_gap_stops_when_it_is_reached() -> None:
    *_, last = COMPILED.search(large_problem(), Limits(gap=0.5, threads=1))
    assert isinstance(last, Stopped | Proved)
    assert last.best is not None
    assert last.gap <= 0.5


def test_the_compiled_search_says_when_nothing_is_feasible() -> None:
    problem = large_problem(records=4)
    *_, last = COMPILED.search(problem, Limits())
    assert isinstance(last, Proved)
    assert last.best is None


@pytest.mark.slow
@given(cases())
@settings(max_examples=150)
def test_climbing_ends_at_a_node_that_no_neighbour_beats(case: Case) -> None:
    problem = problem_of(case)
    prepared = prepare(problem)
    start = problem.check(problem.lattice.top)
    if start is None or not prepared.tables.exact:
        return
    explorer = Explorer(prepared, np.array([np.inf, 0.0, 0.0]), log=False)
    found = explorer.local_search(Candidate(start.loss, start.suppressed, start.node)).candidates
    best = min(found, default=Candidate(start.loss, start.suppressed, start.node))
    checked = problem.check(best.node)
    assert checked is not None
    assert checked.loss == pytest.approx(best.cost, abs=1e-12)
    assert checked.suppressed == best.removed
    for j, level in enumerate(best.node):
        below = problem.check((*best.node[:j], max(level - 1, 0), *best.node[j + 1 :]))
        assert below is None or below.loss >= best.cost - 1e-9


@pytest.mark.slow
@given(cases())
@settings(max_examples=150)
def test_a_dive_finds_safe_nodes_each_below_the_one_before(case: Case) -> None:
    problem = problem_of(case)
    prepared = prepare(problem)
    found = Explorer(prepared, np.array([np.inf, 0.0, 0.0]), log=False).dive().candidates
    assert bool(found) == (problem.check(problem.lattice.top) is not None)
    above = problem.lattice.top
    for candidate in found:
        checked = problem.check(candidate.node)
        assert checked is not None
        assert checked.suppressed == candidate.removed
        if prepared.tables.exact:
            assert checked.loss == pytest.approx(candidate.cost, abs=1e-12)
        assert all(level <= before for level, before in zip(candidate.node, above, strict=True))
        above = candidate.node


def test_a_dive_goes_on_below_a_level_that_saves_nothing() -> None:
    """The two values are apart at the bottom only: the levels above it have the same groups."""
    ladder = Ladder({value: (value, "l1", "l2", "*") for value in "ab"})
    rows = tuple((value,) for value in "aabb")
    problem = problem_of(Case(rows, (ladder,), (3,), (Fraction(1),), k=2, suppression=0))
    explorer = Explorer(prepare(problem), np.array([np.inf, 0.0, 0.0]), log=False)
    assert explorer.dive().candidates[-1].node == (0,)


def test_a_loss_that_is_lower_by_a_hair_wins_over_fewer_suppressed_records() -> None:
    """To suppress one of two thousand million records costs its four cells. To merge it with eight
    others costs half a cell of each, an eighth of a record more: a difference, and no rounding.
    """
    ladder = Ladder({"x": ("x", "x"), "y": ("y", "yz"), "z": ("z", "yz")})
    ladders = (ladder, *[Ladder({"s": ("s",)})] * 3)
    rows = tuple((value, "s", "s", "s") for value in "xyz")
    case = Case(rows, ladders, (1, 0, 0, 0), (Fraction(1),) * 4, k=2, suppression=1)
    table = replace(table_of(case), weights=np.array([2_000_000_000, 1, 8], dtype=np.int64))
    objective = objective_of(table, Iyengar(), "mean")
    problem = Problem(table, (KAnonymity(case.k),), objective, case.suppression)
    for strategy in (COMPILED, GENERAL):
        last = agrees(strategy, problem, Limits(threads=1))[-1]
        assert last.best is not None
        assert (last.best.node, last.best.suppressed) == ((0, 0, 0, 0), 1)
