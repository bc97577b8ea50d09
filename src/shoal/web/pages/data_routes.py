"""What the scripts of the Data and Columns pages ask for: to take an upload, and to give records.

Both are for the owner of the project alone. Records are values of real persons: a page asks for
them only after its reader clicked to see them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from fastapi import Request
from nicegui import app
from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse

from shoal.errors import ShoalError
from shoal.web.cached_table import TABLE, read_rows
from shoal.web.problems import problem_of, status_of
from shoal.web.project_data import PROFILE, take_upload
from shoal.web.security import user_of
from shoal.web.users import require

if TYPE_CHECKING:
    from shoal.web.services import Services

MOST_ROWS = 200
"""Records of one answer."""


def register(services: Services) -> None:
    """Define the routes."""

    @app.post("/project/{project_id}/upload", include_in_schema=False)
    async def upload(request: Request, project_id: str) -> JSONResponse:
        try:
            return JSONResponse(await _received(services, request, project_id), status_code=201)
        except ShoalError as error:
            return _refused(error)

    @app.get("/project/{project_id}/records", include_in_schema=False)
    async def records(
        request: Request, project_id: str, offset: int = 0, count: int = 60
    ) -> JSONResponse:
        try:
            user = user_of(request)
            require(user, "custodian")
            project = services.projects.get(project_id, user.name)
            path = services.jobs.folder(project.jobs.get(PROFILE, ""), user.name) / TABLE
            first, most = max(0, offset), max(0, min(count, MOST_ROWS))
            return JSONResponse({"rows": await run_in_threadpool(read_rows, path, first, most)})
        except ShoalError as error:
            return _refused(error)


async def _received(services: Services, request: Request, project_id: str) -> dict[str, Any]:
    """Take the body of a request as the data of a project."""
    user = user_of(request)
    require(user, "custodian")
    project = services.projects.get(project_id, user.name)
    length = request.headers.get("content-length")
    upload = await services.uploads.receive_into(
        services.projects.folder(project),
        request.stream(),
        owner=user.name,
        label=unquote(request.headers.get("x-file-name", "")),
        declared=int(length) if length else None,
    )
    project = take_upload(services, services.projects.get(project_id, user.name), upload)
    services.audit.record(user.name, "uploaded data", f"project {project.id}")
    return {"kind": upload.kind, "bytes": upload.bytes}


def _refused(error: ShoalError) -> JSONResponse:
    return JSONResponse(
        problem_of(error), status_code=status_of(error), media_type="application/problem+json"
    )
