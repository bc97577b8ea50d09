"""The audit log, for administrators: who did what, and when."""

from __future__ import annotations

from collections.abc import Sequence

from fastapi import Request
from nicegui import ui

from shoal.web.audit import AuditEntry
from shoal.web.pages.components import attributes, box, empty_state, local_time, text
from shoal.web.pages.frame import plain_page
from shoal.web.security import user_of
from shoal.web.services import Services
from shoal.web.users import require

SHOWN = 100
"""How many entries a page has."""
COLUMNS = ("When", "Who", "What", "About")


def register(services: Services) -> None:
    """Define the route /audit."""

    @ui.page("/audit")
    def show(request: Request, before: int | None = None) -> None:
        user = user_of(request)
        require(user, "admin")
        entries = services.audit.latest(SHOWN + 1, before)
        with plain_page(services, user, "Audit log") as frame, frame.main:
            text(
                "p",
                "Who did what, the latest first. Entries are added and never changed. They name "
                "projects, jobs and requests by their ids, and hold no value of the data.",
                "quiet lead",
            )
            if entries:
                _table(entries[:SHOWN])
                _links(entries, before)
            else:
                empty_state("history", "Nothing here", "There are no older entries.")


def _table(entries: Sequence[AuditEntry]) -> None:
    outer = attributes(box("records-box"), tabindex="0", role="region", aria_label="Audit log")
    with outer, box("records", "table"):
        with box("", "thead"), box("", "tr"):
            for name in COLUMNS:
                attributes(text("th", name), scope="col")
        with box("", "tbody"):
            for entry in entries:
                with box("", "tr"):
                    with box("", "td"):
                        local_time(entry.at, full=True)
                    text("td", "nobody" if entry.user == "-" else entry.user)
                    text("td", entry.action)
                    text("td", entry.subject)


def _links(entries: Sequence[AuditEntry], before: int | None) -> None:
    """To the newest and to older entries, where there are any."""
    with attributes(box("row", "nav"), aria_label="Pages of the log"):
        if before is not None:
            attributes(text("a", "Latest entries"), href="/audit")
        if len(entries) > SHOWN:
            attributes(
                text("a", "Older entries"), href=f"/audit?before={entries[SHOWN - 1].number}"
            )
