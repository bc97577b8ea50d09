"""The search of a run without its release: the best node, and how sure it is that none is better.

What it finds is what `shoal.run` would release.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from shoal.analysis.nodes import Input, levels_of, name_of, precision_of, smallest_class
from shoal.collapse.read import open_records
from shoal.events import History, Phase, Proved, Stopped, Working
from shoal.pipeline import Observer, ignore, load, prepare
from shoal.report.result import finite
from shoal.search.run import no_solution, search

if TYPE_CHECKING:
    from collections.abc import Mapping

    from shoal.events import Progress
    from shoal.search.problem import Problem
    from shoal.values import Best, Moment


@dataclass(frozen=True)
class BestNode:
    """The least lossy safe node that a search found.

    `proved` says that no node loses less. Otherwise none loses less than `bound`, and `ended` says
    why the search stopped before the proof. `losses` is the loss of each column, `heights` how many
    levels it has. Where the definition names persons, `smallest_class_persons` counts them.
    `progress` are the moments at which the best or the bound changed.
    """

    levels: Mapping[str, int]
    heights: Mapping[str, int]
    losses: Mapping[str, float]
    loss: float
    bound: float
    gap: float
    proved: bool
    ended: str
    precision: float
    suppressed: int
    classes: int
    smallest_class: int
    smallest_class_persons: int | None
    records: int
    tuples: int
    lattice: int
    limit: int
    checked: int
    seconds: float
    loss_model: str
    progress: tuple[Moment, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain values; None in place of a number that JSON cannot hold."""
        plain: dict[str, Any] = finite(asdict(self))
        return plain


def find_best(
    definition: Input, *, observe: Observer = ignore, file: str | None = None, spark: Any = None
) -> BestNode:
    """Search as a run does, and release nothing.

    `observe` is called with every event. A keyboard interrupt during the search keeps the best node
    found so far. The other arguments are those of `shoal.run`.

    Raises:
        Infeasible: no node is safe, or none was found in time.
        Interrupted: the search was interrupted before anything safe was found.
    """
    loaded, file = load(definition), file or name_of(definition)
    observe(Phase("read", loaded.source.shown))
    with closing(open_records(loaded, lambda share: observe(Working(share)), spark)) as source:
        prepared = prepare(loaded, source, file=file)
    problem = prepared.problem
    observe(Phase("search", f"{problem.table.tuples:,} tuples, {problem.nodes:,} nodes"))
    history = History(observe)
    last = search(problem, loaded.search, history, keep_best=True)
    if last.best is None:
        raise no_solution(problem, last)
    return _described(problem, last.best, last, history, loaded.loss.name)


def _described(
    problem: Problem, best: Best, last: Progress, history: History, loss_model: str
) -> BestNode:
    table = problem.table
    names = [attribute.name for attribute in table.attributes]
    classes = problem.partition(best.node)
    losses = problem.objective.attribute_losses(best.node, classes)
    persons = None if table.persons is None else smallest_class(classes, released=True)
    return BestNode(
        levels=levels_of(problem, best.node),
        heights={attribute.name: attribute.height for attribute in table.attributes},
        losses=dict(zip(names, (float(each) for each in losses), strict=True)),
        loss=best.loss,
        bound=last.bound,
        gap=last.gap,
        proved=isinstance(last, Proved),
        ended=last.reason if isinstance(last, Stopped) else "",
        precision=precision_of(problem, best.node),
        suppressed=best.suppressed,
        classes=best.classes,
        smallest_class=best.smallest_class,
        smallest_class_persons=persons,
        records=table.records,
        tuples=table.tuples,
        lattice=problem.nodes,
        limit=problem.limit,
        checked=last.checked,
        seconds=last.seconds,
        loss_model=loss_model,
        progress=history.moments(),
    )
