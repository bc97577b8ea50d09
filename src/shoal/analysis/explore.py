"""The nodes of a picture that people walk through: all where they fit, else those around one.

Nothing is searched here: the caller knows the best node from a search, and which one to stand at.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from shoal.analysis.hasse import MOST_DRAWN, fits_in_rows, neighbourhood
from shoal.analysis.lattice import demanded_of
from shoal.analysis.nodes import (
    Clock,
    ignore,
    levels_of,
    precision_of,
    read_problem,
    smallest_class,
)
from shoal.steps.choosing import node_of

if TYPE_CHECKING:
    from shoal.calling.argument_types import DefinitionLike, Watch
    from shoal.search.problem import Lattice, Problem
    from shoal.values import Node


@dataclass(frozen=True)
class ExploredNode:
    """A node: what would be released there, and what would be left out.

    `k` is the smallest class that would be released, of all classes where the node is not safe.
    It counts persons where the definition names them. `loss` is None where no record is left.
    """

    node: tuple[int, ...]
    k: int
    suppressed: int
    precision: float
    loss: float | None
    safe: bool


@dataclass(frozen=True)
class Explored:
    """Nodes by height, then by levels; all of them (`complete`), or those around the start.

    `start` is the node that they are around: the one that was asked for, else the top.
    """

    names: tuple[str, ...]
    heights: tuple[int, ...]
    nodes: tuple[ExploredNode, ...]
    complete: bool
    lattice: int
    start: tuple[int, ...]
    demanded: str
    records: int

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


def explore(
    definition: DefinitionLike,
    around: Mapping[str, int] | None = None,
    also: Sequence[Mapping[str, int]] = (),
    *,
    watch: Watch = ignore,
    file: str | None = None,
    spark: Any = None,
) -> Explored:
    """The nodes of the lattice that a picture can show; nothing is released.

    Args:
        definition: A path, a mapping or a model.
        around: The levels of the node to stand at where not all nodes fit; else the top.
        also: Levels of further nodes that are counted in any case, such as the optimum.
        watch: Called with a line about the progress.
        file: What messages call the definition, by default its path.
        spark: The session for a source in Spark, else one is made.
    """
    _, problem = read_problem(definition, watch, file, spark)
    lattice, table = problem.lattice, problem.table
    start = lattice.top if around is None else _within(lattice, node_of(table, around))
    chosen = _all_that_fit(lattice)
    complete = chosen is not None
    if chosen is None:
        further = [_within(lattice, node_of(table, levels)) for levels in also]
        chosen = list(dict.fromkeys([*neighbourhood(lattice, start), *further]))
    counted = _count(problem, chosen, Clock(watch=watch))
    return Explored(
        names=tuple(levels_of(problem, start)),
        heights=tuple(attribute.height for attribute in table.attributes),
        nodes=tuple(sorted(counted, key=lambda each: (sum(each.node), each.node))),
        complete=complete,
        lattice=problem.nodes,
        start=start,
        demanded=demanded_of(problem),
        records=table.records,
    )


def _within(lattice: Lattice, node: Node) -> Node:
    """The node, or the nearest above it that was counted: no solution is below."""
    return tuple(max(level, least) for level, least in zip(node, lattice.bottom, strict=True))


def _all_that_fit(lattice: Lattice) -> list[Node] | None:
    """Every node where a picture can show them all."""
    if lattice.nodes > MOST_DRAWN:
        return None
    ranges = zip(lattice.bottom, lattice.top, strict=True)
    nodes = list(itertools.product(*(range(low, high + 1) for low, high in ranges)))
    return nodes if fits_in_rows(nodes) else None


def _count(problem: Problem, nodes: Sequence[Node], clock: Clock) -> Iterator[ExploredNode]:
    for number, node in enumerate(nodes):
        clock.say(f"Counting nodes: {number:,} of {len(nodes):,}")
        classes = problem.partition(node)
        safe = problem.judge(node, classes) is not None
        yield ExploredNode(
            node=node,
            k=smallest_class(classes, released=safe),
            suppressed=classes.suppressed,
            precision=precision_of(problem, node),
            loss=problem.objective.measure(node, classes) if classes.kept.any() else None,
            safe=safe,
        )
