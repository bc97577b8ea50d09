"""Jobs: submit them, look at them, follow their events, stop and cancel them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Annotated, Any

from fastapi import APIRouter, Header, Path, Query, Request
from starlette.responses import JSONResponse, Response, StreamingResponse

from shoal.web.api.access import custodian, problems, secured
from shoal.web.api.models import Id, JobOut
from shoal.web.jobs.model import JobEvent
from shoal.web.jobs.queue import Jobs
from shoal.web.services import Services

HEARTBEAT = 15.0
"""Seconds of silence after which a comment is sent, so that proxies keep the stream open."""
JobId = Annotated[Id, Path(description="The id of a job of yours.")]
EVENT = {
    "type": "object",
    "properties": {name: {"type": "string"} for name in ("id", "event", "data")},
    "required": ["id", "event", "data"],
}
STREAM: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "Events, until the job has ended",
        "content": {"text/event-stream": {"schema": EVENT}},
    }
}
ANYTHING: dict[int | str, dict[str, Any]] = {
    200: {"description": "What the job returned", "content": {"application/json": {}}}
}


def router(services: Services) -> APIRouter:
    """/jobs, but for what submits and downloads."""
    routes = APIRouter(prefix="/jobs", tags=["jobs"], dependencies=secured())
    jobs = services.jobs

    @routes.get("", operation_id="listJobs", responses=problems(422))
    def list_jobs(
        request: Request,
        project: Annotated[str | None, Query(max_length=100)] = None,
        most: Annotated[int, Query(ge=1, le=1000)] = 100,
    ) -> list[JobOut]:
        """Your jobs, the newest first."""
        found = jobs.of(custodian(request).name, project=project, most=most)
        return [JobOut.of(each) for each in found]

    @routes.get("/{id}", operation_id="getJob", responses=problems(404, 422))
    def get(request: Request, id: JobId) -> JobOut:
        """One of your jobs."""
        return JobOut.of(jobs.get(id, custodian(request).name))

    @routes.delete("/{id}", operation_id="cancelJob", responses=problems(404, 422))
    def cancel(request: Request, id: JobId) -> JobOut:
        """Cancel a job: its process is killed. One that has ended stays as it is."""
        user = custodian(request)
        services.audit.record(user.name, "cancelled a job", f"job {id}")
        return JobOut.of(jobs.cancel(id, user.name))

    @routes.post("/{id}/stop", operation_id="stopJob", responses=problems(404, 422))
    def stop(request: Request, id: JobId) -> JobOut:
        """End the search of a running job; the job goes on with the best that was found."""
        user = custodian(request)
        services.audit.record(user.name, "stopped a search", f"job {id}")
        return JobOut.of(jobs.stop(id, user.name))

    @routes.get(
        "/{id}/result",
        operation_id="getResult",
        response_class=JSONResponse,
        responses={**ANYTHING, **problems(404, 409, 422)},
    )
    def result(request: Request, id: JobId) -> Response:
        """What the job returned, as the command line writes it with --json; or its problem."""
        found = jobs.result(id, custodian(request).name)
        return JSONResponse(found)

    @routes.get(
        "/{id}/events",
        operation_id="followJob",
        response_class=StreamingResponse,
        responses={**STREAM, **problems(404, 422)},
    )
    async def events(
        request: Request,
        id: JobId,
        last_event_id: Annotated[str, Header(pattern=r"^[0-9]{0,9}$")] = "",
    ) -> Response:
        """Follow a job as server-sent events. With Last-Event-ID only later events come."""
        owner = custodian(request).name
        jobs.get(id, owner)
        stream = _stream(jobs, id, owner, int(last_event_id or 0))
        return StreamingResponse(stream, media_type="text/event-stream")

    return routes


async def _stream(jobs: Jobs, id: str, owner: str, after: int) -> AsyncIterator[bytes]:
    """The events as text, and a comment where there is none for long."""
    events = jobs.follow(id, owner, after)
    pending: asyncio.Task[JobEvent] | None = None
    try:
        while True:
            pending = pending or asyncio.ensure_future(anext(events))
            done, _ = await asyncio.wait([pending], timeout=HEARTBEAT)
            if not done:
                yield b": waiting\n\n"
                continue
            try:
                event = pending.result()
            except StopAsyncIteration:
                return
            pending = None
            yield _event_text(event.number, event.name, event.data)
    finally:
        if pending is not None:
            pending.cancel()


def _event_text(number: int, name: str, data: Any) -> bytes:
    return f"id: {number}\nevent: {name}\ndata: {json.dumps(data)}\n\n".encode()
