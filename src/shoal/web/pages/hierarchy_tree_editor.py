"""The editor of a tree of values: the rows of the browser, and the buttons that edit them.

Everything that can be dragged can be done with a button or a key as well. The browser knows rows by
numbers; the tree itself stays here.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from nicegui import ui

from shoal.errors import BadHierarchy
from shoal.web.hierarchies.outline import PAGE, open_at_first, outline, records_under
from shoal.web.pages.components import attributes, box, button, dialog, hint, text
from shoal.web.pages.hierarchy_tree_rows import KEYS, TreeRows, sent_row

if TYPE_CHECKING:
    from shoal.web.hierarchies.tree import Path, Tree
    from shoal.web.numbers import Numbers

MOST_CHOICES = 2_000
"""So many groups are offered to move something to."""


class TreeEditor:
    """A tree on the page. `on_change` gets every new tree; `on_undo` and `on_redo` go back."""

    def __init__(
        self,
        tree: Tree,
        counts: Mapping[str, int],
        numbers: Numbers,
        *,
        on_change: Callable[[Tree], Awaitable[None]],
        on_undo: Callable[[], Awaitable[None]],
        on_redo: Callable[[], Awaitable[None]],
    ) -> None:
        self.tree, self._counts, self._numbers = tree, counts, numbers
        self._on_change, self._on_undo, self._on_redo = on_change, on_undo, on_redo
        self._opened = open_at_first(tree)
        self._search, self._page = "", 0
        self._ids: dict[Path, int] = {}
        self._paths: dict[int, Path] = {}
        self._chosen: list[Path] = []
        self._build()
        self._show()

    def show_tree(self, tree: Tree) -> None:
        """Show another tree, such as the one before an edit; what is open stays open."""
        self.tree, self._chosen = tree, []
        self._say("")
        self._show()

    # What is on the page.

    def _build(self) -> None:
        with box("line between"):
            search = ui.input("Find a value or group", on_change=self._find)
            search.props("outlined dense clearable debounce=250").style("min-width: 220px")
            with box("with-hint"):
                text("span", "Keyboard", "quiet small")
                hint("the keyboard in the tree", KEYS)
        with attributes(box("line tight"), role="toolbar", aria_label="Edit the tree"):
            self._buttons = {
                name: button(label, handler, icon=icon, small=True)
                for name, label, icon, handler in (
                    ("rename", "Rename", "edit", self._start_rename),
                    ("gather", "Group", "create_new_folder", self._gather),
                    ("merge", "Merge selected", "merge_type", self._merge),
                    ("split", "Split", "call_split", self._split),
                    ("move", "Move to…", "drive_file_move", self._ask_target),
                    ("ungroup", "Dissolve", "folder_off", self._ungroup),
                )
            }
            self._level_menus()
        with box("ht-box"):
            self._rows = TreeRows("Tree of values")
        self._rows.on("toggle", self._toggled)
        self._rows.on("choose", self._chose)
        self._rows.on("rename", self._renamed)
        self._rows.on("move", self._dropped)
        self._rows.on("act", self._acted)
        self._rows.on("page", lambda event: self._turn(event.args["by"]))
        with box("line between"):
            self._status = text("div", "", "small quiet grow break")
            attributes(self._status, role="status")
            with box("line tight") as self._pager:
                self._earlier = button("Earlier", lambda: self._turn(-1), small=True)
                self._where = text("span", "", "small quiet num")
                self._later = button("Later", lambda: self._turn(1), small=True)

    def _level_menus(self) -> None:
        with button("Levels", icon="layers", small=True), ui.menu() as menu:
            self._menu = menu
        menu.on("before-show", self._fill_menu)

    def _fill_menu(self) -> None:
        self._menu.clear()
        with self._menu:
            for level in range(self.tree.height):
                where = "the values" if level == 0 else f"level {level}"
                ui.menu_item(f"Add a level above {where}", partial(self._add_level, level))
            for level in range(1, self.tree.height):
                ui.menu_item(f"Remove level {level}", partial(self._remove_level, level))

    async def _add_level(self, above: int) -> None:
        await self._edit(lambda tree: tree.add_level(above), "Added a level.")

    async def _remove_level(self, level: int) -> None:
        await self._edit(lambda tree: tree.remove_level(level), f"Removed level {level}.")

    def _show(self, focus: Path | None = None) -> None:
        """Send the rows of the page; with `focus`, the page that has that row."""
        rows = outline(self.tree, self._opened, self._search)
        if focus is not None:
            found = next((i for i, row in enumerate(rows) if row.path == focus), None)
            self._page = self._page if found is None else found // PAGE
        self._page = max(0, min(self._page, (len(rows) - 1) // PAGE))
        first = self._page * PAGE
        records = records_under(self.tree, self._counts)
        shown = rows[first : first + PAGE]
        self._rows.props["rows"] = [
            sent_row(row, self._id(row.path), records[id(row.node)], self._numbers) for row in shown
        ]
        if focus is not None:
            self._rows.props["focus"] = self._id(focus)
        self._rows.update()
        count = self._numbers.count
        self._pager.visible = len(rows) > PAGE
        self._earlier.enabled = self._page > 0
        self._later.enabled = first + PAGE < len(rows)
        last = first + len(shown)
        self._where.text = f"rows {count(first + 1)} to {count(last)} of {count(len(rows))}"
        self._enable()

    def _id(self, path: Path) -> int:
        number = self._ids.setdefault(path, len(self._ids) + 1)
        self._paths[number] = path
        return number

    def _path(self, number: Any) -> Path:
        return self._paths.get(int(number), ())

    def _enable(self) -> None:
        """Switch off the buttons that would do nothing with what is selected."""
        groups = [path for path in self._chosen if not self.tree.at(path).is_value]
        possible = {
            "rename": len(groups) == 1 == len(self._chosen),
            "gather": bool(self._chosen),
            "merge": len(self._chosen) > 1,
            "split": bool(self._chosen),
            "move": bool(self._chosen),
            "ungroup": len(groups) == 1 == len(self._chosen),
        }
        for name, made in self._buttons.items():
            made.enabled = possible[name]

    # What the reader does.

    async def _edit(
        self,
        edit: Callable[[Tree], Tree],
        said: str,
        focus: Callable[[Tree], Path] | None = None,
        *,
        select: bool = False,
    ) -> bool:
        """Make an edit, save it and say it; or say why not, and change nothing."""
        try:
            new = edit(self.tree)
        except BadHierarchy as error:
            self._say(f"Not done: {error.what}; {error.hint}.", problem=True)
            return False
        self.tree = new
        self._chosen = []
        where = focus(new) if focus else None
        self._show(where)
        if where is not None:
            self._rows.run_method("activate", self._id(where), select)
        self._say(said)
        await self._on_change(new)
        return True

    def _say(self, said: str, *, problem: bool = False) -> None:
        self._status.text = said
        self._status.classes(**({"add": "unsafe"} if problem else {"remove": "unsafe"}))

    def _find(self, event: Any) -> None:
        self._search, self._page = (event.value or "").strip(), 0
        self._show()

    def _turn(self, by: int) -> None:
        self._page += by
        self._show()

    def _toggled(self, event: Any) -> None:
        path = self._path(event.args["id"])
        self._opened ^= {path}
        self._show()

    def _chose(self, event: Any) -> None:
        paths = [self._path(number) for number in event.args["ids"]]
        self._chosen = [path for path in paths if path and self._exists(path)]
        self._enable()

    def _exists(self, path: Path) -> bool:
        try:
            self.tree.at(path)
        except BadHierarchy:
            return False
        return True

    async def _renamed(self, event: Any) -> None:
        path, label = self._path(event.args["id"]), str(event.args["label"]).strip()
        new = (*path[:-1], label)
        before = self._opened
        if path:
            size = len(path)
            self._opened = {new + p[size:] if p[:size] == path else p for p in before}
        focus = (lambda _: new) if path else (lambda _: ())
        if not await self._edit(
            lambda tree: tree.rename(path, label), f"Renamed to {label}.", focus
        ):
            self._opened = before

    async def _dropped(self, event: Any) -> None:
        paths = [self._path(number) for number in event.args["ids"]]
        await self._move(paths, self._path(event.args["target"]))

    async def _move(self, paths: Sequence[Path], target: Path) -> None:
        """Move to a group; on a value, to the group that it is in."""
        if self._exists(target) and self.tree.at(target).is_value:
            target = target[:-1]
        self._opened.add(target)
        label = self.tree.at(target).label
        what = self._numbers.things(len(paths), "entry", "entries")
        await self._edit(lambda tree: tree.move(paths, target), f"Moved {what} to {_brief(label)}.")

    async def _acted(self, event: Any) -> None:
        """A key of the tree; without a selection it is about the row it is at."""
        path, name = self._path(event.args["id"]), event.args["name"]
        if name in ("undo", "redo"):
            await (self._on_undo if name == "undo" else self._on_redo)()
            return
        if not self._chosen and path:
            self._chosen = [path]
        if name in ("up", "down", "in", "out"):
            await self._order(path, name)
        elif name == "rename-value":
            self._say("A value keeps its name: the data has it.", problem=True)
        elif name == "ask":
            self._ask_target()
        else:
            await {
                "gather": self._gather,
                "merge": self._merge,
                "split": self._split,
                "ungroup": self._ungroup,
            }[name]()

    async def _order(self, path: Path, where: str) -> None:
        if not path:
            return
        parent, label = path[:-1], path[-1]
        if where in ("up", "down"):
            by = -1 if where == "up" else 1
            await self._edit(lambda tree: tree.shift(path, by), f"Moved {where}.", lambda _: path)
            return
        if where == "out":
            target: Path | None = parent[:-1] if parent else None
        else:
            siblings = self.tree.at(parent).children
            index = [child.label for child in siblings].index(label)
            before = next((s for s in reversed(siblings[:index]) if not s.is_value), None)
            target = (*parent, before.label) if before else None
        if target is None:
            self._say("There is no group to move it to in this direction.", problem=True)
            return
        place: Path = target
        self._opened.add(place)
        name = _brief(self.tree.at(place).label)
        await self._edit(
            lambda tree: tree.move([path], place), f"Moved to {name}.", lambda _: (*place, label)
        )

    def _start_rename(self) -> None:
        if self._chosen:
            self._rows.run_method("activate", self._id(self._chosen[0]), True)
        self._rows.run_method("startRename")

    async def _gather(self) -> None:
        """Put the selected into a new group, and let the reader name it."""
        paths, label = self._chosen, self.tree.free_label()
        if not paths:
            return
        group = (*paths[0][:-1], label)
        self._opened.add(group)
        said = "Made a group of the selected; give it a name."
        if await self._edit(lambda tree: tree.gather(paths, label), said, lambda _: group):
            self._rows.run_method("startRename")

    async def _merge(self) -> None:
        """Merge groups under the name of the first; values are put into a group."""
        paths = self._chosen
        if all(self.tree.at(path).is_value for path in paths):
            await self._gather()
            return
        first = paths[0]
        self._opened.add(first)
        label = first[-1]
        await self._edit(
            lambda tree: tree.merge(paths, label),
            f"Merged {self._numbers.count(len(paths))} groups to {_brief(label)}.",
            lambda _: first,
        )

    async def _split(self) -> None:
        """Split one group in two halves, or split the selected off the group that they are in."""
        paths = self._chosen
        if not paths:
            return
        if len(paths) == 1 and not self.tree.at(paths[0]).is_value:
            group = paths[0]
            children = [child.label for child in self.tree.at(group).children]
            members = children[(len(children) + 1) // 2 :]
        else:
            group = paths[0][:-1]
            members = [path[-1] for path in paths if path[:-1] == group]
        label = self.tree.free_label()
        new = (*group[:-1], label)
        self._opened |= {group, new}
        said = (
            f"Split {self._numbers.things(len(members), 'entry', 'entries')} off; give it a name."
        )
        if await self._edit(lambda tree: tree.split(group, members, label), said, lambda _: new):
            self._rows.run_method("startRename")

    async def _ungroup(self) -> None:
        if self._chosen:
            path = self._chosen[0]
            said = f"Dissolved {_brief(path[-1])}."
            await self._edit(lambda tree: tree.ungroup(path), said, lambda _: path[:-1])

    def _ask_target(self) -> None:
        """A dialog that lists the groups, for those who do not drag."""
        paths = list(self._chosen)
        if not paths:
            return
        groups = list(self.tree.group_paths())[:MOST_CHOICES]
        names = {i: self._group_name(path) for i, path in enumerate(groups)}

        async def move() -> None:
            shown.close()
            if target.value is not None:
                await self._move(paths, groups[target.value])

        with dialog("Move to a group") as shown:
            text("p", self._numbers.things(len(paths), "entry", "entries") + " selected.", "quiet")
            target = ui.select(names, label="Group", with_input=True).props("outlined")
            button("Move", move, kind="primary")
        shown.open()

    def _group_name(self, path: Path) -> str:
        return " › ".join(_brief(label) for label in (self.tree.root.label, *path))


def _brief(label: str) -> str:
    return label if len(label) <= 40 else f"{label[:39]}…"
