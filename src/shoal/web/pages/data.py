"""Step 1, Data: choose the data, see how it is read and what is in it.

The page is in one of these states: no data yet; being read; not readable as it is; read.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from fastapi import Request
from nicegui import ui

from shoal.errors import ShoalError
from shoal.web.pages.components import (
    attributes,
    box,
    button,
    dialog,
    fact,
    note,
    panel,
    problem_card,
    text,
)
from shoal.web.pages.frame import StepFrame, step_page
from shoal.web.pages.job_progress import JobProgress
from shoal.web.pages.reading_bar import ReadingBar
from shoal.web.pages.record_window import RecordWindow
from shoal.web.pages.theme import static
from shoal.web.project_data import (
    CurrentData,
    create_demo,
    current_data,
    missing_texts,
    start_profile,
    take_allowed,
)
from shoal.web.project_definition import allowed_for, file_label
from shoal.web.security import user_of
from shoal.web.steps import STEPS, step_named
from shoal.web.users import require

if TYPE_CHECKING:
    from shoal.web.jobs.model import Job
    from shoal.web.projects import Project
    from shoal.web.services import Services


def register(services: Services) -> None:
    """Define the page."""

    @ui.page("/project/{project_id}/data")
    def data_page(request: Request, project_id: str) -> None:
        user = user_of(request)
        require(user, "custodian")
        data = current_data(services, services.projects.get(project_id, user.name))
        load_scripts()
        with step_page(services, user, data.project, "data") as frame:
            DataPage(frame, data).build()


def load_scripts() -> None:
    """The style sheet and the script of these pages."""
    ui.add_head_html(
        f'<link rel="stylesheet" href="{static("data.css")}">'
        f'<script src="{static("data.js")}" defer></script>'
    )


class DataPage:
    """The page in one of its states."""

    def __init__(self, frame: StepFrame, data: CurrentData) -> None:
        self._frame, self._services, self._data = frame, frame.services, data

    def build(self) -> None:
        """Show what there is of the data."""
        state, job = self._data.state, self._data.job
        with self._frame.main:
            self._frame.title("Data", "Which records shall be released?")
            self._body = box("stack loose")
        with self._body:
            if state == "done" and job is not None:
                self._table(self._services.jobs.result(job.id, self._frame.user.name))
            elif state == "none":
                self._choose()
            elif state == "outdated":
                self._gone()
            elif job is not None:
                self._follow(job, failed=state == "failed")

    # ---- no data yet

    def _choose(self) -> None:
        """The ways to data: a file, the demonstration, what an administrator allows."""
        frame, project = self._frame, self._frame.project
        self._upload(project)
        with box("other-ways"):
            with panel("Just looking around?", classes="dense"):
                text("p", "20,000 invented patients with a finished definition.", "quiet")
                with box("line"):
                    button("Try the demo", self._demo, icon="science")
            for source in allowed_for(self._services, frame.user):
                with panel(source.title, classes="dense"):
                    text("p", source.description or "A source of this server.", "quiet break")
                    with box("line"):
                        button("Use it", partial(self._allowed, source.name), icon="storage")
        with frame.side:
            text("h2", "What happens to the file")
            text(
                "p",
                "It goes to a private folder of this server. Nobody else sees it. It is deleted "
                "with the project, or when the project was not changed for "
                f"{frame.numbers.things(_days(self._services), 'day')}.",
                "quiet",
            )
            text("p", "Nothing is released before you accept it in the last step.", "quiet")
        frame.primary("Next: Columns").enabled = False

    def _upload(self, project: Project) -> None:
        drop = ui.element("file-drop")
        attributes(
            drop,
            address=f"/project/{project.id}/upload",
            limit=str(self._services.settings.limits.upload_bytes),
            next=step_named("data").path(project),
        )

    async def _demo(self) -> None:
        ui.notify("Inventing 20,000 patients")
        try:
            project = await create_demo(self._services, self._frame.user.name)
        except ShoalError as error:
            self._problem(error)
            return
        ui.navigate.to(STEPS[0].path(project))

    def _allowed(self, name: str) -> None:
        try:
            take_allowed(self._services, self._frame.project, name)
        except ShoalError as error:
            self._problem(error)
            return
        who = self._frame.user.name
        self._services.audit.record(who, f"chose the source {name}", self._frame.project.id)
        ui.navigate.reload()

    # ---- being read, or not readable

    def _gone(self) -> None:
        with note(
            "The data of this project is not on the server any more. Choose it again; what you "
            "decided about its columns is kept.",
            "warning",
        ):
            pass
        self._choose()

    def _follow(self, job: Job, *, failed: bool) -> None:
        """The progress of reading; what is shown when it fails."""
        self._problems = box("stack")
        if failed:
            self._failed(job)
        else:
            with panel(f"Reading {file_label(self._frame.project)}"):
                progress = JobProgress(
                    self._services,
                    self._frame.user,
                    self._frame.numbers,
                    on_done=self._reload,
                    on_problem=self._reload,
                )
            progress.follow(job.id)
        with self._frame.side:
            if failed:
                text("h2", "What to do")
                text(
                    "p",
                    "Say how the file is to be read, or correct the file and upload it again. "
                    "Nothing of it is released.",
                    "quiet",
                )
            else:
                text("h2", "What happens now")
                text(
                    "p",
                    "Every record is read once and every column is counted. You can close the "
                    "page: the work goes on, and is here when you come back.",
                    "quiet",
                )
        self._frame.primary("Next: Columns").enabled = False
        self._frame.secondary("Use other data", self._other().open)

    async def _reload(self, _: Job) -> None:
        """Show what was read. A short job may be done before the page listens, so wait for that."""
        await self._body.client.connected(timeout=60)
        with self._body:
            ui.navigate.reload()

    def _failed(self, job: Job) -> None:
        """Say why the file cannot be read as it is, and let it be read in another way."""
        with self._problems:
            problem_card(job.problem or {"title": "The data was not read", "code": job.state})
            with box("line"):
                button("Read it again", lambda: self._reread({}, None), icon="refresh")
        events = self._services.jobs.events(job.id, self._frame.user.name)
        reading = next((each.data for each in events if each.name == "reading"), None)
        if reading is not None:
            ReadingBar(reading, [each["text"] for each in reading["missing"]], self._reread).build()

    # ---- read

    def _table(self, profile: Mapping[str, Any]) -> None:
        frame = self._frame
        self._reading(profile)
        with panel("The table", classes="dense"):
            RecordWindow(frame, profile).build(colour=False)
        with frame.side:
            text("h2", file_label(frame.project), "break")
            with box("facts"):
                fact("Records", frame.numbers.count(profile["records"]))
                fact("Columns", frame.numbers.count(len(profile["columns"])))
            text(
                "p",
                "Look whether the columns are what they should be: a wrong separator or decimal "
                "mark shows as text where numbers belong.",
                "quiet",
            )
            self._persons(profile)
        frame.primary("Next: Columns", to=step_named("columns").path(frame.project))
        frame.secondary("Use other data", self._other().open)

    def _reading(self, profile: Mapping[str, Any]) -> None:
        ReadingBar(profile["reading"], missing_texts(self._frame.project), self._reread).build()

    def _persons(self, profile: Mapping[str, Any]) -> None:
        found = profile["person"]
        if found:
            numbers = self._frame.numbers
            names = " and ".join(found["columns"])
            note(
                f"{numbers.count(found['records'])} records have {numbers.count(found['persons'])} "
                f"different values of {names}: one person can have several records.",
            )

    def _reread(self, stated: dict[str, Any], missing: list[str] | None) -> None:
        try:
            start_profile(self._services, self._frame.project, stated, missing)
        except ShoalError as error:
            self._problem(error)
            return
        ui.navigate.reload()

    def _other(self) -> ui.dialog:
        with dialog("Use other data") as shown:
            text(
                "p",
                "The new file takes the place of the old one. What you decided is kept for columns "
                "of the same name, and undo brings the old file back.",
                "quiet",
            )
            self._upload(self._frame.project)
        return shown

    def _problem(self, error: ShoalError) -> None:
        with self._body:
            problem_card(error)


def _days(services: Services) -> int:
    return max(1, services.settings.limits.keep_seconds // (24 * 3600))
