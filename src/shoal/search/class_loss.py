"""A class loss in the form that the kernels read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from shoal.loss.builtin import ClassSize, Discernibility
from shoal.search.objective import ClassObjective

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shoal.search.problem import Problem

DISCERNIBILITY, CLASS_SIZE = range(2)
"""Kinds of class losses."""

_KINDS: dict[type[Any], int] = {Discernibility: DISCERNIBILITY, ClassSize: CLASS_SIZE}


class CompiledClassLoss(NamedTuple):
    """A class loss: its kind, the records of the table, what each level adds to its factor."""

    kind: int
    records: float
    share: NDArray[np.float64]


def class_loss_of(problem: Problem) -> CompiledClassLoss | None:
    """The loss of a problem if it is a class loss that the kernels know, else None."""
    objective = problem.objective
    if not isinstance(objective, ClassObjective) or type(objective.loss) not in _KINDS:
        return None
    lowest, top = (0,) * len(problem.lattice.top), problem.lattice.top
    share = np.zeros((len(top), max(top) + 1))
    for j, most in enumerate(top):
        for level in range(most + 1):
            share[j, level] = objective.factor((*lowest[:j], level, *lowest[j + 1 :])) - 1
    return CompiledClassLoss(_KINDS[type(objective.loss)], float(problem.table.records), share)
