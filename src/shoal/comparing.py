"""`shoal.compare`: several strategies on the same data, each in a process of its own.

Local recoding is one of the compared, by the name `local`: where the definition says so, or where
it is named.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from typing import TYPE_CHECKING

from shoal import plugins
from shoal.calling.public import public
from shoal.collapse.read import open_records
from shoal.errors import BadDefinition, Mistake
from shoal.events import Improved, Progress, Proved, Stopped
from shoal.pipeline import load, prepare
from shoal.recoding.local.run import LocalSearch
from shoal.recoding.local.solution import LocalBest
from shoal.search.trial import Memory, attempt
from shoal.steps.local_release import check_local, local_classes, local_levels
from shoal.steps.releasing import records_at
from shoal.values import Comparison, Trial

if TYPE_CHECKING:
    from shoal.calling.argument_types import DefinitionLike
    from shoal.definition.model import Definition, Search
    from shoal.search.problem import Problem
    from shoal.values import Best, StatedLevels

LOCAL = LocalSearch.name
"""What local recoding is called among the strategies."""
TIME_LIMIT = 30.0
"""Seconds for each strategy where nothing else is said."""
Watcher = Callable[[str, Progress | None], None]
"""Called with each strategy when it begins (no event yet), and with each of its events."""


def ignore(strategy: str, event: Progress | None) -> None:
    """Watch nothing."""


@public("compare", follow=False)
def compare(
    definition: DefinitionLike,
    strategies: Sequence[str] = (),
    *,
    time_limit: float | None = None,
    watch: Watcher = ignore,
) -> Comparison:
    """Search the same problem with each strategy, one after the other; nothing is released.

    The source is read once. Each strategy has a process of its own, so that its memory can be
    measured; its time is that of the search alone.

    Args:
        definition: A path, a mapping or a model.
        strategies: All installed strategies where none are named, and `local` if the definition
            says `recoding: local`.
        time_limit: The seconds of each: without it the definition's own limit, else 30.
        watch: Called with each strategy when it begins (no event yet), and with each of its events.

    Returns:
        What each strategy found, least loss first.

    Example:
        >>> compared = shoal.compare("patients.yaml", ["box", "datafly"])
        >>> [(trial.strategy, trial.proved) for trial in compared.trials]
        [('box', True), ('datafly', False)]
    """
    definition = load(definition)
    own = (LOCAL,) if definition.recoding == "local" else ()
    names = tuple(strategies) or (*own, *plugins.names("strategy"))
    limit = time_limit or definition.search.time_limit or TIME_LIMIT
    options = [_options(definition, name, limit) for name in names]
    with closing(open_records(definition)) as source:
        prepared = prepare(definition, source, file="definition", local=True)
    if LOCAL in names:
        check_local(prepared)
    problem = prepared.problem
    trials = [_trial(problem, each, watch) for each in options]
    return Comparison(
        source=definition.source.shown,
        records=problem.table.records,
        tuples=problem.table.tuples,
        lattice=problem.nodes,
        loss_model=definition.loss.name,
        time_limit=limit,
        trials=tuple(sorted(trials, key=_order)),
    )


def _options(definition: Definition, name: str, limit: float) -> Search:
    """The search of the definition by another strategy; its own parameters go with its own."""
    known = plugins.names("strategy")
    if name not in known and name != LOCAL:
        remedy = f"installed are {', '.join(known)}; {LOCAL} is local recoding"
        raise BadDefinition("strategies", [Mistake(name, "is no strategy", remedy)])
    is_own = name == LOCAL or definition.search.strategy == name
    own = definition.search if is_own else type(definition.search)()
    update = {"strategy": name, "time_limit": limit, "threads": definition.search.threads}
    return own.model_copy(update=update)


def _order(trial: Trial) -> tuple[bool, float, bool, float]:
    """Least loss first, then the proved ones, then the fastest."""
    loss = trial.loss
    return (loss is None, 0.0 if loss is None else round(loss, 12), not trial.proved, trial.seconds)


def _trial(problem: Problem, options: Search, watch: Watcher) -> Trial:
    watch(options.strategy, None)
    last, memory = Progress(None, 0.0, 0, 0, 0.0), None
    curve: list[tuple[float, float]] = []
    local = LocalSearch(options.effort or "normal") if options.strategy == LOCAL else None
    for event in attempt(problem, options, local):
        if isinstance(event, Memory):
            memory = event.peak
            continue
        watch(options.strategy, event)
        last = event
        if isinstance(event, Improved) and event.best is not None:
            curve.append((event.seconds, event.best.loss))
    best = last.best
    return Trial(
        strategy=options.strategy,
        loss=None if best is None else best.loss,
        proved=isinstance(last, Proved),
        bound=last.bound,
        gap=last.gap,
        levels={} if best is None else _levels(problem, best),
        suppressed=0 if best is None else best.suppressed,
        checked=last.checked,
        boxes=last.boxes,
        seconds=last.seconds,
        memory=memory,
        ended=_ended(last),
        curve=tuple(curve),
    )


def _levels(problem: Problem, best: Best) -> Mapping[str, StatedLevels]:
    """The level of each attribute; in local recoding the released records at each level."""
    if isinstance(best, LocalBest):
        classes = local_classes(problem, best)
        return records_at(problem.table, classes, local_levels(problem, best))
    names = [attribute.name for attribute in problem.table.attributes]
    return dict(zip(names, best.node, strict=True))


def _ended(last: Progress) -> str:
    """Why a search ended."""
    if isinstance(last, Proved):
        return "no solution" if last.best is None else "proved"
    return last.reason if isinstance(last, Stopped) else "failed"
