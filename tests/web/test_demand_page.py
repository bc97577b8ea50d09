"""Demand: every choice is saved, every mistake is shown where it was made, and what is feasible."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from web.searched import beside
from web.seeded import definition_of, demo_project, seed_project
from web.server import Running

pytestmark = pytest.mark.slow
expect.set_options(timeout=30_000)

FEASIBLE = "The demand can be met"


@pytest.fixture
def data(ui_server: Running) -> Path:
    return ui_server.folder / "data"


def opened(page: Page, data: Path, **keys: Any) -> str:
    """The page of a new project on the demo data, and the id of the project."""
    project = demo_project(data, **keys)
    page.goto(f"/project/{project.id}/demand")
    expect(page.get_by_role("heading", name="Demand")).to_be_visible()
    return project.id


def saved(page: Page, data: Path, project: str, path: tuple[str, ...], value: Any) -> None:
    """Wait until the project says this."""
    for _ in range(50):
        found: Any = definition_of(data, project)
        for key in path:
            found = found.get(key) if isinstance(found, dict) else None
        if found == value:
            return
        page.wait_for_timeout(100)
    raise AssertionError(f"{path} is {found!r}, not {value!r}")


def test_the_side_says_lattice_levels_both_ends_and_warnings(page: Page, data: Path) -> None:
    opened(page, data)
    side = page.get_by_role("region", name="About this step")
    expect(side).to_contain_text("600 nodes")
    expect(side).to_contain_text("(4, 1, 4, 3, 2)")
    expect(side).to_contain_text("k = 1")
    expect(side).to_contain_text("k = 2,000")
    expect(side).to_contain_text(FEASIBLE)
    expect(side).to_contain_text("'diagnosis' discloses more than is released")
    expect(page.get_by_text("For example, they could all read: birth")).to_be_visible()


def test_k_is_saved_by_number_and_by_slider_and_undone(page: Page, data: Path) -> None:
    project = opened(page, data)
    field = page.get_by_role("spinbutton", name="k: how many look alike")
    field.fill("20")
    saved(page, data, project, ("k",), 20)
    expect(page.get_by_text("at most 1 in 20, 5%")).to_be_visible()
    page.get_by_role("slider", name="k: how many look alike").focus()
    page.keyboard.press("ArrowRight")
    saved(page, data, project, ("k",), 21)
    page.get_by_role("button", name="Undo").click()
    saved(page, data, project, ("k",), 20)
    expect(page.get_by_role("spinbutton", name="k: how many look alike")).to_have_value("20")


def test_a_mistake_is_shown_beside_its_field_and_blocks_the_search(page: Page, data: Path) -> None:
    opened(page, data)
    expect(page.get_by_text(FEASIBLE)).to_be_visible()
    page.get_by_role("spinbutton", name="k: how many look alike").fill("1")
    card = page.locator(".panel", has_text="How many must look alike")
    expect(card.get_by_role("alert")).to_contain_text("must be at least 2")
    expect(page.get_by_role("button", name="Start the search")).to_be_disabled()
    page.get_by_role("spinbutton", name="k: how many look alike").fill("3")
    expect(card.get_by_role("alert")).to_be_hidden()
    expect(page.get_by_role("button", name="Start the search")).to_be_enabled()


def test_a_sensitive_column_without_a_demand_says_so_and_takes_one(page: Page, data: Path) -> None:
    project = opened(page, data)
    page.get_by_role("button", name="Remove: different values of diagnosis").click()
    saved(page, data, project, ("attributes", "diagnosis"), {"role": "sensitive"})
    card = page.locator(".panel", has_text="What nobody may learn")
    expect(card.get_by_role("alert")).to_contain_text("nothing is demanded of it")
    page.get_by_role("button", name="Add a demand on diagnosis").click()
    page.get_by_text("Spread as in the table").click()
    saved(page, data, project, ("attributes", "diagnosis", "closeness"), {"t": 0.2})
    expect(card.get_by_role("alert")).to_be_hidden()
    page.get_by_role("spinbutton", name="t, from 0 to 1").fill("7")
    expect(card.get_by_role("alert")).to_contain_text("must be at most 1")


def test_every_other_choice_is_saved_too(page: Page, data: Path) -> None:
    project = opened(page, data)
    expect(page.get_by_text("Up to 100 of 2,000 records may be left out.")).to_be_visible()
    page.get_by_role("spinbutton", name="Share of records that may be left out").fill("2.5")
    saved(page, data, project, ("suppression",), "2.5%")
    expect(page.get_by_text("Up to 50 of 2,000 records may be left out.")).to_be_visible()
    page.get_by_role("button", name="Number").click()
    saved(page, data, project, ("suppression",), 50)

    page.get_by_role("combobox", name="At most level of zip").click()
    page.get_by_role("option", name="2:").click()
    saved(page, data, project, ("attributes", "zip", "limit"), 2)
    expect(page.get_by_text("360 nodes")).to_be_visible()
    page.get_by_role("slider", name="How much birth matters").focus()
    page.keyboard.press("ArrowLeft")
    saved(page, data, project, ("attributes", "birth", "priority"), 0.9)

    page.get_by_role("switch", name="Limit the average risk").click()
    saved(page, data, project, ("risk",), {"average": 0.1})
    page.get_by_role("button", name="More: missing values, loss, time").click()
    page.get_by_text("their records are left out before everything else").click()
    saved(page, data, project, ("missing", "match"), "basic")
    page.get_by_role("textbox", name="Longest search").fill("soon")
    expect(page.get_by_text("is not a duration")).to_be_visible()
    page.get_by_role("textbox", name="Longest search").fill("5 min")
    saved(page, data, project, ("search",), {"time limit": "5 min"})


def test_what_was_counted_before_is_shown_without_counting_again(page: Page, data: Path) -> None:
    project = opened(page, data)

    def counts() -> int:
        with beside(data) as services:
            jobs = services.jobs.of("you", project=project)
            return sum(job.task == "feasibility" for job in jobs)

    expect(page.get_by_text(FEASIBLE)).to_be_visible()
    field = page.get_by_role("spinbutton", name="Share of records that may be left out")
    field.fill("2")
    expect(page.get_by_text("Up to 40 of 2,000 records may be left out.")).to_be_visible()
    before = counts()
    field.fill("5")
    expect(page.get_by_text("Up to 100 of 2,000 records may be left out.")).to_be_visible()
    page.get_by_role("button", name="More: missing values, loss, time").click()
    page.get_by_role("switch", name="Refuse a release that has any warning").click()
    saved(page, data, project, ("strict",), True)
    field.fill("2")
    expect(page.get_by_text("Up to 40 of 2,000 records may be left out.")).to_be_visible()
    assert counts() == before


def test_an_infeasible_demand_offers_remedies_and_one_click_applies_one(
    page: Page, data: Path
) -> None:
    project = opened(page, data, k=3000)
    expect(page.get_by_text("The demand cannot be met on these data.")).to_be_visible()
    page.get_by_role("button", name="Weaken k-anonymity to 2000 or below").click()
    saved(page, data, project, ("k",), 2000)
    expect(page.get_by_text(FEASIBLE)).to_be_visible()


def test_odd_names_are_shown_as_text_and_do_not_widen_the_page(
    page: Page, data: Path, tmp_path: Path
) -> None:
    code, long, other = "<script>alert(1)</script>", "x" * 10_000, "\u0639\u0645\u0631 \U0001f642"
    source = tmp_path / "odd.csv"
    rows = "1,x,3,a\n2,y,4,b\n" * 20
    source.write_text(f"{code},{long},{other},{code}2\n{rows}", encoding="utf-8")
    quasi = {"role": "quasi-identifier", "hierarchy": "suppress"}
    demand = {"role": "sensitive", "diversity": {"distinct": 2}}
    attributes = {code: quasi, long: quasi, other: quasi, f"{code}2": demand}
    project = seed_project(data, source, {"k": 2, "attributes": attributes})
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"/project/{project.id}/demand")
    expect(page.get_by_text(FEASIBLE)).to_be_visible()
    expect(page.get_by_text(code, exact=True).first).to_be_visible()
    expect(page.get_by_role("heading", name=f"{code}2")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") == 390


def test_without_a_quasi_identifier_the_page_says_what_to_do_first(page: Page, data: Path) -> None:
    opened(page, data, attributes={"name": "identifier"})
    expect(page.get_by_text("First choose a quasi-identifier in Columns.")).to_be_visible()
    expect(page.get_by_role("button", name="Go to Columns")).to_be_visible()
