"""`shoal frontier`: every point against every node checked; grids, charts, early ends."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from analysis.zips import call, write_zips
from problems import Case, cases, person_problem, sensitive_problem
from shoal.analysis.grid import read_k, read_suppression
from shoal.analysis.nodes import Clock
from shoal.analysis.trade_off import TradeOff, solve_grid
from shoal.errors import BadDefinition, BadOutput, Interrupted
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
from shoal.privacy.k_anonymity import KAnonymity
from shoal.privacy.risk import AverageRisk, RecordsAbove
from shoal.privacy.t_closeness import TCloseness
from shoal.search.objective import objective_of
from shoal.search.problem import Problem
from shoal.search.strategies.box import BoxSearch
from shoal.values import Best

if TYPE_CHECKING:
    from shoal.values import Ints

MODELS: tuple[PrivacyModel, ...] = (
    DistinctDiversity("s", 2),
    EntropyDiversity("s", 1.7),
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
KS = st.sets(st.integers(2, 6), min_size=1).map(sorted).map(tuple)
LIMITS = st.sets(st.integers(0, 8), min_size=1, max_size=4)


def best_of(problem: Problem) -> Best | None:
    """The best safe node, by checking all of them."""
    bottom, top = problem.lattice.bottom, problem.lattice.top
    nodes = itertools.product(*(range(a, b + 1) for a, b in zip(bottom, top, strict=True)))
    safe = [found for node in nodes if (found := problem.check(node)) is not None]
    return min(safe, key=lambda each: each.rank, default=None)


def check_grid(
    problem: Problem, ks: tuple[int, ...], limits: set[int], count: int
) -> tuple[TradeOff, int]:
    """Every point of a grid is the optimum of all nodes; how it was solved, and the points."""
    records = problem.table.records
    shares = {limit / records: min(limit, records) for limit in limits}
    easiest = replace(
        problem, models=(KAnonymity(ks[0]), *problem.models[1:]), limit=max(shares.values())
    )
    strategy = BoxSearch(in_numpy=True)
    trade_off = TradeOff(easiest, Clock(), threads=1, strategy=strategy, count=count)
    points = 0
    for k, share, optimum in solve_grid(trade_off, ks, shares):
        point = replace(problem, models=(KAnonymity(k), *problem.models[1:]), limit=shares[share])
        truth = best_of(point)
        assert optimum.status == ("infeasible" if truth is None else "optimal")
        assert optimum.best == truth
        points += 1
    return trade_off, points


@pytest.mark.slow
@given(
    cases(),
    VALUES,
    st.none() | PERSONS,
    st.lists(st.sampled_from(MODELS), max_size=2),
    st.sampled_from(LOSSES),
    KS,
    LIMITS,
    st.integers(1, 6),
)
@settings(max_examples=250)
def test_every_point_is_the_optimum_of_exhaustive_search(
    case: Case,
    values: list[int],
    persons: list[int] | None,
    models: Sequence[PrivacyModel],
    loss: tuple[Loss, str],
    ks: tuple[int, ...],
    limits: set[int],
    count: int,
) -> None:
    if persons is None:
        problem = sensitive_problem(case, values, models, *loss)
    else:
        rows = len(case.rows)
        problem = person_problem(case, persons[:rows], values[:rows], models, *loss)
    trade_off, points = check_grid(problem, ks, limits, count)
    assert trade_off.comparable
    assert trade_off.searches <= points


@dataclass(frozen=True)
class FewClasses:
    """A loss that a harder demand can lower: it charges each released class."""

    name: ClassVar[str] = "few-classes"

    def class_loss(self, sizes: Ints, suppressed: int, records: int) -> float:
        return float(len(sizes))

    def least(self, finest: Ints, dropped: int, records: int) -> float:
        return 0.0


@pytest.mark.slow
@given(cases(), KS, LIMITS)
@settings(max_examples=60)
def test_a_loss_that_a_harder_demand_can_lower_is_searched_at_every_point(
    case: Case, ks: tuple[int, ...], limits: set[int]
) -> None:
    problem = sensitive_problem(case, [0] * 14, [], Iyengar())
    problem = replace(problem, objective=objective_of(problem.table, FewClasses(), "mean"))
    trade_off, points = check_grid(problem, ks, limits, 1)
    assert not trade_off.comparable
    assert trade_off.searches == points


@pytest.mark.slow
@given(cases(), st.sampled_from([AverageRisk(0.3), RecordsAbove(0.3, 0.2)]), KS, LIMITS)
@settings(max_examples=60)
def test_a_model_of_all_classes_together_is_searched_at_every_point(
    case: Case, model: PrivacyModel, ks: tuple[int, ...], limits: set[int]
) -> None:
    problem = sensitive_problem(case, [0] * 14, [model], Iyengar())
    trade_off, points = check_grid(problem, ks, limits, 1)
    assert not trade_off.comparable
    assert trade_off.searches == points


@pytest.mark.parametrize(
    ("text", "ks"),
    [
        ("5", (5,)),
        ("2:5", (2, 3, 4, 5)),
        ("10,2,5,5", (2, 5, 10)),
        ("2:4, 10", (2, 3, 4, 10)),
        ("2:10:4", (2, 6, 10)),
        (7, (7,)),
        ([3, 2], (2, 3)),
    ],
)
def test_lists_of_k_are_read(text: Any, ks: tuple[int, ...]) -> None:
    assert read_k(text, "it") == ks


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("5:2", "ends before it begins"),
        ("abc", "no number and no range"),
        ("", "no number and no range"),
        ("2:", "no number and no range"),
        ("2:3:4:5", "no number and no range"),
        ("2.5", "no number and no range"),
        ("-3", "no number and no range"),
        ("2:9:0", "no step"),
        ("1,2", "protects nobody"),
        ("2:99999999", "too many"),
        ([2, 2.5], "no whole number"),
        ([True], "no whole number"),
        ([], "no number is given"),
    ],
)
def test_nonsense_for_k_is_one_clear_error(text: Any, says: str) -> None:
    with pytest.raises(BadDefinition, match=says):
        read_k(text, "it")


@pytest.mark.parametrize(
    ("given_shares", "shares"),
    [
        ("0,1,5,10%", (0.0, 0.01, 0.05, 0.1)),
        ("0,1%,5%", (0.0, 0.01, 0.05)),
        ("0.5%,2.5%", (0.005, 0.025)),
        ("0,0.01,0.05", (0.0, 0.01, 0.05)),
        ("5%", (0.05,)),
        ("100%", (1.0,)),
        ("0", (0.0,)),
        (0.05, (0.05,)),
        ([0, 0.01, "5%"], (0.0, 0.01, 0.05)),
    ],
)
def test_lists_of_shares_are_read(given_shares: Any, shares: tuple[float, ...]) -> None:
    assert read_suppression(given_shares, "it") == shares


@pytest.mark.parametrize(
    ("given_shares", "says"),
    [
        ("200%", "more than all records"),
        ("5", "without % could mean"),
        ("0,1", "without % could mean"),
        ("0.05,10%", "could mean 0.05 % or"),
        ("abc", "no share"),
        ("", "no share"),
        ("1,,5%", "no share"),
        ("-1%", "no share"),
        ("nan%", "no share"),
        ("inf", "no share"),
        ([1], "without % could mean"),
        ([], "no share is given"),
    ],
)
def test_nonsense_for_suppression_is_one_clear_error(given_shares: Any, says: str) -> None:
    with pytest.raises(BadDefinition, match=says):
        read_suppression(given_shares, "it")


@pytest.fixture
def definition(tmp_path: Path) -> Path:
    return write_zips(tmp_path)


@pytest.mark.slow
def test_the_command_writes_what_scripts_rely_on(definition: Path, tmp_path: Path) -> None:
    grid, chart = tmp_path / "grid.json", tmp_path / "grid.svg"
    options = ("--k", "2,5,10,200", "--suppression", "0,1%,10%", "--json", grid, "--svg", chart)
    done = call("frontier", definition, *options)
    assert done.exit_code == 0
    found = json.loads(grid.read_text(encoding="utf-8"))
    assert {"points", "seconds"} <= set(found)
    keys = {"k", "suppression", "status", "loss", "levels", "suppressed"}
    assert all(keys <= set(each) for each in found["points"])
    for point in found["points"]:
        demand = ("--k", point["k"], "--suppression", f"{point['suppression']:.2%}")
        ran = call("run", definition, *demand, "--json", tmp_path / "result.json", "--quiet")
        if point["k"] == 200:
            assert point["status"] == "infeasible"
            assert point["loss"] is None
            assert isinstance(ran.exception, shoal.Infeasible)
            continue
        result = json.loads((tmp_path / "result.json").read_text(encoding="utf-8"))
        for key in ("status", "loss", "levels", "suppressed"):
            assert point[key] == result[key]
    assert "3 of them have no solution" in done.output
    assert chart.read_text(encoding="utf-8").count("<circle") == 9


def test_a_k_that_costs_nothing_more_is_marked(definition: Path) -> None:
    found = shoal.frontier(definition, "2:20", "0%")
    free = [each for each in found.points if each.price_of is not None]
    assert free
    for each in free:
        same = next(x for x in found.points if x.k == each.price_of)
        assert each.loss == pytest.approx(same.loss)
    last = free[-1]
    assert f"k can be {last.k} for the price of {last.price_of}." in str(found)
    assert found.searches < len(found.points)
    assert 'fill="#fff" stroke' in found.plot().svg


def test_without_a_suppression_that_of_the_definition_is_used(definition: Path) -> None:
    assert {each.limit for each in shoal.frontier(definition, [5]).points} == {12}
    text = definition.read_text(encoding="utf-8").replace("10%", "7")
    definition.write_text(text, encoding="utf-8")
    found = shoal.frontier(definition, [5])
    assert {each.limit for each in found.points} == {7}
    assert found.points[0].loss == shoal.run(definition).loss


@pytest.mark.parametrize(
    "options", [["--k", "5:2"], ["--k", "abc"], ["--suppression", "200%"], ["--suppression", "5"]]
)
def test_a_grid_of_nonsense_is_refused_before_the_source_is_read(
    definition: Path, options: list[str]
) -> None:
    (definition.parent / "data.csv").unlink()
    done = call("frontier", definition, *options)
    assert isinstance(done.exception, BadDefinition)


def test_a_time_limit_keeps_what_is_proved(definition: Path) -> None:
    found = shoal.frontier(definition, "2:4", time_limit=0.0)
    assert not found.complete
    assert {each.status for each in found.points} == {"unknown"}
    assert "Not complete (time limit): 0 of 3 points are proved." in str(found)
    assert "not known" in str(found)
    assert found.plot().svg.startswith("<svg")


def test_an_interrupt_keeps_what_is_proved(
    definition: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(self: Clock, line: str) -> None:
        if line.startswith("Point 3 of"):
            raise KeyboardInterrupt

    truth = shoal.frontier(definition, "2:5")
    monkeypatch.setattr(Clock, "say", interrupt)
    done = call("frontier", definition, "--k", "2:5", "--json", "-")
    assert isinstance(done.exception, Interrupted)
    assert done.exception.exit_code == 130
    assert done.exception.what == "interrupted; what was found until then is written"
    found = json.loads(done.output)
    assert not found["complete"]
    statuses = [each["status"] for each in found["points"]]
    assert statuses == ["optimal", "optimal", "unknown", "unknown"]
    assert found["points"][0]["loss"] == truth.points[0].loss


def test_values_are_shown_in_terminals_notebooks_and_frames(definition: Path) -> None:
    found = shoal.frontier(definition, "2:6", "0,5,10%")
    assert "Loss by k and suppression" in str(found)
    assert max(map(len, str(found).splitlines())) <= 88
    assert '<div class="shoal">' in found._repr_html_()
    frame = found.to_pandas()
    assert len(frame) == 15
    assert "level of zip" in frame.columns


@pytest.mark.parametrize("option", ["--json", "--svg"])
@pytest.mark.parametrize("name", ["data.csv", "it.yaml", "out.csv"])
def test_nothing_that_is_read_or_released_is_overwritten(
    definition: Path, option: str, name: str
) -> None:
    shoal.run(definition)
    before = (definition.parent / name).read_bytes()
    done = call("frontier", definition, option, definition.parent / name)
    assert isinstance(done.exception, BadOutput)
    assert (definition.parent / name).read_bytes() == before
