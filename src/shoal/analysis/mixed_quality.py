"""What a release with labels of several levels lost, measured by its labels.

Which record of the source has which label is not known, so a sum of costs over the records must be
computed from what is: the records of each label, and those of each value in the source. A loss of
cells costs c(level, value). Where c(level, value) - c(last level, value) is the same for all values
of a label, which is true of every loss that ships, the sum over the released cells is the sum of
these differences over the labels plus the sum of c(last level, value) over the released values.
These are the values of the source without those of suppressed records, which are not known. The
least and the greatest that they can sum to are, so a loss has a least and a greatest value. Both
are the same where nothing is suppressed, or where c(last level, value) is that of any value.

Squared errors need the number of a record beside its label, and are not measured.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np

from shoal.analysis.quality import Measure, Quality, measures_of_sizes, of_attributes, of_tables
from shoal.definition.hierarchies.base import TOP
from shoal.search.objective import CellObjective, LevelObjective

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from shoal.analysis.mixed_release import MixedRelease
    from shoal.search.objective import ClassObjective, Objective
    from shoal.values import Ints

    Floats = NDArray[np.float64]

TOLERANCE = 1e-9
"""Costs that differ by less are the same."""

NOT_KNOWN = (
    "A release of local recoding does not say which label each record has, nor which records were "
    "suppressed. So these are not known from it:"
)


@dataclass(frozen=True)
class LossRange:
    """The least and the greatest that a loss can be; and the least of each attribute."""

    least: float
    greatest: float
    attributes: tuple[float, ...] = ()


def mixed_loss(found: MixedRelease, objective: Objective) -> LossRange | None:
    """What a release lost; None where it cannot be known.

    A loss of levels is the mean over the released cells. It and a loss of classes are exact.
    """
    if isinstance(objective, CellObjective):
        losses = [_cell_loss(found, j, costs) for j, costs in enumerate(objective.costs)]
        known = [each for each in losses if each is not None]
        if len(known) < len(losses):
            return None
        least, greatest = zip(*known, strict=True)
        return LossRange(objective.join(least), objective.join(greatest), least)
    released = max(int(found.sizes.sum()), 1)
    if isinstance(objective, LevelObjective):
        of_levels = [
            math.fsum(found.sizes * np.array(costs)[found.levels[:, j]]) / released
            for j, costs in enumerate(objective.costs)
        ]
        priorities = [attribute.priority for attribute in found.table.attributes]
        loss = sum(p * x for p, x in zip(priorities, of_levels, strict=True))
        return LossRange(loss, loss, tuple(of_levels))
    loss = _class_loss(found, cast("ClassObjective", objective), released)
    return LossRange(loss, loss)


def _class_loss(found: MixedRelease, objective: ClassObjective, released: int) -> float:
    """The loss of the sizes; its factor for priorities is linear, so the mean levels decide."""
    levels = tuple((found.sizes @ found.levels / released).tolist())
    loss = objective.loss.class_loss(found.sizes, found.suppressed, found.table.records)
    return objective.factor(levels) * loss


def _cell_loss(found: MixedRelease, j: int, costs: Sequence[Floats]) -> tuple[float, float] | None:
    """The mean cost of the cells of an attribute, suppressed ones at 1: the least and the greatest
    that it can be. None where the costs of a label depend on its values."""
    table, suppressed = found.table, found.suppressed
    records, attribute = table.records_of[j], table.attributes[j]
    there = np.flatnonzero(records)
    last = costs[-1][there]
    total = float(records[there] @ last)
    for level in np.unique(found.levels[:, j]).tolist():
        group = attribute.groups[level][there]
        more = costs[level][there] - last
        least, most = np.full(int(group.max()) + 1, np.inf), np.full(int(group.max()) + 1, -np.inf)
        np.minimum.at(least, group, more)
        np.maximum.at(most, group, more)
        chosen = found.levels[:, j] == level
        groups = found.groups[chosen, j]
        if (most[groups] - least[groups] > TOLERANCE).any():
            return None
        total += math.fsum(found.sizes[chosen] * least[groups])
    left = records[there] - found.at_level(j, 0)[1][attribute.groups[0][there]]
    low, high = _sums_of_some(last, left, suppressed)
    known = total + suppressed
    return max(0.0, (known - high) / table.records), max(0.0, (known - low) / table.records)


def _sums_of_some(costs: Floats, available: Ints, number: int) -> tuple[float, float]:
    """The least and the greatest sum of so many costs, each of which is there so many times."""
    sums = []
    for order in (np.argsort(costs, kind="stable"), np.argsort(-costs, kind="stable")):
        there = available[order]
        taken = np.clip(number - (np.cumsum(there) - there), 0, there)
        sums.append(float(taken @ costs[order]))
    return sums[0], sums[1]


def mixed_qualities(found: MixedRelease) -> list[Quality]:
    """ARX's measures that labels are enough for, as `quality` defines them."""
    columns = range(len(found.table.attributes))
    leaves = [_leaves(found, j) for j in columns]
    by_attribute = {
        "generalization_intensity": [_intensity(found, j) for j in columns],
        "granularity": [_granularity(found, j, leaves[j]) for j in columns],
        "non_uniform_entropy": [_entropy(found, j) for j in columns if not found.suppressed],
        "missings": [_missings(found, j) for j in columns],
    }
    names = [attribute.name for attribute in found.table.attributes]
    measured = [
        of_attributes(name, dict(zip(names, each, strict=True)))
        for name, each in by_attribute.items()
        if each
    ]
    of_table = measures_of_sizes(found.table, found.sizes, found.suppressed)
    return measured + of_tables({**of_table, "ambiguity": _ambiguity(found, leaves)})


def _mean(found: MixedRelease, lost: Floats, minimum: float = 0.0) -> Measure:
    """A measure that is the mean over the cells; a suppressed one counts 1."""
    total = math.fsum(found.sizes * lost) + found.suppressed
    return Measure(total / found.table.records, minimum, 1.0)


def _intensity(found: MixedRelease, j: int) -> Measure:
    return _mean(found, found.levels[:, j] / max(found.table.attributes[j].height, 1))


def _granularity(found: MixedRelease, j: int, leaves: Ints) -> Measure:
    every = _all_leaves(found, j)
    return _mean(found, leaves / every, 1 / every)


def _missings(found: MixedRelease, j: int) -> Measure:
    """The share of cells that are suppressed, missing, or the top label."""
    attribute = found.table.attributes[j]
    last = attribute.hierarchy.labels[-1]
    tops = {TOP, last[0]} if len(last) == 1 else {TOP}
    labels = [attribute.labels(level).to_pylist() for level in range(attribute.height + 1)]
    texts = [labels[level][group] for level, group in _cells(found, j)]
    return _mean(found, np.array([text is None or text in tops for text in texts], np.float64))


def _entropy(found: MixedRelease, j: int) -> Measure:
    """Bits: how surprising each value is given its label; nothing is suppressed."""
    records = found.table.records_of[j]
    records = records[records > 0].astype(np.float64)
    under = [found.at_level(j, level)[0] for level in range(found.table.attributes[j].height + 1)]
    together = np.array([under[level][group] for level, group in _cells(found, j)], np.float64)
    values = float(records @ np.log2(records))
    bits = max(0.0, math.fsum(found.sizes * np.log2(together)) - values)
    return Measure(bits, 0.0, float(records.sum() * np.log2(records.sum())) - values)


def _ambiguity(found: MixedRelease, leaves: Sequence[Ints]) -> Measure:
    """How many combinations of leaves each record could stand for, in all."""
    everything = math.prod(float(_all_leaves(found, j)) for j in range(len(leaves)))
    each = np.prod(np.stack([column.astype(np.float64) for column in leaves]), axis=0)
    records = found.table.records
    raw = math.fsum(found.sizes * each) + found.suppressed * everything
    return Measure(raw, float(records), records * everything)


def _leaves(found: MixedRelease, j: int) -> Ints:
    """The leaves under the label of each class; a missing value is a label of one leaf."""
    attribute = found.table.attributes[j]
    under = [
        np.append(attribute.hierarchy.leaves_under(level), 1)
        for level in range(attribute.height + 1)
    ]
    return np.array([under[level][group] for level, group in _cells(found, j)], np.int64)


def _all_leaves(found: MixedRelease, j: int) -> int:
    return max(len(found.table.attributes[j].hierarchy.labels[0]), 1)


def _cells(found: MixedRelease, j: int) -> list[tuple[int, int]]:
    """The level and the group of each class in an attribute."""
    return list(zip(found.levels[:, j].tolist(), found.groups[:, j].tolist(), strict=True))
