"""Pruning, figure 5: how much memory does an implicit lattice need, how much an explicit one?

python -m benchmarks.seeds.pruning_memory
"""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from benchmarks.seeds.experiment import Experiment, Outcome, table
from benchmarks.seeds.pruning_cases import MACH, problem, searched, sizes
from benchmarks.seeds.stores import ExplicitLattice
from matplotlib.figure import Figure

from shoal.search.antichain import Antichain

if TYPE_CHECKING:
    from benchmarks.seeds.pruning_cases import Watched

BUILT = 20_000
"""Explicit lattices up to so many nodes are built; larger ones would need as much for each node."""


def run(quick: bool) -> Outcome:
    """The bytes of both, for more and more columns of mach2019."""
    rows: list[list[object]] = []
    explicit, implicit, proved = {}, {}, []
    for size in sizes(quick):
        lattice = problem(MACH, size).lattice
        watched = searched("flash", MACH, size, quick)
        built = lattice.nodes <= BUILT
        if built:
            taken = bytes_of(partial(ExplicitLattice, lattice.top))
            per_node = taken / lattice.nodes
        explicit[size] = per_node * lattice.nodes / 2**20
        implicit[size] = bytes_of(partial(facts, watched, size)) / 2**20
        proved += [size] * watched.search.proved
        rows.append(
            [
                f"{size} attributes",
                lattice.nodes,
                megabytes(explicit[size]) + ("" if built else " (computed)"),
                megabytes(implicit[size]),
                watched.search.checked,
                "yes" if watched.search.proved else "no",
            ]
        )
    head = ("", "nodes", "explicit MiB", "implicit MiB", "checked", "proved")
    return Outcome(table(head, rows), chart(explicit, implicit, proved), NOTE)


NOTE = """
explicit: every node with its neighbours and a tag; computed from the bytes of a node where it is
too large to build. implicit: both antichains and the set of checked nodes when Flash ends, by its
proof or by the limit. The paper: about 1 GiB against 100 MiB with 12 attributes, and the explicit
lattice ran out of 8 GiB above. Why they differ: the paper measures the process, here only what is
kept of the lattice counts. box keeps no node at all: its open boxes are as many as it has not
explored (benchmarks/box.py measures the memory of the process).
"""


def facts(watched: Watched, attributes: int) -> object:
    """What a search keeps: the antichains and the nodes that it checked."""
    antichains = {"up": Antichain(attributes, "up"), "down": Antichain(attributes, "down")}
    for direction, insert, node in watched.operations:
        if insert:
            antichains[direction].insert(tuple(node))
    number = watched.search.checked
    return antichains, {(i, *range(attributes - 1)) for i in range(number)}


def bytes_of(make: Callable[[], object]) -> int:
    """The memory that is in use after something was made and as long as it is kept."""
    tracemalloc.start()
    made = make()
    taken = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    del made
    return taken


def megabytes(number: float) -> str:
    return f"{number:,.2f}" if number < 100 else f"{number:,.0f}"


def chart(explicit: dict[int, float], implicit: dict[int, float], proved: list[int]) -> Figure:
    """Both kinds on a logarithmic scale, with what the paper says of 12 attributes."""
    ended = [size for size in implicit if size not in proved]
    figure = Figure(figsize=(8, 4.4), layout="constrained")
    axes = figure.subplots()
    axes.plot(list(explicit), list(explicit.values()), "C3o-", label="explicit lattice")
    axes.plot(list(implicit), list(implicit.values()), "C0s-", label="implicit: antichains")
    early = [implicit[size] for size in ended]
    axes.plot(ended, early, "C0s", markerfacecolor="white", label="implicit, ended by the limit")
    axes.plot([12], [1024], "C3*", markersize=12, label="paper: explicit, 12 attributes")
    axes.plot([12], [100], "C0*", markersize=12, label="paper: implicit, 12 attributes")
    axes.set_yscale("log")
    axes.set(title="Figure 5: memory of the lattice", xlabel="attributes", ylabel="MiB")
    axes.set_xticks(list(explicit))
    axes.legend(loc="upper left")
    return figure


EXPERIMENT = Experiment(
    "pruning_memory", "Pruning, figure 5: how much memory does an implicit lattice need?", run
)

if __name__ == "__main__":
    EXPERIMENT.main()
