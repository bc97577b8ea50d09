"""Hierarchies in CSV files: one row per value, `value;level 1;...;top`, no header, as ARX has them.

Cells are separated by ';' unless said otherwise, quoted with '"' where needed, in UTF-8. Blank
lines mean nothing.
"""

from __future__ import annotations

import csv
import io
import re
from typing import TYPE_CHECKING

from shoal.encode.hierarchy import Hierarchy
from shoal.errors import BadHierarchy, BadOutput

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_NEEDS_QUOTES = re.compile(r'[;"\r\n]|^[\s#\ufeff]|\s$')


def read_hierarchy(attribute: str, path: Path, delimiter: str = ";") -> Hierarchy:
    """The hierarchy in a file; BadHierarchy names the line of the first mistake.

    A row that repeats an earlier one in all cells counts once.
    """
    line_of: dict[tuple[str, ...], int] = {}
    for line, row in _numbered_rows(attribute, path, delimiter):
        line_of.setdefault(tuple(row), line)
    rows, lines = list(line_of), list(line_of.values())
    if not rows:
        raise BadHierarchy(
            f"hierarchy of {attribute!r}: {path} has no rows",
            hint="write one row for each value: value;level 1;...;top",
            code="empty-hierarchy",
        )
    return Hierarchy.from_rows(attribute, rows, lambda index: f"{path.name} line {lines[index]}")


def write_hierarchy(hierarchy: Hierarchy, path: Path, overwrite: bool = False) -> None:
    """Write the hierarchy so that `read_hierarchy` and ARX read the same; a file there is kept."""
    if not hierarchy.labels[0]:
        raise BadHierarchy(
            f"hierarchy of {hierarchy.attribute!r} has no values to write",
            hint="the column is empty or wholly missing",
            code="empty-hierarchy",
        )
    try:
        with path.open("w" if overwrite else "x", encoding="utf-8", newline="") as file:
            file.writelines(";".join(map(_cell, row)) + "\n" for row in hierarchy.rows())
    except FileExistsError:
        raise BadOutput(
            f"{path} exists already", hint="use --force to overwrite it", code="file-exists"
        ) from None
    except OSError as error:
        raise BadOutput(
            f"cannot write {path}: {error.strerror}",
            hint="choose a folder that exists and that you may write to",
            code="unwritable-output",
        ) from None


def _cell(text: str) -> str:
    """Quoted where a reader needs it: also outer spaces, and '#', which some take for a comment."""
    return '"' + text.replace('"', '""') + '"' if _NEEDS_QUOTES.search(text) else text


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
