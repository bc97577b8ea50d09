"""`tree`: a value generalization tree, written into the definition."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import field_validator

from shoal.definition.hierarchies.base import TOP, Kind, Rows
from shoal.definition.parse import Unreadable
from shoal.definition.scalars import Wrong, shown, text_of
from shoal.definition.xml_elements import child
from shoal.errors import Mistake

if TYPE_CHECKING:
    from lxml.etree import _Element


class Taxonomy(Kind):
    """A value generalization tree; its leaves are the values.

    However the file writes it, the tree has one form: a label has a mapping under it, or a tuple
    where all below it are leaves, or None where it is a leaf itself. Labels and leaves are text.
    """

    tree: Mapping[str, Any]

    key: ClassVar[str] = "tree"
    example: ClassVar[str] = "{tree: {north: [Oslo, Turku], south: [Rome]}}"
    nesting: ClassVar[str] = (
        "a label may occur in one branch only: give the branches different labels"
    )
    names_values: ClassVar[bool] = True
    xsd: ClassVar[str] = """
  <xs:complexType name="tree">
    <xs:sequence>
      <xs:element name="value" type="value" maxOccurs="unbounded"/>
    </xs:sequence>
  </xs:complexType>
  <xs:complexType name="value">
    <xs:sequence>
      <xs:element name="value" type="value" minOccurs="0" maxOccurs="unbounded"/>
    </xs:sequence>
    <xs:attribute name="label" type="xs:string" use="required"/>
  </xs:complexType>"""

    @field_validator("tree", mode="before")
    @classmethod
    def _one_form(cls, tree: Any) -> Any:
        return _mapped(list(_entries(tree))) or None if isinstance(tree, Mapping) else tree

    @property
    def listed(self) -> int:
        """The labels above the deepest leaf, and `*` where the tree has several roots."""
        return len(self._rows()[0]) - 1

    def rows(self, attribute: str, counts: Mapping[str, int]) -> Rows:  # noqa: ARG002
        """One row per leaf, in the order of the tree: the leaf, then its ancestors.

        A leaf nearer to the root than others repeats itself from the bottom up, until all rows are
        as long as the longest. A key with nothing under it is a leaf. Several roots get a `*`.
        """
        rows = self._rows()
        return Rows(rows, lambda index: f"leaf {rows[index][0]!r}")

    def _rows(self) -> list[tuple[str, ...]]:
        paths = list(_paths(self.tree, ()))
        longest = max(map(len, paths))
        rows = [(path[0],) * (longest - len(path)) + path for path in paths]
        return rows if len({row[-1] for row in rows}) == 1 else [(*row, TOP) for row in rows]

    @classmethod
    def from_xml(cls, element: _Element) -> Any:
        """The elements `value` inside each other."""
        return {"tree": _read(element)}

    def to_xml(self, holder: _Element) -> None:
        """The same elements."""
        _write(child(holder, "tree"), self.tree)


def _read(element: _Element) -> Any:
    """What is under a label: a list where there are leaves only, else a mapping."""
    labels = [str(each.get("label")) for each in element]
    if not any(len(each) for each in element) and element.tag != "tree":
        return labels or None
    found: dict[str, Any] = {}
    for label, each in zip(labels, element, strict=True):
        if label in found:
            what = f"{label!r} occurs twice under one label"
            raise Unreadable(Mistake("tree", what, "keep one of them", each.sourceline))
        found[label] = _read(each)
    return found


def _write(element: _Element, below: Any) -> None:
    leaves = ((label, None) for label in below or ())
    for label, deeper in below.items() if isinstance(below, Mapping) else leaves:
        _write(child(element, "value", label=label), deeper)


def _below(node: object) -> object:
    """What is under a label, in the one form."""
    entries = list(_entries(node))
    if all(below is None for _, below in entries):
        return tuple(label for label, _ in entries) or None
    return _mapped(entries)


def _entries(node: object) -> Iterator[tuple[str, object]]:
    """Each label directly under a node with what is under it; lists in lists are one list."""
    if isinstance(node, Mapping):
        for label, child in node.items():
            yield _label(label), _below(child)
    elif isinstance(node, list | tuple):
        for child in node:
            if isinstance(child, Mapping | list | tuple):
                yield from _entries(child)
            else:
                yield _label(child), None
    elif node is not None and node != "":
        yield _label(node), None


def _mapped(entries: Sequence[tuple[str, object]]) -> dict[str, object]:
    found: dict[str, object] = {}
    for label, below in entries:
        if label in found:
            raise Wrong(f"{shown(label)} occurs twice under one label", "keep one of them")
        found[label] = below
    return found


def _label(value: object) -> str:
    label = text_of(value)
    if label == "":
        raise Wrong("a label of the tree is empty", "give each leaf and each label a text")
    return label


def _paths(node: object, above: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """The path from each leaf under the node to the root; `above` are the labels over the node."""
    if node is None or node == ():
        yield above
    elif isinstance(node, Mapping):
        for label, below in node.items():
            yield from _paths(below, (label, *above))
    elif isinstance(node, tuple):
        for below in node:
            yield from _paths(below, above)
    else:
        yield (str(node), *above)
