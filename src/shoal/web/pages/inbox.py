"""The custodian's inbox: requests that wait for a decision, then those that were decided."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastapi import Request
from nicegui import ui

from shoal.errors import ShoalError
from shoal.web.pages.components import attributes, box, empty_state, local_time, panel, text
from shoal.web.pages.inbox_request import Review, risk_line
from shoal.web.pages.mart_words import columns_text, mart_page
from shoal.web.pages.requests import show_rows
from shoal.web.security import user_of
from shoal.web.users import require

if TYPE_CHECKING:
    from shoal.web.mart.model import MartRequest
    from shoal.web.pages.frame import Frame
    from shoal.web.services import Services

SHOWN = 20
"""So many waiting requests are shown with their risk."""


def register(services: Services) -> None:
    """Define the inbox and the page of one request."""

    @ui.page("/inbox")
    def inbox(request: Request) -> None:
        user = user_of(request)
        require(user, "custodian")
        with mart_page(services, user, "Inbox") as frame:
            found = services.mart.everyone(user)
            waiting = [each for each in found if each.state == "waiting"][::-1]
            decided = [each for each in found if each.state != "waiting"]
            if not found:
                empty_state(
                    "inbox",
                    "No request yet",
                    "Requests that researchers send to the mart come here. You see their risk and "
                    "their overlap with earlier releases before you decide.",
                )
                return
            _waiting(frame, waiting)
            if decided:
                text("h2", "Decided and released")
                show_rows(decided, "/inbox/", with_asker=True)

    @ui.page("/inbox/{id}")
    def one(request: Request, id: str) -> None:
        user = user_of(request)
        require(user, "custodian")
        found = services.mart.get(user, id)
        with mart_page(services, user, f"Request of {found.asker}") as frame:
            Review(frame, found).build()


def _waiting(frame: Frame, requests: list[MartRequest]) -> None:
    if not requests:
        with panel("Nothing waits for you"):
            text("p", "New requests appear here.", "quiet")
        return
    order = ", the oldest first" if len(requests) > 1 else ""
    text("h2", f"{frame.numbers.things(len(requests), 'request')} waiting{order}")
    with attributes(box("mart-rows"), role="list", aria_label="Waiting requests"):
        for each in requests[:SHOWN]:
            with (
                attributes(box(""), role="listitem"),
                attributes(box("mart-row", "a"), href=f"/inbox/{each.id}"),
            ):
                text("div", each.body.get("purpose") or columns_text(each.body), "what")
                with box("quiet small"):
                    local_time(each.sent or each.created)
                text("div", f"{each.asker}: {columns_text(each.body)}", "quiet small break")
                text("div", _risk(frame, each), "small")
    if len(requests) > SHOWN:
        show_rows(requests[SHOWN:], "/inbox/", with_asker=True)


def _risk(frame: Frame, request: MartRequest) -> str:
    try:
        found = frame.services.mart_results.preview(frame.user, request.id)
    except ShoalError:
        return ""
    return risk_line(found, frame.numbers)
