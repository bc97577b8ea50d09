"""The editor of one column's hierarchy: its kind, the editor of that kind, and what is wrong."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from nicegui import ui

from shoal.definition.hierarchies.registry import KINDS
from shoal.errors import BadDefinition, ShoalError
from shoal.web.hierarchies.defaults import first_of_kind
from shoal.web.hierarchies.written import kind_of_mapping
from shoal.web.pages.components import box, button, choice, dialog, note, panel, problem_card, text
from shoal.web.pages.hierarchy_counts import MOST_VALUES, tree_of
from shoal.web.pages.hierarchy_number_editors import CutsEditor, edit_intervals
from shoal.web.pages.hierarchy_step_editors import (
    Edited,
    edit_builder,
    edit_dates,
    edit_groups,
    edit_mask,
    edit_suppress,
)
from shoal.web.pages.hierarchy_tree_editor import TreeEditor
from shoal.web.pages.hierarchy_upload import LARGEST, kept_tree, kept_upload, read_upload

if TYPE_CHECKING:
    from nicegui.elements.upload_files import FileUpload

    from shoal.web.hierarchies.levels import Levels
    from shoal.web.hierarchies.tree import Tree
    from shoal.web.pages.frame import StepFrame
    from shoal.web.pages.hierarchy_counts import CountedColumn, Counts

TITLES: Mapping[str, str] = {
    "intervals": "Intervals",
    "cuts": "Cut points",
    "mask": "Mask",
    "date": "Dates",
    "groups": "Neighbours",
    "tree": "Tree",
    "suppress": "Suppress",
}
"""The kinds that can be chosen, by their keys in a definition; a file is edited as a tree."""


@dataclass(frozen=True)
class Actions:
    """What the editor asks of the page."""

    save: Callable[[Any], Awaitable[None]]
    undo: Callable[[], Awaitable[None]]
    redo: Callable[[], Awaitable[None]]


def kind_key(hierarchy: Any) -> str:
    """The kind of a hierarchy as a definition writes it; a file counts as a tree."""
    if isinstance(hierarchy, str):
        return "suppress" if hierarchy == "suppress" else "tree"
    found = next((key for key in KINDS if key in hierarchy), "builder")
    return "tree" if found == "path" else found


class HierarchyEditor:
    """The panel of one column. It is made anew for another column, another kind, or after undo."""

    def __init__(
        self,
        frame: StepFrame,
        column: CountedColumn,
        hierarchy: Any,
        counts: Counts | None,
        former: dict[str, Any],
        kinds: Collection[str],
        actions: Actions,
    ) -> None:
        self._frame, self._column, self._counts = frame, column, counts
        self._hierarchy, self._former, self._actions = hierarchy, former, actions
        self._possible = kinds
        self._tree: TreeEditor | None = None
        self._build()

    def _build(self) -> None:
        with panel() as self._panel:
            with box("line between"):
                text("h2", self._column.name, "clip")
                with box("line tight"):
                    button("Upload a file", self._ask_upload, icon="upload_file", small=True)
                    self._undo = button("Undo", self._actions.undo, icon="undo", small=True)
                    self._redo = button("Redo", self._actions.redo, icon="redo", small=True)
            self._choice = choice(
                self._kinds(), kind_key(self._hierarchy), self._choose, label="Kind of hierarchy"
            )
            with box("line tight"):
                self._about = text("span", "", "quiet")
                self._restore_button = button(
                    "Restore the proposed one", self._restore, kind="quiet", small=True
                )
            self._problems = box("stack tight")
            self._body = box("stack")
        self._say_origin()

    def _kinds(self) -> dict[str, str]:
        kinds = {key: title for key, title in TITLES.items() if key in self._possible}
        if self._counts is None:
            kinds.pop("tree", None)
        current = kind_key(self._hierarchy)
        return (
            kinds
            if current in kinds
            else {**kinds, current: "Plug-in" if current == "builder" else "File"}
        )

    async def show(self) -> None:
        """Show the editor of the kind."""
        self._body.clear()
        self._tree = None
        with self._body:
            await self._edit_kind(kind_key(self._hierarchy))

    async def show_other(self, hierarchy: Any) -> None:
        """Show the hierarchy of another state of the project; a tree keeps what is open."""
        before, self._hierarchy = kind_key(self._hierarchy), hierarchy
        kind = kind_key(hierarchy)
        self._choice.set_options(self._kinds(), value=kind)
        self._say_origin()
        if kind == before == "tree" and self._tree is not None and self._counts is not None:
            self._tree.show_tree(await self._tree_now(self._counts))
        else:
            await self.show()

    async def _edit_kind(self, kind: str) -> None:
        hierarchy, counts = self._hierarchy, self._counts
        values = counts.values if counts else {}
        edited = Edited(self._column.name, values, self._frame.numbers, self.change)
        if kind == "tree":
            await self._edit_tree()
        elif kind == "intervals":
            edit_intervals(hierarchy, edited)
        elif kind == "cuts":
            CutsEditor(hierarchy, edited)
        elif kind == "mask":
            edit_mask(hierarchy, edited)
        elif kind == "date":
            edit_dates(hierarchy, edited)
        elif kind == "groups":
            edit_groups(hierarchy, edited)
        elif kind == "suppress":
            edit_suppress()
        else:
            edit_builder(hierarchy)

    async def _edit_tree(self) -> None:
        counts = self._counts
        if counts is None:
            most = self._frame.numbers.count(MOST_VALUES)
            note(f"A column with more than {most} values is not edited as a tree. Upload a file.")
            return
        try:
            tree = await self._tree_now(counts)
        except ShoalError as error:
            note(f"{error.what}; {error.hint}.")
            return
        if self._body.is_deleted:
            return
        text(
            "p",
            "Drag values and groups to the group that they belong to. Double-click a group to "
            "rename it.",
            "quiet",
        )
        self._tree = TreeEditor(
            tree,
            counts.values,
            self._frame.numbers,
            on_change=self._save_tree,
            on_undo=self._actions.undo,
            on_redo=self._actions.redo,
        )

    async def _tree_now(self, counts: Counts) -> Tree:
        return await asyncio.to_thread(
            tree_of, self._column.name, self._hierarchy, counts, self._folder()
        )

    def _folder(self) -> Any:
        return self._frame.services.projects.folder(self._frame.project)

    async def _save_tree(self, tree: Tree) -> None:
        projects, project = self._frame.services.projects, self._frame.project
        kept = await asyncio.to_thread(kept_tree, projects, project, self._column.name, tree)
        await self.change(kept)

    async def change(self, hierarchy: Any) -> None:
        """Save another hierarchy; where a definition could not say it, show why instead."""
        self._problems.clear()
        try:
            kind_of_mapping(self._column.name, hierarchy, self._folder())
        except BadDefinition as error:
            with self._problems:
                for mistake in error.mistakes:
                    note(f"{mistake.what}; {mistake.remedy}", "problem", title="Not saved")
            return
        self._hierarchy = hierarchy
        await self._actions.save(hierarchy)
        self._say_origin()

    def _say_origin(self) -> None:
        """Whether this is the proposed hierarchy, why that is proposed, and what can be undone."""
        projects, project = self._frame.services.projects, self._frame.project
        self._undo.enabled = projects.can_undo(project)
        self._redo.enabled = projects.can_redo(project)
        is_proposed = self._hierarchy == self._column.proposed
        origin = "Proposed." if is_proposed else "Another one is proposed."
        self._about.text = f"{origin} {self._column.reason}"
        self._restore_button.visible = not is_proposed

    async def _restore(self) -> None:
        await self._replace(self._column.proposed)

    async def _choose(self, event: Any) -> None:
        """Another kind: as it was when it was last used here, else a first one to start from."""
        kind = event.value
        if kind == kind_key(self._hierarchy):
            return
        self._former[kind_key(self._hierarchy)] = self._hierarchy
        values = self._counts.values if self._counts else {}
        if kind == "tree" and kind not in self._former and self._counts:
            tree = await self._tree_now(self._counts)
            await self._save_tree(tree)
            await self.show()
            return
        await self._replace(self._former.get(kind) or first_of_kind(kind, values))

    async def _replace(self, hierarchy: Any) -> None:
        await self.change(hierarchy)
        self._choice.value = kind_key(self._hierarchy)
        await self.show()

    # Values that are not covered.

    def show_problem(self, levels: Levels) -> None:
        """Say what the command line would say, and offer to add values that a tree lacks."""
        self._problems.clear()
        if levels.problem is None:
            return
        with self._problems:
            problem = levels.problem
            body = problem_card(
                {"detail": problem.what, "hint": problem.hint, "code": problem.code}
            )
            if levels.uncovered and self._tree is not None:
                with body, box("line tight"):
                    words = self._frame.numbers.things(levels.uncovered, "value")
                    button(f"Add {words} to the tree", self._add_uncovered, icon="add", small=True)

    async def _add_uncovered(self) -> None:
        """Add the values below the root; from there they can be moved."""
        if self._tree is None or self._counts is None:
            return
        tree = self._tree.tree.add_values(sorted(self._counts.values), ())
        await self._save_tree(tree)
        await self.show()

    # Files.

    def _ask_upload(self) -> None:
        with dialog("Upload a hierarchy file") as shown:
            text(
                "p",
                "A CSV file with one row for each value and no header: "
                "value;level 1;level 2;…;top. This is the format of ARX.",
                "quiet",
            )
            problems = box("stack tight")

            async def uploaded(event: Any) -> None:
                problems.clear()
                try:
                    await self._take(event.file)
                except ShoalError as error:
                    upload.reset()
                    with problems:
                        problem_card(error)
                    return
                shown.close()

            upload = ui.upload(
                label="Choose or drop a file",
                on_upload=uploaded,
                on_rejected=lambda _: ui.notify("Only one CSV file of at most 20 MB"),
                max_file_size=LARGEST,
                auto_upload=True,
            )
            upload.props("flat accept=.csv,.txt").classes("hier-upload")
        shown.open()

    async def _take(self, upload: FileUpload) -> None:
        projects, project, name = (
            self._frame.services.projects,
            self._frame.project,
            self._column.name,
        )
        file, found = await read_upload(self._frame, name, upload)
        self._former[kind_key(self._hierarchy)] = self._hierarchy
        kept = await asyncio.to_thread(kept_upload, projects, project, name, file, found)
        await self._replace(kept)
