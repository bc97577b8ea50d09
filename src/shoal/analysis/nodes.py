"""What questions about nodes share: the problem of a definition, and what is said of one node.

The last part makes problems that differ from a given one in a single thing, and finds their proved
optimum. What-if questions and explanations ask for the best node where something else holds: one
attribute at a fixed level, another suppression limit, an attribute that is no quasi-identifier.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from shoal.collapse.read import open_records
from shoal.definition.model import Search
from shoal.events import Proved
from shoal.pipeline import load, prepare
from shoal.search.run import search

if TYPE_CHECKING:
    from shoal.calling.argument_types import DefinitionLike, Watch
    from shoal.definition.model import Definition
    from shoal.encode.table import Table
    from shoal.events import Progress
    from shoal.pipeline import Prepared
    from shoal.search.problem import Partition, Problem
    from shoal.values import Best, Node


def ignore(line: str) -> None:
    """Watch nothing."""


@dataclass
class Clock:
    """When to stop, and when the next line about the progress is due."""

    limit: float | None = None
    watch: Watch = ignore
    started: float = field(default_factory=time.monotonic)
    said: float = 0.0

    @property
    def seconds(self) -> float:
        """How long the work has taken."""
        return time.monotonic() - self.started

    @property
    def left(self) -> float | None:
        """The seconds that are left, None without a limit."""
        return None if self.limit is None else max(self.limit - self.seconds, 0.0)

    @property
    def over(self) -> bool:
        """Whether the limit is reached."""
        return self.limit is not None and self.seconds >= self.limit

    def say(self, line: str) -> None:
        """Say how far the work is, if that is due."""
        if self.seconds - self.said >= 0.1:
            self.said = self.seconds
            self.watch(line)


def prepare_problem(
    definition: Definition, watch: Watch, file: str, spark: Any = None, *, local: bool = False
) -> Prepared:
    """Read the source of a definition once, and state its problem.

    A definition with local recoding is refused unless the caller knows `local`.
    """
    watch(f"Reading {definition.source.shown}")

    def progress(share: float) -> None:
        watch(f"Reading {definition.source.shown}: {share:.0%}")

    with closing(open_records(definition, progress, spark)) as source:
        return prepare(definition, source, file=file, local=local)


def read_problem(
    definition: DefinitionLike, watch: Watch, file: str | None, spark: Any
) -> tuple[Definition, Problem]:
    """Read a definition and its source; messages call it `file`, by default its path."""
    loaded = load(definition)
    return loaded, prepare_problem(loaded, watch, file or name_of(definition), spark).problem


def name_of(definition: DefinitionLike) -> str:
    """What messages call the definition: its path, where it has one."""
    return str(definition) if isinstance(definition, str | Path) else "definition"


def levels_of(problem: Problem, node: Node) -> dict[str, int]:
    """The level of each quasi-identifier by its name."""
    names = (attribute.name for attribute in problem.table.attributes)
    return dict(zip(names, node, strict=True))


def rows_of(nodes: Iterable[Any]) -> list[dict[str, Any]]:
    """A row for each node: a column for each of its `levels`, then its other fields."""
    return [
        {
            **{f"level of {name}": level for name, level in each.levels.items()},
            **{key: value for key, value in vars(each).items() if key != "levels"},
        }
        for each in nodes
    ]


def precision_of(problem: Problem, node: Node) -> float:
    """Sweeney's precision of the levels: 1 minus the mean of level / height.

    It looks at the node alone. What suppression costs is in the loss.
    """
    heights = [attribute.height for attribute in problem.table.attributes]
    used = sum(level / max(height, 1) for level, height in zip(node, heights, strict=True))
    return 1 - used / len(heights)


def smallest_class(classes: Partition, *, released: bool) -> int:
    """The size of the smallest class, of all or of those released, in what k counts: persons where
    the definition names them, else records; 0 where there is none."""
    sizes = classes.counts.of(None).sizes
    if released:
        sizes = sizes[classes.kept]
    return int(sizes.min()) if len(sizes) else 0


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
