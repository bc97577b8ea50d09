"""What axe-core finds in a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from axe_playwright_python.sync_playwright import Axe

if TYPE_CHECKING:
    from playwright.sync_api import Page


TRIES = 5
"""A page that still fades in or loads may look wrong for a moment; what stays is a violation."""

OPTIONS = {"resultTypes": ["violations"], "preload": False}
"""What passes is not listed element by element: that takes longer than the checks. Styles are not
loaded once more: only rules that are not used here need them, and pages from disk cannot."""


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
