"""A hierarchy for a column that was given none, from its distinct values alone.

Numbers get intervals, dates their months and years, codes of one length a mask, everything else is
kept or suppressed. The same values always get the same proposal, which covers all of them.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from shoal.definition.hierarchies.dates import DATE_LABELS, formats_of, parse_date
from shoal.definition.hierarchies.numbers import parse_number
from shoal.definition.model import Dates, DateUnit, Hierarchy, Intervals, Mask, Suppress
from shoal.spellings import far_numbers

if TYPE_CHECKING:
    from collections.abc import Sequence

_INTERVALS = (20, 10, 5, 2)
"""About how many intervals each level should cut the range of the numbers into."""
_MANTISSAS = (1, 2, 5)
_UNITS: tuple[DateUnit, ...] = ("day", "month", "year", "decade")
_CODE_LENGTHS = range(3, 13)
_LONG_DIGITS = 5
"""Digits of one length this long are a code (a postcode, a date) rather than a quantity."""


def propose(values: Sequence[str]) -> Hierarchy:
    """The hierarchy that fits these distinct values; missing values are not among them."""
    if not values:
        return Suppress()
    return _mask_of_digits(values) or _intervals(values) or _dates(values) or _mask(values)


def reason(values: Sequence[str], proposed: Hierarchy) -> str:
    """Why this hierarchy was proposed for these values; no value is named."""
    if not values:
        return "The column has no values."
    if isinstance(proposed, Mask):
        what = "digits" if all(map(str.isdigit, values)) else "letters and digits"
        return f"Every value is a code of {len(values[0])} {what}."
    if isinstance(proposed, Intervals):
        return "Every value is a number; the widths are round numbers that fit their range."
    if isinstance(proposed, Dates):
        return "Every value is a date; each unit joins some of them, and not all."
    if all(parse_number(value) is not None for value in values):
        return "The numbers are too close together for intervals."
    return "The values are texts without a common form, so each is kept or hidden."


def _mask_of_digits(values: Sequence[str]) -> Mask | None:
    """A mask for digits of one length that are no quantity: long ones, or some begin with 0."""
    length = len(values[0])
    digits = all(value.isascii() and value.isdigit() and len(value) == length for value in values)
    leading_zero = any(value.startswith("0") for value in values)
    if digits and length in _CODE_LENGTHS and (length >= _LONG_DIGITS or leading_zero):
        return Mask(mask=tuple(range(1, length + 1)))
    return None


def _intervals(values: Sequence[str]) -> Intervals | Suppress | None:
    """Intervals when all values are numbers; suppression when their range is too small to cut.

    A few numbers far from all others, such as 9999 for a missing age, do not count for the range.
    """
    numbers = [number for value in values if (number := parse_number(value)) is not None]
    if len(numbers) < len(values):
        return None
    whole = all(number == number.to_integral_value() for number in numbers)
    near = set(numbers) - far_numbers(numbers)
    widths = _widths(max(near) - min(near), least=2 if whole else 0)
    return Intervals(intervals=tuple(map(float, widths))) if widths else Suppress()


def _widths(span: Decimal, least: int) -> list[Decimal]:
    """Round widths (1, 2 or 5 times a power of ten), each a multiple of the one before.

    For each number of intervals the round width whose ratio to the ideal one is nearest to 1 is
    taken; none is wider than the span, since that would hardly differ from `*`.
    """
    widths: list[Decimal] = []
    if not Decimal("1e-200") < span < Decimal("1e200"):
        return widths
    powers = range(span.adjusted() - 3, span.adjusted() + 1)
    rounds = [Decimal(m).scaleb(power) for power in powers for m in _MANTISSAS]
    for intervals in _INTERVALS:
        ideal = span / intervals
        fitting = [
            width
            for width in rounds
            if least <= width <= span
            and (not widths or (width > widths[-1] and width % widths[-1] == 0))
        ]
        if fitting:
            widths.append(min(fitting, key=lambda width: max(width / ideal, ideal / width)))
    return widths


def _dates(values: Sequence[str]) -> Dates | Suppress | None:
    """The units that join some but not all dates, when their format is certain."""
    fitting = formats_of(values)
    if len(fitting) != 1:
        return None
    dates = [date for value in values if (date := parse_date(value, fitting[0])) is not None]
    units: list[DateUnit] = []
    finer = len(values)
    # A day is called as ISO dates are: among them, the label of a day would be a value too.
    beside_iso = "%Y-%m-%d" in (fitting[0] or "")
    for unit in _UNITS[beside_iso:]:
        labels = len({DATE_LABELS[unit](date) for date in dates})
        if 1 < labels < finer:
            units.append(unit)
            finer = labels
    return Dates(date=tuple(units), format=fitting[0]) if units else Suppress()


def _mask(values: Sequence[str]) -> Mask | Suppress:
    """A mask for codes of one length with a digit in each; suppression for any other text."""
    length = len(values[0])
    codes = all(
        len(value) == length and value.isalnum() and any(map(str.isdigit, value))
        for value in values
    )
    if codes and length in _CODE_LENGTHS:
        return Mask(mask=tuple(range(1, length + 1)))
    return Suppress()
