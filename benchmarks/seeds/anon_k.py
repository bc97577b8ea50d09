"""ANON, figures 5 and 6: what do k, diversity, suppression and priorities do to visited nodes?

python -m benchmarks.seeds.anon_k
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from benchmarks.seeds.anon_table import (
    KS,
    Demand,
    Tally,
    problem_of,
    read_table,
    remembered,
    without_priorities,
)
from benchmarks.seeds.experiment import Experiment, Outcome, table
from benchmarks.seeds.searching import watch
from matplotlib.figure import Figure

from shoal.search.strategies.best_first import BestFirst
from shoal.search.strategies.box import BoxSearch

if TYPE_CHECKING:
    from matplotlib.axes import Axes

OCCUPATIONS = 14
ONLY_K, DIVERSE = "k", "k, l=(2,k)"
PAPER = {"k, l=(2,k), 0 %": "1,255 at k=10; 2,160 from k=14 on", "k, 0 %": "1,075 at k=2"}


def run(quick: bool) -> Outcome:
    """Best-first for every k, with and without diversity, suppression and priorities."""
    ks = KS[:4] if quick else KS
    adult = read_table(4 if quick else 7)
    tally = Tally(adult)
    tables = {"": adult, ", no priorities": without_priorities(adult)}
    visited: dict[str, list[int]] = {}
    for percent, priorities in ((0, ""), (1, ""), (10, ""), (1, ", no priorities")):
        for kind in (ONLY_K, DIVERSE):
            name = f"{kind}, {percent} %{priorities}"
            problems = (remembered(tables[priorities], tally, asked(kind, k, percent)) for k in ks)
            visited[name] = [watch(BestFirst(), each).checked for each in problems]
    boxes = [watch(BoxSearch(), problem_of(adult, Demand(k))).boxes for k in ks]
    visited["box, k, 0 %"] = boxes
    head = ["visited nodes", *(f"k={k}" for k in ks), "report"]
    rows = [[name, *nodes, PAPER.get(name)] for name, nodes in visited.items()]
    return Outcome(table(head, rows), chart([str(k) for k in ks], visited), NOTE)


NOTE = f"""
l=(2,k): two salary classes and k occupations, at most {OCCUPATIONS}, in every class. box: boxes
opened for the same proof, without diversity and suppression. Why they differ: quantifiers and
hierarchies of the report are not published (anon_table.py). The shape is the same: without
suppression outliers force high levels, 1 % helps more than any change of k, the lines with
diversity jump from k=10 to k=14, where the rarest occupation (14 records) leaves the top of the
lattice only, and priorities that make age cheap save nodes.
"""


def asked(kind: str, k: int, percent: int) -> Demand:
    """The demand of a line at a k."""
    if kind == ONLY_K:
        return Demand(k, percent=percent)
    return Demand(k, 2, min(k, OCCUPATIONS), percent)


def chart(ks: list[str], visited: Mapping[str, list[int]]) -> Figure:
    """Figure 5 to the left: suppression; figure 6 to the right: priorities at 1 %."""
    figure = Figure(figsize=(12, 4.6), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True)
    for axes, title, chosen in (
        (left, "Figure 5: suppression, with priorities", FIGURE_5),
        (right, "Figure 6: priorities, 1 % suppression", FIGURE_6),
    ):
        for name, style in chosen.items():
            axes.plot(ks, visited[name], style, label=name, markerfacecolor=fill(name))
        finish(axes, title)
    if "14" in ks:
        left.plot(["2", "10"], [1075, 1255], "k*", markersize=10, label="the report")
        left.legend(loc="upper center", bbox_to_anchor=(0.5, -0.18), ncols=2)
    left.set_ylabel("visited nodes")
    return figure


FIGURE_5 = {
    "k, 0 %": "C1o-",
    "k, 1 %": "C0s-",
    "k, 10 %": "C4^-",
    "k, l=(2,k), 0 %": "C2o-",
    "k, l=(2,k), 1 %": "C9s-",
    "k, l=(2,k), 10 %": "C6^-",
    "box, k, 0 %": "kx-",
}
FIGURE_6 = {
    "k, 1 %": "C0s-",
    "k, 1 %, no priorities": "C1D-",
    "k, l=(2,k), 1 %": "C9s-",
    "k, l=(2,k), 1 %, no priorities": "C3D-",
}


def fill(name: str) -> str | None:
    """White markers for lines with diversity, as in the report."""
    return "white" if name.startswith(DIVERSE) else None


def finish(axes: Axes, title: str) -> None:
    axes.set(title=title, xlabel="k")
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.18), ncols=2)


EXPERIMENT = Experiment(
    "anon_k",
    "ANON, figures 5 and 6: what do k, diversity, suppression and priorities do to visited nodes?",
    run,
)

if __name__ == "__main__":
    EXPERIMENT.main()
