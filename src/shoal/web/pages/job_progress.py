"""Shows how far a job is, in words and as a bar, and lets the reader stop or cancel it.

The job runs in a worker; closing the page does not end it. A page that is opened again follows the
same job: give `follow` the id that the project noted.
"""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from nicegui import background_tasks, ui

from shoal.errors import ShoalError
from shoal.web.pages.components import attributes, box, button, note, problem_card, text

if TYPE_CHECKING:
    import asyncio

    from shoal.web.jobs.model import Job, JobEvent
    from shoal.web.numbers import Numbers
    from shoal.web.services import Services
    from shoal.web.users import User

PHASES: Mapping[str, str] = {
    "waiting": "Waiting for a free worker",
    "running": "Working",
    "read": "Reading and counting the records",
    "search": "Searching",
    "warn": "Looking at the kept columns",
    "ask": "Waiting for an answer",
    "release": "Writing the release",
    "verify": "Counting the written release afresh",
    "publish": "Publishing",
    "link": "Linking the sources",
    "compare": "Comparing with earlier releases",
}
"""What the phases of the pipeline are called in pages."""


class JobProgress:
    """A card that follows one job at a time, hidden while there is none.

    `on_done` is called with the job when it is done, `on_event` with each event before that,
    `on_problem` with the job when it ended in any other way; each may be a coroutine function.
    With `can_stop`, the reader can end a search early and keep its best. Without `shows_problems`
    the page itself says why a job failed.
    """

    def __init__(
        self,
        services: Services,
        user: User,
        numbers: Numbers,
        *,
        on_done: Callable[[Job], Any],
        on_event: Callable[[JobEvent], Any] | None = None,
        on_problem: Callable[[Job], Any] | None = None,
        can_stop: bool = False,
        can_cancel: bool = True,
        shows_problems: bool = True,
    ) -> None:
        self._shows_problems = shows_problems
        self._services, self._user, self._numbers = services, user, numbers
        self._on_done, self._on_event, self._on_problem = on_done, on_event, on_problem
        self._job = ""
        self._began = 0.0
        self._task: asyncio.Task[None] | None = None
        self.container = box("stack tight")
        with self.container:
            self._card = box("stack tight")
            self._problem = box("stack tight")
        with self._card:
            self._build(can_stop=can_stop, can_cancel=can_cancel)
        self._clock = ui.timer(1.0, self._tick, active=False)
        self._card.visible = self.container.visible = False
        ui.context.client.on_delete(self._leave)

    def _build(self, *, can_stop: bool, can_cancel: bool) -> None:
        with box("line between"):
            self._words = text("div", "", "strong")
            attributes(self._words, role="status", aria_live="polite")
            self._elapsed = text("div", "", "quiet num")
        self._meter = attributes(
            box("meter busy", "span"), role="progressbar", aria_label="Progress"
        )
        with self._meter:
            self._bar = box("", "span")
        self._detail = text("div", "", "quiet small")
        with box("line tight"):
            self._stop = button("Stop and keep the best", self._ask_stop, icon="flag", small=True)
            self._cancel = button("Cancel", self._ask_cancel, kind="quiet", small=True)
        self._stop.visible, self._cancel.visible = can_stop, can_cancel

    def follow(self, job: str) -> None:
        """Show this job from its first event on, until it has ended."""
        self._leave()
        self._job = job
        self._problem.clear()
        found = self._services.jobs.get(job, self._user.name)
        self._began = found.started or found.created or time.time()
        self._words.text = PHASES["waiting" if found.state == "waiting" else "running"]
        self._detail.text = ""
        self._share(None)
        self._stop.enabled = self._cancel.enabled = True
        self._card.visible = self.container.visible = True
        self._clock.active = True
        self._tick()
        self._task = background_tasks.create(self._listen(job), context=self.container)

    async def _listen(self, job: str) -> None:
        async for event in self._services.jobs.follow(job, self._user.name):
            self._show(event)
            await _call(self._on_event, event)
        found = self._services.jobs.get(job, self._user.name)
        self._clock.active = False
        self._card.visible = self.container.visible = False
        if found.state == "done":
            await _call(self._on_done, found)
            return
        if found.problem is None or self._shows_problems:
            self.show_problem(found)
        await _call(self._on_problem, found)

    def show_problem(self, job: Job) -> None:
        """Say how a job ended that is not done."""
        self._problem.clear()
        self.container.visible = True
        with self._problem:
            if job.problem is not None:
                problem_card(job.problem)
            elif job.state == "cancelled":
                note("Cancelled. Nothing was written.")
            else:
                note("The server stopped while this was running. Start it again.", "warning")

    def _show(self, event: JobEvent) -> None:
        if event.name == "phase":
            phase = str(event.data.get("phase", ""))
            self._words.text = PHASES.get(phase, phase.capitalize())
            self._detail.text = str(event.data.get("detail", ""))
            self._share(None)
        share = event.data.get("share")
        if isinstance(share, int | float):
            self._share(float(share))

    def _share(self, share: float | None) -> None:
        """Show the share that is done; None where nobody knows."""
        if share is None:
            self._meter.classes(add="busy")
            self._meter.props.pop("aria-valuenow", None)
            self._bar.style(replace="")
        else:
            percent = 100 * min(max(share, 0.0), 1.0)
            self._meter.classes(remove="busy")
            attributes(self._meter, aria_valuenow=f"{percent:.0f}")
            self._bar.style(replace=f"width: {percent:.1f}%")
        self._meter.update()

    def _tick(self) -> None:
        self._elapsed.text = self._numbers.seconds(int(max(0.0, time.time() - self._began)))

    def _ask_stop(self) -> None:
        self._stop.enabled = False
        self._words.text = "Stopping"
        self._order(self._services.jobs.stop)

    def _ask_cancel(self) -> None:
        self._stop.enabled = self._cancel.enabled = False
        self._words.text = "Cancelling"
        self._order(self._services.jobs.cancel)

    def _order(self, order: Callable[[str, str], Job]) -> None:
        try:
            order(self._job, self._user.name)
        except ShoalError as error:
            ui.notify(error.what)

    def leave(self) -> None:
        """Stop following, and show nothing; the job goes on."""
        self._leave()
        self._clock.active = False
        self._card.visible = self.container.visible = False

    def _leave(self) -> None:
        """Stop following; the job goes on."""
        if self._task is not None:
            self._task.cancel()
            self._task = None


async def _call(function: Callable[[Any], Any] | None, value: Any) -> None:
    if function is None:
        return
    found = function(value)
    if inspect.isawaitable(found):
        await found
