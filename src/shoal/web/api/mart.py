"""The data mart in the API: the catalog, requests, decisions, releases, estimates and the log.

Who asks is who is logged in. No request names a path: the sources are those of the catalog that
server.toml names, and the release is kept by the server.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import FileResponse
from pydantic import BaseModel, ConfigDict, Field

from shoal.web.api.access import problems, secured
from shoal.web.mart.model import MartRequest
from shoal.web.mart.service import plain
from shoal.web.security import user_of

if TYPE_CHECKING:
    from pathlib import Path

    from shoal.web.services import Services

Text = Annotated[str, Field(max_length=2000)]
Whole = Annotated[int, Field(ge=-(10**12), le=10**12)]
"""A whole number that every engine can count with; the mart says which ones make sense."""


class RequestBody(BaseModel):
    """What is asked. The keys mean what they mean in a request file of `shoal mart request`."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    purpose: Text | None = None
    project: Annotated[list[Text], Field(max_length=2000)] = Field(default_factory=list)
    select: Annotated[list[Text], Field(max_length=200)] = Field(default_factory=list)
    k: Whole | None = None
    suppression: Whole | float | Text | None = None
    scope: Text | None = None
    recoding: Text | None = None
    priorities: dict[str, float] | None = None
    limits: dict[str, Whole] | None = None
    keys: Text | None = None
    diversity: dict[str, float | dict[str, float]] | None = None
    format: Text | None = None

    def stated(self) -> dict[str, Any]:
        """What the client stated."""
        return self.model_dump(exclude_none=True)


class Decision(BaseModel):
    """What a custodian says to the asker."""

    model_config = ConfigDict(extra="forbid")

    reason: Annotated[str, Field(max_length=2000)] = ""


def router(services: Services) -> APIRouter:
    """All routes of the mart."""
    answers = problems(404, 409, 422)
    made = APIRouter(prefix="/mart", tags=["mart"], dependencies=secured(), responses=answers)
    _catalog(made, services)
    _requests(made, services)
    _decisions(made, services)
    _results(made, services)
    _log(made, services)
    return made


def _catalog(routes: APIRouter, services: Services) -> None:
    @routes.get("/catalog")
    def catalog(request: Request) -> dict[str, Any]:
        """What the mart shares with you: columns, hierarchies, links, policy; never records."""
        view = services.mart.view(user_of(request))
        return {**view.to_dict(), "approval": services.mart.settings.approval}


def _requests(routes: APIRouter, services: Services) -> None:
    mart = services.mart

    @routes.post("/requests/check")
    def check(request: Request, body: RequestBody) -> dict[str, Any]:
        """Every mistake that the request's words and the catalog show, each with its key."""
        found = mart.mistakes(user_of(request), body.stated())
        return {"mistakes": [plain(each) for each in found]}

    @routes.post("/requests", status_code=201)
    def create(request: Request, body: RequestBody, draft: bool = False) -> dict[str, Any]:
        """Send a request, or keep it as a draft."""
        user = user_of(request)
        made = mart.draft(user, body.stated())
        if draft:
            return made.to_dict()
        try:
            return mart.send(user, made.id).to_dict()
        except BaseException:
            mart.table.delete_draft(made.id)
            raise

    @routes.get("/requests")
    def mine(request: Request, whose: Literal["mine", "all"] = "mine") -> dict[str, Any]:
        """Your requests; with `whose=all`, for custodians, all that were sent."""
        user = user_of(request)
        found = mart.everyone(user) if whose == "all" else mart.of(user)
        return {"requests": [each.to_dict() for each in found]}

    @routes.get("/requests/{id}")
    def one(request: Request, id: str) -> dict[str, Any]:
        """A request and its state."""
        return _shown(request, services, mart.get(user_of(request), id))

    @routes.put("/requests/{id}")
    def save(request: Request, id: str, body: RequestBody) -> dict[str, Any]:
        """Change a draft."""
        return mart.save(user_of(request), id, body.stated()).to_dict()

    @routes.post("/requests/{id}/send")
    def send(request: Request, id: str) -> dict[str, Any]:
        """Send a draft."""
        return mart.send(user_of(request), id).to_dict()

    @routes.post("/requests/{id}/retry")
    def retry(request: Request, id: str) -> dict[str, Any]:
        """Begin a request again that failed."""
        return mart.retry(user_of(request), id).to_dict()

    @routes.post("/requests/{id}/cancel", response_model=None)
    def cancel(request: Request, id: str) -> dict[str, Any] | Response:
        """Take a request back. A draft is deleted: the answer is empty then."""
        cancelled = mart.cancel(user_of(request), id)
        return Response(status_code=204) if cancelled is None else cancelled.to_dict()


def _decisions(routes: APIRouter, services: Services) -> None:
    mart, results = services.mart, services.mart_results

    @routes.post("/requests/{id}/approve")
    def approve(request: Request, id: str, decision: Decision) -> dict[str, Any]:
        """Let the mart release what the request asks for."""
        return mart.approve(user_of(request), id, decision.reason).to_dict()

    @routes.post("/requests/{id}/refuse")
    def refuse(request: Request, id: str, decision: Decision) -> dict[str, Any]:
        """Refuse a request with a reason, which the asker reads."""
        return mart.refuse(user_of(request), id, decision.reason).to_dict()

    @routes.get("/requests/{id}/preview")
    def preview(request: Request, id: str) -> dict[str, Any]:
        """What a request would release, its risk and overlaps; for custodians."""
        return results.preview(user_of(request), id).to_dict()

    @routes.post("/requests/{id}/preview", status_code=202)
    def preview_again(request: Request, id: str) -> dict[str, Any]:
        """Work out again what a request would release."""
        mart.preview_again(user_of(request), id)
        return results.preview(user_of(request), id).to_dict()


def _results(routes: APIRouter, services: Services) -> None:
    results = services.mart_results

    @routes.get("/requests/{id}/result")
    def result(request: Request, id: str) -> dict[str, Any]:
        """What was released: levels, counts, warnings, the digest of the log's entry."""
        return dict(results.result(user_of(request), id))

    @routes.get("/requests/{id}/release", response_class=FileResponse)
    def release(request: Request, id: str) -> FileResponse:
        """The release."""
        path = results.release(user_of(request), id)
        services.audit.record(user_of(request).name, "downloaded a release", f"request {id}")
        return _download(path, f"shoal-{id[:8]}{path.suffix}")

    @routes.get("/requests/{id}/report", response_class=FileResponse)
    def report(request: Request, id: str) -> FileResponse:
        """The report of the release, as a page."""
        path = results.report(user_of(request), id)
        return _download(path, f"shoal-{id[:8]}-report.html")

    @routes.post("/estimates", status_code=202)
    def start_estimate(request: Request, body: RequestBody) -> dict[str, Any]:
        """Estimate what a request would release, where the policy alone decides."""
        return {"id": results.start_estimate(user_of(request), body.stated())}

    @routes.get("/estimates/{id}")
    def estimate(request: Request, id: str) -> dict[str, Any]:
        """How far an estimate is, and what it says."""
        return results.estimate(user_of(request), id).to_dict()


def _log(routes: APIRouter, services: Services) -> None:
    results = services.mart_results

    @routes.get("/log")
    def log(request: Request) -> dict[str, Any]:
        """Every entry of the mart's log, for custodians."""
        return results.log(user_of(request)).to_dict()

    @routes.get("/log/check")
    def check_log(
        request: Request, contains: Annotated[list[str] | None, Query(max_length=100)] = None
    ) -> dict[str, Any]:
        """Whether the mart's log is as it was written, and has these digests; for custodians."""
        return results.check_log(user_of(request), contains or ()).to_dict()


def _shown(request: Request, services: Services, found: MartRequest) -> dict[str, Any]:
    """A request with what its job does at the moment, and whether its release is still kept."""
    phase = services.mart_results.phase(user_of(request), found.id)
    kept = services.mart_results.has_files(found)
    return {**found.to_dict(), "phase": phase, "kept": kept}


def _download(path: Path, name: str) -> FileResponse:
    """A file to save: never shown inside the server's pages."""
    headers = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
    kind = "application/octet-stream"
    return FileResponse(path, filename=name, media_type=kind, headers=headers)
