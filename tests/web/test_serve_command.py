"""`shoal serve`: who gets in, and what each may see."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser

from web.server import Running, logged_in
from web.tabs import new_context, watched

pytestmark = pytest.mark.slow


def test_each_user_logs_in_with_a_token_and_only_administrators_see_the_audit_log(
    team_server: Running,
) -> None:
    for name, status in {"alice": 403, "ruth": 403, "ada": 200}.items():
        with team_server.client(name) as client:
            assert client.get("/audit").status_code == status, name


def test_logging_out_makes_the_session_worthless(team_server: Running) -> None:
    cookies = logged_in(team_server, team_server.tokens["ada"])
    with team_server.client(None) as client:
        client.cookies.update(cookies)
        assert client.get("/audit").status_code == 200
        assert client.post("/logout").headers["location"] == "/login"
    with team_server.client(None) as client:
        client.cookies.update(cookies)
        assert client.get("/audit").status_code == 401


def test_a_person_logs_in_and_out_in_the_browser(team_server: Running, browser: Browser) -> None:
    context = new_context(browser, team_server)
    page = context.new_page()
    page.goto("/audit")
    page.get_by_label("Your token").fill("not a token")
    page.get_by_role("button", name="Log in").click()
    page.get_by_text("This token is not valid; look").wait_for()
    with watched(page, team_server.base):
        page.get_by_label("Your token").fill(team_server.tokens["ada"])
        page.get_by_role("button", name="Log in").click()
        page.get_by_role("heading", name="Audit log").wait_for()
        assert page.url == f"{team_server.base}/audit"
        page.get_by_role("button", name="Log out ada").click()
        page.wait_for_url("**/login")
    page.goto("/audit")
    assert page.url.endswith("/login?next=/audit")
    context.close()
