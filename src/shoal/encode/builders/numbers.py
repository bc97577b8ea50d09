"""Hierarchies of numbers: intervals of equal width, and cut points.

All arithmetic is exact: numbers are whole multiples of one power of ten, so 0.3 lies in `[0.3,0.4)`
and not in the interval below it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING

from shoal.encode.builders.cover import refuse_uncovered
from shoal.encode.hierarchy import TOP
from shoal.errors import BadHierarchy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from shoal.definition.model import Cuts, Intervals

_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,4})?")
_LONGEST = 400
"""More digits than this before or after the point are no measurement, and would cost memory."""


def parse_number(text: str) -> Decimal | None:
    """The number a text says: signs, points, exponents and outer spaces are fine; NaN is none."""
    text = text.strip()
    if len(text) > _LONGEST or not _NUMBER.fullmatch(text):
        return None
    number = Decimal(text)
    return number if abs(number.adjusted()) <= _LONGEST else None


def number_order(attribute: str, counts: Mapping[str, int]) -> dict[str, Decimal]:
    """The values with their numbers, in rising order; equal numbers in the order of their text."""
    numbers = {value: parse_number(value) for value in counts}
    uncovered = [value for value, number in numbers.items() if number is None]
    remedy = "correct what is not a number, or use a tree or a CSV hierarchy"
    refuse_uncovered(attribute, uncovered, counts, remedy)
    known = {value: number for value, number in numbers.items() if number is not None}
    return dict(sorted(known.items(), key=lambda item: (item[1], item[0])))


def interval_rows(
    attribute: str, spec: Intervals, counts: Mapping[str, int]
) -> list[tuple[str, ...]]:
    """One row per value: the value, then its interval at each width.

    Widths that are multiples of the one before nest: each interval begins at a multiple of its
    width from the same origin. Bottom and top cut every level at the same two points.
    """
    numbers = number_order(attribute, counts)
    widths = list(map(_exact, spec.widths))
    origin = _exact(spec.origin)
    bottom = None if spec.bottom is None else _exact(spec.bottom)
    top = None if spec.top is None else _exact(spec.top)
    upside_down = bottom is not None and top is not None and bottom >= top
    if upside_down or not widths or min(widths) <= 0:
        raise BadHierarchy(
            f"hierarchy of {attribute!r}: intervals need positive widths, and bottom below top",
            hint="for example {intervals: [5, 10, 20], bottom: 20, top: 90}",
            code="bad-levels",
        )
    ends = [end for end in (bottom, top) if end is not None]
    scale = Scale.of([*numbers.values(), *widths, origin, *ends])
    partition = _Partition(
        cache(scale.text),
        scale.units(origin),
        None if bottom is None else scale.units(bottom),
        None if top is None else scale.units(top),
    )
    units = [scale.units(number) for number in numbers.values()]
    columns = [
        [partition.label(unit, width) for unit in units] for width in map(scale.units, widths)
    ]
    return list(zip(numbers, *columns, strict=True))


def cut_rows(attribute: str, spec: Cuts, counts: Mapping[str, int]) -> list[tuple[str, ...]]:
    """One row per value: the value, then its place between the cut points of each level.

    Levels nest when each takes its points from the one below: fewer points only join neighbours.
    """
    numbers = number_order(attribute, counts)
    levels = [sorted(set(map(_exact, points))) for points in spec.cuts]
    scale = Scale.of([*numbers.values(), *(point for points in levels for point in points)])
    units = [scale.units(number) for number in numbers.values()]
    columns = []
    for points in levels:
        marks = [scale.units(point) for point in points]
        labels = range_labels([scale.text(mark) for mark in marks])
        columns.append([labels[bisect_right(marks, unit)] for unit in units])
    return list(zip(numbers, *columns, strict=True))


def range_labels(points: list[str]) -> list[str]:
    """What lies below the first point, between neighbours, and from the last point up."""
    if not points:
        return [TOP]
    between = [f"[{low},{high})" for low, high in pairwise(points)]
    return [f"<{points[0]}", *between, f">={points[-1]}"]


def _exact(number: float) -> Decimal:
    """The decimal number that was written in the definition, such as 0.1 itself."""
    return Decimal(repr(number))


@dataclass(frozen=True)
class Scale:
    """Decimal numbers as whole numbers of units of `10 ** -decimals`."""

    decimals: int

    @classmethod
    def of(cls, numbers: Iterable[Decimal]) -> Scale:
        """The coarsest scale on which all these numbers are whole."""
        exponents = (int(number.as_tuple().exponent) for number in numbers)
        return cls(max(0, -min(exponents, default=0)))

    def units(self, number: Decimal) -> int:
        numerator, denominator = number.as_integer_ratio()
        return int(numerator * 10**self.decimals // denominator)

    def text(self, units: int) -> str:
        """The number without needless zeros: `20`, `2.5`, `-0.1`."""
        whole, rest = divmod(abs(units), 10**self.decimals)
        sign = "-" if units < 0 else ""
        fraction = f"{rest:0{self.decimals}d}".rstrip("0")
        return f"{sign}{whole}.{fraction}" if fraction else f"{sign}{whole}"


@dataclass(frozen=True)
class _Partition:
    """The number line in intervals from an origin, with one open interval at either end."""

    text: Callable[[int], str]
    origin: int
    bottom: int | None
    top: int | None

    def label(self, units: int, width: int) -> str:
        """`[20,25)`, `<20` or `>=90`; an interval that bottom or top cuts shows its true ends."""
        if self.bottom is not None and units < self.bottom:
            return f"<{self.text(self.bottom)}"
        if self.top is not None and units >= self.top:
            return f">={self.text(self.top)}"
        low = units - (units - self.origin) % width
        high = low + width
        if self.bottom is not None:
            low = max(low, self.bottom)
        if self.top is not None:
            high = min(high, self.top)
        return f"[{self.text(low)},{self.text(high)})"
