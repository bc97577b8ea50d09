"""What axe-core finds in a page, and the looks in which every page is tried."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

from axe_playwright_python.sync_playwright import Axe

if TYPE_CHECKING:
    from playwright.sync_api import Page


LOOKS: tuple[tuple[int, Literal["light", "dark"]], ...] = ((1280, "light"), (390, "dark"))
"""Widths in pixels, each with a theme: a desk by day and a telephone by night."""
TRIES = 5
"""A page that still fades in or loads may look wrong for a moment; what stays is a violation."""

OPTIONS = {"resultTypes": ["violations"], "preload": False}
"""What passes is not listed element by element: that takes longer than the checks. Styles are not
loaded once more: only rules that are not used here need them, and pages from disk cannot."""


def looks(page: Page) -> Iterator[int]:
    """Show the page in one look after the other; gives the width of each."""
    for width, theme in LOOKS:
        page.set_viewport_size({"width": width, "height": 800})
        page.emulate_media(color_scheme=theme)
        page.wait_for_selector(f"body.body--{theme}", state="attached")
        yield width


def violations(page: Page) -> list[str]:
    """Serious and critical violations that stay, each with the elements that have it."""
    for _ in range(TRIES - 1):
        if not _now(page):
            return []
        page.wait_for_timeout(500)
    return _now(page)


def _now(page: Page) -> list[str]:
    found = Axe().run(page, options=OPTIONS).response["violations"]
    return [
        f"{each['id']}: {node['html'][:200]}"
        for each in found
        if each["impact"] in ("serious", "critical")
        for node in each["nodes"]
    ]
