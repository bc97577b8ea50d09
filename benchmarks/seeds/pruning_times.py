"""Pruning, figure 6: how long do Flash, bfs and box take to the proof with more attributes?

python -m benchmarks.seeds.pruning_times
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.seeds.experiment import Experiment, Outcome, table
from benchmarks.seeds.pruning_cases import MACH, problem, searched, sizes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

if TYPE_CHECKING:
    from benchmarks.seeds.searching import Search

PAPER = {
    4: 0.019,
    5: 0.033,
    6: 0.067,
    7: 0.223,
    8: 0.533,
    9: 4.13,
    15: 6850.0,
}
"""Seconds of the paper's bfs on its survey table, where the text has them."""

STRATEGIES = ("flash", "bfs", "box")


def run(quick: bool) -> Outcome:
    """Each strategy on more and more columns of mach2019, until its proof or the limit."""
    found = {
        name: {size: searched(name, MACH, size, quick).search for size in sizes(quick)}
        for name in STRATEGIES
    }
    rows: list[list[object]] = []
    for size in sizes(quick):
        proofs = [proof(found[name][size]) for name in STRATEGIES]
        gaps = [loss(found[name][size]) for name in STRATEGIES]
        nodes = problem(MACH, size).lattice.nodes
        rows.append([f"{size} attributes", nodes, *proofs, *gaps, PAPER.get(size)])
    losses = (f"loss, {name}" for name in STRATEGIES)
    head = ("seconds to the proof", "nodes", *STRATEGIES, *losses, "paper: bfs, survey")
    return Outcome(table(head, rows), chart(found), NOTE)


NOTE = """
All on one thread; a dash is a search that the limit ended, beside the best loss it knew. Why they
differ: the survey table is not public, and counting the classes of one node takes milliseconds in
either implementation, so what compares is how the times grow. As in the paper both grow with the
lattice, bfs faster than Flash here; the explicit lattice is left out, since it only changes the
memory (figure 5). box closes whole boxes and proves what they cannot.
"""


def proof(search: Search) -> float | None:
    """Seconds to the proof, if there is one."""
    return search.seconds if search.proved else None


def loss(search: Search) -> str | None:
    """The best loss known at the end."""
    return None if search.best is None else f"{search.best.loss:.6f}"


def chart(found: dict[str, dict[int, Search]]) -> Figure:
    """Seconds to the proof; hollow markers are searches that the limit ended."""
    figure = Figure(figsize=(9, 4.6), layout="constrained")
    axes = figure.subplots()
    axes.plot(list(PAPER), list(PAPER.values()), "0.5", marker="*", label="paper: bfs, its survey")
    for i, (name, style) in enumerate(zip(STRATEGIES, ("C0o", "C1s", "k^"), strict=True)):
        searches = found[name].items()
        proved = {size: each.seconds for size, each in searches if each.proved}
        ended = {size + 0.16 * (i - 1): each.seconds for size, each in searches if not each.proved}
        axes.plot(list(proved), list(proved.values()), f"{style}-", label=name)
        axes.plot(list(ended), list(ended.values()), style, markerfacecolor="white")
    axes.plot([], [], "o", color="0.3", markerfacecolor="white", label="ended by the limit")
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
    axes.set(title="Figure 6: time to the proof, mach2019", xlabel="attributes", ylabel="seconds")
    axes.set_xticks(sorted({*PAPER, *found["box"]}))
    axes.legend(loc="upper left")
    return figure


EXPERIMENT = Experiment(
    "pruning_times", "Pruning, figure 6: how long do Flash, bfs and box take to the proof?", run
)

if __name__ == "__main__":
    EXPERIMENT.main()
