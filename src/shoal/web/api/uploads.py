"""Uploads: a file is the raw body of a request, written to disk as it comes."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import unquote

from fastapi import APIRouter, Header, Path, Query, Request

from shoal.web.api.access import custodian, problems, secured
from shoal.web.api.models import Id, UploadOut
from shoal.web.services import Services

BINARY = {
    "requestBody": {
        "required": True,
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}


def router(services: Services) -> APIRouter:
    """/uploads."""
    routes = APIRouter(prefix="/uploads", tags=["uploads"], dependencies=secured())
    uploads = services.uploads

    @routes.post(
        "",
        status_code=201,
        operation_id="upload",
        openapi_extra=BINARY,
        responses=problems(408, 413, 415, 422, 507),
    )
    async def upload(
        request: Request,
        name: Annotated[str, Query(max_length=1000, examples=["patients.csv"])] = "",
        x_file_name: Annotated[str, Header(max_length=3000)] = "",
        content_length: Annotated[str, Header(include_in_schema=False)] = "",
    ) -> UploadOut:
        """Upload a table or a hierarchy: CSV, Parquet, Excel, XML or JSON.

        The name, here or percent-encoded in the header X-File-Name, is shown to you and says what
        kind of text the file is.
        """
        user = custodian(request)
        found = await uploads.receive(
            request.stream(),
            owner=user.name,
            label=name or unquote(x_file_name) or "data",
            declared=int(content_length) if content_length else None,
        )
        services.audit.record(user.name, "uploaded a file", f"upload {found.id}")
        return UploadOut.of(found)

    @routes.get("", operation_id="listUploads", responses=problems())
    def list_uploads(request: Request) -> list[UploadOut]:
        """Your uploads, the newest first."""
        return [UploadOut.of(each) for each in uploads.of(custodian(request).name)]

    @routes.get("/{id}", operation_id="getUpload", responses=problems(404))
    def get(request: Request, id: Annotated[Id, Path()]) -> UploadOut:
        """One of your uploads."""
        return UploadOut.of(uploads.get(id, custodian(request).name))

    @routes.delete("/{id}", status_code=204, operation_id="deleteUpload", responses=problems(404))
    def delete(request: Request, id: Annotated[Id, Path()]) -> None:
        """Delete an upload; jobs that have begun to read it go on."""
        user = custodian(request)
        uploads.delete(id, user.name)
        services.audit.record(user.name, "deleted a file", f"upload {id}")

    return routes
