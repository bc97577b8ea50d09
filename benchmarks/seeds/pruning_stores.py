"""Pruning, table 1: what does each idea of the antichain's prefix tree save?

python -m benchmarks.seeds pruning_stores
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from benchmarks.seeds.experiment import Experiment, Outcome, Value, table
from benchmarks.seeds.pruning_cases import (
    ADULT,
    FARS,
    FLASH,
    MACH,
    Operation,
    problem,
    searched,
)
from benchmarks.seeds.stores import (
    AntichainList,
    ExplicitLattice,
    PrefixTree,
    SimpleList,
    Store,
)
from matplotlib.figure import Figure

from shoal.search.antichain import Antichain

if TYPE_CHECKING:
    from shoal.values import Node

PAPER = {
    "paper: Adult": (0.247, 0.230, 0.061, 0.055),
    "paper: Fars": (0.364, 0.240, 0.074, 0.071),
    "paper: SS13ACS, 10 attributes": (21.730, 15.032, 1.861, 1.797),
}
HEAD = ("seconds", "list", "antichain list", "prefix tree", "tree with minimum")


def run(quick: bool) -> Outcome:
    """What Flash asked of its antichains, asked again of every kind of store."""
    cases = ((ADULT, 5), (MACH, 5)) if quick else ((ADULT, 9), (FARS, 8), (MACH, 7))
    rows: list[list[object]] = [[name, *seconds, None, None] for name, seconds in PAPER.items()]
    for data, size in cases:
        watched = searched(FLASH, data, size, quick)
        top = problem(data, size).lattice.top
        stores: Sequence[Callable[[], Store]] = (
            SimpleList,
            AntichainList,
            partial(PrefixTree, minimum=False),
            partial(PrefixTree, minimum=True),
            partial(Antichain, size, "up"),
            partial(ExplicitLattice, top),
        )
        note = "" if watched.search.proved else ", until the limit"
        name = f"{data}, {size} attributes, {len(watched.operations):,} operations{note}"
        rows.append([name, *(replay(watched.operations, top, store) for store in stores)])
    head = (*HEAD, "ours", "explicit lattice")
    values: dict[str, Value] = {}
    for row in rows[len(PAPER) :]:
        data = str(row[0]).split(",")[0]
        plain, _, _, tree, ours, explicit = (float(str(each)) for each in row[1:])
        values |= {f"{data} tree": tree / plain, f"{data} ours": ours / plain}
        values[f"{data} explicit"] = explicit / plain
    return Outcome(table(head, rows), {"pruning_stores": chart(rows)}, NOTE, values)


NOTE = """
Inserts and queries of one Flash search as published, both properties, replayed on each store and
timed. As in the paper the antichain and the prefix tree save time, the tree most; the minimum of
ranks saves little there and nothing reliably here. Why seconds differ: Python takes ten times the
Java time and more for each step. `ours` is the tree of the search: it bounds the ranks of what
follows a level from both sides. The explicit lattice answers at once, but has to be built first,
which is in its time, and holds every node.
"""


def replay(operations: Sequence[Operation], top: Node, make: Callable[[], Store]) -> float:
    """Seconds of the processor for all operations, on a store for each direction."""
    asked = [
        (direction, insert, node if direction == "up" else flipped(node, top))
        for direction, insert, node in operations
    ]
    started = time.process_time()
    stores = {"up": make(), "down": make()}
    for direction, insert, node in asked:
        if insert:
            stores[direction].insert(node)
        else:
            stores[direction].covers(node)
    return time.process_time() - started


def flipped(node: Node, top: Node) -> Node:
    """The node seen from the top: what was below is above."""
    return tuple(highest - level for level, highest in zip(node, top, strict=True))


def chart(rows: Sequence[Sequence[object]]) -> Figure:
    """The four options of each case, relative to the simple list."""
    figure = Figure(figsize=(10, 4.6), layout="constrained")
    axes = figure.subplots()
    labels = (*HEAD[1:], "ours")
    for i, row in enumerate(rows):
        values = [value for value in row[1:6] if isinstance(value, float)]
        places = [j + (i - len(rows) / 2 + 0.5) * 0.8 / len(rows) for j in range(len(values))]
        colour = ("0.8", "0.65", "0.5")[i] if i < len(PAPER) else f"C{i - len(PAPER)}"
        name = str(row[0])
        axes.bar(
            places,
            [100 * value / values[0] for value in values],
            0.75 / len(rows),
            color=colour,
            label=name,
        )
    axes.set_xticks(range(len(labels)), labels)
    axes.set(title="Table 1: time for inserts and queries", ylabel="% of the simple list")
    figure.legend(loc="outside lower center", ncols=2)
    return figure


EXPERIMENT = Experiment(
    "pruning_stores",
    "Pruning, table 1: what does each idea of the prefix tree save?",
    run,
    ("pruning_stores",),
)

if __name__ == "__main__":
    EXPERIMENT.main()
