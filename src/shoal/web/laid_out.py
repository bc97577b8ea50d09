"""A project's files as its owner has them: the definition, the data and the hierarchies, by name.

A task that runs a definition there says what `shoal run` says: the file's own name in messages and
reports, never a path of the server, and the same bytes in the release. `layout_of` is made by the
server, `laid_out` is used in a worker, which has a folder and a working directory of its own.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.definition.read import from_mapping, read
from shoal.steps.kept_search import read_kept_search
from shoal.web.project_definition import (
    file_label,
    files_beside,
    release_name,
    server_definition,
    source_path,
    text_of,
)

if TYPE_CHECKING:
    from shoal.definition.model import Definition
    from shoal.steps.kept_search import KeptSearch
    from shoal.web.projects import Project
    from shoal.web.services import Services


KEPT = "recoding.npz"
"""The file of a search in which a local recoding is kept."""


def layout_of(services: Services, project: Project) -> dict[str, Any]:
    """What a task needs to run the definition of a project, as JSON.

    A source that the administrator allows is read where it is: its definition is a mapping.
    """
    if "upload" not in (project.source or {}) or "population" in project.definition:
        mapping = server_definition(services, project, Path())
        return {"file": definition_name(project), "mapping": mapping}
    files = {
        file_label(project): source_path(services.projects, project),
        **files_beside(services.projects, project),
    }
    return {
        "file": definition_name(project),
        "text": text_of(project, "yaml"),
        "files": {name: str(path) for name, path in files.items()},
    }


def definition_name(project: Project, ending: str = "yaml") -> str:
    """The file name of the downloaded definition: `patients.yaml` for `patients.csv`."""
    stem, dash, _ = release_name(project).rpartition("-release.")
    name = f"{stem}.{ending}" if dash else f"definition.{ending}"
    return f"{stem}-definition.{ending}" if name == file_label(project) else name


@contextmanager
def laid_out(layout: Mapping[str, Any]) -> Iterator[Definition]:
    """The definition, in a folder with the files that it names; the folder is removed at the end.

    The folder is the working directory meanwhile. Its files are links: nothing is copied.
    """
    before = Path.cwd()
    with tempfile.TemporaryDirectory(prefix="laid-out-") as made:
        os.chdir(made)
        try:
            yield _definition(layout)
        finally:
            os.chdir(before)


def kept_of(arguments: Mapping[str, Any]) -> KeptSearch | None:
    """The local recoding that an earlier job kept, where the arguments name its file."""
    path = arguments.get("kept")
    return None if path is None else read_kept_search(Path(path))


def _definition(layout: Mapping[str, Any]) -> Definition:
    file = Path(layout["file"])
    for name, real in layout.get("files", {}).items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).symlink_to(real)
    if "mapping" in layout:
        return from_mapping(layout["mapping"], file=str(file))
    file.write_text(layout["text"], encoding="utf-8", newline="\n")
    return read(file)
