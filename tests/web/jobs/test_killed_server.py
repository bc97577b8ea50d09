"""A server that is killed while it works loses no job, and no partial release can be had."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.web_kill import run

pytestmark = pytest.mark.slow


def test_after_sigkill_every_job_ends_in_a_true_state_with_its_own_release_or_none(
    tmp_path: Path,
) -> None:
    states, wrong = run(tmp_path, jobs=3, kills=1, columns="abcd")
    assert wrong == []
    assert sum(states.values()) == 3
