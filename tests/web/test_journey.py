"""The whole way through the pages, from data to a release that equals the command line's."""

from __future__ import annotations

import os
import re
import shlex
import zipfile
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

import commands
from web.searched import beside, releases, searched_demo
from web.server import Running

pytestmark = pytest.mark.slow
expect.set_options(timeout=120_000)
DATA = Path(os.environ.get("SHOAL_DATA", Path(__file__).parents[3] / "shared" / "data"))
ADULT = DATA / "adult"


def go_on(page: Page, label: str, step: str) -> None:
    """Press the one primary button, which leads to the next step."""
    page.get_by_role("button", name=label, exact=True).click()
    page.wait_for_url(re.compile(f"/{step}(\\?|$)"))


def search_and_explore(page: Page) -> None:
    """From the demand to the lattice; the search may have been started by the button before."""
    go_on(page, "Start the search", "search")
    start = page.get_by_role("button", name="Start the search")
    explore = page.get_by_role("button", name="Explore the result")
    stop = page.get_by_role("button", name="Stop and keep the best")
    expect(start.or_(stop).or_(explore).first).to_be_visible()
    if start.is_visible():
        start.click()
    go_on(page, "Explore the result", "explore")
    expect(page.locator("svg.lattice")).to_be_visible()
    expect(page.locator(".solution").first).to_be_visible()


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


def test_the_demo_is_released_as_the_command_line_does_it(
    page: Page, ui_server: Running, tmp_path: Path
) -> None:
    page.goto("/")
    page.get_by_role("button", name="Try the demo").first.click()
    page.wait_for_url("**/data")
    go_on(page, "Next: Columns", "columns")
    go_on(page, "Next: Hierarchies", "hierarchies")
    go_on(page, "Continue to Demand", "demand")
    search_and_explore(page)
    page.locator(".solution").nth(2).click()
    page.get_by_role("button", name="Choose this one").click()
    expect(page.locator(".lattice-node.is-chosen.is-selected")).to_have_count(1)
    release(page)
    with beside(ui_server.folder / "data") as services:
        project = services.projects.of("you")[0]
        upload = services.projects.folder(project) / str((project.source or {})["upload"])
    data = tmp_path / "patients.csv"
    data.write_bytes(upload.read_bytes())
    assert "--node=" in page.locator(".command code").inner_text()
    assert_equals_the_command_line(page, tmp_path / "own", data)


def upload_hierarchy(page: Page, column: Locator, name: str) -> None:
    """Upload the hierarchy file of a column, once its values are counted and it is shown."""
    expect(column).to_contain_text("covered")
    column.click()
    expect(page.get_by_role("heading", name=name, exact=True).first).to_be_visible()
    expect(column).to_have_attribute("aria-current", "true")
    page.get_by_role("button", name="Upload a file").click()
    dialog = page.get_by_role("dialog", name="Upload a hierarchy file")
    dialog.locator("input[type=file]").set_input_files(ADULT / "hierarchies" / f"{name}.csv")
    expect(dialog).to_have_count(0)


if ADULT.exists():

    def test_adult_with_its_hierarchy_files_is_released_as_the_command_line_does_it(
        page: Page, tmp_path: Path
    ) -> None:
        names = [path.stem for path in sorted((ADULT / "hierarchies").glob("*.csv"))]
        page.goto("/")
        page.get_by_role("button", name="New project").first.click()
        page.get_by_role("dialog").get_by_role("textbox").fill("Adult")
        page.get_by_role("dialog").get_by_role("button", name="Create").click()
        page.wait_for_url("**/data")
        page.locator("input[type=file]").set_input_files(ADULT / "data.csv")
        expect(page.get_by_role("button", name="Next: Columns")).to_be_enabled()
        go_on(page, "Next: Columns", "columns")
        for name in names:
            role = page.get_by_role("group", name=f"Role of {name}", exact=True)
            chosen = role.get_by_role("button", name="quasi-identifier")
            chosen.click()
            expect(chosen).to_have_attribute("aria-pressed", "true")
        go_on(page, "Next: Hierarchies", "hierarchies")
        columns = page.get_by_role("navigation", name="Quasi-identifiers")
        for name in names:
            column = columns.get_by_role("button", name=re.compile(f"^{name}"))
            upload_hierarchy(page, column, name)
        go_on(page, "Continue to Demand", "demand")
        search_and_explore(page)
        release(page)
        assert "--node=" not in page.locator(".command code").inner_text()
        assert_equals_the_command_line(page, tmp_path / "own", ADULT / "data.csv")


def test_an_infeasible_demand_says_why_in_every_page_and_writes_nothing(
    page: Page, ui_server: Running
) -> None:
    data = ui_server.folder / "data"
    roles = {"birth": {"role": "quasi-identifier", "hierarchy": {"date": ["year"]}, "limit": 1}}
    before = releases(data)
    project = searched_demo(data, roles, k=900, suppression=0)
    for step in ("search", "explore", "compare", "decide"):
        page.goto(f"/project/{project.id}/{step}")
        expect(page.get_by_role("alert").first).to_contain_text("infeasible")
        expect(page.get_by_role("button", name="Change the demand")).to_be_visible()
    assert releases(data) == before
    with beside(data) as services:
        assert "release" not in services.projects.get(project.id, "you").jobs
