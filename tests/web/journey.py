"""The steps of the journey as a custodian takes them, from a file to an accepted release."""

from __future__ import annotations

import re
import shlex
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

from playwright.sync_api import expect

import commands

if TYPE_CHECKING:
    from playwright.sync_api import Page


def new_project(page: Page, name: str, data: Path) -> None:
    """A project with an uploaded file, which has been read."""
    page.goto("/")
    page.get_by_role("button", name="New project").first.click()
    page.get_by_role("dialog").get_by_role("textbox").fill(name)
    page.get_by_role("dialog").get_by_role("button", name="Create").click()
    page.wait_for_url("**/data")
    page.locator("input[type=file]").set_input_files(data)
    expect(page.get_by_role("button", name="Next: Columns")).to_be_enabled()


def go_on(page: Page, label: str, step: str) -> None:
    """Press the one primary button, which leads to the next step."""
    page.get_by_role("button", name=label, exact=True).click()
    page.wait_for_url(re.compile(f"/{step}(\\?|$)"))


def search(page: Page) -> None:
    """From the demand to Explore; the search may have been started by the button before."""
    go_on(page, "Start the search", "search")
    start = page.get_by_role("button", name="Start the search")
    explore = page.get_by_role("button", name="Explore the result")
    stop = page.get_by_role("button", name="Stop and keep the best")
    expect(start.or_(stop).or_(explore).first).to_be_visible()
    if start.is_visible():
        start.click()
    go_on(page, "Explore the result", "explore")


def release(page: Page) -> None:
    """From Explore to the downloads."""
    go_on(page, "Compare before and after", "compare")
    expect(page.locator(".paired")).to_have_count(2)
    go_on(page, "Decide", "decide")
    accept = page.get_by_role("button", name="Accept and release")
    expect(accept).to_be_visible()
    for tick in page.get_by_role("checkbox", name="I have read this and accept it").all():
        tick.click()
    accept.click()
    expect(page.get_by_role("button", name="Download the release")).to_be_visible()


def download(page: Page, title: str, folder: Path) -> Path:
    with page.expect_download() as found:
        page.locator(".downloads").get_by_role("link", name=title, exact=True).click()
    path = folder / found.value.suggested_filename
    found.value.save_as(path)
    return path


def assert_equals_the_command_line(page: Page, folder: Path, data: Path) -> None:
    """Paste the shown command in a folder with the data and the downloaded definition."""
    folder.mkdir()
    given = download(page, "Release", folder).rename(folder / "downloaded")
    if page.get_by_role("link", name="Definition with its hierarchy files").count():
        packed = download(page, "Definition with its hierarchy files", folder)
        with zipfile.ZipFile(packed) as unpacked:
            unpacked.extractall(folder)
    else:
        download(page, "Definition, YAML", folder)
    (folder / data.name).symlink_to(data)
    line = page.locator(".command code").inner_text()
    words = shlex.split(line)
    assert words[:2] == ["shoal", "run"]
    finished = commands.shoal(*words[1:], folder=folder)
    assert finished.returncode == 0, finished.stderr
    written = next(folder.glob("*-release.csv"))
    assert given.read_bytes() == written.read_bytes()
    (folder / "pages").mkdir()
    report = download(page, "Report", folder / "pages")
    assert line in report.read_text(encoding="utf-8").replace("&#x27;", "'")
