"""What a job released: the release, the report, the definition and the transformation."""

from __future__ import annotations

from pathlib import PurePath
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query, Request
from starlette.responses import FileResponse, Response

from shoal.web.api.access import custodian, problems, secured
from shoal.web.api.models import Id
from shoal.web.refusals import NotFound
from shoal.web.services import Services

JobId = Annotated[Id, Path(description="The id of a job that released something.")]
TYPES = {
    ".csv": "text/csv; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".json": "application/json",
    ".parquet": "application/vnd.apache.parquet",
    ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    ".xml": "application/xml",
    ".yaml": "application/yaml",
}


def router(services: Services) -> APIRouter:
    """/jobs/ID/release and the files beside it."""
    routes = APIRouter(prefix="/jobs/{id}", tags=["releases"], dependencies=secured())

    def send(request: Request, id: str, what: str) -> Response:
        """A file of a job, as a download."""
        user = custodian(request)
        result = services.jobs.result(id, user.name)
        names = result.get("files", {}) if isinstance(result, dict) else {}
        if what not in names:
            raise NotFound(f"the job has no {what}", "only a job of `run` has one")
        name = str(names[what])
        path = services.jobs.folder(id, user.name) / name
        services.audit.record(user.name, f"downloaded a {what}", f"job {id}")
        kind = TYPES.get(PurePath(name).suffix.lower(), "application/octet-stream")
        return FileResponse(path, media_type=kind, filename=name)

    @routes.get("/release", operation_id="getRelease", **_answers("text/csv", "application/json"))
    def release(request: Request, id: JobId) -> Response:
        """The release, in the format of the definition's output. It was verified."""
        return send(request, id, "release")

    @routes.get("/report", operation_id="getReport", **_answers("text/html"))
    def report(request: Request, id: JobId) -> Response:
        """The report, one HTML page that needs no network."""
        return send(request, id, "report")

    @routes.get(
        "/definition",
        operation_id="getDefinition",
        **_answers("application/yaml", "application/json", "application/xml"),
    )
    def definition(
        request: Request,
        id: JobId,
        format: Annotated[Literal["yaml", "json", "xml"], Query()] = "yaml",
    ) -> Response:
        """The definition of the release, to run beside its source."""
        return send(request, id, format)

    @routes.get("/transformation", operation_id="getTransformation", **_answers("application/json"))
    def transformation(request: Request, id: JobId) -> Response:
        """How records were recoded, for `shoal apply`."""
        return send(request, id, "transformation")

    return routes


def _answers(*types: str) -> dict[str, Any]:
    content: dict[str, Any] = {each: {} for each in types}
    found = {200: {"description": "The file", "content": content}}
    return {"response_class": FileResponse, "responses": {**found, **problems(404, 409, 422)}}
