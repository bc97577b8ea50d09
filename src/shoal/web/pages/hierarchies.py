"""The page Hierarchies: how the values of each quasi-identifier may be generalized.

On the left the columns, with whether all their values are covered; on the right the editor of one,
and below it what each of its levels makes of the real values. Every valid edit is saved.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastapi import Request
from nicegui import background_tasks, ui

from shoal.errors import ShoalError
from shoal.web.pages.components import (
    attributes,
    box,
    button,
    empty_state,
    fact,
    panel,
    problem_card,
    text,
)
from shoal.web.pages.frame import StepFrame, step_page
from shoal.web.pages.hierarchy_counts import (
    PURPOSE,
    CountedColumn,
    Counts,
    arguments_of,
    counted_columns,
    flat_tree,
    hierarchy_columns,
    measured_columns,
    said_hierarchy,
    tried,
)
from shoal.web.pages.hierarchy_editor import TITLES, Actions, HierarchyEditor
from shoal.web.pages.hierarchy_levels import coverage_words, show_levels
from shoal.web.pages.hierarchy_upload import kept_tree
from shoal.web.pages.job_progress import JobProgress
from shoal.web.pages.theme import static
from shoal.web.project_data import data_fingerprint
from shoal.web.security import user_of
from shoal.web.steps import quasi_identifiers, step_named
from shoal.web.users import require

if TYPE_CHECKING:
    from shoal.web.hierarchies.levels import Levels
    from shoal.web.jobs.model import Job
    from shoal.web.numbers import Numbers
    from shoal.web.services import Services


def register(services: Services) -> None:
    """Define the page."""

    @ui.page("/project/{project_id}/hierarchies")
    def hierarchies(request: Request, project_id: str, c: int = 0) -> None:
        user = user_of(request)
        require(user, "custodian")
        project = services.projects.get(project_id, user.name)
        ui.add_head_html(f'<link rel="stylesheet" href="{static("hierarchies.css")}">')
        with step_page(services, user, project, "hierarchies") as frame:
            HierarchiesPage(frame, c).build()


class _ListItem:
    """A column in the list: its name, whether all its values are covered, its levels."""

    def __init__(self, name: str, on_click: Any) -> None:
        self._item = box("hier-column", "button").on("click", on_click)
        attributes(self._item, type="button")
        with self._item:
            text("span", name, "strong clip")
            self._state = text("span", "not counted yet", "small quiet")
            self._size = text("span", "", "quiet small")

    def show(self, levels: Levels | None, numbers: Numbers, *, current: bool) -> None:
        attributes(self._item, aria_current=str(current).lower()).update()
        if levels is None:
            return
        sign, look = (
            ("\N{CHECK MARK}", "safe") if levels.covered else ("\N{MULTIPLICATION SIGN}", "unsafe")
        )
        self._state.text = f"{sign} {coverage_words(levels, numbers)}"
        self._state.classes(replace=f"small {look}")
        above = f"{numbers.things(levels.height, 'level')} above"
        self._size.text = above if levels.levels else ""


class HierarchiesPage:
    """One open page: the columns, the one that is edited, and what was counted."""

    def __init__(self, frame: StepFrame, current: int) -> None:
        self._frame = frame
        self._columns = hierarchy_columns(frame.project)
        self._measured = measured_columns(frame.project)
        self._current = min(max(current, 0), max(len(self._columns) - 1, 0))
        self._counted: dict[str, CountedColumn] = {}
        self._counts: dict[str, Counts] = {}
        self._levels: dict[str, Levels] = {}
        self._former: dict[str, dict[str, Any]] = {name: {} for name in self._columns}
        self._editor: HierarchyEditor | None = None

    # The parts of the page.

    def build(self) -> None:
        frame = self._frame
        with frame.main:
            frame.title(
                "Hierarchies",
                "How each column may be generalized: from its values, level by level, to a star.",
            )
            if not quasi_identifiers(frame.project):
                self._say_blocked()
                return
            with box("hier"):
                self._list = attributes(box("hier-columns", "nav"), aria_label="Quasi-identifiers")
                with box("hier-right"):
                    self._progress = JobProgress(
                        frame.services,
                        frame.user,
                        frame.numbers,
                        on_done=self._use_job,
                        on_problem=lambda _: None,
                    )
                    self._editor_box = box()
                    with panel("What each level shows") as self._levels_panel:
                        self._levels_box = box("stack tight")
        self._levels_panel.visible = False
        with frame.side:
            text(
                "p",
                "The search chooses the levels, for each column or for each class of records. Low "
                "levels say more, high levels protect more. A level that joins what belongs "
                "together keeps the data useful.",
                "quiet",
            )
            self._facts = box("stack")
        frame.primary("Next: Demand", self._continue, icon="arrow_forward")
        self._build_list()
        background_tasks.create(self._begin(), context=self._editor_box)

    def _say_blocked(self) -> None:
        frame = self._frame
        address = step_named("columns").path(frame.project)
        with empty_state(
            "account_tree",
            "No quasi-identifier yet",
            "Hierarchies are for the columns that others may know of a person, such as age or "
            "postcode. Choose at least one of them first.",
        ):
            button("Go to Columns", lambda: ui.navigate.to(address), icon="arrow_back")

    def _build_list(self) -> None:
        with self._list:
            self._items = [
                _ListItem(name, self._chooser(i)) for i, name in enumerate(self._columns)
            ]
        self._show_list()

    def _show_list(self) -> None:
        """Show the newest state of each column; the items stay, and with them the focus."""
        for index, (name, item) in enumerate(zip(self._columns, self._items, strict=True)):
            item.show(self._levels.get(name), self._frame.numbers, current=index == self._current)

    def _show_facts(self, levels: Levels) -> None:
        numbers = self._frame.numbers
        self._facts.clear()
        with self._facts:
            with box("facts"):
                fact("Values", numbers.count(levels.values))
                fact("Levels above", numbers.count(max(levels.height, 0)), term="level")
            fact("Coverage", coverage_words(levels, numbers), as_text=True)
            done = sum(each.covered for each in self._levels.values())
            fact(
                "Columns ready",
                numbers.of(done, len(self._columns), "columns"),
                as_text=True,
            )

    def _chooser(self, index: int) -> Any:
        async def choose() -> None:
            self._current = index
            address = step_named("hierarchies").path(self._frame.project)
            ui.navigate.history.replace(f"{address}?c={index}")
            self._show_list()
            await self._open()

        return choose

    # Counting.

    async def _begin(self) -> None:
        """Use what was counted before, where it still holds, else count."""
        services, project = self._frame.services, self._frame.project
        job_id = project.jobs.get(PURPOSE)
        if job_id is not None and project.fingerprints.get(PURPOSE) == data_fingerprint(project):
            try:
                job = services.jobs.get(job_id, self._frame.user.name)
                if job.state == "done" and await self._load(job):
                    await self._open()
                    return
                if job.state in ("waiting", "running"):
                    self._progress.follow(job.id)
                    return
            except ShoalError:
                pass
        await self._count()

    async def _count(self) -> None:
        services, project = self._frame.services, self._frame.project
        try:
            job = services.jobs.submit(
                "levels",
                arguments_of(services, project),
                owner=self._frame.user.name,
                project=project.id,
            )
        except ShoalError as error:
            with self._editor_box:
                problem_card(error)
            return
        self._frame.project = services.projects.note_job(
            project, PURPOSE, job.id, data_fingerprint(project)
        )
        self._progress.follow(job.id)

    async def _use_job(self, job: Job) -> None:
        if await self._load(job):
            await self._open()

    async def _load(self, job: Job) -> bool:
        """Take over what a job counted; False where it did not count all columns."""
        services, owner = self._frame.services, self._frame.user.name
        result = services.jobs.result(job.id, owner)
        counted = counted_columns(result, services.jobs.folder(job.id, owner))
        if not set(self._columns) <= set(counted):
            return False
        self._counted = counted
        for name in self._measured:
            await self._propose_tree(name)
        for name in self._columns:
            self._levels[name] = await self._try(name, self._used(name))
        self._show_list()
        return True

    async def _propose_tree(self, column: str) -> None:
        """Propose the values below a star where the hierarchy must be a tree."""
        counted = self._counted[column]
        if not counted.is_small:
            return
        counts = self._counts[column] = await asyncio.to_thread(counted.read)
        projects, project = self._frame.services.projects, self._frame.project
        tree = await asyncio.to_thread(flat_tree, counts)
        self._counted[column] = replace(
            counted,
            proposed=await asyncio.to_thread(kept_tree, projects, project, column, tree),
            reason="Closeness by the hierarchy needs a tree of the values.",
        )

    async def _try(self, column: str, hierarchy: Any) -> Levels:
        """What a hierarchy makes of a column."""
        counted = self._counted[column]
        if not counted.is_small:
            return await self._try_in_worker(counted)
        if column not in self._counts:
            self._counts[column] = await asyncio.to_thread(counted.read)
        return await asyncio.to_thread(
            tried, column, hierarchy, self._counts[column], self._folder()
        )

    async def _try_in_worker(self, counted: CountedColumn) -> Levels:
        """The same for a column with very many values, as the definition now says it."""
        services, project = self._frame.services, self._frame.project
        arguments, column = arguments_of(services, project), counted.name
        hierarchy = arguments["columns"][column]
        if hierarchy == counted.hierarchy:
            return counted.levels
        arguments["columns"] = {column: hierarchy}
        owner = self._frame.user.name
        job = services.jobs.submit("levels", arguments, owner=owner, project=project.id)
        job = await services.jobs.finished(job.id, owner)
        result = services.jobs.result(job.id, owner)
        return counted_columns(result, Path())[column].levels

    def _used(self, column: str) -> Any:
        """The hierarchy that the definition gives the column, else the proposed one."""
        said = said_hierarchy(self._frame.project.attributes, column)
        return self._counted[column].proposed if said is None else said

    def _folder(self) -> Path:
        return self._frame.services.projects.folder(self._frame.project)

    # Editing.

    async def _open(self) -> None:
        """Show the editor of the current column."""
        name = self._columns[self._current]
        if name not in self._counted:
            return
        self._editor_box.clear()
        with self._editor_box:
            editor = self._editor = HierarchyEditor(
                self._frame,
                self._counted[name],
                self._used(name),
                self._counts.get(name),
                self._former[name],
                ("tree",) if name in self._measured else tuple(TITLES),
                Actions(self._save, self._undo, self._redo),
            )
            await editor.show()
        if editor is self._editor:
            self._show_levels()

    def _show_levels(self) -> None:
        levels = self._levels[self._columns[self._current]]
        self._levels_panel.visible = True
        self._levels_box.clear()
        with self._levels_box:
            show_levels(levels, self._frame.numbers)
        self._show_facts(levels)
        if self._editor is not None:
            self._editor.show_problem(levels)

    async def _save(self, hierarchy: Any) -> None:
        """Save the hierarchy of the current column, and show what it makes of the values."""
        name = self._columns[self._current]
        try:
            self._write({name: hierarchy})
        except ShoalError:
            return  # The frame has said why.
        self._levels[name] = await self._try(name, hierarchy)
        self._show_list()
        self._show_levels()

    def _write(self, hierarchies: dict[str, Any]) -> None:
        project = self._frame.project
        attributes = dict(project.attributes)
        for name, hierarchy in hierarchies.items():
            said = attributes[name]
            kept = dict(said) if isinstance(said, dict) else {"role": said}
            attributes[name] = {**kept, "hierarchy": hierarchy}
        self._frame.save(definition={**project.definition, "attributes": attributes}, chosen=None)

    async def _undo(self) -> None:
        await self._go(self._frame.services.projects.undo)

    async def _redo(self) -> None:
        await self._go(self._frame.services.projects.redo)

    async def _go(self, move: Any) -> None:
        """Go to another state of the project, and show it; load the page anew for other columns."""
        try:
            self._frame.project = move(self._frame.project)
        except ShoalError as error:
            ui.notify(error.what)
            return
        if hierarchy_columns(self._frame.project) != self._columns:
            ui.navigate.reload()
            return
        self._frame.show_saved()
        for name in self._columns:
            self._levels[name] = await self._try(name, self._used(name))
        self._show_list()
        if self._editor is not None:
            await self._editor.show_other(self._used(self._columns[self._current]))
            self._show_levels()

    async def _continue(self) -> None:
        """Write the proposed hierarchies that were not changed into the definition, and go on."""
        lacking = [
            name
            for name in self._columns
            if name in self._counted
            and said_hierarchy(self._frame.project.attributes, name) is None
        ]
        if lacking:
            self._write({name: self._counted[name].proposed for name in lacking})
        ui.navigate.to(step_named("demand").path(self._frame.project))
