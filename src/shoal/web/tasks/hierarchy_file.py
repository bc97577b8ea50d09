"""Read an uploaded hierarchy file, and write it as `shoal hierarchy make` would.

Arguments: `path` of the upload, `name` that its owner gave it, `column`. The folder gets the
hierarchy as `hierarchy.csv`; the result says how many values and levels it has, and whether its
last level has one label. Errors name the line, and the file by its owner's name.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.encode.hierarchy import Hierarchy, read_hierarchy, write_hierarchy
from shoal.errors import BadHierarchy
from shoal.web.project_definition import plain_file_name

if TYPE_CHECKING:
    from shoal.web.jobs.model import Context

FILE = "hierarchy.csv"
MOST_ROWS = 200_000
"""More values than this belong into a definition that is run on the command line."""
MOST_LEVELS = 100
DELIMITERS = (";", ",", "\t", "|")


def run(arguments: Mapping[str, Any], context: Context) -> dict[str, Any]:
    """Read, check and write the hierarchy."""
    named = context.folder / plain_file_name(arguments["name"])
    named.symlink_to(arguments["path"])
    try:
        found = read_with_any_delimiter(arguments["column"], named)
    except BadHierarchy as error:
        error.what = error.what.replace(f"{context.folder}/", "")
        raise
    finally:
        named.unlink()
    values = len(found.labels[0])
    if values > MOST_ROWS or found.height > MOST_LEVELS:
        raise BadHierarchy(
            f"{named.name} has {values} rows and {found.height} levels; the page takes at most "
            f"{MOST_ROWS} and {MOST_LEVELS}",
            hint="keep the rows of values that the data has, or run the definition by command",
            code="large-hierarchy",
        )
    write_hierarchy(found, context.folder / FILE)
    return {"values": values, "height": found.height, "single_top": len(found.labels[-1]) == 1}


def read_with_any_delimiter(column: str, path: Path) -> Hierarchy:
    """The hierarchy in a file; where it has one column when split at `;`, others are tried."""
    found = read_hierarchy(column, path)
    for delimiter in DELIMITERS[1:]:
        if found.height == 0 and any(delimiter in value for value in found.labels[0]):
            try:
                other = read_hierarchy(column, path, delimiter)
            except BadHierarchy:
                continue
            found = other if other.height else found
    if found.height == 0:
        raise BadHierarchy(
            f"hierarchy of {column!r}: {path.name} has one column only",
            hint="write one row for each value: value;level 1;...;top",
            code="unreadable-hierarchy",
        )
    return found
