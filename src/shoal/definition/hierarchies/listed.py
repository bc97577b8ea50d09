"""Hierarchies that list their values: `path`, a CSV file, and `tree`, in the definition itself.

A file has one row per value, `value;level 1;...;top`, and no header: the format of ARX. Cells are
separated by ';' unless the definition says otherwise, quoted with '"' where needed, in UTF-8. Blank
lines are ignored. A row that repeats an earlier one in all cells counts once.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import field_validator

from shoal.definition.hierarchies.base import TOP, Kind, Rows
from shoal.definition.parse import Unreadable
from shoal.definition.scalars import Delimiter, FilePath, Wrong, shown, text_of
from shoal.definition.xml_elements import attributes_of, child
from shoal.errors import BadHierarchy, Mistake, did_you_mean

if TYPE_CHECKING:
    from pathlib import Path

    from lxml.etree import _Element


LOOKS_LIKE_A_PATH = re.compile(r"[./\\]")
"""A bare text with one of these is a path."""


class Csv(Kind):
    """A hierarchy in a file: one row per value, `value;level 1;...;top`, no header."""

    path: FilePath
    delimiter: Delimiter = ";"

    key: ClassVar[str] = "path"
    example: ClassVar[str] = "country.csv"
    nesting: ClassVar[str] = "rows with one label at a level must agree at all levels above it"
    names_values: ClassVar[bool] = True
    element: ClassVar[str] = "file"
    xsd: ClassVar[str] = """
  <xs:complexType name="file">
    <xs:attribute name="path" type="xs:string" use="required"/>
    <xs:attribute name="delimiter" type="xs:string"/>
  </xs:complexType>"""

    @property
    def listed(self) -> int | None:
        """The columns of the first row but one; None when the file cannot be read."""
        try:
            with self.path.open(encoding="utf-8-sig", newline="") as file:
                columns = len(next(csv.reader(file, delimiter=self.delimiter), ()))
        except (OSError, ValueError, csv.Error):
            return None
        return columns - 1 if columns else None

    def mistakes(self, key: str) -> Iterator[Mistake]:
        """The file must be there; its content is checked when it is read."""
        if not self.path.exists():
            yield Mistake(key, f"there is no file {str(self.path)!r}", near_files(self.path))
        elif self.path.is_dir():
            what = f"{str(self.path)!r} is a folder"
            yield Mistake(key, what, "give the path of a hierarchy file")

    def rows(self, attribute: str, counts: Mapping[str, int]) -> Rows:  # noqa: ARG002
        """The rows of the file; BadHierarchy names the first line that cannot be read."""
        line_of: dict[tuple[str, ...], int] = {}
        for line, row in _numbered_rows(attribute, self.path, self.delimiter):
            line_of.setdefault(tuple(row), line)
        if not line_of:
            raise BadHierarchy(
                f"hierarchy of {attribute!r}: {self.path} has no rows",
                hint="write one row for each value: value;level 1;...;top",
                code="empty-hierarchy",
            )
        lines = list(line_of.values())
        return Rows(list(line_of), lambda index: f"{self.path.name} line {lines[index]}")

    def written(self) -> Any:
        """The path alone, where that is clear."""
        found = super().written()
        path = found["path"]
        short = found.keys() == {"path"} and LOOKS_LIKE_A_PATH.search(path) and "://" not in path
        return path if short else found

    @classmethod
    def from_xml(cls, element: _Element) -> Any:
        """The keys as attributes."""
        return dict(attributes_of(element))

    def to_xml(self, holder: _Element) -> None:
        """The keys as attributes."""
        child(holder, self.tag(), **super().written())


def near_files(path: Path) -> str:
    """The remedy for a missing file: one of its folder with a similar name, if there is any."""
    try:
        names = [file.name for file in path.parent.iterdir()]
    except OSError:
        return f"there is no folder {str(path.parent)!r} either; check the path"
    return did_you_mean(path.name, names).lstrip("; ") or "check the path"


def _numbered_rows(attribute: str, path: Path, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """The rows that are not blank, each with the line it begins at."""
    lines = io.StringIO(_text(attribute, path), newline="")
    reader = csv.reader(lines, delimiter=delimiter, quotechar='"', strict=True)
    line = 1
    while True:
        try:
            row = next(reader, None)
        except csv.Error as error:
            raise BadHierarchy(
                f"hierarchy of {attribute!r}: the row at {path.name} line {line} "
                f"cannot be read: {error}",
                hint='close every quote, and write a quote inside quotes twice: "say ""x"""',
                code="unreadable-hierarchy",
            ) from None
        if row is None:
            return
        if row:
            yield line, row
        line = reader.line_num + 1


def _text(attribute: str, path: Path) -> str:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise BadHierarchy(
            f"hierarchy of {attribute!r}: cannot read {path}: {error.strerror}",
            hint="check the path; in a definition it is relative to the definition's folder",
            code="unreadable-hierarchy",
        ) from None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise BadHierarchy(
            f"hierarchy of {attribute!r}: {path.name} line {line} is not UTF-8",
            hint="save the file as UTF-8",
            code="unreadable-hierarchy",
        ) from None


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
