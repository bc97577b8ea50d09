"""Pruning, tables 2 and 4: how many nodes are checked, and how do the antichains work?

python -m benchmarks.seeds.pruning_statistics
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from benchmarks.seeds.experiment import Experiment, Outcome, table
from benchmarks.seeds.pruning_cases import ADULT, MACH, problem, searched, sizes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

if TYPE_CHECKING:
    from benchmarks.seeds.searching import Search

QUALITY, PROTECTION = "insufficient quality", "insufficient protection"
HEAD = ("", "lattice", "checked", "share", "property", "inserts", "hits", "antichain", "proved")
TABLE_2 = (
    ("paper: Adult, flash", 12960, 1180, "9.10%", QUALITY, 1062, "74.69%", "73.54%", "yes"),
    ("", None, None, "", PROTECTION, 887, "15.37%", "93.01%", ""),
)
TABLE_4 = {
    3: (96, 12, 4, 17.39, 75.00),
    4: (480, 50, 18, 20.87, 55.56),
    5: (1_440, 89, 34, 22.84, 44.12),
    6: (4_320, 177, 61, 25.13, 36.07),
    7: (12_960, 449, 157, 28.06, 31.85),
    8: (38_880, 820, 284, 29.99, 24.65),
    9: (116_640, 3_872, 1_187, 34.26, 22.16),
    10: (466_560, 15_858, 4_486, 36.80, 22.78),
    11: (1_399_680, 32_507, 10_119, 37.70, 20.43),
    12: (4_199_040, 76_679, 25_211, 38.36, 18.84),
    13: (12_597_120, 265_762, 85_303, 38.74, 19.59),
    14: (37_791_360, 626_383, 199_747, 39.15, 20.75),
    15: (113_374_080, 1_634_751, 514_863, 39.31, 20.17),
}
"""Of the paper's survey table: nodes, checked, inserts, hits and antichain in percent."""


def run(quick: bool) -> Outcome:
    """Flash, bfs and box on Adult, and with more and more columns on mach2019."""
    rows: list[tuple[object, ...]] = [*TABLE_2]
    size = 5 if quick else 9
    for name in ("flash", "bfs", "box"):
        found = searched(name, ADULT, size, quick).search
        rows += lines_of(f"Adult, {name}", problem(ADULT, size).lattice.nodes, found)
    searches: dict[str, dict[int, Search]] = {"flash": {}, "bfs": {}, "box": {}}
    for size in sizes(quick):
        if size in TABLE_4:
            nodes, checked, inserts, hits, antichain = TABLE_4[size]
            share = f"{checked / nodes:.2%}"
            figures = (f"{hits}%", f"{antichain}%", "yes")
            paper = f"paper: survey, {size} attributes, bfs"
            rows.append((paper, nodes, checked, share, QUALITY, inserts, *figures))
        for name, found_by in searches.items():
            found = searched(name, MACH, size, quick).search
            nodes = problem(MACH, size).lattice.nodes
            rows += lines_of(f"mach2019, {size} attributes, {name}", nodes, found)
            found_by[size] = found
    return Outcome(table(HEAD, rows), chart(searches), NOTE)


NOTE = """
antichain: its largest size as a share of the inserts. box: nodes checked and boxes opened. Searches
without proof were ended by the limit, so their shares are only beginnings. Why Flash checks fewer
nodes than in the paper: what a node costs without suppression is known here before its classes are
counted, so a node that this bound rules out is not checked, and paths follow the least bound. The
same bound makes more inserts than checks possible. The survey table is not public; mach2019 has
other columns, so only the trends compare: hits rise with the attributes and the antichain's share
of the inserts falls; the share of nodes that bfs checks does not.
"""


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
    attributes = list(TABLE_4)
    shares = [checked / nodes for nodes, checked, *_ in TABLE_4.values()]
    left.plot(attributes, shares, "0.5", marker="*", label="paper: bfs on the survey")
    for (name, found), style in zip(searches.items(), ("C0o-", "C1s-", "kx-"), strict=True):
        proved = {size: each for size, each in found.items() if each.proved}
        looked = [each.looks / problem(MACH, size).lattice.nodes for size, each in proved.items()]
        left.plot(list(proved), looked, style, label=f"{name} on mach2019, proved")
    left.set_yscale("log")
    left.yaxis.set_major_formatter(PercentFormatter(1, decimals=None))
    left.set(title="Nodes looked at", xlabel="attributes", ylabel="share of the lattice")
    left.legend()
    right.plot(attributes, [row[3] for row in TABLE_4.values()], "C2*--", label="paper: hits")
    right.plot(attributes, [row[4] for row in TABLE_4.values()], "C3*--", label="paper: antichain")
    bfs = searches["bfs"].items()
    used = {size: each.statistics[QUALITY] for size, each in bfs if each.proved}
    right.plot(list(used), [100 * each.hit_rate for each in used.values()], "C2s-", label="hits")
    shares = [100 * each.antichain_share for each in used.values()]
    right.plot(list(used), shares, "C3s-", label="antichain")
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
    "Pruning, tables 2 and 4: how many nodes are checked, and how do the antichains work?",
    run,
)

if __name__ == "__main__":
    EXPERIMENT.main()
