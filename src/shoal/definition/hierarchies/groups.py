"""`groups`: runs of neighbours among the sorted values, with labels that publish no value.

A label such as `ann..bert` would publish two values of the data, which may be rare. So the runs of
a level are named by what separates them: `<C`, `[C,M)`, `>=M`. A separator is never a value, and it
has at most half of the characters or digits of the value behind it. Where that does not separate
all runs of a level, its runs are numbered: `group 1 of 3`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, TypeAlias

from pydantic import BeforeValidator, Field

from shoal.definition.hierarchies.base import Kind, Rows
from shoal.definition.hierarchies.numbers import (
    Scale,
    number_order,
    parse_number,
    range_labels,
    size_mistakes,
)
from shoal.definition.scalars import as_list
from shoal.errors import BadHierarchy, Mistake

if TYPE_CHECKING:
    from decimal import Decimal

Separate: TypeAlias = Callable[[str, str], str | None]
"""Finds a separator above one value and not above the next, short enough to reveal neither."""


class Groups(Kind):
    """Sorted values in runs of so many neighbours, one size per level."""

    sizes: Annotated[tuple[int, ...], BeforeValidator(as_list)] = Field(alias="groups")
    order: Literal["auto", "text", "number"] = "auto"

    key: ClassVar[str] = "groups"
    example: ClassVar[str] = "{groups: [5, 10]}"
    nesting: ClassVar[str] = "make each size a multiple of the one before"
    short: ClassVar[Mapping[str, Any]] = {"type": "integer", "minimum": 0}
    xsd: ClassVar[str] = """
  <xs:complexType name="groups">
    <xs:attribute name="sizes" type="counts" use="required"/>
    <xs:attribute name="order" type="order"/>
  </xs:complexType>
  <xs:simpleType name="order">
    <xs:restriction base="xs:token">
      <xs:enumeration value="auto"/>
      <xs:enumeration value="text"/>
      <xs:enumeration value="number"/>
    </xs:restriction>
  </xs:simpleType>"""

    @property
    def listed(self) -> int:
        """One level for each size."""
        return len(self.sizes)

    def mistakes(self, key: str) -> Iterator[Mistake]:
        """Sizes must be multiples of each other."""
        yield from size_mistakes(f"{key}.groups", self.sizes, "size")

    def rows(self, attribute: str, counts: Mapping[str, int]) -> Rows:
        """The value, then the label of its run at each size.

        Runs begin at multiples of their size, so sizes that are multiples of the one before nest.
        """
        if not self.sizes or min(self.sizes) < 1:
            raise BadHierarchy(
                f"hierarchy of {attribute!r}: a group has one value or more",
                hint="for example {groups: [2, 4, 8]}",
                code="bad-levels",
            )
        by_number = self.order == "number" or (
            self.order == "auto" and all(parse_number(value) is not None for value in counts)
        )
        separate: Separate = _between_texts
        values = sorted(counts)
        if by_number:
            numbers = number_order(attribute, counts)
            values, separate = list(numbers), _between_numbers(numbers)
        columns = []
        for size in self.sizes:
            labels = _labels(values, size, separate)
            columns.append([labels[index // size] for index in range(len(values))])
        return Rows.of_values(list(zip(values, *columns, strict=True)))


def _labels(values: Sequence[str], size: int, separate: Separate) -> list[str]:
    """A label for each run. Separators rise, since each lies between two runs, so labels differ."""
    starts = range(size, len(values), size)
    found = [separate(values[start - 1], values[start]) for start in starts]
    separators = [separator for separator in found if separator is not None]
    if len(separators) == len(found):
        return range_labels(separators)
    number = len(found) + 1
    return [f"group {run} of {number}" for run in range(1, number + 1)]


def _between_texts(last: str, first: str) -> str | None:
    """The shortest beginning of the first text of a run that lies above the last one before it.

    It is no value: no value lies between these two, and it is shorter than the upper one.
    """
    length = next(n for n in range(1, len(first) + 1) if first[:n] > last)
    beginning = first[:length]
    return beginning if length <= len(first) // 2 and beginning.isalnum() else None


def _between_numbers(numbers: Mapping[str, Decimal]) -> Separate:
    """The roundest number between two neighbours: a multiple of the largest power of ten.

    Zeros at the end of all numbers are no digits. It is no value: none lies between neighbours.
    """
    scale = Scale.of(numbers.values())
    units = {value: scale.units(number) for value, number in numbers.items()}
    zeros = 0
    while any(units.values()) and not any(unit % 10 for unit in units.values()):
        units = {value: unit // 10 for value, unit in units.items()}
        zeros += 1

    def separate(last: str, first: str) -> str | None:
        low, high = units[last], units[first]
        digits = len(str(max(abs(low), abs(high))))
        for power in range(digits, digits - digits // 2 - 1, -1):
            between = (low // 10**power + 1) * 10**power
            if between < high:
                return scale.text(between * 10**zeros)
        return None

    return separate
