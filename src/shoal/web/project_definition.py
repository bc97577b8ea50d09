"""A project as a definition: for people to download, and for the server to run.

What people see names the file as they named it, with no path of the server in it. What a worker
runs has real paths; `server_definition` is the only place that makes them. It takes no path from a
project but the name of a file that lies in the project's own folder.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from pydantic import ValidationError

from shoal.definition.model import Definition
from shoal.definition.read import from_mapping
from shoal.definition.write import spelled, yaml_lines
from shoal.errors import BadDefinition, Mistake, UserError
from shoal.web.users import may_use

if TYPE_CHECKING:
    from shoal.web.projects import Project, Projects
    from shoal.web.services import Services
    from shoal.web.settings import AllowedSource
    from shoal.web.users import User

KEYS = frozenset(
    (
        "k person recoding risk suppression suppressed missing loss search privacy attributes"
        " others strict population"
    ).split()
)
"""What a project may say. Paths of outputs and the resources of engines are the server's."""

RELEASE_FORMATS: Mapping[str, str] = MappingProxyType(
    {
        "csv": "CSV (text)",
        "csv-escaped": "CSV, formulas as text",
        "parquet": "Parquet",
        "xlsx": "Excel",
        "json": "JSON",
        "xml": "XML",
    }
)
"""The formats that a release may have, and what they are called."""

_UPLOAD = re.compile(r"[a-z0-9][a-z0-9-]*(\.[a-z0-9]+)+")
_HIERARCHY = re.compile(r"hierarchies/[a-z0-9][a-z0-9-]*\.csv")
_ENDINGS = re.compile(r"(\.[A-Za-z0-9]{1,8}){0,2}$")


class NoSource(UserError):
    """The project has no data yet, or its data is gone."""


def mapping_of(project: Project) -> dict[str, Any]:
    """The definition for people: the file beside it, by the name that the user gave it."""
    return {
        "source": _shown_source(project),
        "output": _output(project, release_name(project)),
        **_said(project),
        "attributes": dict(project.attributes),
    }


def text_of(project: Project, spelling: Literal["yaml", "xml", "json"] = "yaml") -> str:
    """The definition for people as text, to be saved beside the data and run there."""
    mapping = mapping_of(project)
    if spelling == "json":
        return json.dumps(mapping, indent=2, ensure_ascii=False) + "\n"
    if spelling == "yaml":
        return "".join(f"{line}\n" for key in mapping for line in yaml_lines(key, mapping[key]))
    try:
        definition = Definition.model_validate(
            mapping, context={"folder": Path()}, by_alias=True, by_name=False
        )
    except ValidationError:
        from_mapping(mapping, file=project.name)
        raise
    return spelled(definition, "xml")


def server_definition(services: Services, project: Project, folder: Path) -> dict[str, Any]:
    """The definition for a task: real paths, and the output in `folder`."""
    mapping = {
        "source": _real_source(services, project),
        "output": _output(project, str(folder / release_name(project))),
        **_said(project),
        "attributes": {
            name: _with_real_path(services.projects, project, name, said)
            for name, said in project.attributes.items()
        },
    }
    if "population" in mapping:
        mapping["population"] = _real_population(services, mapping["population"], project.owner)
    return mapping


def files_beside(projects: Projects, project: Project) -> dict[str, Path]:
    """The hierarchy files that must lie beside a downloaded definition, by their relative names."""
    folder = projects.folder(project)
    return {name: folder / name for name in _hierarchy_files(project)}


def allowed_for(services: Services, user: User) -> list[AllowedSource]:
    """The sources that an administrator allows this user."""
    return [each for each in services.settings.sources.values() if may_use(user, each)]


def source_path(projects: Projects, project: Project) -> Path:
    """The uploaded file of a project."""
    name = str((project.source or {}).get("upload", ""))
    path = projects.folder(project) / name
    if not _UPLOAD.fullmatch(name) or not path.is_file():
        raise NoSource(
            "the data of this project is not on the server any more",
            code="no-upload",
            hint="upload the file again on the page Data",
        )
    return path


def fingerprint(project: Project, services: Services) -> str:
    """What a result depends on: equal texts mean that a result made then still holds now.

    Uploads are named anew each time, so the name of one stands for its content.
    """
    source: Any = project.source
    if source and "allowed" in source:
        source = allowed_location(services, str(source["allowed"]), project.owner)
    said = [source, project.reading, _said(project), dict(project.attributes)]
    return hashlib.sha256(json.dumps(said, default=str).encode()).hexdigest()


def release_name(project: Project) -> str:
    """The file name of the release: `patients-release.csv` for `patients.csv.gz`.

    The format is the one that the custodian chose when deciding.
    """
    stem = _ENDINGS.sub("", file_label(project)) or "data"
    return f"{stem}-release.{_format(project).partition('-')[0]}"


def _output(project: Project, path: str) -> Any:
    """Where the release goes, as a definition says it."""
    escaped = _format(project) == "csv-escaped"
    return {"path": path, "formulas": "escape"} if escaped else path


def _format(project: Project) -> str:
    """The format that the custodian chose, by default CSV."""
    wanted = str((project.decision or {}).get("format"))
    return wanted if wanted in RELEASE_FORMATS else "csv"


def file_label(project: Project) -> str:
    """What people call the file, as a plain file name."""
    source = project.source or {}
    label = source.get("label") or source.get("allowed") or source.get("upload") or "data.csv"
    return plain_file_name(str(label))


def plain_file_name(label: str) -> str:
    """A file name without folders and without what shells, globs and systems read in a name."""
    last = PurePosixPath(label.replace("\\", "/")).name
    plain = re.sub(r"[^\w .()+,=@-]", "_", last).strip(" .")[:120].lstrip("-~")
    return plain or "data.csv"


def _said(project: Project) -> dict[str, Any]:
    """What the project says, without what it must not say; attributes come last."""
    said = {key: value for key, value in project.definition.items() if key in KEYS}
    said.pop("attributes", None)
    return said


def _shown_source(project: Project) -> Any:
    source = project.source
    if source is None:
        raise no_source()
    if "allowed" in source:
        return {"source": source["allowed"]}
    label = file_label(project)
    return {"path": label, **project.reading} if project.reading else label


def _real_source(services: Services, project: Project) -> Any:
    source = project.source
    if source is None:
        raise no_source()
    if "allowed" in source:
        return allowed_location(services, str(source["allowed"]), project.owner)
    return {"path": str(source_path(services.projects, project)), **_reading(project)}


def _reading(project: Project) -> dict[str, Any]:
    """The stated options of the file; none of them can lead to another file."""
    return {key: value for key, value in project.reading.items() if key != "path"}


def allowed_location(services: Services, name: str, owner: str) -> Any:
    """The location of an allowed source; the administrator may have taken it away meanwhile."""
    source = services.settings.sources.get(name)
    user = services.users.named(owner)
    if source is None or user is None or not may_use(user, source):
        raise NoSource(
            "the administrator does not allow the source of this project any more",
            code="no-source",
            hint="choose another source on the page Data, or ask the administrator",
        )
    return source.location


def _real_population(services: Services, said: Any, owner: str) -> Any:
    """A population is an allowed source, nothing else."""
    source = said.get("source") if isinstance(said, Mapping) else None
    if not isinstance(source, Mapping) or set(source) != {"allowed"}:
        remedy = "choose one of the sources that the administrator allows"
        raise BadDefinition("definition", [Mistake("population.source", "is not allowed", remedy)])
    return {**said, "source": allowed_location(services, str(source["allowed"]), owner)}


def _with_real_path(projects: Projects, project: Project, name: str, said: Any) -> Any:
    """An attribute whose hierarchy file, if it has one, is named by its real path."""
    path = _path_of(said)
    if path is None:
        return said
    real = projects.folder(project) / path
    if not _HIERARCHY.fullmatch(path) or not real.is_file():
        remedy = "upload the file again on the page Hierarchies"
        key = f"attributes.{name}.hierarchy"
        raise BadDefinition("definition", [Mistake(key, "its file is not on the server", remedy)])
    hierarchy = said["hierarchy"]
    stated = dict(hierarchy) if isinstance(hierarchy, Mapping) else {}
    return {**said, "hierarchy": {**stated, "path": str(real)}}


def _hierarchy_files(project: Project) -> Iterator[str]:
    for said in project.attributes.values():
        path = _path_of(said)
        if path is not None and _HIERARCHY.fullmatch(path):
            yield path


def _path_of(said: Any) -> str | None:
    """The file that an attribute's hierarchy names; None where it names none."""
    hierarchy = said.get("hierarchy") if isinstance(said, Mapping) else None
    if isinstance(hierarchy, Mapping):
        return str(hierarchy["path"]) if "path" in hierarchy else None
    if isinstance(hierarchy, str) and hierarchy != "suppress":
        return hierarchy
    return None


def no_source() -> NoSource:
    """There is nothing to read yet."""
    return NoSource(
        "this project has no data yet",
        code="no-data",
        hint="upload a file on the page Data, or choose an allowed source",
    )
