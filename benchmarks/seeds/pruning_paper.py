"""What the authors of the pruning paper measured: the file that they published with it.

`pruning_paper.csv` in the folder SHOAL_DATA has the raw results of all tables and figures; the
numbers of the printed tables come from it.
"""

from __future__ import annotations

import csv
from functools import cache

from benchmarks.box import DATA


@cache
def results() -> dict[tuple[str, str, str, str], float]:
    """Every number by experiment, case, subject and measure; what is not a number is left out."""
    found = {}
    with (DATA / "pruning_paper.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["value"] != "--":
                key = (row["experiment"], row["case"], row["subject"], row["measure"])
                found[key] = float(row["value"])
    return found


def measured(experiment: str, case: str | int, measure: str, subject: str = "") -> float | None:
    """One number, None where the authors have none."""
    return results().get((experiment, str(case), subject, measure))


def flash_numbers(table: str, nodes: int, store: str) -> dict[str, float]:
    """What Flash asked of one store on one of the five tables: table 2."""
    return {
        measure: results()["low-jhpl-numbers-3.2", table, f"{nodes}|{store}", measure]
        for measure in ("PutProperty", "HasProperty", "Antichain", "Hitrate")
    }


def igreedy_gain(table: str, size: int) -> float | None:
    """How much better bfs was than IGreedy, as a share of the quality: table 5."""
    experiment = "high-execution-3.2-heuristic-igreedy"
    return measured(experiment, size, "Improvement", table)
