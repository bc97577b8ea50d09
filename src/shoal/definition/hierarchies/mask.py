"""Values hidden by `*`: `mask`, some characters at each level, and `suppress`, the whole value."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import Field, model_validator

from shoal.definition.hierarchies.base import TOP, Kind, Rows
from shoal.definition.scalars import Wrong, shown
from shoal.definition.xml_elements import attributes_of, child, joined
from shoal.errors import BadHierarchy, Mistake

if TYPE_CHECKING:
    from lxml.etree import _Element


LONGEST_MASK = 1000
"""More characters than any code has; `mask: 100000` is a slip, not a wish for as many levels."""


class Mask(Kind):
    """Characters replaced by `*`, one more at each level or as many as `mask` lists."""

    mask: tuple[int, ...]
    side: Literal["left", "right"] = Field(default="right", alias="from")

    key: ClassVar[str] = "mask"
    example: ClassVar[str] = "{mask: 5}"
    nesting: ClassVar[str] = "list rising numbers of characters"
    short: ClassVar[Mapping[str, Any]] = {"type": "integer", "minimum": 0}
    xsd: ClassVar[str] = """
  <xs:complexType name="mask">
    <xs:attribute name="characters" type="count"/>
    <xs:attribute name="steps" type="counts"/>
    <xs:attribute name="from" type="side"/>
  </xs:complexType>
  <xs:simpleType name="side">
    <xs:restriction base="xs:token">
      <xs:enumeration value="left"/>
      <xs:enumeration value="right"/>
    </xs:restriction>
  </xs:simpleType>"""

    @model_validator(mode="before")
    @classmethod
    def _number_means_steps(cls, data: Any) -> Any:
        number = str(data.get("mask")) if isinstance(data, Mapping) else ""
        if re.fullmatch(r"[0-9]+", number):
            count = int(number[: len(str(LONGEST_MASK)) + 1])
            if count > LONGEST_MASK:
                raise Wrong(
                    f"mask {shown(number)[1:-1]} is longer than any code",
                    f"give at most {LONGEST_MASK} characters",
                )
            data = {**data, "mask": tuple(range(1, count + 1))}
        return data

    @property
    def listed(self) -> int:
        """One level for each number of characters."""
        return len(self.mask)

    def mistakes(self, key: str) -> Iterator[Mistake]:
        """The numbers of characters must rise."""
        if not self.mask:
            yield Mistake(f"{key}.mask", "lists no level", "write for example `mask: 5`")
        elif self.mask[0] < 1 or any(later <= step for step, later in pairwise(self.mask)):
            what = "must rise from 1 up, so that each level hides more"
            yield Mistake(f"{key}.mask", what, "write for example `mask: [1, 2, 4]`")

    def rows(self, attribute: str, counts: Mapping[str, int]) -> Rows:
        """The value, then with so many characters of one end as `*` at each level.

        A value no longer than the step becomes `*` as often as the longest value is long, so that
        its length does not show. Rising steps nest. Say two values have one label at step s, and
        s < t. Both no longer than s: both are all stars at s and at t. Both longer: their labels
        have equal length, so the values have, and they agree outside the last s characters, hence
        outside the last t. One of each: the longer value is as long as the longest of all and shows
        only stars outside its last s characters, hence outside its last t, so both are all stars at
        t.
        """
        if not self.mask or min(self.mask) < 1:
            raise BadHierarchy(
                f"hierarchy of {attribute!r}: a mask hides one character or more at each level",
                hint="for example {mask: 5} or {mask: [1, 2, 5]}",
                code="bad-levels",
            )
        longest = max(map(len, counts), default=0)

        def masked(value: str, step: int) -> str:
            if len(value) <= step:
                return TOP * longest
            hidden = TOP * step
            return value[:-step] + hidden if self.side == "right" else hidden + value[step:]

        values = sorted(counts)
        return Rows.of_values([(v, *(masked(v, step) for step in self.mask)) for v in values])

    def written(self) -> Any:
        """`mask: 5` means the steps 1 to 5."""
        found = super().written()
        every_step = self.mask == tuple(range(1, len(self.mask) + 1))
        return {**found, "mask": len(self.mask)} if every_step else found

    @classmethod
    def from_xml(cls, element: _Element) -> Any:
        """Either `characters`, the number of steps, or the list of `steps`."""
        found = dict(attributes_of(element))
        count = found.pop("characters", None)
        steps = found.pop("steps", "").split()
        return {"mask": steps if count is None else count, **found}

    def to_xml(self, holder: _Element) -> None:
        """The same two forms."""
        keys = self.written()
        mask = keys.pop("mask")
        steps = {"steps": joined(mask)} if isinstance(mask, list) else {"characters": mask}
        child(holder, "mask", **steps, **keys)


class Suppress(Kind):
    """The value, then `*`. The one word `suppress` is all of it."""

    key: ClassVar[str] = "suppress"
    example: ClassVar[str] = "suppress"
    nesting: ClassVar[str] = "there is one level only"
    xsd: ClassVar[str] = '  <xs:complexType name="suppress"/>'

    @property
    def listed(self) -> int:
        """There is no level between the values and `*`."""
        return 0

    def rows(self, attribute: str, counts: Mapping[str, int]) -> Rows:  # noqa: ARG002
        """The values alone."""
        return Rows.of_values([(value,) for value in sorted(counts)])

    def written(self) -> Any:
        """The one word."""
        return self.key

    @classmethod
    def from_xml(cls, element: _Element) -> Any:  # noqa: ARG003
        """The element has no content."""
        return cls.key

    def to_xml(self, holder: _Element) -> None:
        """The element has no content."""
        child(holder, self.tag())
