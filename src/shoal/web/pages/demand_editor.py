"""What the Demand page shares: it reads and saves one key at a time, and shows each mistake beside
the field that it is about.

The definition's own validation finds the mistakes. A value with a mistake is saved too: nothing
that was typed is lost, and the search waits until it is corrected.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from nicegui import ui

from shoal.definition.parse import dotted
from shoal.errors import ShoalError
from shoal.web.checked import mistakes_of
from shoal.web.edits import value_at, with_value
from shoal.web.pages.components import attributes, box, note, problem_card, text

if TYPE_CHECKING:
    from nicegui.elements.mixins.text_element import TextElement

    from shoal.errors import Mistake
    from shoal.web.pages.frame import StepFrame

KeyPath = Sequence[str]


class DemandEditor:
    """Reads and writes the definition of the page's project; `on_change` follows every save."""

    def __init__(self, frame: StepFrame, on_change: Callable[[], Any]) -> None:
        self.frame, self._on_change = frame, on_change
        self._places: dict[str, TextElement] = {}
        self._rest: ui.element | None = None
        self.is_sound = True

    def get(self, *path: str) -> Any:
        """The value at a path of keys, None where there is none."""
        return value_at(self.frame.project.definition, path)

    def set(self, path: KeyPath, value: Any) -> None:
        """Save another value at a path; None takes it away."""
        if self.get(*path) != value:
            self.replace(with_value(self.frame.project.definition, path, value))

    def replace(self, definition: dict[str, Any]) -> None:
        """Save another definition."""
        try:
            self.frame.save(definition=definition)
        except ShoalError:
            return
        self.check()
        self._on_change()

    def mistakes_here(self, *path: str) -> None:
        """Show the mistakes of this key, and of keys below it that have no place of their own."""
        shown = attributes(text("div", "", "field-error"), role="alert")
        shown.visible = False
        self._places[dotted(tuple(path))] = shown

    def forget_places(self, *path: str) -> None:
        """Forget the places below a path, before they are built anew."""
        start = dotted(tuple(path))
        self._places = {
            key: place
            for key, place in self._places.items()
            if key != start and not key.startswith(f"{start}.")
        }

    def other_mistakes_here(self) -> None:
        """Show the mistakes that no field of the page is about."""
        self._rest = box("stack tight")

    def check(self) -> None:
        """Show every mistake of the definition where it was made."""
        try:
            found = mistakes_of(self.frame.services, self.frame.project)
        except ShoalError as error:
            self._show_problem(error)
            return
        self.is_sound = not found
        by_place: dict[str, list[Mistake]] = {}
        for mistake in found:
            by_place.setdefault(self._place_of(mistake.key), []).append(mistake)
        for key, place in self._places.items():
            place.text = "\n".join(_sentence(each) for each in by_place.get(key, ()))
            place.visible = bool(place.text)
        self._show_rest(by_place.get("", []))

    def number(
        self,
        label: str,
        path: KeyPath,
        *,
        whole: bool = False,
        percent: bool = False,
        width: str = "110px",
        suffix: str = "",
        default: Any = None,
    ) -> ui.number:
        """A field for the number at a path; a share is shown in percent."""
        said = self.get(*path)
        shown = default if said is None else said
        if percent and isinstance(shown, int | float):
            shown = round(100 * shown, 8)
        made = ui.number(value=shown if isinstance(shown, int | float) else None, format="%.10g")
        made.props("outlined dense debounce=400 step=any").style(f"width: {width}")
        if suffix or percent:
            made.props["suffix"] = suffix or "%"
        attributes(made, aria_label=label)

        def save() -> None:
            value = made.value
            if percent and value is not None:
                value = round(value / 100, 10)
            self.set(
                path, int(value) if whole and value is not None and value == int(value) else value
            )

        made.on_value_change(save)
        return made

    def _place_of(self, key: str) -> str:
        """The innermost place that is about the key, empty where there is none."""
        around = [p for p in self._places if key == p or key.startswith(f"{p}.")]
        return max(around, key=len, default="")

    def _show_rest(self, mistakes: list[Mistake]) -> None:
        if self._rest is None:
            return
        self._rest.clear()
        if mistakes:
            lines = "\n".join(f"{each.key}: {_sentence(each)}" for each in mistakes)
            with self._rest:
                note(lines, "problem", title="To correct before the search")

    def _show_problem(self, error: ShoalError) -> None:
        self.is_sound = False
        if self._rest is not None:
            self._rest.clear()
            with self._rest:
                problem_card(error)


def _sentence(mistake: Mistake) -> str:
    return f"{mistake.what[:1].upper()}{mistake.what[1:]}; {mistake.remedy}"
