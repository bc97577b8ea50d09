"""The anonymizations of the ANON report's section 5.1, each once, saved one after the other.

The report made "over 1,500" in two runs, with and without its cost function, each with "almost
800", and set the parameters of its table 4 "to almost all possible value combinations"; it does not
list them. All combinations would be 10,584. Here each run has 780:

- 1 to 7 quasi-identifiers, the nine k, 0, 1 and 10 % suppression, and of the diversities none, the
  salary class's 2, the occupation's min(k, 14), or both: 756;
- figure 7: 6 and 7 quasi-identifiers, k = 14, 1 % suppression, every diversity of the occupation:
  24 more.

The rows that a file has already are not made again, so a run that was ended goes on where it was.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.seeds.anon_table import (
    OCCUPATIONS,
    Demand,
    Tally,
    read_table,
    remembered,
    without_priorities,
)
from benchmarks.seeds.experiment import ProgressBar
from benchmarks.seeds.searching import watch

from shoal.search.strategies.best_first import BestFirst

if TYPE_CHECKING:
    from shoal.encode.table import Table


@dataclass(frozen=True)
class Run:
    """One anonymization: its parameters, and what the report measures of it.

    `visited` are the nodes that best-first tested, `wil` the weighted information loss of its
    answer, `average` the average partition size there, released records by classes.
    """

    attributes: int
    priorities: bool
    k: int
    salary: int
    occupation: int
    percent: int
    visited: int
    node: str
    suppressed: int
    classes: int
    average: float
    wil: float

    @property
    def demand(self) -> Demand:
        return Demand(self.k, self.salary, self.occupation, self.percent)


def grid(sizes: range, ks: tuple[int, ...]) -> Iterator[tuple[int, Demand]]:
    """The combinations of one run."""
    for size in sizes:
        for k in ks:
            for percent in (0, 1, 10):
                for salary in (1, 2):
                    for occupation in (1, min(k, OCCUPATIONS)):
                        yield size, Demand(k, salary, occupation, percent)
    for size in sizes[-2:]:
        for occupation in range(1, OCCUPATIONS + 1):
            yield size, Demand(14, 1, occupation, 1)


def all_runs(sizes: range, ks: tuple[int, ...], file: Path | None) -> list[Run]:
    """Every anonymization, read from the file where it is there, else made and added to it."""
    wanted = list(dict.fromkeys(grid(sizes, ks)))
    done = {(run.attributes, run.priorities, run.demand): run for run in read_runs(file)}
    bar = ProgressBar("anonymizations", 2 * len(wanted))
    for size in sizes:
        demands = [demand for each, demand in wanted if each == size]
        missing = [
            (priorities, demand)
            for priorities in (True, False)
            for demand in demands
            if (size, priorities, demand) not in done
        ]
        bar.step(2 * len(demands) - len(missing))
        if missing:
            for run in _made(size, missing):
                done[run.attributes, run.priorities, run.demand] = run
                if file is not None:
                    _append(file, run)
                bar.step()
    return list(done.values())


def _made(size: int, missing: list[tuple[bool, Demand]]) -> Iterator[Run]:
    adult = read_table(size)
    tally = Tally(adult)
    tables: dict[bool, Table] = {True: adult, False: without_priorities(adult)}
    for priorities, demand in missing:
        problem = remembered(tables[priorities], tally, demand)
        found = watch(BestFirst(), problem)
        best = found.best
        if best is None:
            raise SystemExit(f"no safe node with {size} quasi-identifiers for {demand}")
        released = adult.records - best.suppressed
        yield Run(
            size,
            priorities,
            demand.k,
            demand.salary,
            demand.occupation,
            demand.percent,
            found.checked,
            " ".join(map(str, best.node)),
            best.suppressed,
            best.classes,
            round(released / best.classes, 3),
            round(best.loss, 6),
        )


def read_runs(file: Path | None) -> list[Run]:
    """The anonymizations of a file; none where there is none."""
    if file is None or not file.exists():
        return []
    with file.open(encoding="utf-8", newline="") as lines:
        return [Run(**_typed(row)) for row in csv.DictReader(lines)]


def _typed(row: dict[str, str]) -> dict[str, Any]:
    """The cells of a row as the fields of a run have them."""
    kinds: dict[str, Callable[[str], object]] = {
        "int": int,
        "float": float,
        "str": str,
        "bool": lambda text: text == "True",
    }
    return {each.name: kinds[str(each.type)](row[each.name]) for each in fields(Run)}


def _append(file: Path, run: Run) -> None:
    new = not file.exists()
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a", encoding="utf-8", newline="") as lines:
        writer = csv.DictWriter(lines, [each.name for each in fields(Run)], lineterminator="\n")
        if new:
            writer.writeheader()
        writer.writerow(asdict(run))
