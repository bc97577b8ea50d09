"""The pages Home and Data in a real browser: a file becomes a table that can be looked at."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from shoal.web.services import STORE_FILE
from shoal.web.store import Store
from web.accessible import looks, violations
from web.tabs import log_in, new_context

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Dialog, Page

    from web.server import Running
    from web.tabs import Tabs

pytestmark = pytest.mark.slow

SECONDS = 60_000
"""Milliseconds that a busy machine may take."""


def make_project(page: Page, name: str) -> str:
    """Make a project by its dialog, and return its id; the page is at its data."""
    page.goto("/")
    page.wait_for_function(CONNECTED, timeout=SECONDS)
    page.get_by_role("button", name="New project").click()
    page.get_by_label("Name of the project").fill(name)
    page.get_by_role("button", name="Create").click()
    page.wait_for_url("**/data")
    return page.url.split("/")[-2]


def upload(page: Page, file: Path) -> None:
    page.wait_for_selector("file-drop input", state="attached")
    page.set_input_files("file-drop input", file)
    page.wait_for_selector("record-window, .note-card.problem", timeout=SECONDS)
    page.wait_for_function(CONNECTED, timeout=SECONDS)


CONNECTED = "window.did_handshake === true"
"""From then on the server hears clicks."""


def audit_of(server: Running) -> list[str]:
    store = Store(server.folder / "data" / STORE_FILE)
    try:
        return [row["action"] for row in store.read("SELECT action FROM audit")]
    finally:
        store.close()


def write_people(path: Path, records: int) -> Path:
    rows = (f"Person {i},{20 + i % 60},{'fm'[i % 2]},{i / 8:.3f}" for i in range(records))
    path.write_text("\n".join(["name,age,sex,weight", *rows]) + "\n")
    return path


def test_a_file_is_uploaded_read_and_shown_at_any_offset(
    page: Page, ui_server: Running, tmp_path: Path
) -> None:
    project = make_project(page, "Many people")
    upload(page, write_people(tmp_path / "people.csv", 300_000))
    assert page.locator(".side .fact .value").all_text_contents() == ["300,000", "4"]
    assert page.locator(".rw-body").count() == 0, "no value before the click"
    assert "looked at raw records" not in audit_of(ui_server)[-1]

    page.get_by_role("button", name="Show the records").click()
    page.get_by_text("Person 0", exact=True).wait_for()
    assert audit_of(ui_server)[-1] == "looked at raw records"
    assert page.locator(".rw-rows .rw-row").count() == 60
    page.get_by_label("Go to record").fill("250001")
    page.get_by_label("Go to record").press("Enter")
    page.get_by_text("Person 250000", exact=True).wait_for()
    assert page.locator(".rw-rows .rw-row").count() == 60

    box = page.get_by_role("table")
    box.focus()
    page.keyboard.press("End")
    page.get_by_text("Person 299999", exact=True).wait_for()
    page.keyboard.press("Home")
    page.get_by_text("Person 0", exact=True).wait_for()
    assert box.get_attribute("aria-rowcount") == "300001"
    files = list((ui_server.folder / "data" / "projects" / project).iterdir())
    assert [path.stat().st_mode & 0o777 for path in files] == [0o600]
    assert files[0].read_bytes() == (tmp_path / "people.csv").read_bytes()


def test_a_wrong_guess_is_corrected_and_undone(page: Page, tmp_path: Path) -> None:
    path = tmp_path / "Gäste.csv"
    rows = (f"N{i};{i % 90};{i % 50},{i % 10}" for i in range(300))
    path.write_text("\n".join(["name;alter;größe", *rows]), encoding="latin-1")
    make_project(page, "Gäste")
    upload(page, path)
    assert "größe" in page.locator(".rw-head").inner_text()
    assert "numbers" in page.locator(".rw-head").inner_text()
    columns = page.locator(".side .fact .value").nth(1)
    assert columns.inner_text() == "3"
    page.get_by_label("Cells are separated by").click()
    page.get_by_role("option", name="tab").click()
    page.wait_for_function(COLUMNS_ARE.format(1), timeout=SECONDS)
    assert page.get_by_text("you chose").count() == 1
    page.get_by_role("button", name="Undo").click()
    page.wait_for_function(COLUMNS_ARE.format(3), timeout=SECONDS)


COLUMNS_ARE = "document.querySelectorAll('.side .fact .value')[1]?.textContent == '{}'"


def test_a_bad_file_says_what_is_wrong_where_and_what_to_do(page: Page, tmp_path: Path) -> None:
    path = tmp_path / "bad.csv"
    path.write_text("a,b\n1,2\n3,4,5\n6\n")
    make_project(page, "Bad")
    upload(page, path)
    said = page.locator(".note-card.problem").inner_text()
    assert "bad.csv, line 3" in said.lower()
    assert "ragged-row" in said
    assert str(tmp_path) not in page.content()
    assert page.get_by_role("button", name="Next: Columns").is_disabled()
    assert page.get_by_label("Cells are separated by").count() == 1


def test_what_is_no_table_is_refused_where_it_is_dropped(
    ui_server: Running, browser: Browser, tmp_path: Path
) -> None:
    path = tmp_path / "letter.pdf"
    path.write_bytes(b"%PDF-1.7 \x00\x01")
    context = new_context(browser, ui_server)
    log_in(context, ui_server)
    page = context.new_page()
    project = make_project(page, "Letter")
    page.wait_for_selector("file-drop input", state="attached")
    with page.expect_response("**/upload") as answer:
        page.set_input_files("file-drop input", path)
    assert answer.value.status == 415
    page.get_by_role("alert").get_by_text("no table").wait_for()
    assert list((ui_server.folder / "data" / "projects" / project).iterdir()) == []
    page.evaluate("document.querySelector('file-drop').setAttribute('limit', '5')")
    page.set_input_files("file-drop input", path)
    page.get_by_role("alert").get_by_text("larger than this server takes").wait_for()
    context.close()


def test_names_and_values_are_text_never_html(page: Page, tmp_path: Path) -> None:
    path = tmp_path / "<img src=x onerror=alert(1)>.csv"
    bad = "<img src=x onerror=alert(2)>"
    path.write_text(f"{bad},{'x' * 5000},\u05e9\u05dd\n" + f"{bad},1,2\n" * 30, encoding="utf-8")
    dialogs: list[str] = []

    def note_dialog(each: Dialog) -> None:
        dialogs.append(each.message)
        each.dismiss()

    page.on("dialog", note_dialog)
    make_project(page, f"{bad} project")
    upload(page, path)
    page.get_by_role("button", name="Show the records").click()
    page.locator(".rw-rows").get_by_text(bad).first.wait_for()
    assert page.locator(".rw-box img, .side img, .top-project img").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280
    page.remove_listener("dialog", note_dialog)
    assert dialogs == []


def test_the_demo_takes_one_click_and_a_project_is_deleted_with_its_files(
    page: Page, ui_server: Running
) -> None:
    page.goto("/")
    page.wait_for_function(CONNECTED, timeout=SECONDS)
    page.get_by_role("button", name="Try the demo").click()
    page.wait_for_url("**/data", timeout=SECONDS)
    project = page.url.split("/")[-2]
    page.wait_for_selector("record-window", timeout=SECONDS)
    assert page.locator(".side .fact .value").first.inner_text() == "20,000"
    folder = ui_server.folder / "data" / "projects" / project
    assert folder.exists()

    page.goto("/")
    page.wait_for_function(CONNECTED, timeout=SECONDS)
    row = page.get_by_role("listitem").filter(has=page.locator(f'a[href*="{project}"]'))
    assert "20,000 records" in row.inner_text()
    assert "Next: Columns" in row.inner_text(), "nobody has looked at the guessed roles yet"
    row.get_by_role("button", name="Rename").click()
    page.get_by_label("Name of the project").fill("Invented")
    page.keyboard.press("Enter")
    row.get_by_role("link", name="Invented", exact=True).wait_for()
    row.get_by_role("button", name="Delete").click()
    page.get_by_role("button", name="Keep it").click()
    assert folder.exists()
    row.get_by_role("button", name="Delete").click()
    page.get_by_role("button", name="Delete", exact=True).click()
    page.wait_for_function(f"!document.querySelector('a[href*=\"{project}\"]')")
    assert not folder.exists()
    tables = (ui_server.folder / "data" / "jobs").rglob("table.parquet")
    assert not [path for path in tables if project in str(path)]


def test_everybody_can_use_the_page_at_any_width(page: Page, tmp_path: Path) -> None:
    page.goto("/")
    for _ in looks(page):
        assert violations(page) == []
    page.wait_for_function(CONNECTED, timeout=SECONDS)
    page.get_by_role("button", name="New project").click()
    page.get_by_label("Name of the project").fill("Any width")
    page.keyboard.press("Enter")
    page.wait_for_url("**/data")
    page.wait_for_selector("file-drop button")
    for _ in looks(page):
        assert violations(page) == []
    upload(page, write_people(tmp_path / "people.csv", 500))
    page.get_by_role("button", name="Show the records").click()
    page.get_by_text("Person 0", exact=True).wait_for()
    for width in looks(page):
        assert violations(page) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.locator("h1").count() == 1


def test_an_allowed_source_is_chosen_by_its_title(team_server: Running, tabs: Tabs) -> None:
    with tabs.open(team_server, "alice") as page:
        make_project(page, "Registry")
        page.wait_for_function(CONNECTED, timeout=SECONDS)
        page.get_by_role("button", name="Use it").first.click()
        page.wait_for_selector("record-window", timeout=SECONDS)
        assert page.locator(".side .fact .value").first.inner_text() == "2,000"
        assert str(team_server.folder) not in page.content()


def test_nobody_else_reaches_the_data_of_a_project(team_server: Running) -> None:
    alice, bob, ruth = (team_server.client(name) for name in ("alice", "bob", "ruth"))
    store = Store(team_server.folder / "data" / STORE_FILE)
    from shoal.web.projects import Projects

    try:
        project = Projects(store, team_server.folder / "data").create("alice", "Hers")
    finally:
        store.close()
    body, headers = b"a,b\n1,2\n3,4\n", {"x-file-name": "..%2F..%2Fx.csv"}
    upload, records = f"/project/{project.id}/upload", f"/project/{project.id}/records"
    assert bob.post(upload, content=body, headers=headers).status_code == 404
    assert ruth.post(upload, content=body, headers=headers).status_code == 403
    assert alice.post(upload, content=body, headers=headers).status_code == 201
    assert bob.get(records).status_code == 404
    assert ruth.get(records).status_code == 403
    folder = team_server.folder / "data" / "projects" / project.id
    assert [path.suffix for path in folder.iterdir()] == [".csv"]
    foreign = {**headers, "origin": "http://evil.example"}
    assert alice.post(upload, content=body, headers=foreign).status_code == 403
