"""What is wrong with the definition of a project, before anything is run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from shoal.definition.read import from_mapping
from shoal.errors import BadDefinition, Mistake
from shoal.web.project_definition import server_definition

if TYPE_CHECKING:
    from shoal.web.projects import Project
    from shoal.web.services import Services


def mistakes_of(services: Services, project: Project) -> tuple[Mistake, ...]:
    """Every mistake that the command line would name too, each with its key and its remedy.

    Raises what `server_definition` raises, where the data is not there any more.
    """
    try:
        from_mapping(server_definition(services, project, Path()))
    except BadDefinition as error:
        return error.mistakes
    return ()
