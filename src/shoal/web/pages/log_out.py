"""The button that logs out: a form, so that it also works when the websocket does not."""

from __future__ import annotations

from shoal.web.pages.components import attributes, box, icon_button
from shoal.web.users import User


def log_out_button(user: User) -> None:
    """A button in the header of every page."""
    with attributes(box("", "form"), method="post", action="/logout"):
        label = f"Log out {user.name}"
        icon_button("logout", label).props("type=submit")
