"""Numbers about the server, as Prometheus reads them; nothing about data or users."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator, Mapping
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import PlainTextResponse

from shoal.version import __version__
from shoal.web.api.access import problems, secured
from shoal.web.jobs.limits import resident
from shoal.web.security import user_of
from shoal.web.services import Services
from shoal.web.users import require

STATES = ("waiting", "running", "done", "failed", "cancelled", "interrupted")
TEXT: dict[int | str, dict[str, Any]] = {
    200: {"description": "Metrics", "content": {"text/plain": {"schema": {"type": "string"}}}}
}


def router(services: Services) -> APIRouter:
    """/metrics, for administrators."""
    routes = APIRouter(tags=["server"], dependencies=secured())
    begun = time.time()

    @routes.get(
        "/metrics",
        operation_id="metrics",
        response_class=PlainTextResponse,
        responses={**TEXT, **problems()},
    )
    def metrics(request: Request) -> PlainTextResponse:
        """Jobs by state, uploads, memory and disk. Needs the role admin."""
        require(user_of(request), "admin")
        text = "".join(_lines(services, begun))
        return PlainTextResponse(text, media_type="text/plain; version=0.0.4; charset=utf-8")

    return routes


def _lines(services: Services, begun: float) -> Iterator[str]:
    yield from _gauge("shoal_build_info", "Version", {f'version="{__version__}"': 1})
    counts = services.jobs.counts()
    jobs = {f'state="{state}"': counts.get(state, 0) for state in STATES}
    yield from _gauge("shoal_jobs", "Jobs that are kept, by state", jobs)
    sizes = services.store.read("SELECT count(*) AS files, total(bytes) AS bytes FROM uploads")[0]
    yield from _gauge("shoal_uploads", "Uploads that are kept", {"": sizes["files"]})
    yield from _gauge("shoal_upload_bytes", "Their size", {"": int(sizes["bytes"])})
    free = shutil.disk_usage(services.settings.folder).free
    yield from _gauge("shoal_disk_free_bytes", "Free bytes of the data folder's disk", {"": free})
    own = resident(os.getpid())
    yield from _gauge("process_resident_memory_bytes", "Memory of the server", {"": own})
    yield from _gauge("process_start_time_seconds", "When the server began", {"": begun})


def _gauge(name: str, meaning: str, values: Mapping[str, float]) -> Iterator[str]:
    yield f"# HELP {name} {meaning}\n# TYPE {name} gauge\n"
    for labels, value in values.items():
        yield f"{name}{{{labels}}} {value}\n" if labels else f"{name} {value}\n"
