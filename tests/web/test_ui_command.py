"""`shoal ui`: the address, the one-time token, and the end."""

from __future__ import annotations

import stat
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Page

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
