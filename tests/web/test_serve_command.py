"""`shoal serve`: who gets in, and what each may see."""

from __future__ import annotations

import pytest

from web.server import Running

pytestmark = pytest.mark.slow


def test_each_user_logs_in_with_a_token_and_only_administrators_see_the_audit_log(
    team_server: Running,
) -> None:
    for name, status in {"alice": 403, "ruth": 403, "ada": 200}.items():
        with team_server.client(name) as client:
            assert client.get("/audit").status_code == status, name


def test_logging_out_makes_the_session_worthless(team_server: Running) -> None:
    from web.server import logged_in

    cookies = logged_in(team_server, team_server.tokens["ada"])
    with team_server.client(None) as client:
        client.cookies.update(cookies)
        assert client.get("/audit").status_code == 200
        assert client.post("/logout").headers["location"] == "/login"
    with team_server.client(None) as client:
        client.cookies.update(cookies)
        assert client.get("/audit").status_code == 401
