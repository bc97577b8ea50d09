"""The look of all pages: the style sheet, the small script, and light or dark.

The theme is the system's until the reader chooses; the choice is kept in a cookie that says
nothing but `light` or `dark`. NiceGUI's Tailwind is off: pages use the classes of `shoal.css`.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

from nicegui import ui

if TYPE_CHECKING:
    from fastapi import Request

    from shoal.web.services import Services

STATIC = Path(__file__).parents[1] / "static"
THEME_COOKIE = "shoal-theme"
Theme = Literal["system", "light", "dark"]
_DARK: dict[Theme, bool | None] = {"system": None, "light": False, "dark": True}


def register(services: Services) -> None:  # noqa: ARG001 all pages are registered alike
    """Put the style sheet into the head of every page."""
    ui.add_head_html(
        f'<link rel="stylesheet" href="{static("shoal.css")}">'
        f'<script src="{static("shoal.js")}"></script>',
        shared=True,
    )


def static(name: str) -> str:
    """The address of a static file; it changes with the file, so that no old copy is shown."""
    digest = hashlib.sha256((STATIC / name).read_bytes()).hexdigest()[:12]
    return f"/static/{name}?{digest}"


def theme_of(request: Request) -> Theme:
    """What the reader chose."""
    chosen = request.cookies.get(THEME_COOKIE)
    return cast("Theme", chosen) if chosen in ("light", "dark") else "system"


class ThemeSwitch:
    """A button in the header with the three choices; the page follows at once."""

    def __init__(self, theme: Theme) -> None:
        self._dark = ui.dark_mode(_DARK[theme])
        self._items: dict[Theme, ui.menu_item] = {}
        with (
            ui.button(icon="contrast", color=None)
            .props('flat aria-label="Light or dark"')
            .classes("btn quiet-btn icon-btn"),
            ui.menu(),
        ):
            self._item("system", "As the system")
            self._item("light", "Light")
            self._item("dark", "Dark")
        self._mark(theme)

    def _item(self, theme: Theme, text: str) -> None:
        self._items[theme] = ui.menu_item(text, lambda: self._choose(theme))

    def _choose(self, theme: Theme) -> None:
        self._dark.value = _DARK[theme]
        ui.run_javascript(f"shoalTheme('{theme}')")
        self._mark(theme)

    def _mark(self, theme: Theme) -> None:
        for each, item in self._items.items():
            item.props(**({"add": "active"} if each == theme else {"remove": "active"}))
