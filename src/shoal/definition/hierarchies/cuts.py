"""`cuts`: numbers between cut points."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import model_validator

from shoal.definition.hierarchies.base import Kind, Rows
from shoal.definition.hierarchies.numbers import Scale, exact, number_order, range_labels
from shoal.definition.xml_elements import child, joined
from shoal.errors import Mistake

if TYPE_CHECKING:
    from lxml.etree import _Element


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
