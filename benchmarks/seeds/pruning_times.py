"""Pruning, figure 6: how long do Flash, bfs and box take to the proof with more attributes?

python -m benchmarks.seeds pruning_times
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.seeds.experiment import Experiment, Outcome, Value, table
from benchmarks.seeds.pruning_cases import (
    BFS,
    BFS_BOUND,
    FLASH,
    FLASH_BOUND,
    LARGE,
    MACH,
    problem,
    sizes,
    timed,
)
from benchmarks.seeds.pruning_paper import measured
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

if TYPE_CHECKING:
    from benchmarks.seeds.searching import Search

STRATEGIES = (FLASH, BFS, FLASH_BOUND, BFS_BOUND, "box")
PAPER = {
    "paper: flash, explicit": ("high-execution-3.1", "TimeOptimal"),
    "paper: flash, implicit": ("high-execution-3.2", "TimeOptimal"),
    "paper: bfs": ("high-execution-3.2", "TimeHeuristic"),
}


def run(quick: bool) -> Outcome:
    """Each strategy on more and more columns of mach2019, until its proof or the limit."""
    found = {
        name: {
            size: timed(name, MACH, size, quick)
            for size in sizes(quick)
            if name == "box" or size < LARGE
        }
        for name in STRATEGIES
    }
    rows: list[list[object]] = []
    for size in sizes(quick):
        proofs = [proof(found[name].get(size)) for name in STRATEGIES]
        nodes = problem(MACH, size).lattice.nodes
        rows.append([f"{size} attributes", nodes, *proofs, *paper_seconds(size)])
    head = ("seconds to the proof", "nodes", *STRATEGIES, *PAPER)
    values: dict[str, Value] = {
        f"{name} up to": max(size for size, each in searches.items() if each.proved)
        for name, searches in found.items()
    }
    values["box nodes"] = problem(MACH, int(str(values["box up to"]))).lattice.nodes
    return Outcome(table(head, rows), {"pruning_times": chart(found)}, NOTE, values)


NOTE = """
Seconds of the processor, on one thread. A dash is a search that the limit of 5 s ended, or that was
left out: flash and bfs are run up to eight columns, since more would take minutes. Why times differ
from the paper: its survey is another table, and its program another one. Both grow with the
lattice. box closes whole boxes of nodes and proves what they cannot. The explicit lattice is in
pruning_memory.
"""


def paper_seconds(size: int) -> list[float | None]:
    """The paper's seconds on its survey table; nothing where it ran out of memory."""
    found = [measured(experiment, size, name) for experiment, name in PAPER.values()]
    return [each / 1000 if each else None for each in found]


def proof(search: Search | None) -> float | None:
    """Seconds to the proof, if there is one."""
    return search.seconds if search is not None and search.proved else None


def chart(found: dict[str, dict[int, Search]]) -> Figure:
    """Seconds to the proof; hollow markers are searches that the limit ended."""
    figure = Figure(figsize=(9, 4.6), layout="constrained")
    axes = figure.subplots()
    for (name, (experiment, measure)), style in zip(PAPER.items(), (":", "--", "-"), strict=True):
        theirs = {
            size: milliseconds / 1000
            for size in range(3, 16)
            if (milliseconds := measured(experiment, size, measure))
        }
        axes.plot(list(theirs), list(theirs.values()), "0.6", linestyle=style, label=name)
    for i, (name, style) in enumerate(
        zip(STRATEGIES, ("C0o", "C1s", "C9o", "C6s", "k^"), strict=True)
    ):
        searches = found[name].items()
        proved = {size: each.seconds for size, each in searches if each.proved}
        ended = {size + 0.1 * (i - 2): each.seconds for size, each in searches if not each.proved}
        axes.plot(list(proved), list(proved.values()), f"{style}-", label=name)
        axes.plot(list(ended), list(ended.values()), style, markerfacecolor="white")
    axes.plot([], [], "o", color="0.3", markerfacecolor="white", label="ended by the limit")
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
    axes.set(title="Figure 6: time to the proof, mach2019", xlabel="attributes", ylabel="seconds")
    axes.set_xticks(sorted(found["box"]))
    axes.legend(loc="upper left")
    return figure


EXPERIMENT = Experiment(
    "pruning_times",
    "Pruning, figure 6: how long do Flash, bfs and box take to the proof?",
    run,
    ("pruning_times",),
)

if __name__ == "__main__":
    EXPERIMENT.main()
