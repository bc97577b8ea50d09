"""The search of a run without its release: the best it finds, and how sure that none is better.

What it finds is what `shoal.run` would release. A local recoding can be kept in a file, so that a
run releases the same one even where the search was stopped.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from shoal.analysis.nodes import (
    levels_of,
    name_of,
    precision_of,
    smallest_class,
)
from shoal.collapse.read import open_records
from shoal.events import History, Phase, Proved, Stopped, Working
from shoal.pipeline import Observer, ignore, load, prepare, search_detail
from shoal.recoding.local.solution import LocalBest
from shoal.report.result import finite
from shoal.search.run import no_solution
from shoal.steps.finding import find
from shoal.steps.kept_search import kept_search, write_kept_search
from shoal.steps.local_release import check_local, local_classes, local_levels
from shoal.steps.releasing import records_at

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from shoal.calling.argument_types import DefinitionLike
    from shoal.definition.model import Definition
    from shoal.events import Progress
    from shoal.recoding.local.solution import FullDomain
    from shoal.search.problem import Partition, Problem
    from shoal.values import Best, Moment, StatedLevels


@dataclass(frozen=True)
class BestNode:
    """The least lossy safe node that a search found.

    `proved` says that no node loses less. Otherwise none loses less than `bound`, and `ended` says
    why the search stopped before the proof. `losses` is the loss of each column, `heights` how many
    levels it has. Where the definition names persons, `smallest_class_persons` counts them.
    `progress` are the moments at which the best or the bound changed.

    In local recoding there is no node: `levels` has the released records at each level of each
    column, `precision` is the mean over all cells, and `full_domain` what the best node would lose,
    or at least, as far as the search had to know.
    """

    recoding: str
    levels: Mapping[str, StatedLevels]
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
    full_domain: FullDomain | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain values; None in place of a number that JSON cannot hold."""
        plain: dict[str, Any] = finite(asdict(self))
        return plain


def find_best(
    definition: DefinitionLike,
    *,
    observe: Observer = ignore,
    file: str | None = None,
    spark: Any = None,
    keep: Path | None = None,
) -> BestNode:
    """Search as a run does, and release nothing.

    `observe` is called with every event. A keyboard interrupt during the search keeps the best node
    found so far. `keep` is where to write a local recoding, for `run(..., kept=)`. The other
    arguments are those of `shoal.run`.

    Raises:
        Infeasible: no node is safe, or none was found in time.
        Interrupted: the search was interrupted before anything safe was found.
    """
    loaded, file = load(definition), file or name_of(definition)
    observe(Phase("read", loaded.source.shown))
    with closing(open_records(loaded, lambda share: observe(Working(share)), spark)) as source:
        prepared = prepare(loaded, source, file=file, local=True)
        if loaded.recoding == "local":
            check_local(prepared)
    problem = prepared.problem
    observe(Phase("search", search_detail(prepared)))
    history = History(observe)
    last = find(prepared, loaded.search, history, keep_best=True)
    if last.best is None:
        raise no_solution(problem, last)
    if keep is not None and isinstance(last.best, LocalBest):
        write_kept_search(kept_search(prepared, last, history.moments()), keep)
    return _described(problem, last.best, last, history, loaded)


@dataclass(frozen=True, eq=False)
class _Levels:
    """What the best has for each column, its classes and their losses."""

    stated: Mapping[str, StatedLevels]
    classes: Partition
    losses: Sequence[float]
    precision: float


def _levels(problem: Problem, best: Best) -> _Levels:
    """The levels of a node, or the records at each level of a local recoding."""
    if not isinstance(best, LocalBest):
        classes = problem.partition(best.node)
        losses = problem.objective.attribute_losses(best.node, classes)
        precision = precision_of(problem, best.node)
        return _Levels(levels_of(problem, best.node), classes, losses, precision)
    classes, local = local_classes(problem, best), local_levels(problem, best)
    stated = records_at(problem.table, classes, local)
    shares = [
        sum(level * n for level, n in stated[each.name].items()) / max(each.height, 1)
        for each in problem.table.attributes
    ]
    released = problem.table.records - best.suppressed
    precision = 1 - sum(shares) / len(shares) / released
    return _Levels(stated, classes, local.losses, precision)


def _described(
    problem: Problem, best: Best, last: Progress, history: History, definition: Definition
) -> BestNode:
    table = problem.table
    names = [attribute.name for attribute in table.attributes]
    found = _levels(problem, best)
    persons = None if table.persons is None else smallest_class(found.classes, released=True)
    return BestNode(
        recoding=definition.recoding,
        levels=found.stated,
        heights={attribute.name: attribute.height for attribute in table.attributes},
        losses=dict(zip(names, (float(each) for each in found.losses), strict=True)),
        loss=best.loss,
        bound=last.bound,
        gap=last.gap,
        proved=isinstance(last, Proved),
        ended=last.reason if isinstance(last, Stopped) else "",
        precision=found.precision,
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
        loss_model=definition.loss.name,
        progress=history.moments(),
        full_domain=best.full_domain if isinstance(best, LocalBest) else None,
    )
