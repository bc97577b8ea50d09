"""A problem laid out for the kernels of the box search."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from shoal.privacy.distinct_diversity import DistinctDiversity
from shoal.privacy.k_anonymity import KAnonymity
from shoal.search.objective import CellObjective, LevelObjective

if TYPE_CHECKING:
    from shoal.search.memory import Tables
    from shoal.search.problem import Problem
    from shoal.values import Bools, Ints

MOST_RECORDS = 2**31 - 1
"""Kernels count records in 32 bits; a larger k is as good as this one, which no class can have."""

MOST_CELLS = 64_000_000
"""Tallies with more cells than this would take too much memory."""


def fits(problem: Problem) -> bool:
    """Whether the compiled search can solve a problem.

    Its models must be k-anonymity and distinct diversity over at most 64 values, its loss one of
    cells or levels, its weights small enough for 32 bits.
    """
    for model in problem.models:
        if isinstance(model, DistinctDiversity):
            if len(problem.table.histograms[model.attribute].reference.values) > 64:
                return False
        elif not isinstance(model, KAnonymity):
            return False
    table = problem.table
    classes = min(table.tuples, table.records // 2) + 3
    widest = max(len(attribute.groups[0]) for attribute in table.attributes) + 1
    return (
        isinstance(problem.objective, CellObjective | LevelObjective)
        and table.records < MOST_RECORDS
        and classes * widest <= MOST_CELLS
    )


@dataclass(frozen=True, eq=False)
class Prepared:
    """A problem as the kernels read it."""

    tables: Tables
    codes: np.ndarray
    weights: np.ndarray
    masks: np.ndarray
    top: Ints


def prepare(problem: Problem) -> Prepared:
    """Lay the table, the hierarchies and the costs out for the kernels."""
    from shoal.search.memory import Tables

    table = problem.table
    attributes = table.attributes
    levels = max(attribute.limit for attribute in attributes) + 1
    codes = max(len(attribute.groups[0]) for attribute in attributes)
    shape = (len(attributes), levels, codes)
    small = np.uint8 if codes <= 2**8 else np.uint16 if codes <= 2**16 else np.uint32
    group, member = np.zeros(shape, small), np.zeros(shape, small)
    groups = np.ones(shape[:2], np.int64)
    base, charge = np.zeros(shape[:2]), np.zeros(shape)
    exact = True
    for j, attribute in enumerate(attributes):
        occurs = table.records_of[j] > 0
        for level in range(attribute.limit + 1):
            own = attribute.groups[level]
            group[j, level, : len(own)] = own
            groups[j, level] = int(own.max()) + 1
            member[j, level, own[::-1]] = np.arange(len(own))[::-1]
            base[j, level], dearest, cheapest = _costs(problem, j, level, occurs)
            charge[j, level, : len(dearest)] = dearest
            exact = exact and bool((np.abs(dearest - cheapest) <= 1e-15).all())
    demands = [m for m in problem.models if isinstance(m, DistinctDiversity)]
    objective = problem.objective
    tables = Tables(
        np.array(problem.lattice.bottom, np.int64),
        group,
        groups,
        member,
        base,
        charge,
        np.array([attribute.priority for attribute in attributes]),
        np.array([model.l for model in demands], np.int64),
        min(
            max((m.k for m in problem.models if isinstance(m, KAnonymity)), default=1), MOST_RECORDS
        ),
        problem.limit,
        isinstance(objective, CellObjective) and objective.aggregate == "geometric",
        exact,
    )
    return Prepared(
        tables,
        np.array(table.codes, small),
        table.weights.astype(np.int32),
        np.array([_masks(problem, model) for model in demands], np.uint64).reshape(
            len(demands), table.tuples
        ),
        np.array(problem.lattice.top, np.int64),
    )


def _costs(
    problem: Problem, j: int, level: int, occurs: Bools
) -> tuple[float, np.ndarray, np.ndarray]:
    """What a level costs with nothing suppressed, and what a suppressed record of each group costs
    above that: at least, and at most, of the codes that occur."""
    objective, table = problem.objective, problem.table
    groups = table.attributes[j].groups[level]
    if isinstance(objective, LevelObjective):
        none = np.zeros(int(groups.max()) + 1)
        return table.attributes[j].priority * objective.costs[j][level], none, none
    assert isinstance(objective, CellObjective)  # noqa: S101
    priorities = [attribute.priority for attribute in table.attributes]
    scale = 1.0 if objective.aggregate == "geometric" else priorities[j] / sum(priorities)
    left = 1.0 - objective.costs[j][level]
    low, high = np.ones(int(groups.max()) + 1), np.zeros(int(groups.max()) + 1)
    np.minimum.at(low, groups[occurs], left[occurs])
    np.maximum.at(high, groups[occurs], left[occurs])
    high = np.maximum(low, high)
    unit = scale / table.records
    return scale * objective.floors[j][level], low * unit, high * unit


def _masks(problem: Problem, model: DistinctDiversity) -> np.ndarray:
    """The sensitive values of each tuple, as bits."""
    histogram = problem.table.histograms[model.attribute]
    masks = np.zeros(problem.table.tuples, np.uint64)
    owner = np.repeat(np.arange(problem.table.tuples), np.diff(histogram.starts))
    np.bitwise_or.at(masks, owner, np.uint64(1) << histogram.values.astype(np.uint64))
    return masks
