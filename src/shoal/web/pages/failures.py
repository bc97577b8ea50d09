"""What a page shows when one of its actions fails and says nothing itself."""

from __future__ import annotations

from nicegui import Client, app

from shoal.web.answers import known_error
from shoal.web.pages.components import dialog, problem_card
from shoal.web.services import Services

SHOWN = "shown"
"""The note of an error that the page has shown itself: `error.add_note(SHOWN)`."""


def register(services: Services) -> None:  # noqa: ARG001 all pages are registered alike
    """Let every page show its failures."""
    watched: set[str] = set()

    def watch(client: Client) -> None:
        """A page connects again after an interruption; its failures are shown once all the same."""
        if client.id not in watched:
            watched.add(client.id)
            client.on_exception(show_failure)
            client.on_delete(lambda: watched.discard(client.id))

    app.on_connect(watch)


def show_failure(error: Exception) -> None:
    """The error in words, unless the page has shown it already."""
    if SHOWN in getattr(error, "__notes__", ()):
        return
    with dialog("That did not work") as shown:
        problem_card(known_error(error))
    shown.open()
