"""A real browser for the tests of the web application.

`page` is a tab that is logged in at `shoal ui`; `tabs` opens one for any server and user. A tab
fails the test at its end when the console had an error or a request left the machine.

Tests use tabs one after the other. A tab that has loaded the pages' scripts before needs a fourth
of the time of a new one, most of which goes into starting a process and compiling the scripts.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Request

    from web.server import Running

CHROMIUM = "/usr/bin/chromium"
PATIENCE = 120_000
"""Milliseconds that a page may take to show something on a busy machine."""
HEIGHT = 800
FLAGS = ("--no-sandbox", "--js-flags=--max-optimized-bytecode-size=1")
"""Scripts are not optimized: most run for a moment, and optimizing takes longer than it spares."""


class Tabs:
    """The tabs of a browser, kept for the next test where a test ended well."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._free: dict[str, list[Page]] = {}

    @contextmanager
    def open(
        self,
        server: Running,
        name: str = "you",
        *,
        width: int = 1280,
        theme: Literal["light", "dark"] = "light",
    ) -> Iterator[Page]:
        """A tab in which a user is logged in, with nothing of earlier tests in it."""
        free = self._free.setdefault(server.base, [])
        page = free.pop() if free else new_context(self._browser, server).new_page()
        log_in(page.context, server, name)
        page.set_viewport_size({"width": width, "height": HEIGHT})
        page.emulate_media(color_scheme=theme)
        try:
            with watched(page, server.base):
                yield page
                _leave(page)
        except BaseException:
            page.context.close()
            raise
        free.append(page)


def _leave(page: Page) -> None:
    """Close the other tabs, forget what was stored, and let go of the server."""
    for other in page.context.pages:
        if other != page:
            other.close()
    if page.url.startswith("http"):
        page.evaluate("localStorage.clear(), sessionStorage.clear()")
    page.goto("about:blank")


def new_context(browser: Browser, server: Running, **options: Any) -> BrowserContext:
    """A browser without any past, in which nobody is logged in; options are those of Playwright.

    Nothing moves in it, as for users who ask their system for that: then nothing has to be drawn
    while a test waits, and a click never meets a button that still slides.
    """
    options.setdefault("reduced_motion", "reduce")
    found = browser.new_context(base_url=server.base, **options)
    found.set_default_timeout(PATIENCE)
    return found


def log_in(context: BrowserContext, server: Running, name: str = "you") -> None:
    """Give a browser the cookies of a user, and no other ones."""
    context.clear_cookies()
    for key, value in server.cookies[name].items():
        context.add_cookies([{"name": key, "value": value, "url": server.base}])


@contextmanager
def watched(page: Page, base: str) -> Iterator[None]:
    """Fail at the end where the console had an error or a request went to another machine."""
    errors: list[str] = []
    strangers: list[str] = []
    own = (base, "data:", "blob:", base.replace("http", "ws", 1))

    def note_message(each: ConsoleMessage) -> None:
        if each.type == "error":
            errors.append(each.text)

    def note_error(each: Any) -> None:
        errors.append(str(each))

    def note_request(each: Request) -> None:
        if not each.url.startswith(own):
            strangers.append(each.url)

    page.on("console", note_message)
    page.on("pageerror", note_error)
    page.on("request", note_request)
    yield
    page.remove_listener("console", note_message)
    page.remove_listener("pageerror", note_error)
    page.remove_listener("request", note_request)
    assert errors == []
    assert strangers == []


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """The system's Chromium; a process can have one at a time."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=CHROMIUM, args=[*FLAGS])
        yield found
        found.close()


@pytest.fixture(scope="session")
def tabs(browser: Browser) -> Tabs:
    """The tabs that all tests of a test process share."""
    return Tabs(browser)


@pytest.fixture
def page(ui_server: Running, tabs: Tabs) -> Iterator[Page]:
    """A tab that is logged in at `shoal ui`, 1280 pixels wide."""
    with tabs.open(ui_server) as found:
        yield found
