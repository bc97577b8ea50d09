"""The frame of every page: header, steps, the main part and the side panel.

    @ui.page("/project/{id}/demand")
    def page(request: Request, id: str) -> None:
        user = user_of(request)
        project = services.projects.get(id, user.name)
        with step_page(services, user, project, "demand") as frame:
            with frame.main: ...            # the thing itself
            with frame.side: ...            # what it means, the numbers that matter
            frame.primary("Search", go)     # the one primary action, always at the same place

`frame.project` is the project as last saved. Pages save by `frame.save(definition=...)`, which also
shows when it was saved and how far each step is now.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from nicegui import ui

from shoal.errors import ShoalError
from shoal.web.numbers import Numbers, numbers_for
from shoal.web.pages.components import (
    attributes,
    box,
    button,
    dialog,
    icon_button,
    local_time,
    set_time,
    text,
)
from shoal.web.pages.failures import SHOWN
from shoal.web.pages.log_out import log_out_button
from shoal.web.pages.step_bar import StepBar
from shoal.web.pages.terms import TERMS
from shoal.web.pages.theme import ThemeSwitch, static, theme_of
from shoal.web.project_definition import fingerprint
from shoal.web.steps import step_named

if TYPE_CHECKING:
    from fastapi import Request

    from shoal.web.jobs.model import Job
    from shoal.web.projects import Project
    from shoal.web.services import Services
    from shoal.web.users import User


class Frame:
    """The containers of a page, and how the reader writes numbers."""

    def __init__(self, services: Services, user: User, numbers: Numbers) -> None:
        self.services, self.user, self.numbers = services, user, numbers
        self.main: ui.element
        self.side: ui.element
        self._action: ui.element
        self._primary: ui.button | None = None

    def title(self, title: str, about: str = "") -> None:
        """The one heading of the page, with a sentence about it."""
        with box("main-title"):
            text("h1", title)
            if about:
                text("p", about, "quiet lead")

    def primary(
        self,
        label: str,
        on_click: Callable[..., Any] | None = None,
        *,
        icon: str | None = None,
        to: str | None = None,
    ) -> ui.button:
        """The one primary button, at the bottom of the side panel; a second call replaces it.

        `to` is an address to go to instead of a function to call.
        """
        if to is not None:
            address = to
            on_click = lambda: ui.navigate.to(address)  # noqa: E731 one expression
        if self._primary is not None:
            self._primary.delete()
        with self._action:
            self._primary = button(label, on_click, kind="primary", icon=icon)
        self._primary.move(target_index=0)
        return self._primary

    def secondary(self, label: str, on_click: Callable[..., Any] | None = None) -> ui.button:
        """A quiet button under the primary one."""
        with self._action:
            return button(label, on_click, kind="quiet")

    def clear_actions(self) -> None:
        """Take the buttons away: what they did is being done."""
        self._action.clear()
        self._primary = None


class StepFrame(Frame):
    """The frame of a step: it knows the project, saves it, and shows how far it is."""

    def __init__(
        self, services: Services, user: User, numbers: Numbers, project: Project, step: str
    ) -> None:
        super().__init__(services, user, numbers)
        self.project = project
        self.step = step

    def save(self, **changes: Any) -> Project:
        """Save other values of some fields of the project, and show that it was saved.

        When another tab has saved since, the reader is told, and nothing is overwritten.
        """
        try:
            self.project = self.services.projects.change(self.project, **changes)
        except ShoalError as error:
            self._say_conflict(error)
            raise
        self.show_saved()
        return self.project

    def submit(self, task: str, arguments: Mapping[str, Any], purpose: str | None = None) -> Job:
        """Start a job for this project, and note it as the latest of its purpose."""
        job = self.services.jobs.submit(
            task, arguments, owner=self.user.name, project=self.project.id
        )
        self.note_job(purpose or task, job.id)
        return job

    def note_job(self, purpose: str, job: str) -> None:
        """Note that this job was made from the project as it is now."""
        made_from = fingerprint(self.project, self.services)
        self.project = self.services.projects.note_job(self.project, purpose, job, made_from)
        self.show_saved()

    def show_saved(self) -> None:
        """Show the newest project in the header and in the steps."""
        set_time(self._saved, self.project.changed)
        self._undo.enabled = self.services.projects.can_undo(self.project)
        self._redo.enabled = self.services.projects.can_redo(self.project)
        self._name.text = self.project.name
        self._records.text = records_text(self.services, self.project, self.numbers)
        self._steps.show(self.project)

    def _say_conflict(self, error: ShoalError) -> None:
        error.add_note(SHOWN)
        with dialog("Not saved") as shown:
            text("p", f"{error.what}. {error.hint}")
            button("Load the page again", ui.navigate.reload, kind="primary")
        shown.open()

    def _go_back(self, move: Callable[[Project], Project]) -> None:
        try:
            self.project = move(self.project)
        except ShoalError as error:
            self._say_conflict(error)
            return
        ui.navigate.reload()

    def build_header(self) -> None:
        """The project's name and records, when it was saved, undo and redo."""
        projects = self.services.projects
        with box("top-project"):
            self._name = text("div", self.project.name, "name clip")
            self._records = text("div", "", "quiet small clip")
        with box("top-tools"):
            with box("saved quiet small"):
                text("span", "Saved", "label")
                self._saved = local_time(self.project.changed)
            self._undo = icon_button("undo", "Undo", lambda: self._go_back(projects.undo))
            self._redo = icon_button("redo", "Redo", lambda: self._go_back(projects.redo))
            _tools(self)
        self._steps = StepBar(self.services, self.step)


@contextmanager
def step_page(services: Services, user: User, project: Project, step: str) -> Iterator[StepFrame]:
    """The frame of a step's page, with the step's title in the main part."""
    project = services.projects.note_visit(project, step)
    frame = StepFrame(services, user, _numbers(), project, step)
    title = step_named(step).title
    ui.page_title(f"{title} \N{MIDDLE DOT} Shoal")
    with _header():
        with box("top-bar"):
            _brand()
            frame.build_header()
        frame._steps.build()
    with box("page"):
        frame.main = box("main")
        with attributes(box("side", "section"), aria_label="About this step"):
            frame.side = box("side-body")
            frame._action = box("side-action")
    frame.show_saved()
    ui.skip_link("Skip to the main part", target=frame.main)
    yield frame


@contextmanager
def plain_page(services: Services, user: User, title: str) -> Iterator[Frame]:
    """The frame of a page that is no step: home, catalog, inbox, logs.

    `frame.side` is the main part itself, so the same code works in both frames.
    """
    frame = Frame(services, user, _numbers())
    ui.page_title(f"{title} \N{MIDDLE DOT} Shoal")
    with _header(), box("top-bar"):
        _brand()
        _links(frame)
        with box("top-tools"):
            _tools(frame)
    with box("page plain"):
        frame.main = box("main")
        with frame.main:
            frame.title(title)
    frame.side = frame._action = frame.main
    ui.skip_link("Skip to the main part", target=frame.main)
    yield frame


def records_text(services: Services, project: Project, numbers: Numbers) -> str:
    """How many records the project has, as far as they were counted."""
    job = project.jobs.get("profile")
    if job is None:
        return ""
    try:
        found = services.jobs.result(job, project.owner)
    except ShoalError:
        return ""
    records = found.get("records") if isinstance(found, Mapping) else None
    return numbers.things(records, "record") if isinstance(records, int) else ""


def _numbers() -> Numbers:
    return numbers_for(_request().headers.get("accept-language", ""))


def _request() -> Request:
    return ui.context.client.request


@contextmanager
def _header() -> Iterator[ui.element]:
    """The banner, before the page's own part, so that screen readers find both."""
    layout = ui.context.client.layout
    with layout:
        made = box("top", "header")
    made.move(target_index=0)
    with made:
        yield made


def _brand() -> None:
    with attributes(box("brand", "a"), href="/", aria_label="Shoal: all projects"):
        attributes(ui.element("img"), src=static("shoal.svg"), alt="")
        text("span", "Shoal")


def _links(frame: Frame) -> None:
    """Where the user's roles lead."""
    here = _request().url.path
    with attributes(box("nav-links", "nav"), aria_label="Main"):
        for label, address in _addresses(frame.services, frame.user):
            link = attributes(text("a", label), href=address)
            if here == address:
                attributes(link, aria_current="page")


def _addresses(services: Services, user: User) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    if "custodian" in user.roles:
        found.append(("Projects", "/"))
    if services.settings.mart is not None:
        if user.roles.intersection(("researcher", "custodian")):
            found.append(("Catalog", "/catalog"))
        if "researcher" in user.roles:
            found.append(("My requests", "/requests"))
        if "custodian" in user.roles:
            found += [("Inbox", "/inbox"), ("Log", "/mart-log")]
    if "admin" in user.roles:
        found.append(("Audit", "/audit"))
    return found


def _tools(frame: Frame) -> None:
    """Light or dark, help, and where there are several users, logging out."""
    ThemeSwitch(theme_of(_request()))
    _help_button()
    if not frame.services.settings.single_user:
        log_out_button(frame.user)


def _help_button() -> None:
    """The help is made when somebody asks for it: it has more elements than many a page."""
    made: list[ui.dialog] = []

    def show() -> None:
        if not made:
            made.append(_help())
        made[0].open()

    icon_button("help_outline", "Help", show)


def _help() -> ui.dialog:
    with dialog("Help") as shown:
        text(
            "p",
            "You walk through eight steps, from a file to a release. Everything is saved as you go,"
            " and undo brings back what you changed. Nothing leaves this server and nothing is"
            " written before you accept it in the last step.",
        )
        text("h3", "What the words mean")
        with box("stack tight", "dl"):
            for term in sorted(TERMS):
                with box():
                    text("dt", term, "strong")
                    text("dd", TERMS[term], "quiet")
    return shown
