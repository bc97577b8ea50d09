"""Box search: the proved optimum by branch and bound over boxes of nodes, a gap at any time."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from shoal.search.incumbent import Incumbent, Limits
from shoal.search.layout import CELLS_PER_TUPLE, fits
from shoal.search.strategies.general_box import GeneralBox

if TYPE_CHECKING:
    from shoal.events import Progress
    from shoal.search.problem import Problem

COMPILED_FROM = 30_000_000
"""Nodes times tuples from which on compiled code is used: compiling takes seconds at first."""


@dataclass(frozen=True)
class BoxSearch:
    """Explores the open box of the least bound, depth-first for a while, in every thread.

    Each exploration goes depth-first, which finds good solutions early, and returns its unexplored
    boxes; taking the least bound next raises the global bound. When no box is open, every node is
    closed for a reason (tightening.py), so the best is the optimum; ties included, since only a
    bound above the best cost closes a box. Models and losses of plug-ins, and small problems, are
    searched the same way in NumPy (general_box.py).
    """

    name: ClassVar[str] = "box"
    compiled_from: int = COMPILED_FROM
    room: int = CELLS_PER_TUPLE

    def search(self, problem: Problem, limits: Limits) -> Iterator[Progress]:
        """Yields progress, each improvement, and at last Proved or Stopped."""
        size = problem.lattice.nodes * problem.table.tuples
        if size < self.compiled_from or not fits(problem):
            return GeneralBox(problem).search(limits)
        return self._compiled(problem, limits)

    def _compiled(self, problem: Problem, limits: Limits) -> Iterator[Progress]:
        from shoal.search.layout import prepare
        from shoal.search.pool import Pool

        number = limits.threads or os.cpu_count() or 1
        pool = Pool(problem, prepare(problem, self.room), Incumbent(limits), number)
        with ThreadPoolExecutor(number + 1) as threads:  # one of them checks what the others find
            try:
                yield from pool.run(threads)
            finally:
                pool.shared[1] = 1.0
