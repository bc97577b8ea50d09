"""Pruning, table 3: what does predictive tagging save bfs?

python -m benchmarks.seeds pruning_tagging
"""

from __future__ import annotations

from benchmarks.seeds.experiment import Experiment, Outcome, Value, table
from benchmarks.seeds.pruning_cases import BFS, LARGE, MACH, timed, without
from benchmarks.seeds.pruning_paper import measured
from matplotlib.figure import Figure


def run(quick: bool) -> Outcome:
    """bfs as published with its antichain and with one that covers nothing."""
    rows: list[list[object]] = []
    values: dict[str, Value] = {}
    saved, theirs, fewer = dict[int, float](), dict[int, float](), list[float]()
    for size in range(4, 6 if quick else LARGE):
        tagged = timed(BFS, MACH, size, quick)
        plain = without("up", BFS, MACH, size, quick)
        saved[size] = 1 - tagged.seconds / plain.seconds
        paper = paper_saves(size)
        theirs[size] = paper
        checks = 1 - tagged.checked / plain.checked
        fewer.append(checks)
        rows.append(
            [
                f"{size} attributes",
                plain.checked,
                tagged.checked,
                f"{checks:.1%}",
                plain.seconds,
                tagged.seconds,
                f"{saved[size]:.1%}",
                f"{paper:.1%}",
                "yes" if plain.proved and tagged.proved else "no",
            ]
        )
        values |= {f"checks saved {size}": checks, f"time saved {size}": saved[size]}
    values |= {"most checks saved": max(fewer), "least checks saved": min(fewer)}
    head = (
        "mach2019",
        "checks without",
        "with",
        "saved",
        "seconds without",
        "with",
        "saved",
        "paper: time saved",
        "proved",
    )
    return Outcome(table(head, rows), {"pruning_tagging": chart(saved, theirs)}, NOTE, values)


NOTE = """
Without: the same search when the antichain of insufficient quality covers nothing, so a node is
pruned only by its own bound. Seconds are those of the processor. The paper: 2 to 20 % of the time
on its survey table, most with many attributes; mach2019 is another table.
"""


def paper_saves(size: int) -> float:
    """The share of the time that tagging saved in the paper."""
    plain = measured("high-execution-3.2-notag", size, "TimeHeuristic") or 0
    tagged = measured("high-execution-3.2", size, "TimeHeuristic") or 0
    return 1 - tagged / plain


def chart(saved: dict[int, float], theirs: dict[int, float]) -> Figure:
    """The saved share of the time, ours and theirs."""
    figure = Figure(figsize=(8, 4), layout="constrained")
    axes = figure.subplots()
    axes.plot(list(theirs), [100 * each for each in theirs.values()], "0.5", marker="*")
    axes.plot(list(saved), [100 * each for each in saved.values()], "C0o-")
    axes.legend(["paper: survey", "mach2019"])
    axes.set(title="Table 3: time saved by tagging", xlabel="attributes", ylabel="%")
    axes.set_xticks(list(saved))
    return figure


EXPERIMENT = Experiment(
    "pruning_tagging",
    "Pruning, table 3: what does predictive tagging save bfs?",
    run,
    ("pruning_tagging",),
)

if __name__ == "__main__":
    EXPERIMENT.main()
