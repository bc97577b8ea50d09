"""What the pages of the mart say in the same words: states, requests, policies, missing marts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal

from nicegui import ui

from shoal.errors import ShoalError
from shoal.web.mart.catalog import NoMart
from shoal.web.mart.model import FORMATS
from shoal.web.pages.components import badge, box, empty_state, local_time, problem_card, text
from shoal.web.pages.frame import Frame, plain_page
from shoal.web.pages.job_progress import PHASES
from shoal.web.pages.theme import static

if TYPE_CHECKING:
    from shoal.web.mart.model import MartRequest
    from shoal.web.services import Services
    from shoal.web.users import User

Meaning = Literal["", "safe", "unsafe", "warn", "best"]
STATE_WORDS: Mapping[str, tuple[str, Meaning]] = {
    "draft": ("Draft", ""),
    "sent": ("Sent", ""),
    "waiting": ("Waiting for approval", "warn"),
    "approved": ("Approved", ""),
    "running": ("Being made", ""),
    "released": ("Released", "safe"),
    "refused": ("Refused", "unsafe"),
    "failed": ("Failed", "unsafe"),
    "cancelled": ("Taken back", ""),
}
"""What readers call each state, and the colour that goes with it."""
STILL_CHANGING = ("sent", "waiting", "approved", "running")
"""States that change without the reader's doing."""


@contextmanager
def mart_page(services: Services, user: User, title: str) -> Iterator[Frame]:
    """A page of the mart. Where there is no mart, or none for this user, the page says so."""
    ui.add_head_html(f'<link rel="stylesheet" href="{static("mart.css")}">')
    with plain_page(services, user, title) as frame, frame.main:
        try:
            yield frame
        except NoMart:
            show_no_mart()
        except ShoalError as error:
            problem_card(error)


def show_no_mart() -> None:
    """How a server gets a mart."""
    with empty_state(
        "hub",
        "No data mart here yet",
        "A data mart answers requests to several linked sources with one safe release. An "
        "administrator writes a catalog and names it in server.toml, then restarts the server:",
    ):
        text("pre", '[mart]\ncatalog = "catalog.yaml"\napproval = "always"', "mono")


def state_badge(request: MartRequest) -> None:
    """The state of a request as a word in a pill."""
    word, meaning = STATE_WORDS[request.state]
    badge(word, meaning)


def sent_time(request: MartRequest) -> None:
    """When a request was sent."""
    with box("quiet small line tight"):
        text("span", "Sent")
        local_time(request.sent or request.created)


def decision_words(request: MartRequest) -> str:
    """Who decided on a request and how; empty where nobody has."""
    if request.decided_by is None:
        return ""
    return f"{request.decided_by} {'refused' if was_refused(request) else 'approved'} it"


def was_refused(request: MartRequest) -> bool:
    """Whether a custodian refused a request; a mart that refuses it states a problem."""
    return request.state == "refused" and request.problem is None


def phase_words(phase: str) -> str:
    """What the job of a request is doing."""
    return PHASES.get(phase, "Working")


def columns_text(body: Mapping[str, Any]) -> str:
    """The columns of a request in a line."""
    return ", ".join(map(str, body.get("project", ()))) or "no columns yet"


def words_of(body: Mapping[str, Any], *, least_k: int | None = None) -> list[tuple[str, str]]:
    """A request in words: what each part of it is called, and what it says."""
    found = [
        ("Columns", columns_text(body)),
        ("Records", "\n".join(map(str, body.get("select", ()))) or "all of them"),
    ]
    k = body.get("k", least_k)
    if k is not None:
        found.append(("Protection", f"every class has at least {k} persons (k)"))
    if body.get("scope") == "joint":
        found.append(("Withstands", "somebody who knows columns of all sources (joint)"))
    if body.get("recoding") == "local":
        found.append(("Generalized", "levels by class (local)"))
    if body.get("suppression"):
        found.append(("May leave out", f"{body['suppression']} of the records"))
    if body.get("keys") == "random":
        found.append(("Persons", "random ids tie the rows of a person together"))
    if limits := body.get("limits"):
        each = (f"{name} at most level {level}" for name, level in limits.items())
        found.append(("Levels", ", ".join(each)))
    if priorities := body.get("priorities"):
        found.append(("Priorities", ", ".join(f"{n} {p:g}" for n, p in priorities.items())))
    if body.get("diversity"):
        kinds = ", ".join(f"{kind} {value}" for kind, value in body["diversity"].items())
        found.append(("Diversity", kinds))
    found.append(("Format", FORMATS[body.get("format", "csv")]))
    return found


def show_words(words: Sequence[tuple[str, str]]) -> None:
    """Pairs of a name and a text, as a list."""
    with box("mart-words", "dl"):
        for name, content in words:
            text("dt", name)
            text("dd", content)
