"""Sources that the administrator allows: their names, never where they are."""

from __future__ import annotations

from fastapi import APIRouter, Request

from shoal.web.api.access import custodian, problems, secured
from shoal.web.api.models import SourceOut
from shoal.web.project_definition import allowed_for
from shoal.web.services import Services


def router(services: Services) -> APIRouter:
    """/sources."""
    routes = APIRouter(prefix="/sources", tags=["sources"], dependencies=secured())

    @routes.get("", operation_id="listSources", responses=problems())
    def list_sources(request: Request) -> list[SourceOut]:
        """The sources that you may use in a definition, as `source: {source: NAME}`."""
        return [
            SourceOut(name=each.name, title=each.title, description=each.description)
            for each in allowed_for(services, custodian(request))
        ]

    return routes
