"""Class losses in the form that the C code reads: `ClassLoss` in class_loss.h."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from shoal.loss.builtin import ClassSize, Discernibility
from shoal.search.compiled.structures import Arrays, Layout, field
from shoal.search.objective import ClassObjective

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shoal.search.compiled.layout import Prepared
    from shoal.search.problem import Problem

DISCERNIBILITY, CLASS_SIZE = range(2)
"""Kinds of class losses."""

_KINDS: dict[type[Any], int] = {Discernibility: DISCERNIBILITY, ClassSize: CLASS_SIZE}

CLASS_LOSS = Layout(
    "ClassLoss", ("kind", "records"), (field("share", np.float64, "attributes", "levels"),)
)
"""The fields of `ClassLoss` in class_loss.h, in their order."""


class CompiledClassLoss(NamedTuple):
    """A class loss: its kind, the records of the table, what each level adds to its factor."""

    kind: int
    records: int
    share: NDArray[np.float64]


def class_loss_of(problem: Problem) -> CompiledClassLoss | None:
    """The loss of a problem if it is a class loss that the C code knows, else None."""
    objective = problem.objective
    if not isinstance(objective, ClassObjective) or type(objective.loss) not in _KINDS:
        return None
    lowest, top = (0,) * len(problem.lattice.top), problem.lattice.top
    share = np.zeros((len(top), max(top) + 1))
    for j, most in enumerate(top):
        for level in range(most + 1):
            share[j, level] = objective.factor((*lowest[:j], level, *lowest[j + 1 :])) - 1
    return CompiledClassLoss(_KINDS[type(objective.loss)], problem.table.records, share)


def class_loss_of_thread(prepared: Prepared) -> tuple[Any, Arrays] | None:
    """The structure, and the arrays that it points to, which must outlive it.

    None where the loss is not one of classes.
    """
    loss = prepared.class_loss
    if loss is None:
        return None
    attributes, levels = prepared.tables.base.shape
    sizes = {"attributes": attributes, "levels": levels}
    arrays = CLASS_LOSS.allocate(sizes, {"share": loss.share})
    return CLASS_LOSS.fill({"kind": loss.kind, "records": loss.records}, arrays), arrays
