"""A search that looks at some nodes by chance and keeps the best."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from shoal.search.incumbent import Incumbent, Limits

if TYPE_CHECKING:
    from shoal.events import Progress
    from shoal.search.problem import Problem


@dataclass(frozen=True)
class Sampled:
    """Checks `nodes` nodes drawn by chance, the most general one first; it proves nothing."""

    nodes: int = 100
    name: ClassVar[str] = "sampled"

    def __post_init__(self) -> None:
        if not self.nodes >= 1:
            raise ValueError("nodes must be at least 1")

    def search(self, problem: Problem, limits: Limits) -> Iterator[Progress]:
        """Yields each improvement, and at last that there is no proof."""
        incumbent = Incumbent(limits)
        lattice, dice = problem.lattice, random.Random(0)  # noqa: S311 not for secrets
        for number in range(self.nodes):
            reason = incumbent.stop_reason()
            if reason is not None:
                yield incumbent.stopped(reason)
                return
            levels = zip(lattice.bottom, lattice.top, strict=True)
            drawn = tuple(dice.randint(low, high) for low, high in levels)
            yield from incumbent.weigh(problem.check(drawn if number else lattice.top))
        yield incumbent.concluded()
