"""Hierarchy files of a project: read by a worker, and kept in the project's folder.

A hierarchy that people can read in a definition becomes a tree in it; a larger one stays a file.
Files are named by their content, so undo finds what was there before.
"""

from __future__ import annotations

import hashlib
import re
import secrets
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.encode.hierarchy import read_hierarchy, write_hierarchy
from shoal.web.hierarchies.tree import DEEPEST, Tree
from shoal.web.hierarchies.written import INLINE, fits_inline, hierarchy_of_tree, tree_mapping
from shoal.web.refusals import TooLarge
from shoal.web.tasks.hierarchy_file import FILE

if TYPE_CHECKING:
    from nicegui.elements.upload_files import FileUpload

    from shoal.web.pages.frame import StepFrame
    from shoal.web.projects import Project, Projects

LARGEST = 20_000_000
"""Bytes of a hierarchy file."""


async def read_upload(
    frame: StepFrame, column: str, file: FileUpload
) -> tuple[Path, dict[str, Any]]:
    """Let a worker read an uploaded file: where the checked one is now, and what it has.

    What is wrong with the file is raised as the command line says it.
    """
    if file.size() > LARGEST:
        raise TooLarge(
            f"a hierarchy file has at most {LARGEST // 1_000_000} MB",
            "keep the rows of values that the data has",
        )
    incoming = _folder(frame.services.projects, frame.project) / f"incoming-{secrets.token_hex(8)}"
    jobs, owner = frame.services.jobs, frame.user.name
    try:
        await file.save(incoming)
        arguments = {"path": str(incoming), "name": file.name, "column": column}
        job = jobs.submit("hierarchy_file", arguments, owner=owner, project=frame.project.id)
        await jobs.finished(job.id, owner)
    finally:
        incoming.unlink(missing_ok=True)
    result: dict[str, Any] = jobs.result(job.id, owner)
    return jobs.folder(job.id, owner) / FILE, result


def kept_upload(
    projects: Projects, project: Project, column: str, file: Path, found: Mapping[str, Any]
) -> Any:
    """What the definition says for a hierarchy that was read: a tree, or the path of its file."""
    if found["single_top"] and found["values"] <= INLINE and found["height"] < DEEPEST:
        tree = Tree.of_rows(list(read_hierarchy(column, file).rows()))
        if fits_inline(tree):
            return tree_mapping(tree)
    return _kept_file(projects, project, column, file)


def kept_tree(projects: Projects, project: Project, column: str, tree: Tree) -> Any:
    """What the definition says for an edited tree."""
    if fits_inline(tree):
        return tree_mapping(tree)
    with tempfile.TemporaryDirectory(prefix="hierarchy-") as folder:
        file = Path(folder) / FILE
        write_hierarchy(hierarchy_of_tree(column, tree), file)
        return _kept_file(projects, project, column, file)


def _kept_file(projects: Projects, project: Project, column: str, file: Path) -> dict[str, str]:
    folder = _folder(projects, project)
    digest = hashlib.sha256(file.read_bytes()).hexdigest()[:12]
    name = f"{_slug(column)}-{digest}.csv"
    new = folder / f"incoming-{secrets.token_hex(8)}"
    shutil.copyfile(file, new)
    new.replace(folder / name)
    return {"path": f"hierarchies/{name}"}


def _folder(projects: Projects, project: Project) -> Path:
    folder = projects.folder(project) / "hierarchies"
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


def _slug(column: str) -> str:
    """A file name that says which column it is for, as far as plain letters can."""
    return re.sub(r"[^a-z0-9]+", "-", column.lower()).strip("-")[:40].strip("-") or "column"
