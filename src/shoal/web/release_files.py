"""The files of a release: what they are called, and the job that makes them.

All of them are made by one job, from one state of the project. So the definition that is downloaded
is the one of the release, whatever was changed since.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from shoal.errors import ShoalError
from shoal.web.commands import run_command
from shoal.web.laid_out import definition_name, layout_of
from shoal.web.project_definition import text_of

if TYPE_CHECKING:
    from shoal.web.found import Standing
    from shoal.web.projects import Project
    from shoal.web.services import Services

TEXTS: tuple[Literal["yaml", "xml", "json"], ...] = ("yaml", "xml", "json")


def names_of(project: Project) -> dict[str, str]:
    """What the files beside a release are called, by what they are."""
    yaml = definition_name(project)
    stem = yaml.removesuffix(".yaml")
    return {
        "yaml": yaml,
        "xml": f"{stem}-definition.xml",
        "json": f"{stem}-definition.json",
        "zip": f"{stem}-definition.zip",
        "report": f"{stem}-report.html",
        "result": f"{stem}-result.json",
        "transformation": f"{stem}-transformation.json",
        "assignment": f"{stem}-assignment.json",
    }


def with_format(project: Project, ending: str) -> Project:
    """The project with the format that its release is to have."""
    return replace(project, decision={**(project.decision or {}), "format": ending})


def command_of(project: Project, standing: Standing) -> str:
    """The command that makes the same release, beside the data and the downloaded definition."""
    names = names_of(project)
    counts_persons = standing.is_local and bool(project.definition.get("person"))
    return run_command(
        names["yaml"],
        levels=standing.needed(),
        time_limit=standing.search_limit(),
        report=names["report"],
        transformation=names["transformation"],
        assignment=names["assignment"] if counts_persons else None,
    )


def release_arguments(services: Services, project: Project, standing: Standing) -> dict[str, Any]:
    """The arguments of the task `release` for a project, whose decision has the format."""
    levels = standing.needed()
    return {
        **standing.arguments(),
        "layout": layout_of(services, project),
        "levels": None if levels is None else dict(levels),
        "seconds": standing.search_limit(),
        "command": command_of(project, standing),
        "names": names_of(project),
        "definitions": _definitions(project),
    }


def _definitions(project: Project) -> dict[str, str]:
    """The definition in each form that can say it."""
    found: dict[str, str] = {}
    for form in TEXTS:
        try:
            found[form] = text_of(project, form)
        except ShoalError:
            continue
    return found
