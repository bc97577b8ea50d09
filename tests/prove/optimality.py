"""Small problems that plain Python solves by trying every node: Shoal finds the same optimum."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

import shoal
from oracle import Row
from prove.problems import Best, Problem, best, problem, write
from prove.trial import Declined, Failed, Kind, Trial, run_or_decline
from shoal.values import Result


def attack(trial: Trial) -> None:
    """Compare loss, levels and suppressed records; where nothing is safe, Shoal must say so.

    A local recoding may not lose more than the best node, and every one of its classes is judged.
    """
    small = problem(trial.rng)
    expected = best(small)
    definition = write(small, trial.folder)
    if trial.rng.random() < 0.3:
        definition["recoding"] = "local"
    elif trial.rng.random() < 0.3:
        definition["search"] = {"strategy": trial.rng.choice(["exhaustive", "flash", "bfs"])}
    try:
        result = run_or_decline(lambda: shoal.run(definition))
    except Declined as code:
        if str(code) == "infeasible" and expected is None:
            return
        raise Failed(f"{code.__cause__}, but {expected} is safe") from code
    if expected is None:
        raise Failed(f"released at {result.levels}, but nothing is safe")
    if result.recoding == "local":
        _judge_local(small, result, expected, trial.folder / "release.csv")
        return
    found = (tuple(result.levels.values()), result.suppressed)
    if found != (expected.node, expected.suppressed) or abs(result.loss - expected.loss) > 1e-9:
        raise Failed(f"{found}, loss {result.loss}, in place of {expected}")
    if result.status != "optimal":
        raise Failed(f"status {result.status!r}")


def _judge_local(small: Problem, result: Result, expected: Best, path: Path) -> None:
    """No more loss than the best node, safe classes, and labels of records of the source.

    Whose the records are is not released: the judge of typed tables counts persons.
    """
    if not result.bound - 1e-9 <= result.loss <= expected.loss + 1e-9:
        raise Failed(f"loss {result.loss}, bound {result.bound}, but {expected} is safe")
    with path.open(encoding="utf-8", newline="") as file:
        rows = [tuple(cell or None for cell in row) for row in csv.reader(file)][1:]
    sizes = Counter(row[:-1] for row in rows)
    values = {labels: {row[-1] for row in rows if row[:-1] == labels} for labels in sizes}
    unsafe = [
        labels for labels in sizes if sizes[labels] < small.k or len(values[labels]) < small.least
    ]
    if unsafe or len(small.rows) - len(rows) > small.limit:
        raise Failed(f"{unsafe} are not safe, or too many records are suppressed")
    if not all(_is_covered(small, row) for row in rows):
        raise Failed("a released record is of no record of the source")


def _is_covered(small: Problem, row: Row) -> bool:
    """Whether the labels and the value are those of some record of the source."""
    *labels, value = row
    return any(
        known == value
        and all(
            label in {ladder.label(cell, at) for at in range(ladder.height + 1)}
            for ladder, cell, label in zip(small.ladders, cells, labels, strict=True)
        )
        for cells, known in zip(small.rows, small.values, strict=True)
    )


KIND = Kind(
    attack,
    tries="a small problem, with or without persons, that plain Python solves by trying every node",
    fails="loss, levels or suppressed records differ; a local recoding loses more than the best "
    "node, or a class of it is not safe",
    limits="problems have up to 24 records and three quasi-identifiers; larger ones are checked by "
    "proofs",
)
