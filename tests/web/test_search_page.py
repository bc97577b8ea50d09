"""Search: live best and bound, the result, stopping early, and a demand that cannot be met."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from web.accessible import violations
from web.seeded import definition_of, demo_project, seed_project
from web.server import Running

pytestmark = pytest.mark.slow
expect.set_options(timeout=30_000)


@pytest.fixture
def data(ui_server: Running) -> Path:
    return ui_server.folder / "data"


def test_the_search_leads_to_explore_and_is_outdated_by_another_demand(
    page: Page, data: Path
) -> None:
    project = demo_project(data)
    page.goto(f"/project/{project.id}/search")
    expect(page.get_by_text("No search yet")).to_be_visible()
    page.get_by_role("button", name="Start the search").click()
    expect(page.get_by_role("button", name="Explore the result")).to_be_visible()
    expect(page.get_by_text("proved", exact=True)).to_be_visible()
    expect(page.get_by_text("No recoding that keeps the promise loses less than")).to_be_visible()
    expect(page.get_by_role("img", name="Best found and bound over time")).to_be_visible()
    expect(page.get_by_role("region", name="Levels of the best node")).to_contain_text("birth")
    assert violations(page) == []
    page.emulate_media(color_scheme="dark")
    expect(page.locator("body.body--dark")).to_be_attached()
    assert violations(page) == []
    page.reload()
    expect(page.get_by_text("proved", exact=True)).to_be_visible()
    page.get_by_role("button", name="Explore the result").click()
    page.wait_for_url("**/explore")
    _is_outdated_when_the_demand_changes(page, project.id)


def _is_outdated_when_the_demand_changes(page: Page, project: str) -> None:
    page.goto(f"/project/{project}/demand")
    page.get_by_role("spinbutton", name="k: how many look alike").fill("9")
    expect(page.get_by_text("at most 1 in 9")).to_be_visible()
    page.goto(f"/project/{project}/search")
    expect(page.get_by_text("The definition or the data changed since")).to_be_visible()
    expect(page.get_by_role("button", name="Search again")).to_be_visible()
    decide = page.locator(".steps-wide").get_by_role("link", name="Decide")
    expect(decide).to_contain_text("first search again")


def test_a_demand_that_cannot_be_met_shows_reasons_and_a_remedy_searches_again(
    page: Page, data: Path
) -> None:
    project = demo_project(data, k=3000)
    page.goto(f"/project/{project.id}/search")
    page.get_by_role("button", name="Start the search").click()
    expect(page.get_by_text("k-anonymity (k >= 3000) refuses")).to_be_visible()
    expect(page.get_by_text("infeasible", exact=True)).to_be_visible()
    page.get_by_role("button", name="Weaken k-anonymity to 2000 or below").click()
    expect(page.get_by_role("button", name="Explore the result")).to_be_visible()
    assert definition_of(data, project.id)["k"] == 2000


def test_a_long_search_is_stopped_and_its_best_is_kept(
    page: Page, data: Path, tmp_path: Path
) -> None:
    names = [f"column {letter}" for letter in "abcdef"]
    rows = [[str(i * (3 * j + 7) % (11 + j)) for j in range(6)] for i in range(20_000)]
    source = tmp_path / "many.csv"
    source.write_text("\n".join(map(",".join, [names, *rows])), encoding="utf-8")
    quasi: dict[str, Any] = {"role": "quasi-identifier", "hierarchy": {"intervals": [2, 4, 8]}}
    search = {"strategy": "exhaustive"}
    definition = {"k": 500, "search": search, "attributes": dict.fromkeys(names, quasi)}
    project = seed_project(data, source, definition)
    page.goto(f"/project/{project.id}/search")
    page.get_by_role("button", name="Start the search").click()
    stop = page.get_by_role("button", name="Stop and keep the best")
    expect(stop).to_be_enabled()
    expect(page.get_by_text("the best found loses")).to_be_visible()
    stop.click()
    expect(page.get_by_role("button", name="Explore the result")).to_be_visible()
    expect(page.get_by_text("You stopped the search; the best found so far is")).to_be_visible()
    expect(page.get_by_text("not proved", exact=True)).to_be_visible()
