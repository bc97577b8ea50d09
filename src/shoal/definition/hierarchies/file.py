"""`path`: a hierarchy in a CSV file, one row per value, `value;level 1;...;top`, no header.

This is the format of ARX. Cells are separated by ';' unless the definition says otherwise, quoted
with '"' where needed, in UTF-8. Blank lines are ignored. A row that repeats an earlier one in all
cells counts once.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from shoal.definition.hierarchies.base import Kind, Rows
from shoal.definition.scalars import Delimiter, FilePath  # noqa: TC001 the model needs them
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
