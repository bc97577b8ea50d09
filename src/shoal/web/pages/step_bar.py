"""The eight steps under the header: where one is, what is done, what is blocked and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nicegui import ui

from shoal.web.pages.components import attributes, box, text
from shoal.web.steps import STEPS, Step, StepState, states, step_named

if TYPE_CHECKING:
    from shoal.web.projects import Project
    from shoal.web.services import Services

_WORDS = {"done": "done", "open": "", "outdated": "outdated", "blocked": "not yet"}


class StepBar:
    """All steps in a row; under 700 pixels one line, "3 of 8", that opens into a list."""

    def __init__(self, services: Services, current: str) -> None:
        self._services, self._current = services, current
        self._shown: tuple[StepState, ...] = ()

    def build(self) -> None:
        """Make the empty bar; `show` fills it."""
        number = STEPS.index(step_named(self._current)) + 1
        with attributes(box("steps-wide", "nav"), aria_label="Steps"):
            self._wide = box("", "ol")
        with attributes(box("steps-narrow", "nav"), aria_label="Steps"), box("", "details"):
            with box("", "summary"):
                text("span", f"{number} of {len(STEPS)}", "quiet num")
                text("span", step_named(self._current).title)
            self._narrow = box("", "ol")

    def show(self, project: Project) -> None:
        """Show how far the project is with each step."""
        found = states(self._services, project)
        if found == self._shown:
            return
        self._shown = found
        for row, with_reason in ((self._wide, False), (self._narrow, True)):
            row.clear()
            with row:
                for number, (step, state) in enumerate(zip(STEPS, found, strict=True), 1):
                    with box("", "li"):
                        self._item(project, number, step, state, with_reason=with_reason)

    def _item(
        self, project: Project, number: int, step: Step, state: StepState, *, with_reason: bool
    ) -> None:
        is_current = step.name == self._current
        item = box(f"step {state.status}{' current' if is_current else ''}", "a")
        if state.status == "blocked" and not is_current:
            attributes(item, role="link", aria_disabled="true", tabindex="0")
        else:
            attributes(item, href=step.path(project))
        if is_current:
            attributes(item, aria_current="step")
        with item:
            sign = "\N{CHECK MARK}" if state.status == "done" and not is_current else str(number)
            attributes(text("span", sign, "dot"), aria_hidden="true")
            text("span", step.title, "text")
            said = _WORDS[state.status] + (f": {state.reason}" if state.reason else "")
            if said and with_reason and state.reason:
                text("span", state.reason, "why")
            elif said:
                text("span", said, "sr-only")
            if not with_reason:
                ui.tooltip(f"{step.title}: {state.reason or step.about}")
