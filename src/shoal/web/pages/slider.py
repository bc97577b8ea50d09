"""A slider that keyboards and screen readers know: the browser's own.

Quasar's slider puts the focus on an element without a role, so a screen reader says nothing there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nicegui import ui
from nicegui.events import GenericEventArguments

from shoal.web.pages.components import attributes


class Slider:
    """A number between two others. `on_move` follows the thumb, `on_change` when it is let go."""

    def __init__(
        self,
        label: str,
        value: float,
        *,
        least: float,
        most: float,
        step: float = 1,
        on_move: Callable[[float], Any] | None = None,
        on_change: Callable[[float], Any],
    ) -> None:
        self._on_move, self._on_change = on_move, on_change
        self.value, self._least, self._most = value, least, most
        self.element = ui.element("input").classes("slider grow")
        attributes(
            self.element,
            type="range",
            min=f"{least:g}",
            max=f"{most:g}",
            step=f"{step:g}",
            value=f"{value:g}",
            aria_label=label,
        )
        self._fill()
        take = (
            "(event) => { const t = event.target;"
            " t.style.setProperty('--fill', 100 * (t.value - t.min) / (t.max - t.min) + '%');"
            " emit(t.value); }"
        )
        self.element.on("input", self._moved, js_handler=take, throttle=0.1)
        self.element.on("change", self._changed, js_handler=take)

    def show(self, value: float, most: float | None = None) -> None:
        """Move the thumb, and the end where it is given; nobody is called."""
        self.value = value
        if most is not None:
            self._most = most
            attributes(self.element, max=f"{most:g}")
        self._fill()
        attributes(self.element, value=f"{value:g}").update()

    def describe(self, words: str) -> None:
        """What a screen reader says instead of the number."""
        attributes(self.element, aria_valuetext=words).update()

    def _fill(self) -> None:
        """Colour the track up to the thumb."""
        share = (self.value - self._least) / max(self._most - self._least, 1e-9)
        self.element.style(replace=f"--fill: {100 * share:.1f}%")

    def _moved(self, event: GenericEventArguments) -> None:
        self.value = float(event.args)
        self._fill()
        if self._on_move is not None:
            self._on_move(self.value)

    def _changed(self, event: GenericEventArguments) -> None:
        self._moved(event)
        self._on_change(self.value)
