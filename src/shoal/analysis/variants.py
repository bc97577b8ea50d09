"""Problems that differ from a given one in a single thing, and their proved optimum.

What-if questions and explanations ask for the best node where something else holds: one attribute
at a fixed level, another suppression limit, an attribute that is no quasi-identifier.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from shoal.definition.model import Search
from shoal.events import Proved
from shoal.search.run import search

if TYPE_CHECKING:
    from collections.abc import Callable

    from shoal.encode.table import Table
    from shoal.events import Progress
    from shoal.search.problem import Problem
    from shoal.values import Best


def with_level(problem: Problem, index: int, level: int) -> Problem | None:
    """The problem with an attribute at one level; None where no solution uses that level.

    That is known for levels below those at which a large table was counted.
    """
    table = problem.table
    if level < table.bottom[index]:
        return None
    fixed = replace(table.attributes[index], lowest=level, limit=level)
    attributes = (*table.attributes[:index], fixed, *table.attributes[index + 1 :])
    raised = table.raised
    if raised is not None:
        bottom = (*raised.bottom[:index], level, *raised.bottom[index + 1 :])
        raised = replace(raised, bottom=bottom)
    return _on_table(problem, replace(table, attributes=attributes, raised=raised))


def without(problem: Problem, index: int) -> Problem | None:
    """The problem where an attribute is no quasi-identifier; None where that cannot be told.

    It must not be the only one. A large table was counted from the levels up that solutions with
    all attributes can use, so without one of them lower levels would have to be counted.
    """
    table = problem.table
    if len(table.attributes) == 1 or table.raised is not None:
        return None
    population = table.population
    if population is not None:
        codes = (*population.codes[:index], *population.codes[index + 1 :])
        population = replace(population, codes=codes)
    return _on_table(
        problem,
        replace(
            table,
            attributes=(*table.attributes[:index], *table.attributes[index + 1 :]),
            codes=(*table.codes[:index], *table.codes[index + 1 :]),
            population=population,
        ),
    )


def _on_table(problem: Problem, table: Table) -> Problem:
    """The same demands and the same loss on another table."""
    objective = replace(cast("Any", problem.objective), table=table)
    return replace(problem, table=table, objective=objective)


def optimum(
    problem: Problem, settings: Search, observe: Callable[[Progress], None]
) -> tuple[Best | None, bool]:
    """The least lossy safe node, and whether that is proved; no node if none is safe.

    The box search looks for it, within the time limit and the threads of the settings.
    """
    kept = {"time_limit": settings.time_limit, "threads": settings.threads}
    exact = Search().model_copy(update=kept)
    last = search(problem, exact, observe, keep_best=True)
    return last.best, isinstance(last, Proved)
