"""The frame of the pages: header, steps, theme, help, on every width and without a violation."""

from __future__ import annotations

from typing import Literal

import pytest
from playwright.sync_api import Browser, Page, expect

from web.accessible import violations
from web.seeded import definition_of, demo_project
from web.server import Running
from web.tabs import log_in, new_context

pytestmark = pytest.mark.slow
expect.set_options(timeout=30_000)


@pytest.fixture(scope="module")
def address(ui_server: Running) -> str:
    """The page Search of a project that was not searched: the lightest one."""
    return f"/project/{demo_project(ui_server.folder / 'data').id}/search"


def test_the_page_fits_every_width_and_has_no_serious_violation(page: Page, address: str) -> None:
    themes: tuple[Literal["light", "dark"], ...] = ("light", "dark")
    page.goto(address.replace("search", "demand"))
    page.wait_for_selector("text=The demand can be met")
    for width in (1920, 1280, 700, 390):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        for theme in themes if width in (390, 1280) else ():
            page.emulate_media(color_scheme=theme)
            expect(page.locator(f"body.body--{theme}")).to_be_attached()
            assert violations(page) == []


def test_the_steps_say_where_one_is_and_what_is_blocked_on_small_screens_too(
    page: Page, address: str
) -> None:
    page.goto(address)
    steps = page.get_by_role("navigation", name="Steps").first
    expect(steps.locator("[aria-current=step]")).to_contain_text("Search")
    expect(steps.get_by_role("link", name="Columns")).to_have_attribute(
        "href", address.replace("search", "columns")
    )
    blocked = steps.get_by_role("link", name="Decide")
    expect(blocked).to_have_attribute("aria-disabled", "true")
    expect(blocked).to_contain_text("first search")

    page.set_viewport_size({"width": 390, "height": 800})
    summary = page.locator("summary", has_text="5 of 8")
    link = page.locator(".steps-narrow").get_by_role("link", name="Columns")
    expect(link).to_be_hidden()
    summary.click()
    expect(link).to_be_visible()


def test_the_theme_is_the_systems_until_one_is_chosen_and_is_remembered(
    page: Page, address: str
) -> None:
    page.emulate_media(color_scheme="light")
    page.goto(address)
    expect(page.locator("body.body--light")).to_be_attached()
    page.get_by_role("button", name="Light or dark").click()
    page.get_by_role("menuitem", name="Dark").or_(page.locator(".q-item", has_text="Dark")).click()
    expect(page.locator("body.body--dark")).to_be_attached()
    page.reload()
    expect(page.locator("html[data-theme=dark] body.body--dark")).to_be_attached()


def test_the_keyboard_skips_to_the_main_part_and_opens_and_closes_hints_and_help(
    page: Page, address: str
) -> None:
    page.goto(address)
    page.wait_for_selector("h1")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the main part")).to_be_focused()
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.classList.contains('main')")

    page.get_by_role("button", name="What is bound?").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".hint-text")).to_contain_text("No recoding that keeps the promise")
    page.keyboard.press("Escape")
    expect(page.locator(".hint-text")).to_have_count(0)

    page.get_by_role("button", name="Help").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_contain_text("Nothing leaves this server")
    expect(page.get_by_role("dialog")).to_contain_text("quasi-identifier")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_numbers_are_written_as_the_reader_writes_them(
    ui_server: Running, browser: Browser, address: str
) -> None:
    context = new_context(browser, ui_server, locale="de-DE")
    log_in(context, ui_server)
    page = context.new_page()
    page.goto(address.replace("search", "demand"))
    expect(page.get_by_text("Up to 100 of 2.000 records may be left out.")).to_be_visible()
    context.close()


def test_a_second_window_is_told_that_the_project_changed_and_overwrites_nothing(
    page: Page, ui_server: Running
) -> None:
    data = ui_server.folder / "data"
    project = demo_project(data).id
    second = page.context.new_page()
    for each in (page, second):
        each.goto(f"/project/{project}/demand")
        expect(each.get_by_text("The demand can be met")).to_be_visible()
    page.get_by_role("spinbutton", name="k: how many look alike").fill("7")
    expect(page.get_by_text("at most 1 in 7")).to_be_visible()
    second.get_by_role("spinbutton", name="k: how many look alike").fill("9")
    expect(second.get_by_role("dialog")).to_contain_text("changed in another tab or window")
    assert definition_of(data, project)["k"] == 7
    second.get_by_role("button", name="Load the page again").click()
    expect(second.get_by_role("spinbutton", name="k: how many look alike")).to_have_value("7")


def test_another_users_or_unknown_project_is_not_shown(page: Page) -> None:
    answer = page.request.get(f"/project/{'0' * 32}/demand")
    assert answer.status == 404
