"""The widths of intervals, read from the labels of a hierarchy of numbers."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from shoal.loss.base import Domain, Floats

Interval: TypeAlias = tuple[float, float]
"""Where an interval begins and where it ends; an open end is infinite."""

_NUMBER = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?"
_BETWEEN = re.compile(rf"[\[\](]?\s*({_NUMBER})\s*(?:,|;|-|–|\.\.)\s*({_NUMBER})\s*[\[\])]?")
_BELOW = re.compile(rf"(?:<=?|≤)\s*({_NUMBER})")
_ABOVE = re.compile(rf"(?:>=?|≥)\s*({_NUMBER})")


def interval_of(label: str) -> Interval | None:
    """The interval that a label states, None where it states none.

    `[20,25)`, `[20, 25[`, `20-24` and `20..24` have two ends, `<20` and `>=90` have one.
    """
    text = label.strip()
    if found := _BETWEEN.fullmatch(text):
        low, high = float(found[1]), float(found[2])
        return (low, high) if low <= high else None
    if found := _BELOW.fullmatch(text):
        return -math.inf, float(found[1])
    if found := _ABOVE.fullmatch(text):
        return float(found[1]), math.inf
    return None


def widths_of(domain: Domain) -> tuple[Floats, ...] | None:
    """The width of every group as a share of the range, `[level][group]`; None for other columns.

    A column has widths if its leaves are numbers and each group above them states an interval or is
    the only one of its level. The range goes from the least leaf to the greatest, and an interval
    counts as far as it lies within. A leaf has no width, and an only group the whole range.
    """
    if not domain.labels or len(domain.labels[0]) < 2:
        return None
    leaves = [_number(label) for label in domain.labels[0]]
    numbers = [leaf for leaf in leaves if leaf is not None]
    if len(numbers) < len(leaves) or min(numbers) == max(numbers):
        return None
    low, high = min(numbers), max(numbers)
    widths = [np.zeros(len(leaves))]
    for labels in domain.labels[1:]:
        found = _level(labels, low, high)
        if found is None:
            return None
        widths.append(found)
    return tuple(widths)


def _level(labels: Sequence[str], low: float, high: float) -> Floats | None:
    """The width of each group of a level, None where one states no interval."""
    if len(labels) == 1:
        return np.ones(1)
    widths = []
    for label in labels:
        number = _number(label)
        interval = interval_of(label) if number is None else (number, number)
        if interval is None:
            return None
        width = min(interval[1], high) - max(interval[0], low)
        widths.append(max(width, 0.0) / (high - low))
    return np.array(widths)


def _number(label: str) -> float | None:
    text = label.strip()
    number = float(text) if re.fullmatch(_NUMBER, text) else math.inf
    return number if math.isfinite(number) else None
