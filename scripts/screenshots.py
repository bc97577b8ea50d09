"""The screenshots of the documentation: `python -m scripts.screenshots` takes all of them.

It releases the demo and opens its report; then it starts `shoal ui` and does what the tutorial of
the web application says, with a picture of each page. All are taken light and dark. It needs
Chromium, as the tests of the web application do.
"""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from PIL import Image

if TYPE_CHECKING:
    from playwright.sync_api import Page

DOCS = Path(__file__).parent.parent / "docs"
TUTORIAL = DOCS / "tutorials" / "web.md"
FOLDER = DOCS / "images"
THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
SIZE = (1120, 720)
SCROLLED = {"explore": 260}
"""How far down a page is shown, where the beginning does not show what it is about."""
COLOURS = 128
"""Enough for plain pages; a picture then has a third of the bytes."""


def instructions(text: str) -> list[tuple[str, str]]:
    """What a reader of the tutorial does, in order: (press or tick, the words on the page)."""
    found = re.findall(r"\b(press|tick) \*\*(.+?)\*\*", text, re.IGNORECASE)
    return [(verb.lower(), label) for verb, label in found]


def follow(page: Page, verb: str, label: str) -> None:
    """Do one of the instructions; waits until the page has what it names."""
    if verb == "tick":
        for each in page.get_by_role("checkbox", name=label).all():
            each.click()
    else:
        page.get_by_role("button", name=label, exact=True).first.click()


def take(page: Page, name: str) -> None:
    """Two pictures of what is shown, with few colours."""
    for theme in THEMES:
        page.emulate_media(color_scheme=theme)
        shown = Image.open(BytesIO(_settled(page)))
        few = shown.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
        few.save(FOLDER / f"{name}-{theme}.png", optimize=True)


def _settled(page: Page) -> bytes:
    """A picture of the page once it stays the same for a second."""
    before, now = b"", page.screenshot()
    while now != before:
        page.wait_for_timeout(1000)
        before, now = now, page.screenshot()
    return now


def take_report(page: Page, folder: Path) -> None:
    """The upper part of the report of the demo."""
    demo = [sys.executable, "-m", "shoal", "demo", str(folder), "--records", "2000"]
    subprocess.run(demo, check=True, capture_output=True)  # noqa: S603 our own program
    page.goto((folder / "report.html").as_uri())
    take(page, "report")


def take_pages(page: Page) -> None:
    """Each page of the web application, before the tutorial leaves it."""
    for verb, label in instructions(TUTORIAL.read_text(encoding="utf-8")):
        before = page.url
        step = re.search(r"/project/\w+/(\w+)", before)
        if verb == "press" and step:
            take_when_ready(page, label, step[1])
        if label == "Accept and release":
            break
        follow(page, verb, label)
        if verb == "press":
            page.wait_for_url(re.compile(f"^(?!{re.escape(before)}$)"))


def take_when_ready(page: Page, label: str, step: str) -> None:
    """A picture of a page that has counted what it shows and offers to go on."""
    from playwright.sync_api import expect

    expect(page.get_by_role("button", name=label, exact=True).first).to_be_enabled()
    expect(page.get_by_text("not counted yet")).to_have_count(0)
    expect(page.get_by_role("button", name="Cancel")).to_have_count(0)
    page.mouse.move(0, 0)
    page.evaluate(f"scrollTo(0, {SCROLLED.get(step, 0)})")
    take(page, f"web-{step}")


def take_local(page: Page) -> None:
    """The page Explore where every class has levels of its own."""
    page.goto(re.sub(r"\w+$", "demand", page.url))
    page.get_by_role("radio", name="Levels by class (local)").click()
    follow(page, "press", "Start the search")
    page.wait_for_url("**/search")
    follow(page, "press", "Explore the result")
    page.wait_for_url("**/explore")
    take_when_ready(page, "Compare before and after", "explore-local")


@contextmanager
def web_application(folder: Path) -> Iterator[str]:
    """The address of `shoal ui`, with nothing in it."""
    command = [sys.executable, "-m", "shoal", "ui", "--no-browser", "--folder", str(folder)]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)  # noqa: S603
    try:
        line = server.stdout.readline() if server.stdout else ""
        yield line.split(" at ")[1].strip()
    finally:
        server.send_signal(signal.SIGINT)
        server.wait()


def main() -> None:
    """Take all pictures, in a browser that reaches this machine only."""
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=120_000)
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = Path(name)
        program = shutil.which("chromium")
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": SIZE[0], "height": SIZE[1]})
        page.set_default_timeout(120_000)
        take_report(page, folder / "demo")
        with web_application(folder / "web") as address:
            page.goto(address)
            page.wait_for_url("**/")
            take_pages(page)
            take_local(page)
        browser.close()


if __name__ == "__main__":
    main()
