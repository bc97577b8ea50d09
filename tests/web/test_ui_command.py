"""`shoal ui`: the address, the one-time token, and the end."""

from __future__ import annotations

import stat
import time
from contextlib import closing
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Page

from shoal.web.projects import Projects
from shoal.web.services import STORE_FILE
from shoal.web.store import Store
from web.server import Running, running

pytestmark = pytest.mark.slow


def test_a_page_opens_without_console_error_or_foreign_request(page: Page) -> None:
    page.goto("/audit")
    page.wait_for_selector("text=logged in")


def test_the_data_folder_and_its_files_are_private(ui_server: Running) -> None:
    folder = ui_server.folder / "data"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    for file in folder.glob("*.sqlite*"):
        assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_the_token_of_the_address_works_once_and_ctrl_c_ends_with_success(tmp_path: Path) -> None:
    with running("ui", "--no-browser", "--folder", tmp_path / "d", folder=tmp_path) as server:
        assert set(server.cookies["you"]) == {f"shoal-{server.base.rpartition(':')[2]}"}
        assert httpx.get(f"{server.base}/", headers={"accept": "text/html"}).status_code == 303
    assert server.process.returncode == 0


def test_an_action_that_fails_says_so_in_the_page(ui_server: Running, page: Page) -> None:
    data = ui_server.folder / "data"
    with closing(Store(data / STORE_FILE)) as store:
        projects = Projects(store, data)
        project = projects.create("you", "Gone tomorrow")
        projects.create("you", "Here to stay")
        page.goto("/")
        page.get_by_role("button", name="Delete Gone tomorrow").click()
        projects.delete(project.id, "you")
        page.get_by_role("button", name="Delete", exact=True).click()
    shown = page.get_by_role("dialog").filter(has_text="That did not work")
    shown.get_by_text("not-found").wait_for()


def test_the_browser_is_opened_by_a_private_file_and_not_by_the_token(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = tmp_path / "seen"
    script = tmp_path / "browser"
    script.write_text(f'#!/bin/sh\necho "$1" > {seen}.new && mv {seen}.new {seen}\n')
    script.chmod(0o700)
    monkeypatch.setenv("BROWSER", f"{script} %s")
    with running("ui", "--folder", tmp_path / "data", folder=tmp_path) as server:
        for _ in range(600):
            if seen.exists():
                break
            time.sleep(0.1)
        address = seen.read_text().strip()
        assert address == (tmp_path / "data" / "open.html").as_uri()
        opened = tmp_path / "data" / "open.html"
        assert stat.S_IMODE(opened.stat().st_mode) == 0o600
        assert f"url={server.base}/start?token=" in opened.read_text()
    assert not opened.exists()
