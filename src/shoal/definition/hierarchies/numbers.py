"""Numbers in ranges: `intervals` of equal width, and `cuts` at points.

First what both kinds share: parsing, order and labels of exact numbers. These are whole multiples
of one power of ten, so 0.3 lies in `[0.3,0.4)` and not in the interval below it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import BeforeValidator, Field, model_validator

from shoal.definition.hierarchies.base import TOP, Kind, Rows, refuse_uncovered
from shoal.definition.scalars import as_list
from shoal.definition.xml_elements import child, joined
from shoal.errors import BadHierarchy, Mistake

if TYPE_CHECKING:
    from lxml.etree import _Element


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


class Intervals(Kind):
    """Numbers in intervals of equal width, one width per level.

    Interval `i` of width `w` is `[origin + i*w, origin + (i+1)*w)`. Values below `bottom` share one
    interval, values from `top` up another.
    """

    widths: Annotated[tuple[float, ...], BeforeValidator(as_list)] = Field(alias="intervals")
    origin: float = 0.0
    bottom: float | None = None
    top: float | None = None

    key: ClassVar[str] = "intervals"
    example: ClassVar[str] = "{intervals: [5, 10, 20]}"
    nesting: ClassVar[str] = "make each width a multiple of the one before"
    short: ClassVar[Mapping[str, Any]] = {"type": "number"}
    xsd: ClassVar[str] = """
  <xs:complexType name="intervals">
    <xs:attribute name="widths" type="numbers" use="required"/>
    <xs:attribute name="origin" type="xs:double"/>
    <xs:attribute name="bottom" type="xs:double"/>
    <xs:attribute name="top" type="xs:double"/>
  </xs:complexType>"""

    @property
    def listed(self) -> int:
        """One level for each width."""
        return len(self.widths)

    def mistakes(self, key: str) -> Iterator[Mistake]:
        """Widths must be multiples of each other, and bottom below top."""
        yield from size_mistakes(f"{key}.intervals", self.widths, "width")
        if self.bottom is not None and self.top is not None and self.bottom >= self.top:
            what = f"{self.bottom:g} is not below top {self.top:g}"
            yield Mistake(f"{key}.bottom", what, "make bottom the smaller of the two")

    def rows(self, attribute: str, counts: Mapping[str, int]) -> Rows:
        """The value, then its interval at each width.

        Widths that are multiples of the one before nest: each interval begins at a multiple of its
        width from the same origin. Bottom and top cut every level at the same two points.
        """
        numbers = number_order(attribute, counts)
        widths, origin = list(map(exact, self.widths)), exact(self.origin)
        bottom = None if self.bottom is None else exact(self.bottom)
        top = None if self.top is None else exact(self.top)
        upside_down = bottom is not None and top is not None and bottom >= top
        if upside_down or not widths or min(widths) <= 0:
            raise BadHierarchy(
                f"hierarchy of {attribute!r}: intervals need positive widths, and bottom below top",
                hint="for example {intervals: [5, 10, 20], bottom: 20, top: 90}",
                code="bad-levels",
            )
        ends = [end for end in (bottom, top) if end is not None]
        scale = Scale.of([*numbers.values(), *widths, origin, *ends])
        line = _NumberLine(
            cache(scale.text),
            scale.units(origin),
            None if bottom is None else scale.units(bottom),
            None if top is None else scale.units(top),
        )
        units = [scale.units(number) for number in numbers.values()]
        columns = [
            [line.label(unit, width) for unit in units] for width in map(scale.units, widths)
        ]
        return Rows.of_values(list(zip(numbers, *columns, strict=True)))


@dataclass(frozen=True)
class _NumberLine:
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


class Cuts(Kind):
    """Numbers between cut points, one list of points per level, both ends open."""

    cuts: tuple[tuple[float, ...], ...]

    key: ClassVar[str] = "cuts"
    example: ClassVar[str] = "{cuts: [[18, 30, 65], [18, 65]]}"
    nesting: ClassVar[str] = "take the cut points of each level from those of the level before"
    short: ClassVar[Mapping[str, Any]] = {"type": "array", "items": {"type": "number"}}
    xsd: ClassVar[str] = """
  <xs:complexType name="cuts">
    <xs:sequence>
      <xs:element name="points" type="numbers" minOccurs="0" maxOccurs="unbounded"/>
    </xs:sequence>
  </xs:complexType>"""

    @model_validator(mode="before")
    @classmethod
    def _one_level(cls, data: Any) -> Any:
        """A plain list of points is a single level."""
        cuts = data.get("cuts") if isinstance(data, Mapping) else None
        if isinstance(cuts, list | tuple) and cuts and not any(map(_is_list, cuts)):
            data = {**data, "cuts": (cuts,)}
        return data

    @property
    def listed(self) -> int:
        """One level for each list."""
        return len(self.cuts)

    @property
    def heights(self) -> tuple[int, int]:
        """A last level without points is the level `*` itself."""
        has_top = bool(self.cuts) and not self.cuts[-1]
        return self.listed, self.listed + (not has_top)

    def mistakes(self, key: str) -> Iterator[Mistake]:
        """The points of each level rise, and come from the level before."""
        key = f"{key}.cuts"
        if not self.cuts:
            yield Mistake(key, "lists no level", "write for example `cuts: [18, 30, 65]`")
        for number, points in enumerate(self.cuts, start=1):
            if any(later <= point for point, later in pairwise(points)):
                what = f"the points of level {number} do not rise"
                yield Mistake(key, what, "list each level from the smallest point to the largest")
        for number, (before, after) in enumerate(pairwise(self.cuts), start=2):
            new = sorted(set(after) - set(before))
            if new:
                what = f"level {number} cuts at {new[0]:g} where level {number - 1} does not"
                yield Mistake(key, what, "take the points of each level from the level before")
            elif len(set(after)) == len(set(before)):
                what = f"level {number} is the same as level {number - 1}"
                yield Mistake(key, what, "leave out points from level to level")

    def rows(self, attribute: str, counts: Mapping[str, int]) -> Rows:
        """The value, then its range between the cut points of each level.

        Levels nest when each takes its points from the one below: fewer points only join
        neighbours.
        """
        numbers = number_order(attribute, counts)
        levels = [sorted(set(map(exact, points))) for points in self.cuts]
        scale = Scale.of([*numbers.values(), *(point for points in levels for point in points)])
        units = [scale.units(number) for number in numbers.values()]
        columns = []
        for points in levels:
            marks = [scale.units(point) for point in points]
            labels = range_labels([scale.text(mark) for mark in marks])
            columns.append([labels[bisect_right(marks, unit)] for unit in units])
        return Rows.of_values(list(zip(numbers, *columns, strict=True)))

    @classmethod
    def from_xml(cls, element: _Element) -> Any:
        """One element `points` for each level."""
        return {"cuts": [(points.text or "").split() for points in element]}

    def to_xml(self, holder: _Element) -> None:
        """One element `points` for each level."""
        cuts = child(holder, "cuts")
        for points in self.written()["cuts"]:
            child(cuts, "points").text = joined(points)


def _is_list(value: object) -> bool:
    return isinstance(value, list | tuple)
