"""`shoal.solutions`: the least lossy safe nodes, or all minimal ones; nothing is released."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from shoal.analysis.hasse import Drawn, draw, fits_in_rows, that_fit
from shoal.analysis.minimal import MinimalNodes
from shoal.analysis.nodes import (
    Clock,
    ignore,
    levels_of,
    name_of,
    precision_of,
    prepare_problem,
    rows_of,
    smallest_class,
)
from shoal.calling.public import public
from shoal.errors import BadDefinition, Mistake
from shoal.events import Progress, Proved, Stopped
from shoal.pipeline import load
from shoal.report.sections import Section
from shoal.report.shown import Picture, Shown
from shoal.search.incumbent import LOSS_TOLERANCE, Incumbent, Limits
from shoal.search.run import no_solution
from shoal.search.strategies.box import BoxSearch
from shoal.steps.local_release import refuse_local

if TYPE_CHECKING:
    from shoal.calling.argument_types import DefinitionLike, SparkSession, Watch
    from shoal.search.problem import Problem
    from shoal.values import Best

MOST_MINIMAL = 1000
"""So many minimal nodes are listed, unless another number is asked for."""

MOST_SHOWN = 25
"""So many solutions are printed; JSON and data frames have them all."""


@dataclass(frozen=True)
class Solution:
    """A safe node: the smallest class that is released, what is suppressed, what is lost.

    `k` counts persons where the definition names them. `precision` looks at the levels alone.
    """

    levels: Mapping[str, int]
    loss: float
    suppressed: int
    k: int
    precision: float


@dataclass(frozen=True, repr=False)
class Solutions(Shown):
    """Safe nodes by rising loss; equal losses by suppressed records, then by levels.

    `complete` is False where a limit or an interrupt ended the search. Then the first `proved` of
    the best nodes are sure to be the best; of minimal nodes, so many are sure to be minimal.
    """

    solutions: tuple[Solution, ...]
    complete: bool
    minimal: bool
    proved: int
    ended: str
    asked: int
    heights: Mapping[str, int]
    lattice: int
    checked: int
    seconds: float

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as `shoal solutions --json` writes them."""
        return {
            "solutions": [dict(vars(each)) for each in self.solutions],
            "complete": self.complete,
            "proved": self.proved,
            "ended": self.ended,
            "lattice": self.lattice,
            "checked": self.checked,
            "seconds": self.seconds,
        }

    def sections(self) -> tuple[Section, ...]:
        """The verdict, then the nodes with the levels of their attributes."""
        names = tuple(self.heights)
        rows = tuple(_row(number, each) for number, each in enumerate(self.solutions, 1))
        attributes = tuple((name, f"0 to {height}") for name, height in self.heights.items())
        more = len(rows) - MOST_SHOWN
        lines = (f"{more:,} more are not shown here.",) if more > 0 else ()
        return (
            Section("", tuple(self._verdict())),
            Section(
                f"Levels of {', '.join(names)}",
                lines,
                heading=("", "levels", "loss", "suppressed", "k", "precision"),
                rows=rows[:MOST_SHOWN],
                numbers=(0, 2, 3, 4, 5),
            ),
            Section("Levels that the hierarchies have", rows=attributes),
        )

    def records(self) -> list[dict[str, Any]]:
        """A row for each node: a column for each level, then what it means."""
        return rows_of(self.solutions)

    def plot(self) -> Picture:
        """The nodes by height, with the least lossy one marked; where not all fit, the first."""
        nodes = {tuple(each.levels.values()): each for each in self.solutions}
        chosen = list(nodes) if fits_in_rows(nodes) else that_fit(nodes)
        shown = [
            Drawn(node, f"{nodes[node].loss:.4f}, {nodes[node].suppressed:,} out", safe=True)
            for node in chosen
        ]
        said = ["Below the levels: the loss and the records that are left out."]
        if len(chosen) < len(nodes):
            said.append(f"Shown: {len(chosen):,} of {len(nodes):,} nodes that were found.")
        return draw(list(self.heights), shown, next(iter(nodes)), said)

    def _verdict(self) -> Iterator[str]:
        """What the list is, and whether that is proved."""
        found, of = f"{len(self.solutions):,}", f"of {self.lattice:,} nodes"
        if self.minimal and self.complete:
            yield f"These are all minimal safe nodes, {found} {of}: no node below them is safe."
        elif self.minimal:
            sure = "each is minimal" if self.proved else "a safe node may be below some of them"
            yield f"Not complete ({self.ended}): {found} safe nodes were found so far; {sure}."
        elif self.complete:
            all_safe = f"; only {found} are safe" if len(self.solutions) < self.asked else ""
            yield f"Proved: no other node {of} is as good as the {found} listed{all_safe}."
        else:
            yield (
                f"Not complete ({self.ended}): the first {self.proved:,} are proved to be the best"
                f" in this order; a better node than the others may exist."
            )


@public("solutions")
def solutions(
    definition: DefinitionLike,
    best: int = 10,
    *,
    minimal: bool = False,
    time_limit: float | None = None,
    at_most: int = MOST_MINIMAL,
    watch: Watch | None = None,
    file: str | None = None,
    spark: SparkSession | None = None,
) -> Solutions:
    """The safe nodes of a definition that lose least; nothing is released.

    Args:
        definition: A path, a mapping or a model.
        best: How many nodes.
        minimal: List all safe nodes with no safe node below them instead.
        time_limit: Stop after so many seconds of search, by default as the definition says.
        at_most: Stop when more minimal nodes than this are found.
        watch: Called with a line about the progress.
        file: What messages call the definition, by default its path.
        spark: The session for a source in Spark, else one is made.

    Returns:
        The nodes by rising loss. An interrupt or a limit ends the search early: then `complete` is
        False, and `proved` says how much is proved.

    Raises:
        Infeasible: when no node is safe.

    Example:
        >>> best = shoal.solutions("patients.yaml", best=3)
        >>> best.proved, best.solutions[0].loss <= best.solutions[1].loss
        (3, True)
    """
    watch = watch or ignore
    file = file or name_of(definition)
    if best < 1 or at_most < 1:
        key, number = ("best", best) if best < 1 else ("at_most", at_most)
        raise BadDefinition(file, [Mistake(key, f"{number} nodes are none", "ask for 1 or more")])
    loaded = load(definition)
    instead = "`shoal run` finds one local recoding, and a bound for all of them"
    refuse_local(loaded, "solutions are nodes", instead)
    problem = prepare_problem(loaded, watch, file, spark).problem
    clock = Clock(loaded.search.time_limit if time_limit is None else time_limit, watch)
    if minimal:
        return _minimal(problem, clock, at_most)
    return _best(problem, clock, best, loaded.search.threads)


def _best(problem: Problem, clock: Clock, count: int, threads: int | None) -> Solutions:
    """The box search, with the last of the nodes that are asked for as the one to beat."""
    incumbent = Incumbent(Limits(seconds=clock.limit, threads=threads), count)
    last = Progress(None, 0.0, 0, 0, 0.0)
    try:
        for event in BoxSearch().improve(problem, incumbent):
            last = event
            clock.say(f"Searching: {_standing(incumbent)}")
    except KeyboardInterrupt:
        last = incumbent.stopped("interrupted")
    if not incumbent.found:
        raise no_solution(problem, last)
    complete = isinstance(last, Proved)
    sure = [each for each in incumbent.found if each.loss < incumbent.bound - LOSS_TOLERANCE]
    return _listed(
        problem,
        clock,
        incumbent.found,
        complete=complete,
        minimal=False,
        proved=len(incumbent.found if complete else sure),
        ended=last.reason if isinstance(last, Stopped) else "",
        asked=count,
        checked=incumbent.checked,
    )


def _standing(incumbent: Incumbent) -> str:
    """How far the search for the best nodes is."""
    found = f"{len(incumbent.found):,} of {incumbent.count:,} nodes"
    losses = ""
    if incumbent.found:
        losses = f", losses {incumbent.found[0].loss:.6f} to {incumbent.found[-1].loss:.6f}"
    return f"{found}{losses}, bound {incumbent.bound:.6f}, {incumbent.boxes:,} boxes"


def _minimal(problem: Problem, clock: Clock, most: int) -> Solutions:
    """All minimal nodes, or those found before the end."""
    search = MinimalNodes(problem, clock, most)
    ended = "interrupted"
    try:
        complete = search.search()
        ended = "" if complete else "time limit" if clock.over else f"more than {most:,} found"
    except KeyboardInterrupt:
        complete = False
    found = sorted(search.found.values(), key=lambda each: each.rank)
    if not found:
        last = Proved if complete else Stopped
        raise no_solution(problem, last(None, 0.0, search.checked, 0, clock.seconds))
    sure = complete or search.certain
    return _listed(
        problem,
        clock,
        found,
        complete=complete,
        minimal=True,
        proved=len(found) if sure else 0,
        ended=ended,
        asked=most,
        checked=search.checked,
    )


def _listed(
    problem: Problem,
    clock: Clock,
    found: list[Best],
    *,
    complete: bool,
    minimal: bool,
    proved: int,
    ended: str,
    asked: int,
    checked: int,
) -> Solutions:
    """The nodes with what people ask about them."""
    return Solutions(
        tuple(_solution(problem, each) for each in found),
        complete=complete,
        minimal=minimal,
        proved=proved,
        ended=ended,
        asked=asked,
        heights={each.name: each.height for each in problem.table.attributes},
        lattice=problem.nodes,
        checked=checked,
        seconds=round(clock.seconds, 3),
    )


def _solution(problem: Problem, best: Best) -> Solution:
    k = best.smallest_class
    if problem.table.persons is not None:
        k = smallest_class(problem.partition(best.node), released=True)
    levels, precision = levels_of(problem, best.node), precision_of(problem, best.node)
    return Solution(levels, best.loss, best.suppressed, k, precision)


def _row(number: int, each: Solution) -> tuple[str, ...]:
    """A line of the table."""
    levels = " ".join(map(str, each.levels.values()))
    return (
        f"{number}",
        levels,
        f"{each.loss:.6f}",
        f"{each.suppressed:,}",
        f"{each.k:,}",
        f"{each.precision:.2%}",
    )
