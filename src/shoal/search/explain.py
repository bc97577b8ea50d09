"""Why there is no solution, and what would be feasible instead."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shoal.errors import Infeasible
from shoal.search.partition import select

if TYPE_CHECKING:
    from shoal.privacy.base import PrivacyModel
    from shoal.search.partition import Partition
    from shoal.search.problem import Problem
    from shoal.values import Bools

NAMED_CLASSES = 3


def why_infeasible(problem: Problem) -> Infeasible:
    """The proved answer that nothing can be released, with the reason at the most general node.

    For each model that refuses a class there: how many classes and records, the first of them by
    their labels, and the strongest demand of its kind that this node meets when the suppression
    that is allowed is spent on the classes that are worst by that model.
    """
    top = problem.lattice.top
    partition = problem.partition(top)
    table = problem.table
    reasons, remedies = [], []
    for model in problem.models:
        failing = ~model.satisfied(partition.counts)
        if failing.any():
            reasons.append(_reason(problem, partition, model, failing))
            remedies.append(_weaker(problem, partition, model))
    limited = [a.name for a in table.attributes if a.limit < a.height]
    if limited:
        remedies.append(f"raise the limits of {', '.join(limited)}")
    remedies.append(f"allow {partition.suppressed:,} suppressed records")
    return Infeasible(
        "no transformation meets the demand; nothing was released. At the most general one "
        f"{partition.suppressed:,} of {table.records:,} records would have to be suppressed, and "
        f"{problem.limit:,} may be" + "".join(f"\n  {reason}" for reason in reasons),
        code="infeasible",
        hint="any one of these may help: " + "; ".join(filter(None, remedies)),
    )


def _reason(problem: Problem, partition: Partition, model: PrivacyModel, failing: Bools) -> str:
    """Which classes a model refuses at the most general node."""
    sizes = partition.counts.sizes
    classes = [
        f"({', '.join(_labels(problem, partition, int(c)))}) with {int(sizes[c]):,}"
        for c in np.flatnonzero(failing)[:NAMED_CLASSES]
    ]
    return (
        f"{_title(model)} ({model.demanded()}) refuses {int(failing.sum()):,} of {len(sizes):,} "
        f"classes, {int(sizes[failing].sum()):,} records: {', '.join(classes)}"
        f"{', ...' if failing.sum() > NAMED_CLASSES else ''}"
    )


def _weaker(problem: Problem, partition: Partition, model: PrivacyModel) -> str:
    """The strongest demand met by what is left when the worst classes are suppressed."""
    counts = partition.counts
    alone = np.eye(len(counts.sizes), dtype=np.bool_)
    each = np.array([model.reached(select(counts, one)) for one in alone])
    worst_first = np.argsort(each if model.higher_is_safer else -each, kind="stable")
    spent = np.cumsum(counts.sizes[worst_first])
    left = worst_first[spent > problem.limit]
    kept = np.zeros(len(each), dtype=np.bool_)
    kept[left] = True
    reached = model.reached(select(counts, kept))
    if not np.isfinite(reached):
        return ""
    return f"demand no more of {_title(model)} than {reached:.6g}"


def _labels(problem: Problem, partition: Partition, number: int) -> list[str]:
    """The labels of a class at the most general node."""
    row = int(np.flatnonzero(partition.class_of == number)[0])
    return [
        attribute.labels(level)[int(attribute.groups[level][codes[row]])].as_py() or "missing"
        for attribute, codes, level in zip(
            problem.table.attributes, problem.table.codes, problem.lattice.top, strict=True
        )
    ]


def _title(model: PrivacyModel) -> str:
    return f"{model.name} of {model.attribute}" if model.attribute else model.name
