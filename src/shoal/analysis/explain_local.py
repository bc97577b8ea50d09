"""The explanation of a local recoding: how it spreads over levels, and what each column costs.

A local recoding has no node, so no demand or level can be said to suppress a record: what is
suppressed is what fits into no class. What each column costs can be said as for a node: its part of
the loss, and what the other columns would lose without it, found by another local search.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, cast

from shoal.analysis.explanation import ColumnCost, Explanation, WithoutColumn, loss_shares
from shoal.analysis.nodes import (
    prepare_problem,
    without,
)
from shoal.events import NO_PROOF, Progress, Proved, Stopped
from shoal.recoding.local.run import quick_loss
from shoal.recoding.local.solution import LocalBest, join
from shoal.search.run import no_solution
from shoal.steps.local_release import check_local, local_classes, local_levels, search_local
from shoal.steps.releasing import LocalLevels, records_at

if TYPE_CHECKING:
    from shoal.calling.argument_types import Watch
    from shoal.definition.model import Definition, Search
    from shoal.search.problem import Problem


SECONDS = 30.0
"""About so long a recoding without a column is looked for, where there is no time limit."""


def explain_local(definition: Definition, watch: Watch, file: str, spark: Any) -> Explanation:
    """Why a definition with local recoding releases what it does; nothing is released."""
    prepared = prepare_problem(definition, watch, file, spark, local=True)
    check_local(prepared)
    problem, settings = prepared.problem, definition.search

    def observe(event: Progress) -> None:
        found = "" if event.best is None else f": {event.best.classes:,} classes"
        watch(f"Searching{found}")

    last = search_local(problem, settings, observe, keep_best=False)
    if last.best is None:
        raise no_solution(problem, last, local=True)
    best = cast("LocalBest", last.best)
    levels = local_levels(problem, best)
    stated = records_at(problem.table, local_classes(problem, best), levels)
    return Explanation(
        source=definition.source.shown,
        source_records=problem.table.records,
        k=definition.k,
        levels=stated,
        loss=best.loss,
        loss_model=definition.loss.name,
        suppressed=best.suppressed,
        limit=problem.limit,
        columns=tuple(_columns(problem, levels, stated, settings, watch)),
        notes=tuple(_notes(last)),
    )


def _columns(
    problem: Problem,
    levels: LocalLevels,
    stated: dict[str, dict[int, int]],
    settings: Search,
    watch: Watch,
) -> Iterator[ColumnCost]:
    """What each column costs."""
    attributes, losses = problem.table.attributes, levels.losses
    shares = loss_shares(losses, [attribute.priority for attribute in attributes])
    for index, (attribute, loss, share) in enumerate(zip(attributes, losses, shares, strict=True)):
        at = stated[attribute.name]
        watch(f"Searching without {attribute.name}")
        yield ColumnCost(
            column=attribute.name,
            level=max(at),
            height=attribute.height,
            limit=attribute.limit,
            loss=loss,
            share=share,
            records_at=at,
            without=_without(problem, losses, index, settings),
        )


def _without(
    problem: Problem, losses: Sequence[float], index: int, settings: Search
) -> WithoutColumn | None:
    """What the other columns lose now, and in a local recoding as if there were only these.

    One that is found quickly, since there is one for each column; None for too many tuples.
    """
    rest = without(problem, index)
    if rest is None:
        return None
    now = join(rest, [*losses[:index], *losses[index + 1 :]])
    found = quick_loss(rest, settings.time_limit or SECONDS)
    return None if found is None else WithoutColumn(now, min(found, now), None, proved=False)


def _notes(last: Progress) -> Iterator[str]:
    """How the search ended."""
    if isinstance(last, Proved):
        yield "No local recoding loses less: that is proved."
        return
    ended = ""
    if isinstance(last, Stopped) and last.reason != NO_PROOF:
        ended = f", which ended by its {last.reason}"
    yield (
        f"Another local recoding may lose as little as {last.bound:.6f} (gap {last.gap:.1%}): "
        f"that is the bound of this search{ended}."
    )
