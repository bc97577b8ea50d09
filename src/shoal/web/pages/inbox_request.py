"""One request as a custodian sees it: in words, its risk, its overlaps, and the decision."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from nicegui import ui

from shoal.errors import ShoalError
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
    decision_words,
    phase_words,
    sent_time,
    show_words,
    state_badge,
    words_of,
)
from shoal.web.pages.request_status import show_levels, show_release

if TYPE_CHECKING:
    from shoal.web.mart.model import MartRequest
    from shoal.web.mart.results import Progress
    from shoal.web.numbers import Numbers
    from shoal.web.pages.frame import Frame

KINDS: Mapping[str, str] = {
    "intersection": "rows in both",
    "difference": "rows in only one of the two",
    "together": "all of them together",
    "changed": "the sources have changed since, so it cannot be compared",
}
"""How a new release can be intersected with earlier ones."""


class Review:
    """A request, what it would release, and two buttons."""

    def __init__(self, frame: Frame, request: MartRequest) -> None:
        self._frame, self._request = frame, request
        self._mart, self._results = frame.services.mart, frame.services.mart_results
        self._shown: tuple[str, str] = ("", "")

    def build(self) -> None:
        """What is asked, what it would lead to, and the decision."""
        request = self._request
        with panel("What is asked"):
            with box("line between"):
                state_badge(request)
                sent_time(request)
            purpose = request.body.get("purpose") or "not stated"
            words = words_of(request.body, least_k=self._least_k())
            show_words([("Asker", request.asker), ("Purpose", purpose), *words])
        if request.state == "waiting":
            self._would()
            self._clock = ui.timer(1.0, self._look)
            self._decision()
        else:
            self._outcome()

    def _least_k(self) -> int:
        return self._mart.catalog(self._frame.user).policy.k

    # What it would lead to

    def _look(self) -> None:
        try:
            found = self._results.preview(self._frame.user, self._request.id)
        except ShoalError:
            self._clock.active = False
            return
        if (found.state, found.phase) != self._shown:
            self._would.refresh()
        self._clock.active = found.state in ("waiting", "running")

    @ui.refreshable_method
    def _would(self) -> None:
        with panel("What it would release"):
            try:
                found = self._results.preview(self._frame.user, self._request.id)
            except ShoalError as error:
                problem_card(error)
                self._again_button()
                return
            self._shown = found.state, found.phase
            if found.state in ("waiting", "running"):
                with attributes(box("line"), role="status"):
                    box("spinner")
                    text("span", f"{phase_words(found.phase)}. Nothing is released by this.")
            elif found.answer is None:
                problem_card(found.problem or {"title": "This was not worked out.", "code": ""})
                self._again_button()
            else:
                show_preview(found.answer, self._frame.numbers)
                self._again_button()

    def _again_button(self) -> None:
        with box("line"):
            button("Work it out again", self._again, icon="refresh", small=True)
            text("span", "if the log or the sources have changed since", "quiet small")

    def _again(self) -> None:
        try:
            self._request = self._mart.preview_again(self._frame.user, self._request.id)
        except ShoalError as error:
            ui.notify(error.what)
            return
        self._would.refresh()
        self._clock.active = True

    # The decision

    def _decision(self) -> None:
        with panel("Your decision"):
            if not self._mart.may_decide(self._frame.user, self._request):
                note("This is your own request. Another custodian decides on it.")
                return
            reason = ui.textarea("What you say to the asker").props(
                "outlined autogrow maxlength=2000"
            )
            text(
                "p",
                "The asker reads this. Say no numbers of records here: a refusal must not tell "
                "what the release would have told.",
                "quiet small",
            )
            self._problem = box("stack tight")
            with box("mart-actions"):
                act = self._act
                approve = act(self._mart.approve, reason)
                button("Approve and release", approve, kind="primary", icon="check")
                refuse = act(self._mart.refuse, reason)
                button("Refuse", refuse, kind="danger", icon="close")

    def _act(self, decide: Callable[..., Any], reason: ui.textarea) -> Callable[[], None]:
        def act() -> None:
            try:
                decide(self._frame.user, self._request.id, reason.value or "")
            except ShoalError as error:
                self._problem.clear()
                with self._problem:
                    problem_card(error)
                return
            ui.navigate.reload()

        return act

    def _outcome(self) -> None:
        request = self._request
        if decided := decision_words(request):
            with panel(decided):
                text("p", request.reason or "No reason was given.", "break")
        with panel("What became of it"):
            with box("line"):
                state_badge(request)
            if request.problem is not None:
                problem_card(request.problem)
            elif request.state == "released" and self._results.has_files(request):
                show_release(self._frame, request.id)
            elif request.state == "released":
                note("The release was deleted, as all are after a while. The log has its entry.")
        if request.state in ("approved", "sent", "running"):
            ui.timer(1.5, self._reload_when_done)

    def _reload_when_done(self) -> None:
        if self._mart.get(self._frame.user, self._request.id).state != self._request.state:
            ui.navigate.reload()


def risk_line(found: Progress, numbers: Numbers) -> str:
    """The risk of a request in a line, for the list."""
    if found.answer is None:
        return "being worked out" if found.state in ("waiting", "running") else "not worked out"
    if (refusal := found.answer["refusal"]) is not None:
        return f"the mart would refuse it: {refusal['code']}"
    result = found.answer["result"]
    overlaps = len(result["overlaps"])
    risk = numbers.percent(1 / smallest_class(result), 1)
    said = f"{numbers.things(result['rows_released'], 'record')}, risk at most {risk}"
    return f"{said}, {numbers.things(overlaps, 'overlap')}" if overlaps else said


def smallest_class(result: Mapping[str, Any]) -> int:
    """The fewest persons of a class, over all sources."""
    sizes = [int(each["smallest_class"]) for each in result["sources"].values()]
    return min(sizes, default=max(1, int(result["persons_released"])))


def show_preview(found: Mapping[str, Any], numbers: Numbers) -> None:
    """What a request would release, its risk, and what speaks against it."""
    refusal, result = found["refusal"], found["result"]
    if refusal is not None:
        note("If you approve it, the mart refuses it all the same.", "warning")
        problem_card(refusal)
    if result is None:
        return
    with box("facts"):
        fact("Records", numbers.count(result["rows_released"]))
        fact("Persons", numbers.count(result["persons_released"]))
        fact("Left out", numbers.count(result["rows_suppressed"]), term="suppression")
        alike = numbers.count(smallest_class(result))
        fact("Smallest class", alike, "persons alike", term="class")
        risk = numbers.percent(1 / smallest_class(result), 1)
        fact("Highest risk", risk, "for who holds one source", term="prosecutor risk")
        before = numbers.count(result["rows_unique_before"])
        unique = numbers.count(result["rows_unique"])
        fact("Unique records", unique, f"all sources together; {before} before")
    show_levels(result)
    _overlaps(result["overlaps"], numbers)
    for each in result["warnings"]:
        note(str(each.get("text", each)), "warning")
    for each in result["notes"]:
        note(each)
    text("p", result["withstands"], "quiet small")


def _overlaps(overlaps: Sequence[Mapping[str, Any]], numbers: Numbers) -> None:
    """What earlier releases would tell together with this one."""
    text("h3", "Overlap with earlier releases")
    if not overlaps:
        note("None: no earlier release that it is compared with tells more with it.", "good")
        return
    few = "fewer than k"
    rows = [
        (
            ", ".join(map(str, each["earlier"])),
            "all" if each["source"] == "*" else each["source"],
            KINDS[each["kind"]],
            few if each["persons"] is None else numbers.count(each["persons"]),
        )
        for each in overlaps
    ]
    columns = ("Entries of the log", "Held source", "What can be compared", "Persons told apart")
    record_table(columns, rows, caption="Overlaps with earlier releases")
