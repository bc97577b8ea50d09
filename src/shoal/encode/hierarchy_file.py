"""Hierarchies in CSV files, read and written.

The format is that of `shoal.definition.hierarchies.file`, which is the format of ARX.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from shoal.definition.hierarchies.file import Csv
from shoal.encode.hierarchy import Hierarchy
from shoal.errors import BadHierarchy, BadOutput

if TYPE_CHECKING:
    from pathlib import Path

_NEEDS_QUOTES = re.compile(r'[;"\r\n]|^[\s#\ufeff]|\s$')


def read_hierarchy(attribute: str, path: Path, delimiter: str = ";") -> Hierarchy:
    """The hierarchy in a file; BadHierarchy names the line of the first mistake."""
    found = Csv(path=path, delimiter=delimiter).rows(attribute, {})
    return Hierarchy.from_rows(attribute, found.rows, found.where)


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
