"""Hierarchy files: read as the command line reads them, and kept in the project's folder.

A file that people can read in a definition becomes a tree in it; a larger one stays a file. Files
are named by their content, so undo finds what was there before.
"""

from __future__ import annotations

import hashlib
import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.encode.hierarchy import Hierarchy, read_hierarchy, write_hierarchy
from shoal.errors import BadHierarchy
from shoal.web.hierarchies.tree import DEEPEST, Tree
from shoal.web.hierarchies.written import fits_inline, hierarchy_of_tree, tree_mapping
from shoal.web.project_definition import plain_file_name

if TYPE_CHECKING:
    from shoal.web.projects import Project, Projects

LARGEST = 20_000_000
"""Bytes of a hierarchy file."""
DELIMITERS = (";", ",", "\t", "|")


def read_upload(column: str, name: str, content: bytes) -> Hierarchy:
    """The hierarchy in an uploaded file; BadHierarchy names its line, never a path of the server.

    Where the file has one column when split at `;`, other delimiters are tried.
    """
    with tempfile.TemporaryDirectory(prefix="hierarchy-") as folder:
        path = Path(folder) / plain_file_name(name)
        path.write_bytes(content)
        try:
            return _read(column, path)
        except BadHierarchy as error:
            what = error.what.replace(f"{folder}/", "")
            raise BadHierarchy(what, hint=error.hint, code=error.code) from None


def _read(column: str, path: Path) -> Hierarchy:
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


def kept_hierarchy(projects: Projects, project: Project, hierarchy: Hierarchy) -> Any:
    """What the definition says for a hierarchy that was read: a tree, or the path of its file."""
    rows = list(hierarchy.rows())
    if len(hierarchy.labels[-1]) == 1 and hierarchy.height < DEEPEST:
        tree = Tree.of_rows(rows)
        if fits_inline(tree):
            return tree_mapping(tree)
    return _kept_file(projects, project, hierarchy)


def kept_tree(projects: Projects, project: Project, column: str, tree: Tree) -> Any:
    """What the definition says for an edited tree."""
    if fits_inline(tree):
        return tree_mapping(tree)
    return _kept_file(projects, project, hierarchy_of_tree(column, tree))


def _kept_file(projects: Projects, project: Project, hierarchy: Hierarchy) -> dict[str, str]:
    folder = projects.folder(project) / "hierarchies"
    folder.mkdir(mode=0o700, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder, prefix="new-") as new:
        file = Path(new) / "new.csv"
        write_hierarchy(hierarchy, file)
        digest = hashlib.sha256(file.read_bytes()).hexdigest()[:12]
        name = f"{_slug(hierarchy.attribute)}-{digest}.csv"
        file.replace(folder / name)
    return {"path": f"hierarchies/{name}"}


def _slug(column: str) -> str:
    """A file name that says which column it is for, as far as plain letters can."""
    return re.sub(r"[^a-z0-9]+", "-", column.lower()).strip("-")[:40] or "column"
