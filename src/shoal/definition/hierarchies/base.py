"""What a kind of hierarchy is: its keys, its mistakes, its labels, and how XML writes it.

And the error for values of the data that a hierarchy does not cover.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from shoal.definition.scalars import DefinitionPart, plain, shown
from shoal.definition.xml_elements import attributes_of, child, joined
from shoal.errors import BadHierarchy

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lxml.etree import _Element

    from shoal.errors import Mistake


TOP = "*"
"""The label that says nothing."""


@dataclass(frozen=True)
class Rows:
    """One row per leaf: the value, then its label at each level. `where` names a row for people."""

    rows: Sequence[tuple[str, ...]]
    where: Callable[[int], str]

    @classmethod
    def of_values(cls, rows: Sequence[tuple[str, ...]]) -> Rows:
        """Rows that messages name by their value."""
        return cls(rows, lambda index: f"value {rows[index][0]!r}")


class Kind(DefinitionPart):
    """One kind of hierarchy, as a definition describes it. The fields are its keys.

    A subclass must state `key`, `example`, `nesting` and `xsd`, and must define `listed` and
    `rows`. The other methods have defaults that fit a kind with one list of levels.
    """

    key: ClassVar[str]
    """The key that shows the kind in a definition, such as `intervals`."""
    example: ClassVar[str]
    """A whole hierarchy of the kind, as it follows `hierarchy:` in YAML."""
    nesting: ClassVar[str]
    """The remedy where levels do not nest."""
    xsd: ClassVar[str]
    """XML schema of the kind: a complexType that has the name of its element, and types it uses."""
    element: ClassVar[str] = ""
    """The XML element of the kind, where it does not have the name of the key."""
    short: ClassVar[Mapping[str, Any] | None] = None
    """JSON schema of a short form that the key may have beside the form that the model keeps."""
    names_values: ClassVar[bool] = False
    """Whether the hierarchy lists its values itself. Then these are all its leaves, whatever the
    data has, and its last level is the last that it lists. Else the values of the data are its
    leaves, and a level `*` follows the levels that it lists."""

    @property
    @abstractmethod
    def listed(self) -> int | None:
        """How many levels it lists above the values; None if only its rows show it."""

    @abstractmethod
    def rows(self, attribute: str, counts: Mapping[str, int]) -> Rows:
        """The rows of an attribute whose values occur so often; BadHierarchy if that cannot be.

        Values are in their natural order. A row has the value and `listed` labels. Labels of
        values that it does not name must not be published: see `groups`.
        """

    @property
    def title(self) -> str:
        """What messages call it."""
        return f"the hierarchy {self.key!r}"

    def mistakes(self, key: str) -> Iterator[Mistake]:  # noqa: ARG002
        """Mistakes that show without the data; `key` is the path of its key."""
        yield from ()

    @property
    def heights(self) -> tuple[int, int] | None:
        """The least and the greatest number of the last level on any data, None if unknown.

        They differ by the level `*`, which is left out where it says no more than the one below.
        """
        if self.listed is None:
            return None
        return self.listed, self.listed if self.names_values else self.listed + 1

    def written(self) -> Any:
        """The hierarchy as a definition file has it, defaults left out."""
        return plain(self.model_dump(by_alias=True, exclude_defaults=True))

    @classmethod
    def tag(cls) -> str:
        """The name of the XML element of the kind."""
        return cls.element or cls.key

    @classmethod
    def from_xml(cls, element: _Element) -> Any:
        """The hierarchy in the keys of a file. An XML attribute has the name of the field."""
        found: dict[str, Any] = dict(attributes_of(element))
        return {cls.key: found.pop(cls._field()).split(), **found}

    def to_xml(self, holder: _Element) -> None:
        """Append the element that `from_xml` reads back."""
        keys = self.written()
        levels = joined(keys.pop(self.key))
        child(holder, self.tag(), **{self._field(): levels}, **keys)

    @classmethod
    def _field(cls) -> str:
        """The field that holds the list of levels, whose alias is the key of the kind."""
        return next(name for name, field in cls.model_fields.items() if field.alias == cls.key)


def natural(value: str) -> tuple[int, float, str]:
    """Sort key of the natural order: numbers by size, then text by code point."""
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    return (1, 0.0, value) if math.isnan(number) else (0, number, value)


_SHOWN = 10
_MISSING_LIKE = frozenset(
    {"?", "-", "--", ".", "n/a", "na", "nan", "nil", "none", "null", "unknown"}
)


def refuse_uncovered(
    attribute: str, uncovered: Iterable[str], counts: Mapping[str, int], remedy: str
) -> None:
    """Raise BadHierarchy when there are uncovered values; the most frequent are named first."""
    values = sorted(uncovered, key=lambda value: (-counts[value], value))
    if not values:
        return
    named = ", ".join(f"{shown(value)} ({_records(counts[value])})" for value in values[:_SHOWN])
    more = f" and {len(values) - _SHOWN} more" if len(values) > _SHOWN else ""
    number = "1 value" if len(values) == 1 else f"{len(values)} values"
    error = BadHierarchy(
        f"hierarchy of {attribute!r} does not cover {number} of the data: {named}{more}",
        hint=f"{remedy}; or, where the value means missing, say {_missing_example(values)}",
        code="uncovered-value",
    )
    error.uncovered = tuple(values)
    raise error


def _records(count: int) -> str:
    return "1 record" if count == 1 else f"{count} records"


def _missing_example(values: list[str]) -> str:
    """The line of a definition that declares what looks like a missing value as missing."""
    tokens = [value for value in values if value.strip().casefold() in _MISSING_LIKE]
    listed = ", ".join('"' + token + '"' for token in tokens[:_SHOWN] or ["?"])
    return f"missing: {{values: [{listed}]}}"
