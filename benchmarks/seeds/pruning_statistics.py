"""Pruning, tables 2 and 4: how many nodes are checked, and what do the antichains save?

python -m benchmarks.seeds pruning_statistics
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from benchmarks.seeds.experiment import Experiment, Outcome, Value, table
from benchmarks.seeds.pruning_cases import (
    ADULT,
    ALL_COLUMNS,
    BFS,
    BFS_BOUND,
    FARS,
    FLASH,
    FLASH_BOUND,
    LARGE,
    MACH,
    PAPER_NAMES,
    mixed,
    problem,
    searched,
    sizes,
    with_random_ties,
    without,
)
from benchmarks.seeds.pruning_paper import flash_numbers, measured
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

if TYPE_CHECKING:
    from benchmarks.seeds.searching import Search

TIES = 8
"""Random orders of equal nodes."""

QUALITY, PROTECTION = "insufficient quality", "insufficient protection"
HEAD = ("", "lattice", "checked", "share", "property", "inserts", "hits", "antichain", "proved")
SURVEY = {
    3: 96,
    4: 480,
    5: 1_440,
    6: 4_320,
    7: 12_960,
    8: 38_880,
    9: 116_640,
    10: 466_560,
    11: 1_399_680,
    12: 4_199_040,
    13: 12_597_120,
    14: 37_791_360,
    15: 113_374_080,
}
"""Nodes of the paper's survey table by the number of attributes."""


def run(quick: bool) -> Outcome:
    """Flash on Adult and Fars, bfs with more and more columns of mach2019, and without stores."""
    rows: list[tuple[object, ...]] = []
    values: dict[str, Value] = {}
    for data in (ADULT,) if quick else (ADULT, FARS):
        size = 5 if quick else ALL_COLUMNS[data]
        nodes = problem(data, size).lattice.nodes
        if not quick:
            rows += paper_rows(data, nodes)
        for name in (FLASH, FLASH_BOUND, "box"):
            found = searched(name, data, size, quick).search
            rows += lines_of(f"{data}, {name}", nodes, found)
            values[f"{data} {name}"] = found.looks
        if not quick:
            values |= compared(data, nodes) | other_orders(data)
    saved = stores_off(quick)
    by_size: dict[str, dict[int, Search]] = {BFS: {}, BFS_BOUND: {}, "box": {}}
    for size in sizes(quick)[: LARGE - 3]:
        rows += survey_row(size)
        for name, found_by in by_size.items():
            found_by[size] = searched(name, MACH, size, quick).search
            nodes = problem(MACH, size).lattice.nodes
            rows += lines_of(f"mach2019, {size} attributes, {name}", nodes, found_by[size])
    bfs = {size: each for size, each in by_size[BFS].items() if each.proved}
    for size, each in bfs.items():
        values[f"bfs share {size}"] = each.checked / problem(MACH, size).lattice.nodes
        values[f"bfs hits {size}"] = each.statistics[QUALITY].hit_rate
        values[f"bfs antichain {size}"] = each.statistics[QUALITY].antichain_share
    values["bfs proved up to"] = max(bfs)
    values |= {f"{name}, {store}": number for name, store, number in saved}
    off = table(("nodes checked on Adult", "stores", "checked"), saved)
    orders = [
        [name, number] for name, number in values.items() if " by " in name or " ties " in name
    ]
    lines = [*table(HEAD, rows), "", *off, "", *table(("flash, other orders", "checked"), orders)]
    return Outcome(lines, {"pruning_statistics": chart(by_size)}, NOTE, values)


NOTE = """
antichain: its largest size as a share of the inserts. box: nodes checked and boxes opened. Why
numbers of `flash, as published` differ from the paper's by a few percent: the order of nodes with
equal criteria is not published, and other orders change the number (the last table has the least
and the most of eight random ones); on Fars the paper's number is between these, on Adult it is not,
so there is another reason that was not found. With the bound known before the check no node is
checked that the antichain of quality would rule out: it saves no check, as the second table shows;
that of protection does. The survey table is public, but not among our tables. mach2019 has other
columns, so only the trends compare: hits rise and the antichain's share of the inserts falls, as
there; the share of nodes that bfs checks falls there and rises here.
"""


def paper_rows(data: str, nodes: int) -> Iterator[tuple[object, ...]]:
    """Table 2 of the paper for one table."""
    name = PAPER_NAMES[data]
    checked = int(flash_numbers(name, nodes, "Checked")["PutProperty"])
    first = (f"paper: {name}, flash", nodes, checked, f"{checked / nodes:.2%}")
    kinds = ((QUALITY, "Insufficient utility"), (PROTECTION, "Not anonymous"))
    for i, (kind, store) in enumerate(kinds):
        found = flash_numbers(name, nodes, store)
        numbers = (
            int(found["PutProperty"]),
            f"{found['Hitrate']:.2%}",
            f"{found['Antichain']:.2%}",
        )
        start = first if i == 0 else ("", None, None, "")
        yield (*start, kind, *numbers, "yes" if i == 0 else "")


def survey_row(size: int) -> Iterator[tuple[object, ...]]:
    """Table 4 of the paper for one number of attributes."""
    nodes = SURVEY.get(size)
    experiment = "high-jhpl-numbers-3.2"
    if nodes is None:
        return
    checked = measured(experiment, size, "PutProperty", f"{nodes}|Checked") or 0
    kind = f"{nodes}|Insufficient utility"
    inserts = measured(experiment, size, "PutProperty", kind) or 0
    hits = measured(experiment, size, "Hitrate", kind) or 0
    antichain = measured(experiment, size, "Antichain", kind) or 0
    yield (
        f"paper: survey, {size} attributes, bfs",
        nodes,
        int(checked),
        f"{checked / nodes:.2%}",
        QUALITY,
        int(inserts),
        f"{hits:.2%}",
        f"{antichain:.2%}",
        "yes",
    )


def compared(data: str, nodes: int) -> dict[str, Value]:
    """The numbers of table 2, theirs and ours."""
    name = PAPER_NAMES[data]
    ours = searched(FLASH, data, ALL_COLUMNS[data], False).search
    theirs = flash_numbers(name, nodes, "Checked")["PutProperty"]
    found: dict[str, Value] = {
        f"{data} lattice": nodes,
        f"{data} paper": int(theirs),
        f"{data} paper share": theirs / nodes,
        f"{data} share": ours.checked / nodes,
        f"{data} off": abs(ours.checked - theirs) / theirs,
    }
    for kind, store in ((QUALITY, "Insufficient utility"), (PROTECTION, "Not anonymous")):
        paper = flash_numbers(name, nodes, store)
        found[f"{data} {kind} paper hits"] = paper["Hitrate"]
        found[f"{data} {kind} paper antichain"] = paper["Antichain"]
        found[f"{data} {kind} hits"] = ours.statistics[kind].hit_rate
        found[f"{data} {kind} antichain"] = ours.statistics[kind].antichain_share
    return found


def other_orders(data: str) -> dict[str, Value]:
    """Checks of Flash in both orders with the bound known after or before, and with other ties."""
    size = ALL_COLUMNS[data]
    ties = [with_random_ties(seed, data, size) for seed in range(TIES)]
    return {
        f"{data} by heights, bound after": mixed(True, False, data, size),
        f"{data} by heights, bound before": mixed(True, True, data, size),
        f"{data} by bounds, bound after": mixed(False, False, data, size),
        f"{data} by bounds, bound before": mixed(False, True, data, size),
        f"{data} ties least": min(ties),
        f"{data} ties most": max(ties),
    }


def stores_off(quick: bool) -> list[tuple[str, str, int]]:
    """Checks on Adult with both antichains, and without one of them."""
    size = 5 if quick else 7
    rows = []
    for name in (FLASH, FLASH_BOUND, BFS, BFS_BOUND):
        rows.append((name, "both", searched(name, ADULT, size, quick).search.checked))
        rows.append((name, "no quality", without("up", name, ADULT, size, quick).checked))
        if name in (FLASH, FLASH_BOUND):
            rows.append((name, "no protection", without("down", name, ADULT, size, quick).checked))
    return rows


def lines_of(name: str, nodes: int, search: Search) -> Iterator[tuple[object, ...]]:
    """A line for each property of a search."""
    first = (name, nodes, search.looks, f"{search.looks / nodes:.2%}")
    proved = "yes" if search.proved else "no"
    if not search.statistics:
        yield (*first, None, None, None, None, proved)
    for i, (kind, each) in enumerate(search.statistics.items()):
        figures = (kind, each.inserts, f"{each.hit_rate:.2%}", f"{each.antichain_share:.2%}")
        yield (*first, *figures, proved) if i == 0 else ("", None, None, "", *figures, "")


def chart(searches: dict[str, dict[int, Search]]) -> Figure:
    """Nodes looked at as a share of the lattice; hits and antichain of bfs."""
    figure = Figure(figsize=(12, 4.4), layout="constrained")
    left, right = figure.subplots(1, 2)
    experiment = "high-jhpl-numbers-3.2"
    shares = [
        (measured(experiment, size, "PutProperty", f"{nodes}|Checked") or 0) / nodes
        for size, nodes in SURVEY.items()
    ]
    left.plot(list(SURVEY), shares, "0.5", marker="*", label="paper: bfs on the survey")
    for (name, found), style in zip(searches.items(), ("C1s-", "C0o-", "kx-"), strict=True):
        proved = {size: each for size, each in found.items() if each.proved}
        looked = [each.looks / problem(MACH, size).lattice.nodes for size, each in proved.items()]
        left.plot(list(proved), looked, style, label=f"{name}, mach2019")
    left.set_yscale("log")
    left.yaxis.set_major_formatter(PercentFormatter(1, decimals=None))
    left.set(title="Nodes looked at", xlabel="attributes", ylabel="share of the lattice")
    left.legend()
    used = {size: each.statistics[QUALITY] for size, each in searches[BFS].items() if each.proved}
    for measure, colour, ours in (
        ("Hitrate", "C2", [100 * each.hit_rate for each in used.values()]),
        ("Antichain", "C3", [100 * each.antichain_share for each in used.values()]),
    ):
        theirs = [
            100 * (measured(experiment, size, measure, f"{nodes}|Insufficient utility") or 0)
            for size, nodes in SURVEY.items()
        ]
        word = "hits" if measure == "Hitrate" else "antichain"
        right.plot(list(SURVEY), theirs, f"{colour}*--", label=f"paper: {word}")
        right.plot(list(used), ours, f"{colour}s-", label=word)
    right.set(
        title="Table 4: the antichain of bfs, where proved",
        xlabel="attributes",
        ylabel="% of queries, % of inserts",
        ylim=(0, 100),
    )
    right.legend(ncols=2)
    for axes in (left, right):
        axes.set_xticks(range(3, 16))
    return figure


EXPERIMENT = Experiment(
    "pruning_statistics",
    "Pruning, tables 2 and 4: how many nodes are checked, and what do the antichains save?",
    run,
    ("pruning_statistics",),
)

if __name__ == "__main__":
    EXPERIMENT.main()
