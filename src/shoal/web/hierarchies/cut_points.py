"""Cut points of several levels, edited so that levels stay nested.

Each level takes its points from the level below. So a point that is added to a level is added to
all levels below, and one that is taken from a level is taken from all levels above.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import TypeAlias

from shoal.definition.hierarchies.numbers import parse_number

Cuts: TypeAlias = tuple[tuple[float, ...], ...]
"""The points of each level, from the finest level up."""


def add_point(cuts: Cuts, level: int, point: float) -> Cuts:
    """With a point at a level, and at all levels below it; levels are counted from 0 here."""
    return tuple(
        tuple(sorted({*points, point})) if index <= level else points
        for index, points in enumerate(cuts)
    )


def remove_point(cuts: Cuts, level: int, point: float) -> Cuts:
    """Without a point at a level, and at all levels above it."""
    return tuple(
        tuple(each for each in points if each != point) if index >= level else points
        for index, points in enumerate(cuts)
    )


def move_point(cuts: Cuts, point: float, to: float) -> Cuts:
    """With a point elsewhere, at all levels that have it."""
    return tuple(
        tuple(sorted({to if each == point else each for each in points})) for points in cuts
    )


def add_level(cuts: Cuts) -> Cuts:
    """With one more level on top, which has every second point of the last one."""
    return (*cuts, cuts[-1][1::2]) if cuts else ((),)


def remove_level(cuts: Cuts, level: int) -> Cuts:
    """Without a level; the others stay nested."""
    return tuple(points for index, points in enumerate(cuts) if index != level)


def first_points(counts: Mapping[str, int]) -> Cuts:
    """Points to start from: about the quarters of the records, and then the middle alone."""
    numbers = _numbers(counts)
    if not numbers:
        return ((0.0,),)
    step = Decimal(repr(step_of(float(numbers[0][0]), float(numbers[-1][0]), parts=20)))
    if all(number == number.to_integral_value() for number, _ in numbers):
        step = max(step, Decimal(1))
    records = sum(count for _, count in numbers)
    points = sorted({_rounded(_quantile(numbers, records * part / 4), step) for part in (1, 2, 3)})
    inside = tuple(float(point) for point in points if numbers[0][0] < point <= numbers[-1][0])
    if len(inside) < 3:
        return (inside,) if inside else ((float(numbers[-1][0]),),)
    return (inside, (inside[1],))


def histogram(counts: Mapping[str, int], bars: int = 40) -> list[tuple[float, float, int]]:
    """The records between equally distant numbers: from, to, records; values that are no numbers
    are left out."""
    numbers = _numbers(counts)
    if not numbers:
        return []
    low, high = float(numbers[0][0]), float(numbers[-1][0])
    width = (high - low) / bars or 1.0
    heights = [0] * bars
    for number, count in numbers:
        heights[min(bars - 1, int((float(number) - low) / width))] += count
    return [(low + i * width, low + (i + 1) * width, count) for i, count in enumerate(heights)]


def step_of(low: float, high: float, parts: int = 200) -> float:
    """A round number of which about so many lie in the range; arrow keys move a point by it."""
    span = Decimal(repr(high - low)) if high > low else Decimal(1)
    power = Decimal(1).scaleb((span / parts).adjusted())
    fitting = [power * factor for factor in (1, 2, 5, 10)]
    return float(min(fitting, key=lambda step: abs(span / step - parts)))


def snapped(point: float, step: float) -> float:
    """The nearest multiple of the step, exactly as it is written in decimals."""
    return float(_rounded(Decimal(repr(point)), Decimal(repr(step))))


def _numbers(counts: Mapping[str, int]) -> list[tuple[Decimal, int]]:
    found = ((parse_number(value), count) for value, count in counts.items())
    return sorted((number, count) for number, count in found if number is not None)


def _quantile(numbers: Sequence[tuple[Decimal, int]], records: float) -> Decimal:
    """The number below which so many records are."""
    seen = 0
    for number, count in numbers:
        seen += count
        if seen > records:
            return number
    return numbers[-1][0]


def _rounded(number: Decimal, step: Decimal) -> Decimal:
    return ((number / step).to_integral_value() * step).normalize()
