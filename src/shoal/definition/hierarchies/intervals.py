"""`intervals`: numbers in intervals of equal width."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, ClassVar

from pydantic import BeforeValidator, Field

from shoal.definition.hierarchies.base import Kind, Rows
from shoal.definition.hierarchies.numbers import Scale, exact, number_order, size_mistakes
from shoal.definition.scalars import as_list
from shoal.errors import BadHierarchy, Mistake


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
