"""Numbers in ranges: `[20,25)`, `<20`, `>=90`, by equal widths or between cut points."""

from __future__ import annotations

import bisect
import itertools
import re
from abc import abstractmethod
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

from shoal.verify.labels.built import TOP, Built

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from shoal.definition.model import Cuts, Intervals

_NUMBER = r"(0|-?(?:[1-9][0-9]*|0(?=\.))(?:\.[0-9]*[1-9])?)"
"""A number without needless zeros, signs or exponents, so that each has one form."""
_VALUE = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,6})?")
_FORMS = (
    re.compile(rf"\[{_NUMBER},{_NUMBER}\)"),
    re.compile(rf"<{_NUMBER}"),
    re.compile(rf">={_NUMBER}"),
)
LONGEST = 4000
"""Characters of a label; Python makes no numbers of texts much longer."""
LARGEST = 400
"""Digits before or after the point of a value that is measured; one with more is not covered."""


@dataclass(frozen=True)
class Range:
    """The numbers from `low` up, below `high`; None is an open end."""

    low: Fraction | None
    high: Fraction | None

    def holds(self, number: Decimal) -> bool:
        """Whether the number lies in it."""
        return (self.low is None or number >= self.low) and (
            self.high is None or number < self.high
        )


EVERYTHING = Range(None, None)


def as_range(label: str) -> Range | None:
    """The range a label writes, None when it is no such label or longer than Python reads."""
    if len(label) > LONGEST:
        return None
    between, below, above = (form.fullmatch(label) for form in _FORMS)
    if between:
        return Range(Fraction(between[1]), Fraction(between[2]))
    if below:
        return Range(None, Fraction(below[1]))
    if above:
        return Range(Fraction(above[1]), None)
    return None


def as_label(found: Range) -> str:
    """The label that writes a range with at least one end."""
    low = "" if found.low is None else _decimal(found.low)
    high = "" if found.high is None else _decimal(found.high)
    if not low:
        return f"<{high}"
    return f"[{low},{high})" if high else f">={low}"


def _decimal(number: Fraction) -> str:
    """A decimal number without needless zeros."""
    decimals = 0
    while (number * 10**decimals).denominator != 1:
        decimals += 1
    digits = f"{abs(int(number * 10**decimals)):0{decimals + 1}}"
    sign = "-" if number < 0 else ""
    return sign + (f"{digits[:-decimals]}.{digits[-decimals:]}" if decimals else digits)


def as_number(text: str) -> Decimal | None:
    """The number a value writes, with sign, point and exponent as it likes; None for no number."""
    return Decimal(text.strip()) if _VALUE.fullmatch(text.strip()) else None


def measured(text: str) -> Fraction | None:
    """The number a value writes, None for no number and for one with too many digits."""
    number = as_number(text) if len(text.strip()) <= LARGEST else None
    if number is None or abs(number.adjusted()) > LARGEST:
        return None
    return Fraction(number)


def exact(number: float) -> Fraction:
    """The number as people wrote it: 0.1 is a tenth."""
    return Fraction(str(number))


class RangeLabels(Built):
    """Labels that are ranges of numbers; what a level allows is left to the two kinds below."""

    def is_value(self, label: str) -> bool:
        """A number."""
        return as_number(label) is not None

    def listed_misfits(self, level: int, labels: Sequence[str]) -> list[str]:
        """Labels that are no range, or none of this level's."""
        return [label for label in labels if not self.is_label(level, label)]

    def is_label(self, level: int, label: str) -> bool:
        """Whether the label writes a range of this level."""
        found = as_range(label)
        return found is not None and self.is_range(level, found)

    def labelled(self, level: int) -> dict[str, str]:
        """The range that each number lies in."""
        labels: dict[Range, str] = {}
        found: dict[str, str] = {}
        for value in self.values or ():
            if (number := measured(value)) is not None:
                around = self.around(level, number)
                if around not in labels:
                    labels[around] = as_label(around) if around != EVERYTHING else TOP
                found[value] = labels[around]
        return found

    @abstractmethod
    def around(self, level: int, number: Fraction) -> Range:
        """The level's range that the number lies in."""

    @abstractmethod
    def is_range(self, level: int, found: Range) -> bool:
        """Whether it is one of the level's ranges."""

    def is_whole(self, label: str) -> bool:
        """Whether the range holds every value of the source."""
        found = as_range(label)
        if found is None:
            return label == TOP
        numbers = None if self.values is None else [as_number(value) for value in self.values]
        return bool(numbers) and all(n is not None and found.holds(n) for n in numbers or ())


class IntervalLabels(RangeLabels):
    """Ranges of one width per level, counted from the origin, cut by bottom and top coding."""

    def __init__(self, spec: Intervals, values: Collection[str] | None) -> None:
        super().__init__(len(spec.widths), values)
        self.widths = [exact(width) for width in spec.widths]
        self.origin = exact(spec.origin)
        self.bottom = None if spec.bottom is None else exact(spec.bottom)
        self.top = None if spec.top is None else exact(spec.top)

    def is_range(self, level: int, found: Range) -> bool:
        """`<bottom`, `>=top`, or the whole interval that its numbers fall in, cut by these two."""
        if found.low is None:
            return self.bottom is not None and found.high == self.bottom
        if found.high is None:
            return self.top is not None and found.low == self.top
        return found == self.around(level, found.low) and found.low < found.high

    def around(self, level: int, number: Fraction) -> Range:
        """The interval from the origin, or one of the open ends."""
        if self.bottom is not None and number < self.bottom:
            return Range(None, self.bottom)
        if self.top is not None and number >= self.top:
            return Range(self.top, None)
        width = self.widths[level - 1]
        low = self.origin + (number - self.origin) // width * width
        high = low + width
        return Range(
            low if self.bottom is None else max(low, self.bottom),
            high if self.top is None else min(high, self.top),
        )


class CutLabels(RangeLabels):
    """The ranges between neighbouring cut points of a level, and the two open ends."""

    def __init__(self, spec: Cuts, values: Collection[str] | None) -> None:
        super().__init__(len(spec.cuts), values)
        self.points = [sorted({exact(cut) for cut in cuts}) for cuts in spec.cuts]

    def is_label(self, level: int, label: str) -> bool:
        """A level without cut points has the label `*`."""
        return super().is_label(level, label) if self.points[level - 1] else label == TOP

    def is_range(self, level: int, found: Range) -> bool:
        """Whether the level's cut points make this range."""
        ends = [None, *self.points[level - 1], None]
        return (found.low, found.high) in itertools.pairwise(ends)

    def around(self, level: int, number: Fraction) -> Range:
        """From the last point that is not above the number to the next one."""
        points = self.points[level - 1]
        at = bisect.bisect_right(points, number)
        return Range(points[at - 1] if at else None, points[at] if at < len(points) else None)
