"""`suppress`: the value, then `*`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from shoal.definition.hierarchies.base import Kind, Rows
from shoal.definition.xml_elements import child

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lxml.etree import _Element


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
