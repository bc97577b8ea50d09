"""Strategies side by side: the same problem, each in a process of its own."""

from __future__ import annotations

import json
import os
import random
import re
from fractions import Fraction
from pathlib import Path

import pytest

import commands
import shoal
from oracle import Ladder
from problems import Case, problem_of
from shoal.definition.model import Search
from shoal.events import Proved
from shoal.report.comparison import document, page, text
from shoal.report.drawing import Line, chart, plain_chart
from shoal.search.trial import Memory, attempt
from shoal.values import Comparison

pytestmark = pytest.mark.slow

DEFINITION = """
source: t.csv
k: 3
suppression: 10%
attributes:
  a: {role: quasi-identifier, hierarchy: {intervals: [5, 10, 50]}}
  b: {role: quasi-identifier, hierarchy: {mask: 3}}
"""
LADDER = Ladder({"x": ("x", "*"), "y": ("y", "*")})
CASE = Case((("x",), ("x",), ("y",)), (LADDER,), (1,), (Fraction(1),), 2, 0)


def children() -> set[str]:
    """The processes that this one has started."""
    return set(Path(f"/proc/self/task/{os.getpid()}/children").read_text().split())


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("compared")
    chance = random.Random(3)
    rows = [f"{chance.randrange(50)},{chance.randrange(100, 140)}" for _ in range(200)]
    (made / "t.csv").write_text("\n".join(["a,b", *rows, ""]))
    (made / "d.yaml").write_text(DEFINITION)
    return made


@pytest.fixture(scope="module")
def compared(folder: Path) -> Comparison:
    return shoal.compare(folder / "d.yaml", time_limit=20)


def test_every_installed_strategy_is_tried_and_the_proved_ones_agree(compared: Comparison) -> None:
    names = {trial.strategy for trial in compared.trials}
    assert names >= {"box", "exhaustive", "flash", "bfs", "ola", "igreedy", "datafly"}
    assert names >= {"best-first", "priority-path"}
    proved = [trial for trial in compared.trials if trial.proved]
    assert {trial.strategy for trial in proved} >= {"box", "exhaustive", "flash", "bfs"}
    assert len({tuple(trial.levels.items()) for trial in proved}) == 1
    best = compared.trials[0]
    assert best.proved
    for trial in compared.trials:
        assert trial.loss is not None
        assert best.loss is not None
        assert trial.bound <= best.loss + 1e-9 <= trial.loss + 2e-9
        assert trial.memory is not None
        assert trial.curve[-1][1] == trial.loss


def test_the_comparison_reads_as_text_json_and_html(compared: Comparison) -> None:
    written = json.loads(document(compared))
    assert [each["strategy"] for each in written["trials"]] == [t.strategy for t in compared.trials]
    assert "nodes checked" in text(compared)
    assert "Loss over time" in text(compared)
    html = page(compared)
    assert html.count("<svg") == 1
    assert "http" not in html


def test_the_command_compares_the_strategies_that_it_names(folder: Path) -> None:
    arguments = ("--strategies", "box,ola", "--time-limit", "9s", "--report", "c.html", "--json")
    done = commands.shoal("compare", "d.yaml", *arguments, "-", folder=folder)
    assert done.returncode == 0, done.stderr
    assert {trial["strategy"] for trial in json.loads(done.stdout)["trials"]} == {"box", "ola"}
    assert (folder / "c.html").read_text().startswith("<!doctype html>")


def test_local_recoding_is_one_of_the_compared(folder: Path) -> None:
    found = shoal.compare(folder / "d.yaml", ["box", "local"], time_limit=20)
    local, box = found.trials
    assert (local.strategy, box.strategy) == ("local", "box")
    assert local.loss is not None
    assert box.loss is not None
    assert local.bound <= local.loss < box.loss
    kept = found.records - local.suppressed
    for levels in local.levels.values():
        assert not isinstance(levels, int)
        assert sum(levels.values()) == kept
    written = json.loads(document(found))["trials"][0]
    assert set(written["levels"]) == {"a", "b"}
    assert local.curve[-1][1] == local.loss
    assert "local" in text(found)
    assert "local" in page(found)


def test_a_local_definition_is_compared_with_the_strategies(folder: Path) -> None:
    (folder / "local.yaml").write_text(DEFINITION + "recoding: local\nsearch: {effort: low}\n")
    found = shoal.compare(folder / "local.yaml", time_limit=20)
    names = [trial.strategy for trial in found.trials]
    assert names[0] == "local"
    assert {"box", "datafly"} <= set(names)


def test_local_recoding_is_refused_where_the_loss_is_of_levels(folder: Path) -> None:
    (folder / "levels.yaml").write_text(DEFINITION + "loss: weighted\n")
    with pytest.raises(shoal.ShoalError) as refused:
        shoal.compare(folder / "levels.yaml", ["box", "local"])
    assert refused.value.code == "no-local-recoding"


def test_an_unknown_strategy_is_refused_before_anything_is_read(folder: Path) -> None:
    (folder / "nothing.yaml").write_text(DEFINITION.replace("t.csv", "not-there.csv"))
    with pytest.raises(shoal.BadDefinition, match="is no strategy"):
        shoal.compare(folder / "nothing.yaml", ["box", "boxx"])


def test_a_problem_without_a_solution_is_reported_as_such(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    (tmp_path / "d.yaml").write_text(DEFINITION)
    found = shoal.compare(tmp_path / "d.yaml", ["box"])
    assert [(trial.loss, trial.ended) for trial in found.trials] == [(None, "no solution")]
    assert "no solution" in text(found)
    assert "nothing was found" in text(found)


def test_no_process_stays_when_nobody_listens_any_more() -> None:
    before = children()
    events = attempt(problem_of(CASE), Search(strategy="exhaustive"))
    next(events)
    assert children() > before
    events.close()
    assert children() == before


def test_a_trial_ends_with_the_last_event_and_its_memory() -> None:
    *_, last, memory = attempt(problem_of(CASE), Search())
    assert isinstance(last, Proved)
    assert isinstance(memory, Memory)


def test_a_chart_of_one_point_is_drawn() -> None:
    lines = [Line("only", ((0.5, 0.25),), 0.5)]
    assert any("a" in row for row in plain_chart(lines))
    assert "only" in chart(lines, "one", "one").svg


@pytest.mark.parametrize("loss", [0.0, 0.00035, 0.44675, 0.9, 11.63, 2049.5])
@pytest.mark.parametrize("apart", [0.0, 1e-9, 1e-5, 1e-3, 0.2, 1.0])
def test_the_numbers_beside_a_chart_are_short_however_near_its_lines_are(
    loss: float, apart: float
) -> None:
    drawn = chart([Line("best", ((0.1, loss * (1 + apart)), (0.2, loss)), 1.0)], "t", "s").marks
    beside = re.findall(r'text-anchor="end"[^>]*>([-0-9.e]+)<', drawn)
    assert beside
    assert max(map(len, beside)) <= 6
