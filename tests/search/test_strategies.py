"""Every strategy against the exhaustive search: what it answers is safe, what it claims is true."""

from __future__ import annotations

import itertools
import time
from collections.abc import Mapping, Sequence
from fractions import Fraction

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from oracle import Ladder
from problems import Case, cases, problem_of, sensitive_problem, table_of
from shoal import plugins
from shoal.events import NO_PROOF, Improved, Progress, Proved, Stopped
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
from shoal.privacy.delta_disclosure import DeltaDisclosure
from shoal.privacy.distinct_diversity import DistinctDiversity
from shoal.privacy.entropy_diversity import EntropyDiversity
from shoal.privacy.k_anonymity import KAnonymity
from shoal.privacy.recursive_diversity import RecursiveDiversity
from shoal.privacy.t_closeness import TCloseness
from shoal.search.incumbent import Limits
from shoal.search.objective import objective_of
from shoal.search.problem import Partition, Problem
from shoal.search.strategies import Strategy
from shoal.search.strategies.best_first import BestFirst
from shoal.search.strategies.bfs import BranchAndBound
from shoal.search.strategies.datafly import Datafly
from shoal.search.strategies.exhaustive import Exhaustive
from shoal.search.strategies.flash import Flash
from shoal.search.strategies.igreedy import IGreedy
from shoal.search.strategies.ola import Ola, minimal_nodes
from shoal.search.strategies.priority_path import PriorityPath
from shoal.values import Node

EXACT = (Flash, BranchAndBound)
ALL: dict[str, type[Strategy]] = {
    "best-first": BestFirst,
    "bfs": BranchAndBound,
    "datafly": Datafly,
    "flash": Flash,
    "igreedy": IGreedy,
    "ola": Ola,
    "priority-path": PriorityPath,
}
MODELS: tuple[PrivacyModel, ...] = (
    DistinctDiversity("s", 2),
    EntropyDiversity("s", 1.7),
    RecursiveDiversity("s", 1.5, 2),
    TCloseness("s", 0.3),
    TCloseness("s", 0.2, "ordered"),
    DeltaDisclosure("s", 1.2),
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
SENSITIVE = st.lists(st.integers(-1, 3), min_size=14, max_size=14)
SOME_MODELS = st.lists(st.sampled_from(MODELS), max_size=2)


def truth_of(problem: Problem) -> Progress:
    *_, truth = Exhaustive().search(problem, Limits())
    return truth


def honest(strategy: Strategy, problem: Problem) -> Progress:
    """The last event of a strategy, all of whose events are true."""
    truth = truth_of(problem).best
    events = list(strategy.search(problem, Limits()))
    last = events[-1]
    for event in events:
        assert event.best is None or problem.check(event.best.node) == event.best
        assert truth is None or event.bound <= truth.loss + 1e-9
    assert all(not isinstance(event, Proved | Stopped) for event in events[:-1])
    if isinstance(last, Proved):
        assert (last.best is None) == (truth is None)
        assert last.best is None or truth is None or last.best.loss <= truth.loss + 1e-9
    else:
        assert isinstance(last, Stopped)
        assert last.reason == NO_PROOF
    return last


def test_every_strategy_that_is_installed_is_tested_here_or_on_its_own() -> None:
    ours = {part.name for part in plugins.installed("strategy") if part.distribution == "shoal"}
    assert ours == {*ALL, "box", "exhaustive"}


@pytest.mark.slow
@given(
    cases(),
    SENSITIVE,
    SOME_MODELS,
    st.sampled_from(LOSSES),
    st.sampled_from(EXACT),
    st.booleans(),
)
@settings(max_examples=300)
def test_flash_and_bfs_prove_the_optimum_of_every_model_and_loss(
    case: Case,
    values: list[int],
    models: list[PrivacyModel],
    loss: tuple[Loss, str],
    strategy: type[Flash] | type[BranchAndBound],
    published: bool,
) -> None:
    problem = sensitive_problem(case, values, models, *loss)
    last = honest(strategy(published), problem)
    assert isinstance(last, Proved)
    assert last.best == truth_of(problem).best


@pytest.mark.slow
@given(
    cases(),
    SENSITIVE,
    SOME_MODELS,
    st.sampled_from(LOSSES),
    st.sampled_from([BestFirst(), Datafly(), IGreedy(), Ola(), PriorityPath(), PriorityPath(True)]),
)
@settings(max_examples=200)
def test_what_the_others_say_is_safe_and_true(
    case: Case,
    values: list[int],
    models: list[PrivacyModel],
    loss: tuple[Loss, str],
    strategy: Strategy,
) -> None:
    honest(strategy, sensitive_problem(case, values, models, *loss))


@pytest.mark.slow
@given(cases(), SENSITIVE, SOME_MODELS, st.sampled_from([BestFirst(), PriorityPath(True)]))
@settings(max_examples=150)
def test_best_first_and_backtracking_prove_the_weighted_loss_for_every_model(
    case: Case, values: list[int], models: list[PrivacyModel], strategy: Strategy
) -> None:
    problem = sensitive_problem(case, values, models, Weighted())
    assert isinstance(honest(strategy, problem), Proved)


@pytest.mark.slow
@given(cases(), st.data())
@settings(max_examples=100)
def test_best_first_follows_the_quantifiers_of_the_definition(
    case: Case, data: st.DataObject
) -> None:
    number = st.sampled_from([0.0, 0.1, 0.3, 0.6, 1.0])
    drawn = [
        sorted(data.draw(st.lists(number, min_size=n, max_size=n)))
        for n in (ladder.height + 1 for ladder in case.ladders)
    ]
    table = table_of(case, [tuple(each) for each in drawn])
    objective = objective_of(table, Weighted(), "mean")
    problem = Problem(table, (KAnonymity(case.k),), objective, case.suppression)
    assert isinstance(honest(BestFirst(), problem), Proved)


@pytest.mark.slow
@given(cases(), SENSITIVE, SOME_MODELS, st.sampled_from(LOSSES))
@settings(max_examples=150)
def test_ola_proves_every_loss_where_nothing_may_be_suppressed(
    case: Case, values: list[int], models: list[PrivacyModel], loss: tuple[Loss, str]
) -> None:
    assume(all(model.closed_under_union for model in models))
    problem = sensitive_problem(
        Case(case.rows, case.ladders, case.limits, case.priorities, case.k, 0),
        values,
        models,
        *loss,
    )
    last = honest(Ola(), problem)
    assert isinstance(last, Proved)
    assert last.best == truth_of(problem).best


@pytest.mark.slow
@given(cases(), SENSITIVE)
@settings(max_examples=100)
def test_ola_proves_a_loss_that_ignores_suppression(case: Case, values: list[int]) -> None:
    problem = sensitive_problem(case, values, [DistinctDiversity("s", 2)], Weighted())
    assert isinstance(honest(Ola(), problem), Proved)


@pytest.mark.slow
@given(cases())
@settings(max_examples=100)
def test_the_k_minimal_nodes_are_the_safe_ones_with_no_safe_one_below(case: Case) -> None:
    problem = problem_of(case)
    everywhere = itertools.product(*(range(limit + 1) for limit in case.limits))
    safe = [node for node in everywhere if problem.check(node) is not None]
    expected = [
        node for node in safe if not any(other != node and below(other, node) for other in safe)
    ]
    found = minimal_nodes(problem)
    assert sorted(best.node for best in found) == expected
    assert [best.rank for best in found] == sorted(best.rank for best in found)


def below(x: Node, y: Node) -> bool:
    return all(a <= b for a, b in zip(x, y, strict=True))


def one_attribute(
    steps: Mapping[str, tuple[str, ...]], counts: Mapping[str, int], suppression: int, loss: Loss
) -> Problem:
    """One quasi-identifier with so many records of each value, 2-anonymity."""
    ladder = Ladder(dict(steps))
    rows = tuple((value,) for value, count in counts.items() for _ in range(count))
    case = Case(rows, (ladder,), (ladder.height,), (Fraction(1),), 2, suppression)
    table = table_of(case)
    return Problem(table, (KAnonymity(2),), objective_of(table, loss, "mean"), suppression)


def misleading(suppression: int) -> Problem:
    """Safe without generalization when the two rare values are suppressed: that costs 2 of 6.

    One level up they share a class, and precision costs 1 of 4: a better node above a safe one.
    """
    steps = {
        "a": ("a", "a", "a", "a", "*"),
        "b": ("b", "rare", "rare", "rare", "*"),
        "c": ("c", "rare", "rare", "rare", "*"),
    }
    return one_attribute(steps, {"a": 4, "b": 1, "c": 1}, suppression, Precision())


@pytest.mark.parametrize("strategy", [BestFirst(), Ola()])
def test_a_monotone_method_misses_the_optimum_with_suppression_and_claims_no_proof(
    strategy: Strategy,
) -> None:
    problem = misleading(suppression=2)
    truth = truth_of(problem).best
    assert truth is not None
    assert (truth.node, truth.loss) == ((1,), 0.25)
    *_, last = strategy.search(problem, Limits())
    assert isinstance(last, Stopped)
    assert last.reason == NO_PROOF
    assert last.best is not None
    assert last.best.node == (0,)
    assert last.best.loss == pytest.approx(1 / 3)
    assert last.bound == 0.0
    assert last.gap == 1.0


def test_ola_finds_and_proves_the_same_optimum_when_nothing_may_be_suppressed() -> None:
    *_, last = Ola().search(misleading(suppression=0), Limits())
    assert isinstance(last, Proved)
    assert last.best is not None
    assert last.best.node == (1,)


@pytest.mark.parametrize(
    "strategy", [kind(published) for kind in EXACT for published in (False, True)]
)
def test_flash_and_bfs_look_above_safe_nodes(strategy: Strategy) -> None:
    *_, last = strategy.search(misleading(suppression=2), Limits())
    assert isinstance(last, Proved)
    assert last.best is not None
    assert last.best.node == (1,)


def staging(priorities: Sequence[str], limits: Sequence[int]) -> Problem:
    """The data-mart paper's attributes PT, PN, PM and R on a few findings, 2-anonymity."""
    ladders = (
        Ladder({"1a": ("1a", "1", "*"), "1b": ("1b", "1", "*")}),
        Ladder({"1mi": ("1mi", "1", "*"), "1a": ("1a", "1", "*"), "1b": ("1b", "1", "*")}),
        Ladder({"X": ("X", "*"), "0": ("0", "*")}),
        Ladder({"0": ("0", "*"), "1": ("1", "*")}),
    )
    rows = (
        ("1a", "1mi", "X", "0"),
        ("1b", "1mi", "X", "1"),
        ("1a", "1a", "X", "1"),
        ("1b", "1a", "X", "0"),
    )
    case = Case(rows, ladders, tuple(limits), tuple(map(Fraction, priorities)), 2, 0)
    quantifiers = ((0, 0.3, 1.0), (0, 0.5, 1.0), (0, 1.0), (0, 1.0))
    table = table_of(case, quantifiers)
    return Problem(table, (KAnonymity(2),), objective_of(table, Weighted(), "mean"), 0)


def test_priority_path_takes_the_steps_of_the_data_mart_paper() -> None:
    """Weighted losses 0.24 for PT, 0.30 for PN, 0.40 for PM, 0.20 for R: first R, then PT."""
    problem = staging(["0.8", "0.6", "0.4", "0.2"], [1, 2, 1, 1])
    events = list(PriorityPath().search(problem, Limits()))
    assert events[-1].checked == 3
    assert events[-1].best is not None
    assert events[-1].best.node == (1, 0, 0, 1)
    assert events[-1].best.loss == pytest.approx(0.20 + 0.24)


def test_priority_path_stays_within_the_limits() -> None:
    problem = staging(["0.8", "0.6", "0.4", "0.2"], [1, 1, 1, 0])
    *_, last = PriorityPath().search(problem, Limits())
    assert last.best is not None
    assert last.best.node == (1, 1, 0, 0)


def detour() -> Problem:
    """Two attributes of which only the dearer one helps: the path climbs the cheap one first."""
    ladders = (
        Ladder({"u": ("u", "*"), "v": ("v", "*")}),
        Ladder({"x": ("x", "*"), "y": ("y", "*")}),
    )
    rows = (("u", "x"), ("u", "y"), ("v", "x"), ("v", "y"), ("u", "y"), ("v", "y"))
    case = Case(rows, ladders, (1, 1), (Fraction(1, 4), Fraction(1, 2)), 3, 0)
    table = table_of(case)
    return Problem(table, (KAnonymity(3),), objective_of(table, Weighted(), "mean"), 0)


def test_backtracking_ranks_the_paths_that_the_first_one_left_aside() -> None:
    *_, one = PriorityPath().search(detour(), Limits())
    *_, ranked = PriorityPath(backtrack=True).search(detour(), Limits())
    assert one.best is not None
    assert ranked.best is not None
    assert (one.best.node, one.best.loss) == ((1, 1), 0.75)
    assert isinstance(one, Stopped)
    assert (ranked.best.node, ranked.best.loss) == ((0, 1), 0.5)
    assert isinstance(ranked, Proved)


def wide_and_narrow() -> Problem:
    """Four values beside two, where every step towards 2-anonymity is needed."""
    ladders = (
        Ladder({f"v{i}": (f"v{i}", f"g{i // 2}", "*") for i in range(4)}),
        Ladder({"x": ("x", "*"), "y": ("y", "*")}),
    )
    rows = tuple((f"v{i}", side) for i in range(4) for side in "xy")
    case = Case(rows, ladders, (2, 1), (Fraction(1), Fraction(1)), 2, 0)
    return problem_of(case)


def test_datafly_generalizes_the_attribute_with_the_most_values() -> None:
    *_, last = Datafly().search(wide_and_narrow(), Limits())
    assert last.best is not None
    assert last.best.node == (1, 0)
    assert last.checked == 2


def test_igreedy_checks_every_step_and_takes_a_safe_one_of_least_loss() -> None:
    *_, last = IGreedy().search(wide_and_narrow(), Limits())
    assert last.best is not None
    assert last.best.node == (1, 0)
    assert last.checked == 3


@pytest.mark.slow
@given(cases(), st.sampled_from(sorted(ALL)), st.integers(0, 4))
@settings(max_examples=150)
def test_a_search_can_be_left_after_any_event(case: Case, name: str, after: int) -> None:
    problem = problem_of(case)
    events = ALL[name]().search(problem, Limits())
    for number, event in enumerate(events):
        assert event.best is None or problem.check(event.best.node) == event.best
        if number == after:
            break


@pytest.mark.slow
@given(cases(), st.sampled_from(sorted(ALL)))
@settings(max_examples=100)
def test_a_search_without_time_ends_after_a_check_at_most(case: Case, name: str) -> None:
    *_, last = ALL[name]().search(problem_of(case), Limits(seconds=0.0))
    assert last.checked <= 1
    assert isinstance(last, Proved | Stopped)


@pytest.mark.parametrize("name", sorted(ALL))
@pytest.mark.parametrize("last_in_time", [2, 5, 9])
def test_no_node_is_looked_at_after_the_time_limit(
    name: str, last_in_time: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The clock strikes during one look; the first look, at the top, is not a check."""
    problem, looks = slow_to_anonymize(), 0
    look = Problem.partition

    def counted(self: Problem, node: Node) -> Partition:
        nonlocal looks
        looks += 1
        if looks == last_in_time:
            monkeypatch.setattr(time, "monotonic", lambda: float("inf"))
        return look(self, node)

    monkeypatch.setattr(Problem, "partition", counted)
    *_, last = ALL[name]().search(problem, Limits(seconds=60.0))
    assert isinstance(last, Stopped)
    assert last.reason == ("time limit" if looks == last_in_time else NO_PROOF)
    assert looks <= last_in_time


def slow_to_anonymize() -> Problem:
    """Four attributes of eight values and few records: nothing low in the lattice is safe."""
    ladder = Ladder({f"v{i}": (f"v{i}", f"g{i // 2}", f"h{i // 4}", "*") for i in range(8)})
    rows = tuple(tuple(f"v{i * step % 8}" for step in (1, 3, 5, 7)) for i in range(40))
    case = Case(rows, (ladder,) * 4, (3,) * 4, (Fraction(1),) * 4, 12, 2)
    return problem_of(case)


@pytest.mark.slow
@given(cases(), st.sampled_from([Flash, BranchAndBound]), st.sampled_from([0.2, 0.6]))
@settings(max_examples=100)
def test_a_gap_ends_the_search_when_it_is_reached(
    case: Case, strategy: type[Strategy], gap: float
) -> None:
    problem = problem_of(case)
    *_, last = strategy().search(problem, Limits(gap=gap))
    truth = truth_of(problem).best
    assert (last.best is None) == (truth is None)
    assert last.best is None or last.gap <= gap
    assert truth is None or last.bound <= truth.loss + 1e-9


def test_improvements_only_get_better() -> None:
    problem = misleading(suppression=2)
    for strategy in ALL.values():
        found = [e.best for e in strategy().search(problem, Limits()) if isinstance(e, Improved)]
        ranks = [best.rank for best in found if best]
        assert ranks == sorted(ranks, reverse=True)


def test_flash_and_bfs_report_how_their_antichains_were_used() -> None:
    flash, bfs = Flash(), BranchAndBound()
    for strategy in (flash, bfs):
        list(strategy.search(wide_and_narrow(), Limits()))
    assert set(flash.statistics) == {"insufficient quality", "insufficient protection"}
    assert set(bfs.statistics) == {"insufficient quality"}
    for used in (*flash.statistics.values(), *bfs.statistics.values()):
        assert used.queries >= used.hits
        assert used.inserts >= used.largest >= used.size > 0


def test_statistics_are_there_after_a_search_that_was_left() -> None:
    flash = Flash()
    events = flash.search(wide_and_narrow(), Limits())
    next(events)
    del events
    assert flash.statistics["insufficient quality"].queries > 0
