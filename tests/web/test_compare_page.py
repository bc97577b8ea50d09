"""Compare: generalized by default, original values after one deliberate click."""

from __future__ import annotations

import csv

import pytest
from playwright.sync_api import Page, expect

from web.accessible import violations
from web.searched import THREE, beside, searched_demo
from web.seeded import demo_folder
from web.server import Running

pytestmark = pytest.mark.slow
expect.set_options(timeout=30_000)


def test_original_values_are_shown_after_one_deliberate_click_only(
    page: Page, ui_server: Running
) -> None:
    data = ui_server.folder / "data"
    project = searched_demo(data, THREE)
    with (demo_folder() / "patients.csv").open(encoding="utf-8", newline="") as file:
        births = {row["birth"] for row in csv.DictReader(file)} - {""}
    page.goto(f"/project/{project.id}/compare")
    original = page.get_by_role("region", name="Original: how many different values")
    released = page.get_by_role("region", name="Released", exact=True)
    expect(released.locator("tbody tr").first).to_be_visible()
    assert original.locator("tbody tr").count() == released.locator("tbody tr").count() > 1
    assert not births & set(page.locator("td").all_inner_texts())
    expect(page.get_by_text("have fewer than 5 alike").first).to_be_visible()
    assert violations(page) == []

    released.evaluate("box => box.scrollTop = 90")
    page.wait_for_function("document.querySelectorAll('.paired')[0].scrollTop === 90")

    page.get_by_role("button", name="Show original values").click()
    page.get_by_role("dialog").get_by_role("button", name="Leave them hidden").click()
    assert not births & set(page.locator("td").all_inner_texts())
    page.get_by_role("button", name="Show original values").click()
    page.get_by_role("dialog").get_by_role("button", name="Show them").click()
    expect(page.get_by_role("button", name="Hide original values")).to_be_visible()
    shown = page.get_by_role("region", name="Original", exact=True).locator("tr td:first-child")
    assert set(shown.all_inner_texts()) <= births | {"missing"}
    with beside(data) as services:
        entries = [(each.user, each.action) for each in services.audit.latest(5)]
        noted = services.jobs.result(
            services.projects.get(project.id, "you").jobs["compare"], "you"
        )
    assert ("you", "looked at original values") in entries
    assert not noted["raw"]
    page.reload()
    expect(page.get_by_role("button", name="Show original values")).to_be_visible()
