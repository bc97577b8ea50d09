"""How much each quasi-identifier matters, and between which levels it may be generalized."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from nicegui import ui

from shoal.web.pages.components import attributes, box, hint, text
from shoal.web.pages.slider import Slider
from shoal.web.steps import quasi_identifiers

if TYPE_CHECKING:
    from shoal.web.numbers import Numbers
    from shoal.web.pages.demand_editor import DemandEditor


class LevelsAndPriorities:
    """A row for each quasi-identifier. The levels are known once the table was counted."""

    def __init__(self, editor: DemandEditor) -> None:
        self._editor = editor
        self._box = box("stack")
        self._shown: Any = None

    def show(self, ranges: Sequence[Mapping[str, Any]]) -> None:
        """Build the rows; `ranges` are the attributes of a feasibility, empty without one."""
        known = {each["name"]: each for each in ranges}
        names = quasi_identifiers(self._editor.frame.project)
        levels = {name: known[name]["levels"] for name in names if name in known}
        if self._shown == (names, levels):
            return
        self._shown = (names, levels)
        self._box.clear()
        with self._box:
            self._head()
            for name in names:
                self._editor.forget_places("attributes", name)
                self._row(name, levels.get(name))
        self._editor.check()

    def _head(self) -> None:
        with box("column-row column-head small quiet"):
            text("div", "Column")
            for words, term in (
                ("Matters", "priority"),
                ("At least level", "lowest"),
                ("At most level", "limit"),
            ):
                with box("with-hint"):
                    text("div", words)
                    hint(term)

    def _row(self, name: str, levels: Sequence[Mapping[str, Any]] | None) -> None:
        at = ("attributes", name)
        with box("column-row"):
            with box("line tight"):
                text("span", name, "strong clamp")
            self._priority(name)
            if levels is None:
                text("div", "counting the levels", "quiet small")
                text("div")
            else:
                self._level(name, "from", "At least level", levels, 0)
                self._level(name, "limit", "At most level", levels, len(levels) - 1)
        self._editor.mistakes_here(*at)

    def _priority(self, name: str) -> None:
        at = ("attributes", name, "priority")
        said = self._editor.get(*at)
        with box("line tight priority"):
            slider = Slider(
                f"How much {name} matters",
                1 if said is None else min(said, 1),
                least=0,
                most=1,
                step=0.1,
                on_move=lambda value: show(value),
                on_change=lambda value: self._editor.set(
                    at, None if value == 1 else round(value, 2)
                ),
            )
            words = text("span", "", "small quiet")

        def show(value: float) -> None:
            words.text = _matters(value, self._editor.frame.numbers)
            slider.describe(words.text)

        show(slider.value)

    def _level(
        self,
        name: str,
        key: str,
        label: str,
        levels: Sequence[Mapping[str, Any]],
        default: int,
    ) -> None:
        said, numbers = self._editor.get("attributes", name, key), self._editor.frame.numbers
        options = {each["level"]: _named(each, len(levels), numbers) for each in levels}
        chosen = default if said is None else said
        if chosen not in options:
            options[chosen] = f"{chosen}: not in the hierarchy"
        with box("stack tight"):
            attributes(text("span", label, "only-narrow small quiet"), aria_hidden="true")
            made = ui.select(options, value=chosen).props("outlined dense options-dense")
        attributes(made, aria_label=f"{label} of {name}")
        made.on_value_change(
            lambda: self._editor.set(
                ("attributes", name, key), None if made.value == default else made.value
            )
        )


def _named(level: Mapping[str, Any], levels: int, numbers: Numbers) -> str:
    """A level by its number and one of its labels; the first and the last have names."""
    number, example = level["level"], level["example"]
    if number == 0:
        return "0: unchanged"
    if number == levels - 1 and level["labels"] == 1:
        return f"{number}: all alike"
    if example is None:
        return f"{number}: {numbers.things(level['labels'], 'value')}"
    return f"{number}: {example[:40]}"


def _matters(priority: float, numbers: Numbers) -> str:
    if priority <= 0:
        return "not at all"
    return "fully" if priority >= 1 else numbers.percent(priority, 0)
