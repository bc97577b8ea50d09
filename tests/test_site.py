"""The site of the documentation is whole, and is read from disk without a network."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import lxml.html
import pytest
from playwright.sync_api import expect

from commands import TIME_LIMIT
from web.accessible import violations
from web.tabs import PATIENCE

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Request

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parent.parent
PHONE = 390
DESKTOP = 1280
LOOKED_AT = ("index", "tutorial", "commands", "guides/web", "guides/coming-from", "seeds")
"""Pages with pictures, long lines of code, and wide tables."""

NOTE_WHAT_IS_COPIED = """() => {
  document.addEventListener("copy", () => {
    window.copied = getSelection().toString() || document.activeElement.value;
  });
}"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built from a copy; a link to a page or heading that does not exist is an error."""
    folder = tmp_path_factory.mktemp("site")
    shutil.copy(ROOT / "mkdocs.yml", folder)
    shutil.copytree(ROOT / "docs", folder / "docs")
    built = subprocess.run(
        [sys.executable, "-m", "zensical", "build", "--strict"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=TIME_LIMIT,
        check=False,
    )
    assert built.returncode == 0, built.stdout + built.stderr
    return folder / "site"


def loaded(page: Path) -> Iterator[str]:
    """What a browser loads to show a page: scripts, styles, icons and pictures."""
    read = lxml.html.fromstring(page.read_bytes())
    for address in read.xpath(
        "//@src | //@srcset | //link[@rel != 'prev' and @rel != 'next']/@href"
    ):
        if not str(address).startswith("#"):
            yield str(address).split("#")[0]


def test_what_the_pages_and_styles_load_is_in_the_site(site: Path) -> None:
    pages = sorted(site.rglob("*.html"))
    assert len(pages) == 1 + len(list((ROOT / "docs").rglob("*.md")))  # 404.html is the other one
    for page in pages:
        places = [
            site / each.removeprefix("/") if each.startswith("/") else page.parent / each
            for each in loaded(page)
        ]
        assert [place for place in places if not place.is_file()] == [], page
    for style in site.rglob("*.css"):
        addresses = re.findall(r"url\(['\"]?([^)'\"]+)", style.read_text(encoding="utf-8"))
        assert [each for each in addresses if not each.startswith("data:")] == [], style


@pytest.fixture
def reader(browser: Browser) -> Iterator[Page]:
    """A tab without a network; at its end no request has failed or left the machine."""
    context = browser.new_context(offline=True)
    page = context.new_page()
    problems: list[str] = []
    page.on("requestfailed", lambda request: problems.extend(_failed(request)))
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("console", lambda said: problems.append(said.text) if said.type == "error" else None)
    yield page
    context.close()
    assert problems == []


def _failed(request: Request) -> list[str]:
    """Its address; what the next page has stopped loading has not failed."""
    return [] if request.failure == "net::ERR_ABORTED" else [request.url]


@pytest.mark.parametrize(("width", "theme"), [(PHONE, "dark"), (DESKTOP, "light")])
def test_pages_fit_a_phone_and_a_screen_and_are_accessible(
    site: Path, reader: Page, width: int, theme: str
) -> None:
    reader.set_viewport_size({"width": width, "height": 800})
    reader.emulate_media(color_scheme="dark" if theme == "dark" else "light")
    for name in LOOKED_AT:
        reader.goto((site / f"{name}.html").as_uri())
        assert reader.evaluate("document.documentElement.scrollWidth") <= width, name
    assert violations(reader) == []


def test_the_search_works_from_disk(site: Path, reader: Page) -> None:
    reader.goto((site / "guides" / "data.html").as_uri())
    reader.keyboard.press("Control+k")
    reader.keyboard.type("hierarchies")
    expect(reader.get_by_text(re.compile("^[0-9]+ results"))).to_be_visible(timeout=PATIENCE)
    reader.keyboard.press("Enter")
    reader.wait_for_url("**/guides/hierarchies.html*", timeout=PATIENCE)


def test_what_is_copied_from_a_block_of_commands_can_be_pasted(site: Path, reader: Page) -> None:
    reader.goto((site / "tutorial.html").as_uri())
    reader.evaluate(NOTE_WHAT_IS_COPIED)
    block = reader.locator(".highlight", has_text="shoal check").first
    block.hover()
    block.get_by_role("button").click()
    reader.wait_for_function("window.copied", timeout=PATIENCE)
    assert reader.evaluate("window.copied").startswith("shoal check tour/patients.csv")
