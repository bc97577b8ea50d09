"""Squared errors of a release, as ARX measures them.

A number is needed for every cell. A column whose values are all numbers has its numbers, and a
label is the range of the values that occur under it. The values of any other column count by their
position in the hierarchy, from 0, and a label is the range of the positions under it. That means
something where the hierarchy lists its values in their order. A suppressed cell is the whole range.
A missing cell has no number and no error.

Sums over tuples are exact and rounded once (`fsum`), so the order of the tuples changes nothing:
engines do not promise one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from shoal.analysis.quality import Measure, Quality, of_attributes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shoal.encode.table import Attribute, Table
    from shoal.search.problem import Partition
    from shoal.values import Bools, Ints, Node

    Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Scale:
    """The number of each code of an attribute, and the range of its label; NaN for missing.

    `kind` is number or position. `low` and `high` are the range of a released cell, `least` and
    `most` that of a suppressed one. `first` and `last` are the range of the input.
    """

    kind: str
    number: Floats
    low: Floats
    high: Floats
    least: float
    most: float
    first: float
    last: float


def scale_of(attribute: Attribute, records: Ints, level: int) -> Scale:
    """The scale of an attribute at a level: its numbers where it has them, else positions.

    `records` counts the records of each code.
    """
    numbers = _numbers(attribute, records)
    if numbers is None:
        return position_scale(attribute, records, level)
    there = (records > 0) & ~np.isnan(numbers)
    low, high = _ranges(attribute.groups[level], numbers, there)
    first, last = _range(numbers[there])
    return Scale("number", numbers, low, high, first, last, first, last)


def position_scale(attribute: Attribute, records: Ints, level: int) -> Scale:
    """The scale of an attribute by the positions of its values in the hierarchy."""
    leaves = attribute.missing_code
    numbers = np.append(np.arange(leaves, dtype=float), np.nan)
    low, high = _ranges(attribute.groups[level], numbers, ~np.isnan(numbers))
    first, last = _range(numbers[:-1][records[:-1] > 0])
    return Scale("position", numbers, low, high, 0.0, float(max(leaves - 1, 0)), first, last)


def _numbers(attribute: Attribute, records: Ints) -> Floats | None:
    """The number of each value, NaN for what does not occur; None if one that occurs is none."""
    numbers = np.full(len(records), np.nan)
    for code in np.flatnonzero(records[:-1]).tolist():
        try:
            numbers[code] = float(attribute.hierarchy.labels[0][code])
        except ValueError:
            return None
        if not math.isfinite(numbers[code]):
            return None
    return numbers


def _ranges(groups: Ints, numbers: Floats, chosen: Bools) -> tuple[Floats, Floats]:
    """The least and the greatest number under the label of each code."""
    low = np.full(int(groups.max()) + 1, np.inf)
    high = np.full(len(low), -np.inf)
    np.minimum.at(low, groups[chosen], numbers[chosen])
    np.maximum.at(high, groups[chosen], numbers[chosen])
    return low[groups], high[groups]


def _range(numbers: Floats) -> tuple[float, float]:
    return (float(numbers.min()), float(numbers.max())) if len(numbers) else (0.0, 0.0)


def squared_errors(
    table: Table, node: Node, classes: Partition, scales: Sequence[Scale] | None = None
) -> list[Quality]:
    """The squared errors of attributes, of records, and against the total sum of squares."""
    scales = scales or [
        scale_of(attribute, records, level)
        for attribute, records, level in zip(table.attributes, table.records_of, node, strict=True)
    ]
    kept = classes.kept[classes.class_of]
    cells = [
        _Cells(scale, codes, kept, table.weights)
        for scale, codes in zip(scales, table.codes, strict=True)
    ]
    names = [attribute.name for attribute in table.attributes]
    by_attribute = {name: each.squared_error() for name, each in zip(names, cells, strict=True)}
    of_table = {
        "record_level_squared_error": _record_level(cells, table.weights),
        "sse_sst": _explained(cells),
    }
    return [
        of_attributes("attribute_level_squared_error", by_attribute),
        *(Quality(name, each.quality, each) for name, each in of_table.items()),
    ]


class _Cells:
    """The cells of a column, one for each tuple: the number before, and the range after."""

    def __init__(self, scale: Scale, codes: Ints, kept: Bools, weights: Ints) -> None:
        self.scale = scale
        self.before = scale.number[codes]
        self.low = np.where(kept, scale.low[codes], scale.least)
        self.high = np.where(kept, scale.high[codes], scale.most)
        self.weights = np.where(np.isnan(self.before), 0, weights)
        self.before = np.nan_to_num(self.before)
        absent = self.weights == 0
        self.low, self.high = (np.where(absent, 0.0, x) for x in (self.low, self.high))

    def squared_error(self) -> Measure:
        """The squared distance to the farther end of the range, at most to that of the input."""
        most = self._far_from(self.scale.first, self.scale.last) ** 2
        far = np.minimum(self._far() ** 2, most)
        return Measure(math.fsum(self.weights * far), 0.0, math.fsum(self.weights * most))

    def _far(self) -> Floats:
        """The distance to the farther end of the released range."""
        return self._far_from(self.low, self.high)

    def _far_from(self, low: Floats | float, high: Floats | float) -> Floats:
        far = np.maximum(abs(self.before - low), abs(self.before - high))
        return np.where(self.weights > 0, far, 0.0)

    def in_deviations(self) -> tuple[Floats, Floats]:
        """The distance of the release and that of a suppressed cell, in deviations of the input.

        A column of one value has no deviation, and its distances are 0.
        """
        deviation = math.sqrt(self._mean((self.before - self.mean) ** 2))
        if deviation == 0:
            return np.zeros(len(self.before)), np.zeros(len(self.before))
        whole = self._far_from(self.scale.least, self.scale.most)
        return self._far() / deviation, whole / deviation

    @property
    def mean(self) -> float:
        """The mean of the input."""
        return self._mean(self.before)

    def _mean(self, numbers: Floats) -> float:
        total = int(self.weights.sum())
        return math.fsum(self.weights * numbers) / total if total else 0.0

    def sums_of_squares(self) -> tuple[float, float]:
        """Of the middle of the range from the number, and from the mean of the input."""
        middle = (self.low + self.high) / 2
        error = math.fsum(self.weights * (middle - self.before) ** 2)
        return error, math.fsum(self.weights * (middle - self.mean) ** 2)


def _record_level(cells: Sequence[_Cells], weights: Ints) -> Measure:
    """The mean length of the vectors of distances, divided by the number of attributes."""
    pairs = [each.in_deviations() for each in cells]
    raw, most = (math.fsum(weights * np.sqrt(sum(pair[i] ** 2 for pair in pairs))) for i in (0, 1))
    number = len(cells) * int(weights.sum())
    return Measure(raw / number, 0.0, most / number)


def _explained(cells: Sequence[_Cells]) -> Measure:
    """The sum of squared errors against the total sum of squares, over all cells."""
    sums = [each.sums_of_squares() for each in cells]
    return Measure(sum(error for error, _ in sums), 0.0, sum(total for _, total in sums))
