"""The whole way through the pages, from data to a release that equals the command line's."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect
from scripts.screenshots import TUTORIAL, follow, instructions

from web.journey import assert_equals_the_command_line, go_on, new_project, release, search
from web.searched import beside, releases, searched_demo
from web.server import Running

pytestmark = pytest.mark.slow
expect.set_options(timeout=120_000)
DATA = Path(os.environ.get("SHOAL_DATA", Path(__file__).parents[3] / "shared" / "data"))
ADULT = DATA / "adult"


def search_and_explore(page: Page) -> None:
    """From the demand to a lattice that is shown."""
    search(page)
    expect(page.locator("svg.lattice")).to_be_visible()
    expect(page.locator(".solution").first).to_be_visible()


def follow_the_tutorial(page: Page, choose: Callable[[Page], None]) -> None:
    """Press and tick what docs/tutorials/web.md says; in Explore, choose a solution too."""
    for verb, label in instructions(TUTORIAL.read_text(encoding="utf-8")):
        if verb == "tick":
            expect(page.get_by_role("button", name="Accept and release")).to_be_visible()
        if label == "Compare before and after":
            choose(page)
        follow(page, verb, label)
    assert label == "Download the release"


def choose_the_third(page: Page) -> None:
    expect(page.locator("svg.lattice")).to_be_visible()
    page.locator(".solution").nth(2).click()
    page.get_by_role("button", name="Choose this one").click()
    expect(page.locator(".lattice-node.is-chosen.is-selected")).to_have_count(1)


def test_the_demo_is_released_by_the_tutorial_as_the_command_line_does_it(
    page: Page, ui_server: Running, tmp_path: Path
) -> None:
    page.goto("/")
    follow_the_tutorial(page, choose_the_third)
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
        new_project(page, "Adult", ADULT / "data.csv")
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
        go_on(page, "Next: Demand", "demand")
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
