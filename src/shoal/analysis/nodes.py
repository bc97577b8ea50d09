"""What the lists of nodes share: the problem of a definition, and what is said of one node."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from shoal.engines.opening import open_source
from shoal.pipeline import prepare

if TYPE_CHECKING:
    from shoal.definition.model import Definition
    from shoal.pipeline import Prepared
    from shoal.search.problem import Partition, Problem
    from shoal.values import Node

Watch: TypeAlias = Callable[[str], None]
"""Called with a line that says how far a long work is, at most ten times a second."""

Input: TypeAlias = "Definition | Mapping[str, Any] | str | Path"
"""A definition, or what one is read from."""


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


def prepare_problem(definition: Definition, watch: Watch, file: str, spark: Any = None) -> Prepared:
    """Read the source of a definition once, and state its problem."""
    watch(f"Reading {definition.source.shown}")
    source = open_source(
        definition.source.options(),
        expect=set(definition.attributes),
        resources=definition.engine.resources(
            lambda share: watch(f"Reading {definition.source.shown}: {share:.0%}")
        ),
        spark=spark,
    )
    with closing(source):
        return prepare(definition, source, file=file)


def name_of(definition: Input) -> str:
    """What messages call the definition: its path, where it has one."""
    return str(definition) if isinstance(definition, str | Path) else "definition"


def levels_of(problem: Problem, node: Node) -> dict[str, int]:
    """The level of each quasi-identifier by its name."""
    names = (attribute.name for attribute in problem.table.attributes)
    return dict(zip(names, node, strict=True))


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
