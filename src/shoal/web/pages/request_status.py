"""A request that was sent: where it stands, what it says, and its release."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nicegui import ui

from shoal.errors import ShoalError
from shoal.web.node_words import level_span
from shoal.web.pages.components import (
    attributes,
    box,
    button,
    fact,
    note,
    panel,
    problem_card,
    record_table,
    text,
)
from shoal.web.pages.mart_words import (
    STILL_CHANGING,
    decision_words,
    phase_words,
    sent_time,
    show_words,
    state_badge,
    was_refused,
    words_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from shoal.web.mart.model import MartRequest
    from shoal.web.pages.frame import Frame

WAITS = {
    "sent": "Your request is in the queue. You can close this page.",
    "waiting": "A custodian will look at it. You can close this page and come back.",
    "approved": "A custodian approved it. The release will be made in a moment.",
    "running": "The release is being made. You can close this page.",
}


class StatusPage:
    """Follows a request of the user until it has come to its end."""

    def __init__(self, frame: Frame, request: MartRequest) -> None:
        self._frame, self._request = frame, request
        self._mart, self._results = frame.services.mart, frame.services.mart_results
        self._phase = ""

    def build(self) -> None:
        """State, answer, and what was asked."""
        self._state()
        with panel("What you asked for"):
            purpose = self._request.body.get("purpose")
            show_words([*([("Purpose", purpose)] if purpose else []), *self._words()])
        if self._request.state in STILL_CHANGING:
            self._clock = ui.timer(1.0, self._look)

    def _words(self) -> list[tuple[str, str]]:
        try:
            least = self._mart.catalog(self._frame.user).policy.k
        except ShoalError:
            least = None
        return words_of(self._request.body, least_k=least)

    def _look(self) -> None:
        found = self._mart.get(self._frame.user, self._request.id)
        phase = ""
        if found.state == "running":
            phase = self._results.phase(self._frame.user, found.id)
        if (found.state, phase) != (self._request.state, self._phase):
            self._request, self._phase = found, phase
            self._state.refresh()
        if found.state not in STILL_CHANGING:
            self._clock.active = False

    @ui.refreshable_method
    def _state(self) -> None:
        request = self._request
        with panel():
            with box("line between"):
                with attributes(box("line tight"), role="status", aria_live="polite"):
                    state_badge(request)
                    if request.state == "running":
                        text("span", phase_words(self._phase), "quiet")
                sent_time(request)
            if request.state in WAITS:
                text("p", WAITS[request.state])
            self._decision()
            if request.problem is not None and request.state in ("refused", "failed"):
                problem_card(request.problem)
            if request.state == "released":
                self._released()
            self._actions()

    def _decision(self) -> None:
        reason, decided = self._request.reason, decision_words(self._request)
        if not decided:
            return
        said = f"\N{LEFT DOUBLE QUOTATION MARK}{reason}\N{RIGHT DOUBLE QUOTATION MARK}"
        tone: Any = "problem" if was_refused(self._request) else "good"
        note(said if reason else "", tone, title=decided)

    def _released(self) -> None:
        request = self._request
        if not self._results.has_files(request):
            note("The release was deleted, as all are after a while. Ask again if you need it.")
            return
        show_release(self._frame, request.id)

    def _actions(self) -> None:
        with box("line"):
            if self._request.state in STILL_CHANGING:
                button("Take it back", self._do(self._mart.cancel), kind="danger")
            if self._request.state == "failed":
                button("Try again", self._do(self._mart.retry), kind="primary")
            if self._request.state in ("refused", "failed", "cancelled", "released"):
                button("Ask again, with changes", self._copy)

    def _do(self, action: Callable[..., Any]) -> Callable[[], None]:
        def act() -> None:
            try:
                action(self._frame.user, self._request.id)
            except ShoalError as error:
                ui.notify(error.what)
            ui.navigate.reload()

        return act

    def _copy(self) -> None:
        """A draft with the same words."""
        try:
            made = self._mart.draft(self._frame.user, self._request.body)
        except ShoalError as error:
            ui.notify(error.what)
            return
        ui.navigate.to(f"/request/{made.id}")


def show_release(frame: Frame, id: str) -> None:
    """The numbers of a release, and where to download it."""
    result = frame.services.mart_results.result(frame.user, id)
    numbers = frame.numbers
    with box("facts"):
        fact("Records", numbers.count(result["rows_released"]))
        fact("Persons", numbers.count(result["persons_released"]))
        fact("Left out", numbers.count(result["rows_suppressed"]))
        fact("Alike at least (k)", numbers.count(result["k"]), term="k-anonymity")
    show_levels(result)
    text("p", result["withstands"], "quiet small")
    for each in result["notes"]:
        note(each)
    for each in result["warnings"]:
        note(str(each.get("text", each)), "warning")
    with box("line"):
        address = f"/api/v1/mart/requests/{id}"
        download(f"{address}/release", "Download the release", is_primary=True)
        download(f"{address}/report", "Download the report")
    with box("stack tight"):
        said = "The digest of the log's entry. An asker who keeps it can check the log later."
        text("div", said, "quiet small")
        text("div", result["digest"], "mart-digest")


def show_levels(result: Mapping[str, Any]) -> None:
    """The level of each generalized column, or its levels where classes have different ones."""
    rows = [
        (name, source if source != "*" else "all", level_span(level), limit)
        for source, each in result["sources"].items()
        for name, level in each["levels"].items()
        for limit in [each["limits"].get(name, {}).get("level")]
    ]
    if rows:
        shown = [(a, b, c, "none" if d is None else d) for a, b, c, d in rows]
        columns = ("Column", "Source", "Level", "Limit")
        record_table(columns, shown, caption="Levels of the columns", numbers=("Level", "Limit"))


def download(address: str, label: str, *, is_primary: bool = False) -> None:
    """A link that saves a file, with the look of a button."""
    made = button(label, kind="primary" if is_primary else "plain", icon="download")
    made.props("tag=a")
    attributes(made, href=address, download="")
