"""Whether the server works, for whoever watches it."""

from __future__ import annotations

from fastapi import APIRouter

from shoal.version import __version__
from shoal.web.api.models import Health
from shoal.web.refusals import Refusal
from shoal.web.services import Services


class NotWell(Refusal):
    """The server answers, but runs no jobs."""

    status = 503

    def __init__(self) -> None:
        hint = "see the server's log, and start it again"
        super().__init__("the server runs no jobs", code="not-well", hint=hint)


def router(services: Services) -> APIRouter:
    """/health, without a token."""
    routes = APIRouter(tags=["server"])

    @routes.get("/health", operation_id="health")
    def health() -> Health:
        """Answers while the server works; it says nothing else."""
        if not services.jobs.is_running():
            raise NotWell
        return Health(status="ok", version=__version__)

    return routes
