"""Datafly, a baseline: always generalize the attribute with the most different values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from shoal.search.walks import follow_path

if TYPE_CHECKING:
    from shoal.events import Progress
    from shoal.search.incumbent import Limits
    from shoal.search.problem import Problem
    from shoal.values import Node


@dataclass(frozen=True)
class Datafly:
    """Raises the attribute with the most different values until suppression does the rest.

    After L. Sweeney's system of 1997. Of equal attributes the first in the definition rises. The
    loss is ignored, so the answer is safe, but not proved.
    """

    name: ClassVar[str] = "datafly"

    def search(self, problem: Problem, limits: Limits) -> Iterator[Progress]:
        """Yields progress, the first safe node, and at last Proved or Stopped."""
        distinct = distinct_values(problem)

        def step(node: Node) -> Node | None:
            ranked = [(-distinct[j][node[j]], j, above) for j, above in problem.lattice.above(node)]
            return min(ranked)[2] if ranked else None

        return follow_path(problem, limits, step)


def distinct_values(problem: Problem) -> list[list[int]]:
    """How many different values each attribute has at each level, a missing one among them."""
    table = problem.table
    return [
        [len(np.unique(groups[codes])) for groups in attribute.groups]
        for attribute, codes in zip(table.attributes, table.codes, strict=True)
    ]
