"""`shoal.lattice`: every node with its k, suppressed records, precision and loss, safe or not."""

from __future__ import annotations

import csv
import io
import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from shoal.analysis.hasse import Drawn, draw, fits_in_rows, neighbourhood
from shoal.analysis.nodes import (
    Clock,
    ignore,
    levels_of,
    name_of,
    precision_of,
    read_problem,
    rows_of,
    smallest_class,
)
from shoal.calling.public import public
from shoal.errors import UserError
from shoal.events import Progress
from shoal.pipeline import load
from shoal.report.sections import Section, count
from shoal.report.shown import Picture, Shown
from shoal.search.incumbent import Limits
from shoal.search.problem import Lattice
from shoal.search.strategies.box import BoxSearch
from shoal.steps.local_release import refuse_local

if TYPE_CHECKING:
    from shoal.calling.argument_types import DefinitionLike, SparkSession, Watch
    from shoal.search.problem import Problem
    from shoal.values import Best, Node

MOST_NODES = 20_000
"""So many nodes are counted, unless another number is asked for."""

MOST_SHOWN, LEAST_LOSSY = 40, 25
"""So many nodes are printed; of a larger lattice so many of the safe ones that lose least."""


@dataclass(frozen=True)
class LatticeNode:
    """A node: the smallest class with nothing suppressed, the records that would be suppressed.

    `k` counts persons where the definition names them. `precision` looks at the levels alone, and
    `loss` counts the suppressed records.
    """

    levels: Mapping[str, int]
    k: int
    suppressed: int
    precision: float
    loss: float
    safe: bool

    @property
    def node(self) -> Node:
        return tuple(self.levels.values())


@dataclass(frozen=True, repr=False)
class LatticeNodes(Shown):
    """The nodes by height, then by levels; all of them (`complete`), or those near the best.

    `optimum` are the levels of the least lossy safe node; None where no node is safe. `bottom` and
    `top` are the least and most general nodes. A table that is too large to be counted at its
    lowest levels has a bottom above them; no node below that bottom is safe.
    """

    nodes: tuple[LatticeNode, ...]
    complete: bool
    optimum: Mapping[str, int] | None
    demanded: str
    lattice: int
    bottom: Node
    top: Node
    seconds: float

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as `shoal lattice --json` writes them."""
        return {
            "nodes": [dict(vars(each)) for each in self.nodes],
            "complete": self.complete,
            "optimum": self.optimum,
            "lattice": self.lattice,
            "seconds": self.seconds,
        }

    def to_csv(self) -> str:
        """A line for each node, with a column for each level."""
        rows = self.records()
        text = io.StringIO()
        writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows({**row, "safe": str(row["safe"]).lower()} for row in rows)
        return text.getvalue()

    def sections(self) -> tuple[Section, ...]:
        """How many nodes are safe, then the nodes."""
        shown = self.nodes
        title = f"Levels of {', '.join(self.nodes[0].levels)}"
        lines: tuple[str, ...] = ()
        if len(shown) > MOST_SHOWN:
            safe = sorted((each for each in shown if each.safe), key=_rank)
            shown = tuple(safe[:LEAST_LOSSY])
            lines = (f"The {count(len(shown), 'safe node')} with the least loss:",)
        return (
            Section("", tuple(self._verdict())),
            Section(
                title,
                lines,
                heading=("levels", "k", "suppressed", "precision", "loss", ""),
                rows=tuple(self._row(each) for each in shown),
                numbers=(1, 2, 3, 4),
            ),
        )

    def records(self) -> list[dict[str, Any]]:
        """A row for each node: a column for each level, then what it means."""
        return rows_of(self.nodes)

    def plot(self) -> Picture:
        """Rows by height with the safe nodes and the optimum marked.

        All nodes where they fit into a picture, else the neighbourhood of the optimum, or of the
        top where no node is safe.
        """
        optimum = None if self.optimum is None else tuple(self.optimum.values())
        nodes = {each.node: each for each in self.nodes}
        what = "k with nothing suppressed, and the records that would be suppressed"
        said = [f"{what}; safe means {self.demanded}."]
        if not self.complete or not fits_in_rows(nodes):
            start = self.top if optimum is None else optimum
            within = Lattice(self.top, self.bottom)
            near = [node for node in neighbourhood(within, start) if node in nodes]
            nodes = {node: nodes[node] for node in near}
        if len(nodes) < self.lattice:
            around = "the least lossy safe node" if optimum else "the most general node"
            said.append(f"Shown: {len(nodes):,} of {self.lattice:,} nodes, those around {around}.")
        shown = [
            Drawn(node, f"k={each.k:,}, {each.suppressed:,} out", each.safe)
            for node, each in nodes.items()
        ]
        return draw(list(self.nodes[0].levels), shown, optimum, said)

    def _row(self, each: LatticeNode) -> tuple[str, ...]:
        marked = "optimum" if each.levels == self.optimum else "safe" if each.safe else ""
        return (
            " ".join(map(str, each.node)),
            f"{each.k:,}",
            f"{each.suppressed:,}",
            f"{each.precision:.2%}",
            f"{each.loss:.6f}",
            marked,
        )

    def _verdict(self) -> Iterator[str]:
        safe = sum(each.safe for each in self.nodes)
        if self.complete:
            yield f"{safe:,} of {count(len(self.nodes), 'node')} are safe: {self.demanded}."
        else:
            yield (
                f"{len(self.nodes):,} of {self.lattice:,} nodes, those around the "
                f"{'most general' if self.optimum is None else 'least lossy safe'} one; "
                f"{safe:,} of them are safe: {self.demanded}."
            )
        if self.optimum is not None:
            levels = ", ".join(f"{name} {level}" for name, level in self.optimum.items())
            yield f"The safe node with the least loss has the levels {levels}."


@public("lattice")
def lattice(
    definition: DefinitionLike,
    *,
    near_optimum: bool = False,
    at_most: int = MOST_NODES,
    watch: Watch | None = None,
    file: str | None = None,
    spark: SparkSession | None = None,
) -> LatticeNodes:
    """Every node of the lattice of a definition, safe or not; nothing is released.

    Args:
        definition: A path, a mapping or a model.
        near_optimum: Count only the nodes around the least lossy safe one, for any lattice size.
        at_most: Refuse to count all nodes of a lattice that has more than these.
        watch: Called with a line about the progress.
        file: What messages call the definition, by default its path.
        spark: The session for a source in Spark, else one is made.

    Raises:
        UserError: when the lattice has more nodes than `at_most`.

    Example:
        >>> every = shoal.lattice("patients.yaml")
        >>> len(every.nodes), sum(node.safe for node in every.nodes)
        (600, 68)
    """
    watch = watch or ignore
    loaded = load(definition)
    instead = "`shoal explain` says what each column costs with local recoding"
    refuse_local(loaded, "a lattice is made of nodes", instead)
    loaded, problem = read_problem(loaded, watch, file or name_of(definition), spark)
    clock = Clock(watch=watch)
    if near_optimum:
        optimum = _optimum(problem, clock, loaded.search.threads)
        start = problem.lattice.top if optimum is None else optimum.node
        nodes: Iterable[Node] = neighbourhood(problem.lattice, start)
        found = [_facts(problem, node) for node in nodes]
        best = None if optimum is None else optimum.node
    else:
        _refuse_if_large(problem, at_most)
        found = list(count_nodes(problem, clock))
        safe = [each for each in found if each.safe]
        best = min(safe, key=_rank).node if safe else None
    return LatticeNodes(
        tuple(sorted(found, key=lambda each: (sum(each.node), each.node))),
        complete=len(found) == problem.lattice.nodes,
        optimum=None if best is None else levels_of(problem, best),
        demanded=demanded_of(problem),
        lattice=problem.lattice.nodes,
        bottom=problem.lattice.bottom,
        top=problem.lattice.top,
        seconds=round(clock.seconds, 3),
    )


def _refuse_if_large(problem: Problem, at_most: int) -> None:
    nodes = problem.lattice.nodes
    if nodes > at_most:
        raise UserError(
            f"the lattice has {nodes:,} nodes, and at most {at_most:,} are counted",
            code="lattice-too-large",
            hint="look at the nodes around the optimum (--near-optimum, near_optimum=True), list "
            "the best ones with `shoal solutions`, or allow more nodes (--at-most, at_most)",
        )


def count_nodes(problem: Problem, clock: Clock) -> Iterator[LatticeNode]:
    """Every node, one after the other."""
    total, ranges = (
        problem.lattice.nodes,
        zip(problem.lattice.bottom, problem.lattice.top, strict=True),
    )
    nodes = itertools.product(*(range(low, high + 1) for low, high in ranges))
    for number, node in enumerate(nodes):
        clock.say(f"Counting nodes: {number:,} of {total:,}")
        yield _facts(problem, node)


def _facts(problem: Problem, node: Node) -> LatticeNode:
    """What is said of one node."""
    classes = problem.partition(node)
    return LatticeNode(
        levels_of(problem, node),
        smallest_class(classes, released=False),
        classes.suppressed,
        precision_of(problem, node),
        problem.objective.measure(node, classes),
        problem.judge(node, classes) is not None,
    )


def _optimum(problem: Problem, clock: Clock, threads: int | None) -> Best | None:
    """The least lossy safe node, proved; None where no node is safe."""
    last = Progress(None, 0.0, 0, 0, 0.0)
    for event in BoxSearch().search(problem, Limits(threads=threads)):
        last = event
        clock.say(f"Searching the optimum: {last.boxes:,} boxes, gap {last.gap:.1%}")
    return last.best


def demanded_of(problem: Problem) -> str:
    """What makes a node safe, in a line."""
    models = " and ".join(model.demanded() for model in problem.models)
    return f"{models}, with at most {count(problem.limit, 'record')} suppressed"


def _rank(each: LatticeNode) -> tuple[float, int, Node]:
    """The order of the search: loss, then suppressed records, then levels."""
    return (round(each.loss, 12), each.suppressed, each.node)
