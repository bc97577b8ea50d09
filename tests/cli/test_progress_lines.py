"""What people read while a run goes on: a line in ten seconds where lines cannot change."""

from __future__ import annotations

import pytest

from shoal.cli import terminal
from shoal.events import Phase, Progress, Stopped, Working
from shoal.report.progress import standing
from shoal.values import Best


def test_a_long_query_shows_its_progress(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with terminal.Display(quiet=False) as display:
        display.observe(Phase("read", "patients.csv"))
        display.observe(Working(0.25))
        monkeypatch.setattr(terminal, "PLAIN_EVERY", 0.0)
        display.observe(Working(0.5))
    lines = capsys.readouterr().err
    assert "Reading patients.csv: 50%" in lines
    assert "25%" not in lines
    assert lines.splitlines()[-1].startswith("Reading patients.csv  ")


def test_a_search_without_a_solution_says_so() -> None:
    assert standing(Progress(None, 0.0, 0, 0, 0.5)) == "best none yet, bound 0.000000, 0 nodes"
    assert "best none yet" in standing(Progress(None, 0.0, 0, 4, 5.0))


def test_the_best_the_gap_and_the_end_are_reported() -> None:
    best = Best((1, 0), 0.25, 3, 7, 5)
    said = standing(Stopped(best, 0.2, 2, 9, 5.0, reason="time limit"))
    assert said == "best 0.250000, bound 0.200000, gap 20.0%, 2 nodes, 9 boxes, stopped: time limit"


def test_local_recoding_speaks_of_classes_and_sweeps() -> None:
    best = Best((), 0.25, 3, 1700, 5)
    said = standing(Progress(best, 0.2, 2, 3, 5.0))
    assert said == "best 0.250000, bound 0.200000, gap 20.0%, 1,700 classes, 3 sweeps"
