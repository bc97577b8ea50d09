"""From a definition to a search, and from its events to a best node or an error."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, cast

from shoal.errors import Infeasible, Interrupted
from shoal.events import NO_PROOF, Progress, Proved, Stopped
from shoal.plugins import make
from shoal.search.incumbent import Limits
from shoal.search.objective import objective_of
from shoal.search.problem import Problem

if TYPE_CHECKING:
    from shoal.definition.model import Definition
    from shoal.definition.model import Search as SearchOptions
    from shoal.encode.table import Table
    from shoal.loss.base import Loss
    from shoal.privacy.base import PrivacyModel
    from shoal.search.strategies import Strategy
    from shoal.values import Closed


def problem_of(
    definition: Definition, table: Table, models: tuple[PrivacyModel, ...], loss: Loss
) -> Problem:
    """The problem a definition states on an encoded table."""
    limit = definition.suppression_limit(table.records)
    objective = objective_of(table, loss, definition.loss.aggregate)
    return Problem(table, models, objective, limit)


def search(
    problem: Problem,
    options: SearchOptions,
    observe: Callable[[Progress], None],
    *,
    keep_best: bool = False,
    log: Callable[[Closed], None] | None = None,
    strategy: Strategy | None = None,
) -> Progress:
    """The last event of the search; without a best node, `no_solution` says why.

    `strategy` searches in place of the one that the options name.
    `log` is called with every box that the search closes. A keyboard interrupt counts as a stop
    with `keep_best` and something safe to keep, else it is an error.
    """
    last = Progress(None, 0.0, 0, 0, 0.0)
    limits = Limits(options.time_limit, options.gap, options.threads, log)
    if log is not None:
        for closed in problem.below():
            log(closed)
    try:
        for event in (strategy or strategy_of(options)).search(problem, limits):
            last = event
            observe(event)
    except KeyboardInterrupt:
        if not keep_best or last.best is None:
            raise Interrupted(
                "interrupted; nothing was released",
                code="interrupted",
                hint="with --keep-best the best safe solution found so far is released",
            ) from None
        last = Stopped(
            last.best, last.bound, last.checked, last.boxes, last.seconds, reason="interrupted"
        )
        observe(last)
    return last


def strategy_of(options: SearchOptions) -> Strategy:
    """The strategy that a definition names; no other is imported."""
    return cast("Strategy", make("strategy", options.strategy, options.of_strategy))


def no_solution(problem: Problem, last: Progress, *, local: bool = False) -> Infeasible:
    """Why nothing can be released: proved, or not found by this strategy, or not in time.

    A `local` recoding has no choice of strategies.
    """
    if isinstance(last, Proved):
        from shoal.search.explain import why_infeasible

        return why_infeasible(problem)
    if isinstance(last, Stopped) and last.reason == NO_PROOF:
        said = (
            f"the strategy found no safe transformation among {last.checked:,} that it checked; "
            "nothing was released, and whether one exists is not known"
        )
        hint = "search with `strategy: box`, which finds one if there is any"
        if local:
            hint = "allow more suppression, or a higher limit on some attribute"
        return Infeasible(said, code="none-found-by-strategy", hint=hint, reasons=(said,))
    said = (
        f"no safe transformation was found within {last.seconds:.1f} s; "
        "nothing was released, and whether one exists is not known"
    )
    hint = "allow more time, more suppression, or a higher limit on some attribute"
    return Infeasible(said, code="none-found-in-time", hint=hint, reasons=(said,))
