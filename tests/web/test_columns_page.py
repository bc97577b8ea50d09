"""The page Columns in a real browser: roles with reasons, and a live count of who stands out."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from shoal.web.projects import Projects
from shoal.web.services import STORE_FILE
from shoal.web.store import Store
from web.accessible import looks, violations
from web.seeded import demo_folder, demo_project, seed_project

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

    from shoal.web.projects import Project
    from web.server import Running

pytestmark = pytest.mark.slow

SECONDS = 60_000
"""Milliseconds that a busy machine may take."""


def data_of(server: Running) -> Path:
    return server.folder / "data"


def opened(page: Page, project: Project) -> None:
    """The page Columns, once the data was read and the records were counted."""
    page.goto(f"/project/{project.id}/data")
    page.wait_for_selector("record-window", timeout=SECONDS)
    page.goto(f"/project/{project.id}/columns")
    page.wait_for_selector(".column-card")
    page.wait_for_function(COUNTED, timeout=SECONDS)


COUNTED = "document.querySelector('.side .fact .value').textContent.includes(' of ')"


def card(page: Page, name: str) -> Locator:
    heading = page.get_by_role("heading", name=name, exact=True)
    return page.locator(".column-card").filter(has=heading)


def saved(server: Running, project: Project) -> Project:
    store = Store(data_of(server) / STORE_FILE)
    try:
        return Projects(store, data_of(server)).get(project.id, project.owner)
    finally:
        store.close()


def alone(*columns: str) -> int:
    """The records of the demo that are alone on these columns, counted plainly."""
    with (demo_folder() / "patients.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    missing = ("", "?", "unknown")
    classes = Counter(
        tuple(None if row[name] in missing else row[name] for name in columns) for row in rows
    )
    return sum(size == 1 for size in classes.values())


def test_a_role_is_saved_recolours_the_table_and_is_counted(page: Page, ui_server: Running) -> None:
    project = demo_project(data_of(ui_server))
    opened(page, project)
    number = page.locator(".side .fact .value").first
    every = alone("birth", "sex", "zip", "country", "occupation")
    assert number.inner_text() == f"{every:,} of 2,000 records"

    card(page, "birth").get_by_role("button", name="Drop").click()
    page.wait_for_function("document.querySelectorAll('.rw-name')[2].dataset.role == 'drop'")
    fewer = alone("sex", "zip", "country", "occupation")
    page.get_by_text(f"{fewer:,} of 2,000 records").wait_for(timeout=SECONDS)
    assert saved(ui_server, project).role_of("birth") == "drop"

    card(page, "birth").get_by_role("button", name="Use the suggestion").click()
    page.get_by_text(f"{every:,} of 2,000 records").wait_for(timeout=SECONDS)
    attribute = saved(ui_server, project).attributes["birth"]
    assert attribute["role"] == "quasi-identifier"
    assert "date" in attribute["hierarchy"]
    assert "Suggested: quasi-identifier." in card(page, "birth").inner_text()


def test_a_kept_identifier_warns_and_persons_can_be_counted(
    page: Page, ui_server: Running, tmp_path: Path
) -> None:
    path = tmp_path / "visits.csv"
    rows = [f"P{i % 400},{1950 + i % 400 % 40},{'mf'[i % 400 % 2]},note {i}" for i in range(1200)]
    path.write_text("\n".join(["patient_id,birth_year,sex,remark", *rows]))
    project = seed_project(data_of(ui_server), path, {"k": 5, "attributes": {}})
    opened(page, project)
    assert saved(ui_server, project).definition["person"] == ["patient_id"]
    assert card(page, "patient_id").get_attribute("data-role") == "person"
    page.get_by_role("button", name="Count records instead").click()
    page.get_by_text("one person may have several records").wait_for()
    assert "person" not in saved(ui_server, project).definition
    page.get_by_role("button", name="Count persons").click()
    page.get_by_text("k counts persons").wait_for()

    remark = card(page, "remark")
    assert remark.locator(".note-card").count() == 0
    remark.get_by_role("button", name="Keep").click()
    remark.locator(".note-card").get_by_text("no other record has").wait_for()


def test_two_tabs_do_not_overwrite_each_other(page: Page, ui_server: Running) -> None:
    project = demo_project(data_of(ui_server))
    opened(page, project)
    other = page.context.new_page()
    other.goto(f"/project/{project.id}/columns")
    other.wait_for_selector(".column-card")
    other.wait_for_function(COUNTED, timeout=SECONDS)
    card(page, "ward").get_by_role("button", name="Drop").click()
    page.wait_for_function("document.querySelectorAll('.rw-name')[10].dataset.role == 'drop'")
    card(other, "sex").get_by_role("button", name="Keep").click()
    other.get_by_text("changed in another tab").wait_for()
    found = saved(ui_server, project)
    assert (found.role_of("ward"), found.role_of("sex")) == ("drop", "quasi-identifier")
    other.get_by_role("button", name="Load the page again").click()
    other.wait_for_function("document.querySelectorAll('.rw-name')[10]?.dataset.role == 'drop'")
    other.get_by_role("button", name="Undo").click()
    other.wait_for_function("document.querySelectorAll('.rw-name')[10]?.dataset.role == 'keep'")
    other.close()


def test_two_hundred_columns_stay_usable(page: Page, ui_server: Running, tmp_path: Path) -> None:
    names = ["age", "sex", *(f"item_{i:03d}" for i in range(198))]
    path = tmp_path / "wide.csv"
    rows = [",".join(str((i * j) % (j % 7 + 2)) for j in range(200)) for i in range(60)]
    path.write_text("\n".join([",".join(names), *rows]))
    attributes: dict[str, Any] = dict.fromkeys(names, "drop")
    attributes["age"] = {"role": "quasi-identifier", "hierarchy": "suppress"}
    project = seed_project(data_of(ui_server), path, {"k": 5, "attributes": attributes})
    opened(page, project)
    assert page.locator(".column-card").count() == 24
    page.get_by_role("button", name="Show 24 of 176 more columns").click()
    page.wait_for_function("document.querySelectorAll('.column-card').length == 48")
    page.get_by_label("Find a column").fill("ITEM_19")
    page.wait_for_function("document.querySelectorAll('.column-card').length == 8")
    page.get_by_label("Show").click()
    page.get_by_role("option", name="quasi-identifier").click()
    page.get_by_text("No column matches.").wait_for()


def test_everybody_can_use_the_columns_at_any_width(page: Page, ui_server: Running) -> None:
    opened(page, demo_project(data_of(ui_server)))
    for width in looks(page):
        assert violations(page) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.locator("h1").count() == 1
