"""The requests of a researcher, with their states."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastapi import Request
from nicegui import ui

from shoal.web.pages.components import attributes, box, button, empty_state, local_time, text
from shoal.web.pages.mart_words import columns_text, mart_page, state_badge
from shoal.web.security import user_of
from shoal.web.users import require

if TYPE_CHECKING:
    from shoal.web.mart.model import MartRequest
    from shoal.web.services import Services


def register(services: Services) -> None:
    """Define the page."""

    @ui.page("/requests")
    def requests(request: Request) -> None:
        user = user_of(request)
        require(user, "researcher")
        with mart_page(services, user, "My requests"):
            found = services.mart.of(user)
            if not found:
                with empty_state(
                    "inbox",
                    "No request yet",
                    "Look at the catalog to see what the mart shares, then ask for the columns and "
                    "records that you need.",
                ):
                    _new()
                return
            with box("line"):
                _new()
            show_rows(found, "/request/")


def _new() -> None:
    go = lambda: ui.navigate.to("/request/new")  # noqa: E731 one expression
    button("Ask for data", go, kind="primary", icon="add")


def show_rows(requests: list[MartRequest], address: str, *, with_asker: bool = False) -> None:
    """Requests as rows that lead to their pages."""
    with attributes(box("mart-rows"), role="list", aria_label="Requests"):
        for each in requests:
            with (
                attributes(box(""), role="listitem"),
                attributes(box("mart-row", "a"), href=f"{address}{each.id}"),
            ):
                text("div", each.body.get("purpose") or columns_text(each.body), "what")
                with box("line tight"):
                    state_badge(each)
                with box("quiet small line tight"):
                    if with_asker:
                        text("span", f"{each.asker}:")
                    text("span", columns_text(each.body), "break")
                with box("quiet small"):
                    local_time(each.sent or each.changed)
