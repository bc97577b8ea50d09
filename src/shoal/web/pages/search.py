"""Search: the best found and the bound, closing on each other; stop at any time, keep the best."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from fastapi import Request
from nicegui import ui

from shoal.errors import ShoalError
from shoal.events import NO_PROOF
from shoal.web.edits import value_at
from shoal.web.laid_out import layout_of
from shoal.web.node_words import (
    is_mixed,
    level_words,
    loss_text,
    recoding_text,
    release_sentence,
)
from shoal.web.pages.components import (
    badge,
    box,
    empty_state,
    fact,
    note,
    panel,
    problem_card,
    record_table,
    text,
)
from shoal.web.pages.demand_side import remedy_buttons
from shoal.web.pages.frame import StepFrame, step_page
from shoal.web.pages.job_progress import JobProgress
from shoal.web.pages.search_chart import SearchChart
from shoal.web.pages.searched import says_what_comes_first
from shoal.web.pages.theme import static
from shoal.web.security import user_of
from shoal.web.steps import state
from shoal.web.users import require

if TYPE_CHECKING:
    from shoal.web.jobs.model import Job, JobEvent
    from shoal.web.services import Services

SEARCH_EVENTS = ("progress", "improved", "proved", "stopped")
ABOUT = (
    "The search proves, step by step, which recodings cannot be the best one. When best and bound "
    "meet, nothing better exists. Nothing is written."
)
ABOUT_LOCAL = (
    "The search puts similar records into classes and gives each class the lowest levels that it "
    "can have; then it improves the classes and proves a bound. Nothing is written."
)
LOCAL_ENDED = "The search ended by itself. It is not proved that there is no better recoding."
ENDED = {
    "interrupted": "You stopped the search; the best found so far is kept.",
    "time limit": "The time limit ended the search; the best found so far is kept.",
    "gap": "The search ended at the gap that the definition allows.",
}


def register(services: Services) -> None:
    """Define the page."""

    @ui.page("/project/{id}/search")
    def page(request: Request, id: str) -> None:
        user = user_of(request)
        require(user, "custodian")
        project = services.projects.get(id, user.name)
        ui.add_head_html(f'<link rel="stylesheet" href="{static("demand.css")}">')
        with step_page(services, user, project, "search") as frame:
            with frame.main:
                frame.title("Search", "The recoding that keeps the promise and loses least.")
            if not says_what_comes_first(frame):
                _Page(frame).build()


class _Page:
    """The chart, what is known in words, and the one button: start, stop, or go on."""

    def __init__(self, frame: StepFrame) -> None:
        self.frame, self.numbers = frame, frame.numbers
        self._job = ""
        self._stop_button: ui.button
        self.model = str(value_at(frame.project.definition, ("loss", "name")) or "iyengar")
        self.is_local = frame.project.definition.get("recoding") == "local"

    def build(self) -> None:
        with self.frame.side:
            self._side()
        with self.frame.main:
            self._top = box("stack tight")
            self._progress = JobProgress(
                self.frame.services,
                self.frame.user,
                self.numbers,
                on_event=self._event,
                on_done=self._done,
                on_problem=self._failed,
                shows_problems=False,
            )
            with panel() as self._live:
                self._words = text("p", "", "lead")
                self._chart = SearchChart(self.numbers, self.model)
            self._result = box("stack loose")
        self._live.visible = False
        self._resume()

    def _side(self) -> None:
        text("p", ABOUT_LOCAL if self.is_local else ABOUT)
        with box("facts"):
            self._best = fact("Best found", "none yet", term="loss")
            self._bound = fact("Bound", "none yet", term="bound")
            self._gap = fact("Gap", "unknown", term="gap")
            if self.is_local:
                self._checked = fact("Recodings judged", "0", term="recoding")
            else:
                self._checked = fact("Nodes checked", "0", term="node")

    def _resume(self) -> None:
        """Show the latest search, where there is one."""
        job = self.frame.project.jobs.get("search")
        now = state(self.frame.services, self.frame.project, "search")
        if job is None:
            self._offer("No search yet", "Start it: you can stop at any time and keep the best.")
            return
        if now.status == "outdated":
            with self._top:
                note("The definition or the data changed since this search.", "warning")
        try:
            self._follow(job)
        except ShoalError:
            self._offer("The last search is gone", "Old results are deleted after a while.")

    def _offer(self, title: str, words: str) -> None:
        with self._result:
            empty_state("travel_explore", title, words)
        self.frame.primary("Start the search", self._start, icon="search")

    def _start(self) -> None:
        self._top.clear()
        self._result.clear()
        try:
            layout = layout_of(self.frame.services, self.frame.project)
            job = self.frame.submit("search", {"layout": layout}, "search")
        except ShoalError as error:
            with self._top:
                problem_card(error)
            return
        self._follow(job.id)

    def _follow(self, job: str) -> None:
        self._chart.clear()
        self._job = job
        self._progress.follow(job)
        stop = self.frame.primary("Stop and keep the best", self._stop, icon="flag")
        stop.enabled = False
        self._stop_button = stop

    def _stop(self) -> None:
        self._stop_button.enabled = False
        try:
            self.frame.services.jobs.stop(self._job, self.frame.user.name)
        except ShoalError as error:
            ui.notify(error.what)

    def _event(self, event: JobEvent) -> None:
        if event.name not in SEARCH_EVENTS:
            return
        data, best = event.data, event.data.get("best")
        if best is None and not data["checked"] and not data["boxes"]:
            return
        loss = None if best is None else float(best["loss"])
        self._live.visible = True
        self._chart.add(float(data["seconds"]), loss, float(data["bound"] or 0))
        self._show_numbers(loss, data)
        if event.name in ("progress", "improved"):
            self._stop_button.enabled = loss is not None

    def _show_numbers(self, loss: float | None, data: Mapping[str, Any]) -> None:
        bound = float(data["bound"] or 0)
        self._best.text = "none yet" if loss is None else loss_text(self.numbers, loss, self.model)
        self._bound.text = loss_text(self.numbers, bound, self.model)
        self._gap.text = "unknown" if loss is None else self.numbers.percent(float(data["gap"]))
        self._checked.text = self.numbers.count(int(data["checked"]))
        self._words.text = self._in_words(loss, bound, float(data["gap"]))

    def _in_words(self, loss: float | None, bound: float, gap: float) -> str:
        lowest = loss_text(self.numbers, bound, self.model)
        if loss is None:
            return f"No safe recoding found yet. None can lose less than {lowest}."
        found = loss_text(self.numbers, loss, self.model)
        if gap <= 0:
            return f"Proved: no recoding that keeps the promise loses less than {found}."
        return f"No recoding can lose less than {lowest}; the best found loses {found}."

    def _done(self, job: Job) -> None:
        found = self.frame.services.jobs.result(job.id, self.frame.user.name)
        self.frame.show_saved()
        self._live.visible = True
        self._show_numbers(found["loss"], found)
        moments = [(m["seconds"], m["best"], m["bound"] or 0.0) for m in found["progress"]]
        self._chart.show([*moments, (found["seconds"], found["loss"], found["bound"])])
        with self._result:
            self._show_result(found)
        is_outdated = state(self.frame.services, self.frame.project, "search").status == "outdated"
        if is_outdated:
            self.frame.primary("Search again", self._start, icon="refresh")
        else:
            to = f"/project/{self.frame.project.id}/explore"
            self.frame.primary("Explore the result", to=to, icon="arrow_forward")

    def _show_result(self, found: Mapping[str, Any]) -> None:
        levels: Mapping[str, Any] = found["levels"]
        mixed = is_mixed(levels)
        with panel():
            with box("line"):
                text("h2", f"Best found: {recoding_text(levels)}")
                badge("proved", "best") if found["proved"] else badge("not proved", "warn")
            text("p", release_sentence(self.numbers, found), "lead")
            self._show_end(found, mixed=mixed)
            rows = [
                [
                    name,
                    level_words(level, found["heights"][name]),
                    loss_text(self.numbers, found["losses"][name], self.model),
                ]
                for name, level in levels.items()
            ]
            record_table(
                ["Column", "Levels" if mixed else "Level", "Lost"],
                rows,
                caption="Levels by class" if mixed else "Levels of the best node",
                numbers=["Lost"],
            )
            with box("facts"):
                fact("Classes", self.numbers.count(found["classes"]), term="class")
                persons = found["smallest_class_persons"]
                smallest = found["smallest_class"] if persons is None else persons
                unit = "records" if persons is None else "persons"
                fact("Smallest class", self.numbers.count(smallest), unit)
                of = f"of {self.numbers.things(found['records'], 'record')}"
                fact("Left out", self.numbers.count(found["suppressed"]), of, term="suppression")
                if mixed:
                    fact("Combinations", self.numbers.count(found["tuples"]), term="combinations")
                else:
                    fact("Lattice", self.numbers.things(found["lattice"], "node"), term="lattice")
                fact("Time", self.numbers.seconds(found["seconds"]))

    def _show_end(self, found: Mapping[str, Any], *, mixed: bool) -> None:
        """Why the search ended before the proof, and what is known all the same."""
        if found["proved"]:
            return
        if mixed and found["ended"] == NO_PROOF:
            bound = loss_text(self.numbers, found["bound"], self.model)
            note(f"{LOCAL_ENDED} No safe one can lose less than {bound}.")
        else:
            note(ENDED.get(found["ended"], f"The search ended: {found['ended']}."), "warning")

    def _failed(self, job: Job) -> None:
        self.frame.show_saved()
        self._live.visible = False
        problem = job.problem
        with self._result:
            if problem is not None:
                with problem_card({**problem, "hint": ""} if problem.get("remedies") else problem):
                    remedies = problem.get("remedies", ())
                    remedy_buttons(remedies, self.frame.project.definition, self._apply)
        if problem is not None and problem.get("kind") == "Infeasible":
            to = f"/project/{self.frame.project.id}/demand"
            self.frame.primary("Change the demand", to=to, icon="tune")
        else:
            self.frame.primary("Search again", self._start, icon="refresh")

    def _apply(self, definition: dict[str, Any]) -> None:
        """Take a remedy, and search again at once."""
        self.frame.save(definition=definition)
        self._start()
