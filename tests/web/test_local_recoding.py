"""Local recoding in the pages: chosen in Demand, searched, explored, compared, decided, downloaded,
verified."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

import commands
from recoding.test_local_release import NAMES, definition_in, write_table
from shoal.web.projects import Project
from web.accessible import looks, violations
from web.journey import assert_equals_the_command_line, download, go_on, new_project, search
from web.searched import THREE, beside, searched_demo
from web.seeded import definition_of, demo_project, seed_project
from web.server import Running

pytestmark = pytest.mark.slow
expect.set_options(timeout=60_000)


@pytest.fixture(scope="module")
def project(ui_server: Running) -> Project:
    return searched_demo(ui_server.folder / "data", THREE, recoding="local")


def choose_local(page: Page) -> None:
    page.get_by_role("radio", name="Levels by class (local)").click()
    expect(page.get_by_role("group", name="How long to search")).to_be_visible()
    expect(page.get_by_text("The demand can be met")).to_be_visible()
    expect(page.locator(".side").get_by_text("Combinations", exact=True)).to_be_visible()


def accept(page: Page) -> None:
    """From Explore to the downloads."""
    go_on(page, "Compare before and after", "compare")
    expect(page.locator(".paired")).to_have_count(2)
    go_on(page, "Decide", "decide")
    expect(page.get_by_text("Release with levels by class: every record is like")).to_be_visible()
    for tick in page.get_by_role("checkbox", name="I have read this and accept it").all():
        tick.click()
    page.get_by_role("button", name="Accept and release").click()
    expect(page.get_by_role("button", name="Download the release")).to_be_visible()


def test_a_file_is_uploaded_recoded_locally_and_verified(page: Page, tmp_path: Path) -> None:
    write_table(tmp_path, records=600, missing=True)
    data = (tmp_path / "data.csv").rename(tmp_path / "people.csv")
    new_project(page, "People", data)
    go_on(page, "Next: Columns", "columns")
    for name in NAMES:
        role = page.get_by_role("group", name=f"Role of {name}", exact=True)
        role.get_by_role("button", name="quasi-identifier").click()
    go_on(page, "Next: Hierarchies", "hierarchies")
    go_on(page, "Next: Demand", "demand")
    choose_local(page)
    search(page)
    expect(page.get_by_text("there is no lattice of nodes")).to_be_visible()
    expect(page.get_by_role("region", name="Largest classes")).to_be_visible()
    accept(page)
    assert "--node" not in page.locator(".command code").inner_text()
    own = tmp_path / "own"
    assert_equals_the_command_line(page, own, data)
    download(page, "Transformation", own / "pages")
    result = download(page, "Result, JSON", own)
    levels = json.loads(result.read_text(encoding="utf-8"))["levels"]
    assert max(len(levels[name]) for name in NAMES) > 1
    with (own / "downloaded").open(newline="", encoding="utf-8") as file:
        rows = [tuple(row[name] for name in NAMES) for row in csv.DictReader(file)]
    assert min(Counter(rows).values()) >= 5
    verified = commands.shoal(
        "verify", "people-release.csv", "-d", "people.yaml", "--result", result.name, folder=own
    )
    assert verified.returncode == 0, verified.stderr


def test_the_choice_is_saved_and_undone_and_full_domain_is_the_default(
    page: Page, ui_server: Running
) -> None:
    data = ui_server.folder / "data"
    project = demo_project(data)
    page.goto(f"/project/{project.id}/demand")
    expect(page.get_by_role("radio", name="One level per column")).to_be_checked()
    choose_local(page)
    page.get_by_role("button", name="Thorough").click()
    expect(page.get_by_role("button", name="Thorough")).to_have_attribute("aria-pressed", "true")
    page.reload()
    expect(page.get_by_role("radio", name="Levels by class")).to_be_checked()
    saved = definition_of(data, project.id)
    assert (saved["recoding"], saved["search"]) == ("local", {"effort": "high"})
    page.get_by_role("radio", name="One level per column").click()
    expect(page.get_by_role("group", name="How long to search")).to_have_count(0)
    expect(page.locator(".side").get_by_text("Lattice", exact=True)).to_be_visible()
    saved = definition_of(data, project.id)
    assert not {"recoding", "search"} & set(saved)
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("radio", name="Levels by class")).to_be_checked()
    assert definition_of(data, project.id)["recoding"] == "local"


def test_demand_says_at_once_what_cannot_be_recoded_locally(page: Page, ui_server: Running) -> None:
    project = demo_project(ui_server.folder / "data", recoding="local", loss="discernibility")
    page.goto(f"/project/{project.id}/demand")
    expect(page.get_by_role("alert").get_by_text("no-local-recoding")).to_be_visible()


def test_every_page_shows_a_local_recoding_and_is_accessible(page: Page, project: Project) -> None:
    for step, shown in (
        ("demand", "The demand can be met"),
        ("search", "Best found: levels by class"),
        ("explore", "there is no lattice of nodes"),
        ("compare", "Risk of being recognised"),
        ("decide", "Release with levels by class"),
    ):
        page.goto(f"/project/{project.id}/{step}")
        expect(page.get_by_text(shown).first).to_be_visible()
        for width in looks(page):
            expect(page.get_by_text(shown).first).to_be_visible()
            assert violations(page) == [], step
            assert page.evaluate("document.documentElement.scrollWidth") <= width, step


def test_explore_counts_the_records_at_each_level(page: Page, project: Project) -> None:
    page.goto(f"/project/{project.id}/explore")
    expect(page.get_by_role("region", name="Largest classes")).to_be_visible()
    bars = page.get_by_role("list", name=re.compile("^Records at each level of"))
    expect(bars).to_have_count(3)
    for each in bars.all():
        texts = each.locator(".num").all_inner_texts()
        assert sum(int(text.split()[0].replace(",", "")) for text in texts) > 1800
    expect(page.get_by_text(re.compile("One level per column would lose"))).to_be_visible()


def test_a_stopped_local_search_is_released_as_it_was_seen(
    page: Page, ui_server: Running, tmp_path: Path
) -> None:
    data = ui_server.folder / "data"
    write_table(tmp_path, records=20_000)
    mapping = definition_in(tmp_path, search={"effort": "high"})
    keys = {key: each for key, each in mapping.items() if key not in ("source", "output")}
    project = seed_project(data, tmp_path / "data.csv", keys)
    page.goto(f"/project/{project.id}/search")
    page.get_by_role("button", name="Start the search").click()
    stop = page.get_by_role("button", name="Stop and keep the best")
    expect(stop).to_be_enabled()
    expect(page.get_by_text(re.compile("the best found loses"))).to_be_visible()
    stop.click()
    expect(page.get_by_text("You stopped the search; the best found so far")).to_be_visible()
    page.goto(f"/project/{project.id}/decide")
    expect(page.get_by_text("The search was stopped: a better one may exist")).to_be_visible()
    page.goto(f"/project/{project.id}/explore")
    accept(page)
    expect(page.get_by_text("the command finds a recoding of its own")).to_be_visible()
    assert "--time-limit" in page.locator(".command code").inner_text()
    with beside(data) as services:
        saved = services.projects.get(project.id, "you")
        seen = services.jobs.result(saved.jobs["search"], "you")
        result = services.jobs.result(saved.jobs["release"], "you")["result"]
    for key in ("levels", "loss", "classes", "suppressed"):
        assert seen[key] == result[key]
    page.reload()
    expect(page.get_by_role("button", name="Download the release")).to_be_visible()


def test_a_declined_local_release_leads_to_the_demand(page: Page, project: Project) -> None:
    page.goto(f"/project/{project.id}/decide")
    page.get_by_role("button", name="Decline").click()
    page.get_by_role("dialog").get_by_role("button", name="Decline").click()
    expect(page.get_by_role("button", name="Change the demand")).to_be_visible()
    page.get_by_role("button", name="Decide again").click()
    expect(page.get_by_role("button", name="Accept and release")).to_be_visible()
