"""The audit log, for administrators: who did what, and when."""

from __future__ import annotations

from datetime import UTC, datetime

from fastapi import Request
from nicegui import ui

from shoal.web.security import user_of
from shoal.web.services import Services
from shoal.web.users import require


def register(services: Services) -> None:
    """Define the route /audit."""

    @ui.page("/audit", title="Audit log · Shoal")
    def show(request: Request) -> None:
        require(user_of(request), "admin")
        ui.label("Audit log").classes("text-2xl")
        for entry in services.audit.latest():
            at = datetime.fromtimestamp(entry.at, tz=UTC)
            ui.label(f"{at:%Y-%m-%d %H:%M:%S} UTC {entry.user} {entry.action} {entry.subject}")
