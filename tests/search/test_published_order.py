"""`flash` and `bfs` in the order of their paper, where no bound is known before a check."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings

import shoal
from oracle import Ladder
from problems import Case, cases, problem_of, table_of
from shoal.events import Stopped
from shoal.loss.builtin import Precision
from shoal.privacy.k_anonymity import KAnonymity
from shoal.search.incumbent import Incumbent, Limits
from shoal.search.objective import objective_of
from shoal.search.problem import Problem
from shoal.search.pruning import Pruning
from shoal.search.strategies.bfs import BranchAndBound
from shoal.search.strategies.flash import Flash

PUBLISHED = (Flash(published=True), BranchAndBound(published=True))


def four_levels() -> Problem:
    """One column with the levels 0 to 4, each of which costs a quarter by precision."""
    ladder = Ladder({value: (value, "ab", "ab", "ab", "*") for value in "ab"})
    case = Case((("a",), ("b",)), (ladder,), (4,), (Fraction(1),), 2, 0)
    table = table_of(case)
    return Problem(table, (KAnonymity(2),), objective_of(table, Precision(), "mean"), 0)


@given(cases())
@settings(max_examples=100)
def test_a_bound_that_is_known_before_the_check_saves_checks_and_never_costs_some(
    case: Case,
) -> None:
    problem = problem_of(case)
    *_, ours = BranchAndBound().search(problem, Limits())
    *_, theirs = BranchAndBound(published=True).search(problem, Limits())
    assert ours.best == theirs.best
    assert ours.checked <= theirs.checked


@pytest.mark.parametrize("strategy", PUBLISHED, ids=lambda each: each.name)
def test_the_published_order_stops_at_the_time_limit(strategy: Flash | BranchAndBound) -> None:
    *_, last = strategy.search(four_levels(), Limits(seconds=0.0))
    assert isinstance(last, Stopped)
    assert last.reason == "time limit"


def test_without_a_bound_before_the_check_only_the_antichain_rules_nodes_out() -> None:
    problem = four_levels()
    for known in (True, False):
        incumbent = Incumbent(Limits())
        pruning = Pruning(problem, incumbent, bound_before_check=known)
        incumbent.offer(problem.check((1,)))
        assert pruning.poor((2,)) is known
        assert pruning.is_beaten((2,), 0.5)
        assert pruning.poor((3,))


@pytest.mark.parametrize("strategy", [Flash, BranchAndBound])
def test_published_is_true_or_false(strategy: type[Flash] | type[BranchAndBound]) -> None:
    with pytest.raises(ValueError, match="published must be true or false"):
        strategy(published="perhaps")  # type: ignore[arg-type]


def test_a_definition_asks_for_the_published_order(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("a\n" + "x\n" * 3 + "y\n" * 3, encoding="utf-8")
    (tmp_path / "d.yaml").write_text(
        "source: rows.csv\noutput: out.csv\nk: 2\n"
        "search: {strategy: flash, parameters: {published: true}}\n"
        "attributes: {a: {role: quasi-identifier, hierarchy: suppress}}\n",
        encoding="utf-8",
    )
    assert shoal.run(tmp_path / "d.yaml").status == "optimal"
