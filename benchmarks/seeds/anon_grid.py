"""ANON, figures 3 to 7: what do the parameters do to visited nodes, loss and partition size?

python -m benchmarks.seeds anon_grid
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby
from pathlib import Path

from benchmarks.seeds import anon_figures
from benchmarks.seeds.anon_runs import Run, all_runs
from benchmarks.seeds.anon_table import KS, OCCUPATIONS, Demand, problem_of, read_table
from benchmarks.seeds.experiment import RESULTS, Experiment, Outcome, Value, table
from benchmarks.seeds.searching import watch

from shoal.search.strategies.best_first import BestFirst
from shoal.search.strategies.box import BoxSearch

FIGURE_3 = {
    "k=2, 0 %": Demand(2),
    "k=2, 1 %": Demand(2, percent=1),
    "k=10, l=(2,10), 0 %": Demand(10, 2, 10),
    "k=10, l=(2,10), 1 %": Demand(10, 2, 10, percent=1),
    "k=14, l=(2,14), 0 %": Demand(14, 2, 14),
}
FILE = RESULTS / "anon_grid.csv"


def run(quick: bool, file: Path = FILE) -> Outcome:
    """The whole grid, then the tables and charts of the report's figures from it.

    Runs that the file has are not made again; a quick run has no file.
    """
    sizes = range(1, 5) if quick else range(1, 8)
    ks = KS[:4] if quick else KS
    runs = Runs(all_runs(sizes, (*ks, 14) if quick else ks, None if quick else file))
    largest = sizes[-1]
    seconds = times(sizes)
    lines: list[str] = [f"{len(runs.by_key):,} anonymizations", ""]
    for measure, title in MEASURES.items():
        head = [f"figure 3: {title}", *(f"{size}" for size in sizes)]
        rows = [[n, *runs.of(d, measure, sizes)] for n, d in FIGURE_3.items()]
        lines += [*table(head, rows), ""]
    lines += [*table(["figure 4: seconds", *map(str, sizes)], rows_of(seconds)), ""]
    by_k = {name: [demand_at(name, k) for k in ks] for name in (*FIGURE_5, *FIGURE_6)}
    for measure, title in MEASURES.items():
        head = [f"figures 5, 6: {title}", *(f"k={k}" for k in ks)]
        rows = [[n, *runs.at(largest, n, ds, measure)] for n, ds in by_k.items()]
        lines += [*table(head, rows), ""]
    diversities = list(range(1, OCCUPATIONS + 1))
    for measure, title in MEASURES.items():
        head = [f"figure 7: {title}", *(f"l={l}" for l in diversities)]
        lines += [*table(head, [[n, *runs.figure_7(n, measure)] for n in lines_7(sizes)]), ""]
    steps = {size: same_answers(runs, size) for size in sizes[-2:]}
    lines += [f"{size} QIs, same answer for l = {text}" for size, text in steps.items()]
    figures = {
        "anon_figure_3": anon_figures.figure_3(
            sizes, {n: runs.of(d, "visited", sizes) for n, d in FIGURE_3.items()}
        ),
        "anon_figure_4": anon_figures.figure_4(sizes, seconds),
        "anon_figure_5": anon_figures.by_k(
            "Figure 5: k and suppression, with priorities",
            ks,
            {n: runs.at(largest, n, by_k[n], "visited") for n in FIGURE_5},
        ),
        "anon_figure_6": anon_figures.by_k(
            "Figure 6: priorities, 1 % suppression",
            ks,
            {n: runs.at(largest, n, by_k[n], "visited") for n in FIGURE_6},
        ),
        "anon_figure_7": anon_figures.figure_7(
            diversities, {n: runs.figure_7(n, "visited") for n in lines_7(sizes)}
        ),
    }
    return Outcome(lines, figures, NOTE, {} if quick else values_of(runs, steps))


MEASURES = {
    "visited": "visited nodes",
    "wil": "weighted information loss",
    "average": "average partition size",
}
FIGURE_5 = (
    "k, 0 %",
    "k, 1 %",
    "k, 10 %",
    "k, l=(2,k), 0 %",
    "k, l=(2,k), 1 %",
    "k, l=(2,k), 10 %",
)
FIGURE_6 = (
    "k, 1 %",
    "k, 1 %, no priorities",
    "k, l=(2,k), 1 %",
    "k, l=(2,k), 1 %, no priorities",
)
NOTE = """
All values of every run are in anon_grid.csv. Without priorities every step costs 1, so the loss is
the height in the lattice. l=(2,k): two salary classes and k occupations, at most
14, in every class. Why numbers differ from the report: its quantifiers, the values of its
priorities and its hierarchies are not published (anon_table.py says what is taken in their place,
and that one of the hierarchies was chosen so that a statement of the report holds). Its other
points are only drawn. Limits are rounded up, as there: 1 % are 453 records.
"""


class Runs:
    """The anonymizations by their parameters."""

    def __init__(self, runs: list[Run]) -> None:
        self.by_key = {(run.attributes, run.priorities, run.demand): run for run in runs}

    def of(self, demand: Demand, measure: str, sizes: range) -> list[float]:
        """A measure for each number of quasi-identifiers, with priorities."""
        return [getattr(self.by_key[size, True, demand], measure) for size in sizes]

    def at(self, size: int, name: str, demands: list[Demand], measure: str) -> list[float]:
        """A measure for each k of a line of figure 5 or 6."""
        priorities = "no priorities" not in name
        return [getattr(self.by_key[size, priorities, demand], measure) for demand in demands]

    def figure_7(self, name: str, measure: str) -> list[float]:
        """A measure for each diversity of the occupation."""
        size, priorities = int(name[0]), name.endswith("with priorities")
        demands = [Demand(14, 1, l, 1) for l in range(1, OCCUPATIONS + 1)]
        return [getattr(self.by_key[size, priorities, each], measure) for each in demands]


def lines_7(sizes: range) -> list[str]:
    """The lines of figure 7."""
    return [f"{size} QIs, {word} priorities" for size in sizes[-2:] for word in ("with", "without")]


def demand_at(name: str, k: int) -> Demand:
    """The demand of a line of figure 5 or 6 at a k."""
    percent = int(name.split("%")[0].split(",")[-1])
    if "l=" not in name:
        return Demand(k, percent=percent)
    return Demand(k, 2, min(k, OCCUPATIONS), percent)


def times(sizes: range) -> dict[str, list[float]]:
    """Seconds of real searches, in which every node is counted; and of `box`."""
    seconds: dict[str, list[float]] = {name: [] for name in (*FIGURE_3, "box, k=2, 0 %")}
    for size in sizes:
        adult = read_table(size)
        for name, demand in FIGURE_3.items():
            seconds[name].append(watch(BestFirst(), problem_of(adult, demand)).seconds)
        hard = problem_of(adult, Demand(2))
        watch(BoxSearch(), hard)  # loads the compiled search
        seconds["box, k=2, 0 %"].append(watch(BoxSearch(), hard).seconds)
    return seconds


def rows_of(lines: Mapping[str, list[float]]) -> list[list[object]]:
    return [[name, *numbers] for name, numbers in lines.items()]


def same_answers(runs: Runs, size: int) -> str:
    """Which diversities of the occupation have the same answer, as `1-6, 7-9`."""
    nodes = [runs.by_key[size, True, Demand(14, 1, l, 1)].node for l in range(1, OCCUPATIONS + 1)]
    parts = []
    for _, group in groupby(enumerate(nodes, start=1), key=lambda pair: pair[1]):
        members = [l for l, _ in group]
        parts.append(f"{members[0]}-{members[-1]}" if len(members) > 1 else f"{members[0]}")
    return ", ".join(parts)


def values_of(runs: Runs, steps: Mapping[int, str]) -> dict[str, Value]:
    """The numbers that the page quotes."""

    def one(demand: Demand, size: int = 7, *, priorities: bool = True) -> Run:
        return runs.by_key[size, priorities, demand]

    adult = read_table(7)
    arx = problem_of(read_table(7, arx_marital_status=True), Demand(14, 2, 14))
    plain, diverse = Demand(2, percent=1), Demand(2, 2, 2, percent=1)
    cheaper = [
        run.visited < runs.by_key[run.attributes, False, run.demand].visited
        for run in runs.by_key.values()
        if run.attributes == 7 and run.priorities
    ]
    seven = runs.figure_7("7 QIs, with priorities", "visited")
    six = runs.figure_7("6 QIs, without priorities", "visited")
    ahead = next(l for l in range(OCCUPATIONS) if seven[l] >= six[l])
    return {
        "runs": len(runs.by_key),
        "records": adult.records,
        "lattice": problem_of(adult, Demand(2)).lattice.nodes,
        "limit": problem_of(adult, plain).limit,
        "limit_of_a_definition": adult.records // 100,
        "k2": one(Demand(2)).visited,
        "k2_wil": one(Demand(2)).wil,
        "k2_average": one(Demand(2)).average,
        "k2_1": one(plain).visited,
        "k2_1_wil": one(plain).wil,
        "k2_1_average": one(plain).average,
        "k10_l10": one(Demand(10, 2, 10)).visited,
        "k14_l14": one(Demand(14, 2, 14)).visited,
        "k14_l14_average": one(Demand(14, 2, 14)).average,
        "k14_l14_arx": watch(BestFirst(), arx).checked,
        "k2_1_diverse": one(diverse).visited,
        "k10_1": one(Demand(10, percent=1)).visited,
        "k10_1_diverse": one(Demand(10, 2, 10, percent=1)).visited,
        "k14_1_diverse": one(Demand(14, 2, 14, percent=1)).visited,
        "steps_6": steps[6],
        "steps_7": steps[7],
        "priorities_save": sum(cheaper),
        "priorities_of": len(cheaper),
        "seven_ahead_until": ahead,
        "box": watch(BoxSearch(), problem_of(adult, Demand(2))).boxes,
    }


EXPERIMENT = Experiment(
    "anon_grid",
    "ANON, figures 3 to 7: what do the parameters do to visited nodes, loss and partition size?",
    run,
    tuple(f"anon_figure_{number}" for number in range(3, 8)),
)

if __name__ == "__main__":
    EXPERIMENT.main()
