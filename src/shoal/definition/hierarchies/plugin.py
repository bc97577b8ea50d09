"""`builder`: what the builder of a plug-in makes of the values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import BeforeValidator, Field

from shoal import plugins
from shoal.definition.demands import Parameters, parameters_of
from shoal.definition.hierarchies.base import Kind, Rows, natural
from shoal.definition.xml_elements import add_parameters, child, parameters_in
from shoal.errors import BadHierarchy, MissingExtra, Mistake, UserError

if TYPE_CHECKING:
    from lxml.etree import _Element


def _parameters(data: Any) -> Any:
    return parameters_of(data) if isinstance(data, Mapping) else data


class PluggedIn(Kind):
    """What a builder of a plug-in makes of the values: `{name of the builder: parameters}`.

    Where a builder has the name of one of our kinds, `{builder: name, parameters: ...}` is meant.
    """

    builder: str
    parameters: Annotated[Parameters, BeforeValidator(_parameters)] = Field(default_factory=dict)

    key: ClassVar[str] = "builder"
    example: ClassVar[str] = "{builder: initials, parameters: {letters: 2}}"
    nesting: ClassVar[str] = (
        "this is a fault of the builder: tell its authors, or choose another hierarchy"
    )
    xsd: ClassVar[str] = """
  <xs:complexType name="builder">
    <xs:sequence>
      <xs:element name="parameter" type="parameter" minOccurs="0" maxOccurs="unbounded"/>
    </xs:sequence>
    <xs:attribute name="name" type="xs:string" use="required"/>
  </xs:complexType>"""

    @property
    def listed(self) -> None:
        """Only the rows of the builder show it."""
        return

    @property
    def title(self) -> str:
        """The name of the builder."""
        return f"the builder {self.builder!r}"

    def mistakes(self, key: str) -> Iterator[Mistake]:
        """A builder that is not installed, or does not take its parameters."""
        try:
            plugins.make("builder", self.builder, self.parameters)
        except MissingExtra as error:
            yield Mistake(key, error.what, error.hint)
        except ValueError as error:
            yield Mistake(key, str(error), "see the documentation of the builder")

    def rows(self, attribute: str, counts: Mapping[str, int]) -> Rows:
        """The rows of the builder, in natural order."""
        builder = plugins.make("builder", self.builder, self.parameters)
        try:
            rows = [_row(row) for row in builder.build(sorted(counts, key=natural))]
        except UserError:
            raise
        except Exception as error:
            raise BadHierarchy(
                f"the builder {self.builder!r} makes no hierarchy of {attribute!r}"
                f" ({type(error).__name__})",
                code="builder-failed",
                hint="give values that the builder is for, or choose another hierarchy",
            ) from error
        return Rows.of_values(sorted(rows, key=lambda row: natural(row[0])))

    @classmethod
    def from_xml(cls, element: _Element) -> Any:
        """The name of the builder, and its parameters as elements."""
        return {"builder": str(element.get("name")), "parameters": parameters_in(element)}

    def to_xml(self, holder: _Element) -> None:
        """The same."""
        parameters = self.written().get("parameters", {})
        add_parameters(child(holder, self.tag(), name=self.builder), parameters)


def _row(row: Any) -> tuple[str, ...]:
    labels = tuple(row)
    if not labels or not all(isinstance(label, str) for label in labels):
        raise TypeError("a row is the value and its labels, all of them text")
    return labels
