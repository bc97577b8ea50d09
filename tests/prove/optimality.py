"""Small problems that plain Python solves by trying every node: Shoal finds the same optimum."""

from __future__ import annotations

import shoal
from prove.problems import best, problem, write
from prove.trial import Declined, Failed, Trial, run_or_decline


def attack(trial: Trial) -> None:
    """Compare loss, levels and suppressed records; where nothing is safe, Shoal must say so."""
    small = problem(trial.rng)
    expected = best(small)
    definition = write(small, trial.folder)
    if trial.rng.random() < 0.3:
        definition["search"] = {"strategy": trial.rng.choice(["exhaustive", "flash", "bfs"])}
    try:
        result = run_or_decline(lambda: shoal.run(definition))
    except Declined as code:
        if str(code) == "infeasible" and expected is None:
            return
        raise Failed(f"{code.__cause__}, but {expected} is safe") from code
    if expected is None:
        raise Failed(f"released at {result.levels}, but nothing is safe")
    found = (tuple(result.levels.values()), result.suppressed)
    if found != (expected.node, expected.suppressed) or abs(result.loss - expected.loss) > 1e-9:
        raise Failed(f"{found}, loss {result.loss}, in place of {expected}")
    if result.status != "optimal":
        raise Failed(f"status {result.status!r}")
