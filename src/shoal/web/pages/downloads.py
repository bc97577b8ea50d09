"""What is downloaded from Decide: files of a release job that is done, for its owner alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastapi import Request
from fastapi.responses import FileResponse
from nicegui import app

from shoal.web.refusals import NotFound
from shoal.web.security import user_of
from shoal.web.users import require

if TYPE_CHECKING:
    from shoal.web.services import Services

TYPES = {
    ".csv": "text/csv; charset=utf-8",
    ".json": "application/json",
    ".xml": "application/xml",
    ".yaml": "application/yaml",
    ".html": "text/html; charset=utf-8",
    ".zip": "application/zip",
}


def register(services: Services) -> None:
    """`/project/ID/download/WHAT`: release, report, transformation, yaml and so on."""

    @app.get("/project/{id}/download/{what}", include_in_schema=False)
    def download(request: Request, id: str, what: str) -> FileResponse:
        user = user_of(request)
        require(user, "custodian")
        project = services.projects.get(id, user.name)
        job = project.jobs.get("release", "")
        name = services.jobs.result(job, user.name)["files"].get(what)
        if name is None:
            raise NotFound("there is no such file of this release", "see the page Decide")
        path = services.jobs.folder(job, user.name) / str(name)
        services.audit.record(user.name, f"downloaded {what}", f"project {project.id}")
        return FileResponse(
            path,
            filename=name,
            media_type=TYPES.get(path.suffix, "application/octet-stream"),
            headers={"cache-control": "no-store", "x-content-type-options": "nosniff"},
        )
