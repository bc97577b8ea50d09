"""Long queries tell how far they are, at most one line in ten seconds where lines cannot change."""

from __future__ import annotations

import pytest

from shoal.cli import progress
from shoal.events import Phase, Working


def test_a_long_query_is_told_with_its_share(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with progress.Display(quiet=False) as display:
        display.observe(Phase("read", "patients.csv"))
        display.observe(Working(0.25))
        monkeypatch.setattr(progress, "PLAIN_EVERY", 0.0)
        display.observe(Working(0.5))
    told = capsys.readouterr().err
    assert "Reading patients.csv: 50%" in told
    assert "25%" not in told
    assert told.splitlines()[-1].startswith("Reading patients.csv  ")
