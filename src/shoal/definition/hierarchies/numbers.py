"""Exact numbers for the kinds of numbers: parsing, order, and labels of ranges.

Numbers are whole multiples of one power of ten, so 0.3 lies in `[0.3,0.4)` and not in the interval
below it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise

from shoal.definition.hierarchies.base import TOP, refuse_uncovered
from shoal.errors import Mistake

_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,4})?")
_LONGEST = 400
"""More digits than this before or after the point are no measurement, and would cost memory."""


def parse_number(text: str) -> Decimal | None:
    """The number in a text; signs, points, exponents and outer spaces are fine, NaN is None."""
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


def exact(number: float) -> Decimal:
    """The decimal number that was written in the definition, such as 0.1 itself."""
    return Decimal(repr(number))


def range_labels(points: list[str]) -> list[str]:
    """Labels for what lies below the first point, between neighbours, and from the last one up."""
    if not points:
        return [TOP]
    between = [f"[{low},{high})" for low, high in pairwise(points)]
    return [f"<{points[0]}", *between, f">={points[-1]}"]


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


def size_mistakes(key: str, sizes: Sequence[float], noun: str) -> Iterator[Mistake]:
    """Widths and sizes are positive, rise, and each is a multiple of the one before.

    They are compared as the decimals people wrote, so that 0.3 is three times 0.1.
    """
    fractions = [Fraction(str(size)) for size in sizes]
    if not sizes:
        yield Mistake(key, "lists no level", f"give at least one {noun}")
    elif min(fractions) <= 0:
        yield Mistake(key, f"has a {noun} that is not above 0", f"give positive {noun}s")
    else:
        for before, after in pairwise(fractions):
            if after <= before or after % before:
                what = f"{noun} {_brief(after)} is no multiple of {_brief(before)} before it"
                remedy = f"make each {noun} a multiple of the one before, as in [5, 10, 20]"
                yield Mistake(key, what, remedy)


def _brief(size: Fraction) -> str:
    """A size as people write it; one beyond all floats is a slip, whatever its digits."""
    return f"{float(size):g}" if size < 10**300 else "above 1e+300"
