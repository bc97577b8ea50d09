"""What is demanded of each sensitive column, as sentences with numbers to change."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from nicegui import ui

from shoal.web.pages.components import attributes, box, button, hint, icon_button, note, text
from shoal.web.steps import role_of

if TYPE_CHECKING:
    from shoal.web.pages.demand_editor import DemandEditor

KeyPath = tuple[str, ...]


@dataclass(frozen=True)
class DemandKind:
    """One kind of demand: its key below the attribute, its name, what it is first, its sentence."""

    key: KeyPath
    term: str
    name: str
    first: Any
    sentence: Callable[[DemandEditor, KeyPath], None]


def _distinct(editor: DemandEditor, at: KeyPath) -> None:
    text("span", "At least")
    editor.number("Different values", at, whole=True)
    text("span", "different values in every class")


def _entropy(editor: DemandEditor, at: KeyPath) -> None:
    text("span", "Values spread at least like")
    editor.number("Equally frequent values", at)
    text("span", "equally frequent ones in every class")


def _recursive(editor: DemandEditor, at: KeyPath) -> None:
    text("span", "The most frequent value less than")
    editor.number("c", (*at, "c"))
    text("span", "times as frequent as all from the")
    editor.number("l", (*at, "l"), whole=True, suffix="th")
    text("span", "on together")


def _closeness(editor: DemandEditor, at: KeyPath) -> None:
    text("span", "In every class spread as in the whole table, at most")
    editor.number("t, from 0 to 1", (*at, "t"))
    text("span", "apart, comparing values")
    distances = {
        "equal": "as equal or different",
        "ordered": "in their order",
        "hierarchical": "by their hierarchy",
    }
    chosen = editor.get(*at, "distance") or "equal"
    made = ui.select(distances, value=chosen if chosen in distances else "equal")
    made.props("outlined dense options-dense").style("width: 210px")
    attributes(made, aria_label="How values are compared")
    made.on_value_change(lambda: editor.set((*at, "distance"), made.value))


def _alpha(editor: DemandEditor, at: KeyPath) -> None:
    text("span", "No value in more than")
    editor.number("Largest share of a class", at, percent=True)
    text("span", "of a class")


def _likeness(editor: DemandEditor, at: KeyPath) -> None:
    text("span", "No value more frequent in a class than in the table by more than")
    editor.number("beta", (*at, "beta"))
    text("span", "times")
    enhanced = ui.checkbox("stricter for frequent values", value=bool(editor.get(*at, "enhanced")))
    enhanced.on_value_change(lambda: editor.set((*at, "enhanced"), enhanced.value or None))


def _disclosure(editor: DemandEditor, at: KeyPath) -> None:
    text("span", "Every value in every class, with a log-quotient to the table below")
    editor.number("delta", at)


KINDS: tuple[DemandKind, ...] = (
    DemandKind(("diversity", "distinct"), "distinct diversity", "Different values", 3, _distinct),
    DemandKind(("diversity", "entropy"), "entropy diversity", "Evenly spread values", 2, _entropy),
    DemandKind(
        ("diversity", "recursive"),
        "recursive diversity",
        "No dominating value",
        {"c": 4, "l": 3},
        _recursive,
    ),
    DemandKind(("alpha",), "alpha", "Largest share of one value", 0.5, _alpha),
    DemandKind(("closeness",), "closeness", "Spread as in the table", {"t": 0.2}, _closeness),
    DemandKind(
        ("likeness",),
        "likeness",
        "Not much more frequent than in the table",
        {"beta": 1},
        _likeness,
    ),
    DemandKind(("disclosure",), "disclosure", "Neither rarer nor more frequent", 1, _disclosure),
)
"""In the order in which they are offered: the easiest to explain first."""


class SensitiveColumns:
    """A part for each sensitive column, with its demands and a menu to add one."""

    def __init__(self, editor: DemandEditor) -> None:
        self._editor = editor
        self._parts: dict[str, ui.element] = {}

    def build(self) -> None:
        """Build the parts of all columns, or say that there is none."""
        attributes_of = self._editor.frame.project.attributes
        columns = [name for name, said in attributes_of.items() if role_of(said) == "sensitive"]
        if not columns:
            note(
                "No column is sensitive. If nobody may learn somebody's diagnosis or income, say so"
                " in Columns; demands on its values appear here."
            )
        for name in columns:
            self._parts[name] = box("stack tight demand-column")
            self._fill(name)

    def _fill(self, column: str) -> None:
        editor, part = self._editor, self._parts[column]
        key = ("attributes", column)
        part.clear()
        editor.forget_places(*key)
        active = [kind for kind in KINDS if editor.get(*key, *kind.key) is not None]
        with part:
            with box("line between"):
                with box("line tight grow"):
                    attributes(
                        text("span", "", "role sensitive"), data_sign="!", aria_hidden="true"
                    )
                    text("h3", column, "clip")
                self._menu(column, [kind for kind in KINDS if kind not in active])
            for kind in active:
                self._row(column, kind)
            editor.mistakes_here(*key)
        editor.check()

    def _row(self, column: str, kind: DemandKind) -> None:
        at = ("attributes", column, *kind.key)
        with box("demand-row"):
            with box("line tight grow"):
                kind.sentence(self._editor, at)
                hint(kind.term)
            label = f"Remove: {kind.name.lower()} of {column}"
            icon_button("close", label, lambda: self._change(column, at, None))
        self._editor.mistakes_here(*at)

    def _menu(self, column: str, kinds: list[DemandKind]) -> None:
        if not kinds:
            return
        with button("Add a demand", icon="add", small=True) as add, ui.menu():
            attributes(add, aria_label=f"Add a demand on {column}")
            for kind in kinds:
                ui.menu_item(
                    kind.name,
                    lambda kind=kind: self._change(
                        column, ("attributes", column, *kind.key), kind.first
                    ),
                )

    def _change(self, column: str, at: KeyPath, value: Any) -> None:
        self._editor.set(at, value)
        self._fill(column)
