"""What is known of a demand at once: the size of the lattice, both its ends, warnings, remedies.

Both ends hold for local recoding too: no class is more general than at the most general node.

The numbers come from the task `feasibility`, which counts the table again after a change of what
they depend on, once there was none for a moment. What was counted before is shown at once.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from nicegui import ui

from shoal.errors import ShoalError
from shoal.web.laid_out import layout_of
from shoal.web.pages.components import box, button, fact, hint, note, problem_card, short, text
from shoal.web.pages.job_progress import JobProgress
from shoal.web.project_definition import fingerprint
from shoal.web.remedies import applied
from shoal.web.steps import quasi_identifiers

if TYPE_CHECKING:
    from shoal.web.jobs.model import Job
    from shoal.web.pages.demand_editor import DemandEditor

QUIET_SECONDS = 0.8
"""So long nothing must change before the table is counted again."""
PURPOSE = "feasibility"


class DemandSide:
    """The side panel; `on_counted` is called with every new feasibility."""

    def __init__(
        self, editor: DemandEditor, on_counted: Callable[[Mapping[str, Any]], None]
    ) -> None:
        self._editor, self._frame, self._on_counted = editor, editor.frame, on_counted
        self._found: Mapping[str, Any] | None = None
        self._counts: dict[str, Mapping[str, Any]] = {}
        self._counting = self._job = ""
        self._meaning = text("p", "", "lead")
        self._stale = text("p", "Correct what is marked; then it is counted again.", "warn")
        self._stale.visible = False
        self._body = box("stack")
        self._progress = JobProgress(
            self._frame.services,
            self._frame.user,
            self._frame.numbers,
            on_done=self._counted,
            on_problem=lambda _: self._body.classes(remove="dim"),
            can_cancel=False,
        )
        self._timer = ui.timer(QUIET_SECONDS, self._count, active=False)
        self._go = self._frame.primary("Start the search", self._search, icon="search")

    @property
    def records(self) -> int | None:
        """How many records there are, None before they were counted."""
        return None if self._found is None else int(self._found["records"])

    @property
    def limit(self) -> int | None:
        """How many records may be suppressed, None before they were counted."""
        return None if self._found is None else int(self._found["limit"])

    def build(self) -> None:
        """Show what was counted before, where it still holds; else count now."""
        self.show_meaning()
        project, services = self._frame.project, self._frame.services
        self._go.enabled = self._editor.is_sound
        job = project.jobs.get(PURPOSE)
        if job and project.fingerprints.get(PURPOSE) == fingerprint(project, services):
            try:
                self._follow(job)
            except ShoalError:
                self._count()
        else:
            self._count()

    def changed(self) -> None:
        """Count again, soon."""
        self._go.enabled = self._editor.is_sound
        self._stale.visible = not self._editor.is_sound
        self.show_meaning()
        self._body.classes(add="dim")
        self._timer.deactivate()
        self._timer.activate()

    def show_meaning(self) -> None:
        """The demand in one sentence."""
        k, names = self._editor.get("k"), quasi_identifiers(self._frame.project)
        if isinstance(k, int) and k >= 2:
            columns = "column" if len(names) == 1 else "columns"
            others = self._frame.numbers.things(k - 1, "other")
            of = " of other people" if self._editor.get("person") else ""
            self._meaning.text = (
                f"Every released record will look like at least {others}{of} "
                f"in {len(names)} {columns}."
            )

    def _count(self) -> None:
        self._timer.deactivate()
        self._stale.visible = not self._editor.is_sound
        if not self._editor.is_sound:
            return
        try:
            self._cancel_former()
            if (known := self._counts.get(self._demand())) is not None:
                self._progress.leave()
                self._show_counted(known)
                return
            layout = layout_of(self._frame.services, self._frame.project)
            self._follow(self._frame.submit("feasibility", {"layout": layout}, PURPOSE).id)
        except ShoalError as error:
            self._body.clear()
            with self._body:
                problem_card(error)

    def _demand(self) -> str:
        """What the numbers depend on. The data does not change while the page is open."""
        definition = dict(self._frame.project.definition)
        for key in ("search", "strict"):
            definition.pop(key, None)
        return json.dumps(definition, sort_keys=True, default=str)

    def _cancel_former(self) -> None:
        """A count of an earlier demand is of no use any more."""
        if self._job and not self._frame.services.jobs.get(self._job, self._owner).has_ended:
            self._frame.services.jobs.cancel(self._job, self._owner)

    @property
    def _is_local(self) -> bool:
        return bool(self._editor.get("recoding") == "local")

    @property
    def _owner(self) -> str:
        return self._frame.user.name

    def _follow(self, job: str) -> None:
        self._job, self._counting = job, self._demand()
        self._progress.follow(job)

    def _counted(self, job: Job) -> None:
        found = self._frame.services.jobs.result(job.id, self._owner)
        self._counts[self._counting] = found
        self._show_counted(found)

    def _show_counted(self, found: Mapping[str, Any]) -> None:
        self._found = found
        self._body.classes(remove="dim")
        self._body.clear()
        with self._body:
            self._show(found)
        self._on_counted(found)

    def _show(self, found: Mapping[str, Any]) -> None:
        numbers = self._frame.numbers
        with box("facts"):
            if self._is_local:
                fact("Combinations", numbers.count(found["tuples"]), term="combinations")
            else:
                fact("Lattice", numbers.things(found["lattice"], "node"), term="lattice")
            tops = [str(each["limit"]) for each in found["attributes"]]
            names = ", ".join(short(each["name"]) for each in found["attributes"])
            fact("Highest levels", f"({', '.join(tops)})", names, term="level")
        self._ends(found)
        self._verdict(found)
        self._warnings(found["warnings"])

    def _ends(self, found: Mapping[str, Any]) -> None:
        numbers, specific, general = self._frame.numbers, found["specific"], found["general"]
        with box("facts"):
            if specific is not None:
                fact("As it is", f"k = {numbers.count(specific['k'])}", self._left_out(specific))
            fact("Most general", f"k = {numbers.count(general['k'])}", self._left_out(general))
        if found["removed"]:
            removed = numbers.things(found["removed"], "record")
            text("p", f"{removed} with a missing value are left out first.", "small quiet")

    def _left_out(self, end: Mapping[str, Any]) -> str:
        if not end["suppressed"]:
            return "no record stands out"
        return f"{self._frame.numbers.things(end['suppressed'], 'record')} would be left out"

    def _verdict(self, found: Mapping[str, Any]) -> None:
        if found["feasible"]:
            note("The demand can be met. The search finds how to lose least.", "good")
        elif found["feasible"] is None:
            note("Whether the demand can be met, the search has to tell.")
        else:
            with note("", "problem", title="The demand cannot be met on these data."):
                for reason in found["reasons"]:
                    text("div", reason[:1].upper() + reason[1:], "small clamp")
                remedy_buttons(found["remedies"], self._frame.project.definition, self._apply)

    def _apply(self, definition: dict[str, Any]) -> None:
        self._editor.replace(definition)
        ui.navigate.reload()

    def _warnings(self, warnings: Sequence[Mapping[str, Any]]) -> None:
        if not warnings:
            return
        count = self._frame.numbers.things(len(warnings), "warning")
        with note("", "warning"):
            with box("with-hint"):
                text("div", f"{count} of released columns", "strong")
                hint("kept columns")
            for each in warnings:
                text("div", each["text"], "small clamp")

    def _search(self) -> None:
        """Start the search, and go where it is shown."""
        try:
            layout = layout_of(self._frame.services, self._frame.project)
            self._frame.submit("search", {"layout": layout}, "search")
        except ShoalError as error:
            with self._body:
                problem_card(error)
            return
        ui.navigate.to(f"/project/{self._frame.project.id}/search")


def remedy_buttons(
    remedies: Sequence[str],
    definition: Mapping[str, Any],
    apply: Callable[[dict[str, Any]], Any],
) -> None:
    """What would help, each of them enough: as a button where it can be done at once."""
    if not remedies:
        return
    text("div", "Any one of these is enough:", "small strong")
    for remedy in remedies:
        words = remedy[:1].upper() + remedy[1:]
        changed = applied(definition, remedy)
        if changed is None:
            text("div", words, "small")
        else:
            made = button(words, lambda changed=changed: apply(changed), icon="build", small=True)
            made.classes("remedy")
