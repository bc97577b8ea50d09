"""About how many records a request would give, before it is sent, where that may be told."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from nicegui import ui

from shoal.errors import BadDefinition, Mistake, ShoalError
from shoal.web.mart.results import ESTIMATES_A_DAY
from shoal.web.node_words import level_span
from shoal.web.pages.components import attributes, box, button, note, panel, problem_card, text
from shoal.web.pages.mart_words import phase_words

if TYPE_CHECKING:
    from shoal.web.mart.results import Progress
    from shoal.web.pages.frame import Frame


class EstimateCard:
    """A button that has an estimate made, and what it says."""

    def __init__(
        self,
        frame: Frame,
        body: Callable[[], dict[str, Any]],
        show_mistakes: Callable[[Sequence[Mistake]], None],
    ) -> None:
        self._frame, self._body, self._show_mistakes = frame, body, show_mistakes
        self._job = ""
        with panel("About how many records"):
            if frame.services.mart.needs_approval:
                text(
                    "p",
                    "The custodian who decides sees how many records this would release, at which "
                    "levels. You learn it with the release: counts before that could tell of "
                    "single persons.",
                    "quiet",
                )
                return
            text(
                "p",
                "An estimate tells the order of magnitude and the levels. It is written to the "
                f"mart's log, and you have {ESTIMATES_A_DAY} of them a day.",
                "quiet",
            )
            with box("line"):
                self._button = button("Estimate", self._start, icon="straighten")
                self._words = attributes(text("span", "", "quiet"), role="status")
            self._answer = box("stack tight")
            self._clock = ui.timer(0.5, self._look, active=False)

    def _start(self) -> None:
        self._answer.clear()
        try:
            self._job = self._frame.services.mart_results.start_estimate(
                self._frame.user, self._body()
            )
        except BadDefinition as error:
            self._show_mistakes(error.mistakes)
            with self._answer:
                note("First correct what is marked above.", "problem")
            return
        except ShoalError as error:
            with self._answer:
                problem_card(error)
            return
        self._button.enabled = False
        self._words.text = "Working"
        self._clock.active = True

    def _look(self) -> None:
        found = self._frame.services.mart_results.estimate(self._frame.user, self._job)
        if found.state in ("waiting", "running"):
            self._words.text = phase_words(found.phase)
            return
        self._clock.active = False
        self._button.enabled = True
        self._words.text = ""
        with self._answer:
            self._show(found)

    def _show(self, found: Progress) -> None:
        answer: Mapping[str, Any] = found.answer or {}
        problem = answer.get("refused") or answer.get("failed") or found.problem
        if problem is not None:
            problem_card(problem)
            return
        about = answer["estimate"]
        count = self._frame.numbers.count
        body = note("", "good", title="The mart would release this")
        with body:
            text("div", f"{count(about['at_least'])} to {count(about['at_most'])} records")
            levels = ", ".join(
                f"{name} at level {level_span(level)}" for name, level in about["levels"].items()
            )
            text("div", levels or "nothing is generalized")
