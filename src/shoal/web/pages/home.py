"""The first page: the projects of the user, a new one, and the demonstration."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastapi import Request
from nicegui import ui
from starlette.responses import RedirectResponse

from shoal.errors import ShoalError
from shoal.web.pages.components import (
    attributes,
    box,
    button,
    dialog,
    empty_state,
    icon_button,
    local_time,
    problem_card,
    text,
)
from shoal.web.pages.frame import Frame, plain_page, records_text
from shoal.web.pages.theme import static
from shoal.web.project_data import create_demo, profile_state
from shoal.web.security import user_of
from shoal.web.steps import STEPS, Step, states

if TYPE_CHECKING:
    from collections.abc import Callable

    from nicegui.elements.mixins.text_element import TextElement

    from shoal.web.projects import Project
    from shoal.web.services import Services


def register(services: Services) -> None:
    """Define the page."""

    @ui.page("/")
    def home(request: Request) -> RedirectResponse | None:
        user = user_of(request)
        if "custodian" not in user.roles:
            return RedirectResponse("/catalog" if "researcher" in user.roles else "/audit")
        ui.add_head_html(f'<link rel="stylesheet" href="{static("data.css")}">')
        with plain_page(services, user, "Projects") as frame:
            Home(frame).build()
        return None


class Home:
    """The list, and what can be done with it."""

    def __init__(self, frame: Frame) -> None:
        self._frame, self._services = frame, frame.services
        self._owner = frame.user.name

    def build(self) -> None:
        """Show the projects, or what to do where there are none."""
        projects = self._services.projects.of(self._owner)
        with self._frame.main, box("stack loose"):
            if projects:
                with box("line"):
                    button("New project", self._new().open, kind="primary", icon="add")
                    button("Try the demo", self._demo, icon="science")
                self._list(projects)
            else:
                self._nothing_yet()

    def _nothing_yet(self) -> None:
        with (
            empty_state(
                "folder_open",
                "No project yet",
                "A project takes one table from the file to an accepted release. Begin with your "
                "own file, or look around with 20,000 invented patients: nobody in the demo lives.",
            ),
            box("line"),
        ):
            button("New project", self._new().open, kind="primary", icon="add")
            button("Try the demo", self._demo, icon="science")

    def _list(self, projects: list[Project]) -> None:
        with attributes(box("projects", "ul"), aria_label="Your projects"):
            for project in projects:
                with box("project", "li") as row:
                    self._row(project, row)

    def _row(self, project: Project, row: ui.element) -> None:
        step = next_step_of(self._services, project)
        name = text("a", project.name, "name")
        attributes(name, href=step.path(project))
        records = records_text(self._services, project, self._frame.numbers)
        text(
            "div",
            records or ("no data yet" if project.source is None else "not read yet"),
            "quiet num",
        )
        is_decided = project.decision is not None
        text("div", "Decided" if is_decided else f"Next: {step.title}", "quiet")
        with box("quiet"):
            text("span", "Changed ", "sr-only")
            local_time(project.changed)
        with box("line tight"):
            rename, confirm = self._rename(project, name), self._confirm(project, row.delete)
            icon_button("edit", f"Rename {project.name}", rename.open)
            icon_button("delete", f"Delete {project.name}", confirm.open)

    def _new(self) -> ui.dialog:
        with dialog("New project") as shown:
            name = ui.input("Name of the project", placeholder="Patients 2026")
            name.props("outlined autofocus maxlength=200")

            def create() -> None:
                project = self._services.projects.create(self._owner, name.value or "")
                self._services.audit.record(self._owner, "made a project", f"project {project.id}")
                ui.navigate.to(STEPS[0].path(project))

            name.on("keydown.enter", create)
            text("p", "You can change it later. Only you see your projects.", "quiet small")
            with box("line"):
                button("Create", create, kind="primary")
                button("Cancel", shown.close, kind="quiet")
        return shown

    def _rename(self, project: Project, shown_name: TextElement) -> ui.dialog:
        with dialog("Rename this project") as shown:
            name = ui.input("Name of the project", value=project.name)
            name.props("outlined autofocus maxlength=200")

            def rename() -> None:
                newest = self._services.projects.get(project.id, self._owner)
                changed = self._services.projects.change(newest, name=name.value or "")
                shown_name.text = changed.name
                shown.close()

            name.on("keydown.enter", rename)
            with box("line"):
                button("Rename", rename, kind="primary")
                button("Cancel", shown.close, kind="quiet")
        return shown

    async def _demo(self) -> None:
        ui.notify("Inventing 20,000 patients")
        try:
            project = await create_demo(self._services, self._owner)
        except ShoalError as error:
            with self._frame.main:
                problem_card(error)
            return
        self._services.audit.record(self._owner, "made a demo project", f"project {project.id}")
        ui.navigate.to(STEPS[0].path(project))

    def _confirm(self, project: Project, deleted: Callable[[], None]) -> ui.dialog:
        with dialog("Delete this project?") as shown:
            text(
                "p",
                f"\N{LEFT DOUBLE QUOTATION MARK}{project.name}\N{RIGHT DOUBLE QUOTATION MARK}, its "
                "uploaded data and all its results are deleted from the server now. This cannot be "
                "undone.",
                "break",
            )

            def delete() -> None:
                delete_project(self._services, project)
                shown.close()
                if self._services.projects.of(self._owner):
                    deleted()
                else:
                    ui.navigate.reload()

            with box("line"):
                button("Delete", delete, kind="danger", icon="delete")
                button("Keep it", shown.close, kind="quiet")
        return shown


def delete_project(services: Services, project: Project) -> None:
    """Delete a project with its files and its jobs, and note who did it."""
    services.jobs.forget(project.id, project.owner)
    services.projects.delete(project.id, project.owner)
    services.audit.record(project.owner, "deleted a project", f"project {project.id}")


def next_step_of(services: Services, project: Project) -> Step:
    """The first step that is not done, the last one where all are."""
    if profile_state(services, project)[0] != "done":
        return STEPS[0]
    found = states(services, project)
    return next(
        (s for s, state in zip(STEPS, found, strict=True) if state.status != "done"), STEPS[-1]
    )
