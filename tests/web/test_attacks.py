"""Attacks of the usual kinds on the real server, over HTTP: each one is refused.

Attacks by websocket are in test_socket_attacks, attacks by files in test_upload_attacks.
"""

from __future__ import annotations

import hashlib
import re
import socket
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from web.server import Running, logged_in, running, team_settings

pytestmark = pytest.mark.slow

SOMEBODY_ELSE = "http://evil.example"


def raw(server: Running, request: str, *, wait: float = 10) -> str:
    """What the server answers to these very bytes."""
    host, _, port = server.base.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port)), timeout=wait) as connection:
        connection.sendall(request.replace("\n", "\r\n").encode("latin-1"))
        answer = b""
        while piece := connection.recv(65536):
            answer += piece
    return answer.decode("latin-1")


def host_of(server: Running) -> str:
    return server.base.removeprefix("http://")


def cookie_of(server: Running, name: str) -> str:
    return "; ".join(f"{key}={value}" for key, value in server.cookies[name].items())


@pytest.mark.parametrize(
    "path",
    [
        "/", "/audit", "/api/v1/openapi.json", "/api/v1/jobs", "/project/x/data",
        "/_nicegui/3.18.0/static/nicegui.js", "/_nicegui_ws/socket.io/?EIO=4&transport=polling",
        "/docs", "/redoc", "/openapi.json", "//audit", "/static/../audit", "/login/../audit",
        "/%2e%2e/audit", "/audit/", "/AUDIT",
    ],
)  # fmt: skip
def test_nothing_is_shown_without_a_session(team_server: Running, path: str) -> None:
    request = f"GET {path} HTTP/1.1\nHost: {host_of(team_server)}\nConnection: close\n\n"
    status = raw(team_server, request).split(" ")[1]
    assert status in ("401", "404")


@pytest.mark.parametrize(
    "path",
    [
        "/static/../settings.py", "/static/%2e%2e/settings.py", "/static/..%2fsettings.py",
        "/static//etc/passwd", "/static/....//settings.py", "/static/%5c..%5csettings.py",
        "/_nicegui/3.18.0/static/../../../../etc/passwd",
        "/_nicegui/3.18.0/resources/x/..%2f..%2f..%2fetc/passwd",
        "/_nicegui/3.18.0/libraries/..%2f..%2fserver.py",
        "/_nicegui/3.18.0/esm/x/%2e%2e/%2e%2e/server.py",
    ],
)  # fmt: skip
def test_no_file_outside_of_the_assets_is_served(team_server: Running, path: str) -> None:
    request = (
        f"GET {path} HTTP/1.1\nHost: {host_of(team_server)}\n"
        f"Cookie: {cookie_of(team_server, 'ada')}\nConnection: close\n\n"
    )
    answer = raw(team_server, request)
    assert answer.split(" ")[1] in ("403", "404")
    assert "import " not in answer
    assert "root:" not in answer


def test_a_browser_without_session_is_led_to_the_login_and_back(team_server: Running) -> None:
    with team_server.client(None) as client:
        answer = client.get("/project/1/data", headers={"accept": "text/html"})
        assert (answer.status_code, answer.headers["location"]) == (
            303,
            "/login?next=/project/1/data",
        )


@pytest.mark.parametrize(
    "next_page",
    ["//evil.example", "/\\evil.example", "https://evil.example", "javascript:alert(1)", "\t//x"],
)
def test_the_login_leads_to_no_other_site(team_server: Running, next_page: str) -> None:
    with team_server.client(None) as client:
        fields = {"token": team_server.tokens["ada"], "next": next_page}
        assert client.post("/login", data=fields).headers["location"] == "/"
        shown = client.get("/login", params={"next": f'"><script>alert(1)</script>{next_page}'})
        assert "<script>" not in shown.text


def test_the_name_of_another_site_that_points_here_is_refused(ui_server: Running) -> None:
    port = ui_server.base.rpartition(":")[2]
    for name in ("evil.example", f"evil.example:{port}", "127.0.0.1.evil.example", "127.0.0.1:1"):
        with ui_server.client("you") as client:
            answer = client.get("/audit", headers={"host": name})
            assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")


def test_two_host_headers_are_refused(team_server: Running) -> None:
    hosts = f"Host: {host_of(team_server)}\nHost: evil.example"
    answer = raw(team_server, f"GET /login HTTP/1.1\n{hosts}\nConnection: close\n\n")
    assert answer.split(" ")[1] in ("400", "403")


def test_headers_of_proxies_are_not_believed_from_anybody(team_server: Running) -> None:
    lies = {
        "x-forwarded-host": "evil.example",
        "x-forwarded-for": "10.9.9.9",
        "x-forwarded-proto": "https",
        "x-forwarded-prefix": "/evil",
        "x-forwarded-user": "ada",
        "x-original-url": "/audit",
        "x-http-method-override": "DELETE",
    }
    with team_server.client("ada") as client:
        assert "evil" not in client.get("/audit", headers=lies).text
    with team_server.client(None) as client:
        assert client.get("/audit", headers=lies).status_code == 401


@pytest.mark.parametrize("cookie", ["", "x" * 43, "' OR 1=1 --", "%00", "../../etc/passwd"])
def test_a_forged_session_is_nobody(team_server: Running, cookie: str) -> None:
    name = next(iter(team_server.cookies["ada"]))
    with team_server.client(None) as client:
        headers = {"cookie": f"{name}={cookie}"}
        assert client.get("/audit", headers=headers).status_code == 401


def test_the_stored_hash_of_a_session_is_no_session(team_server: Running) -> None:
    with sqlite3.connect(team_server.folder / "data" / "shoal.sqlite") as store:
        hashes = [row[0] for row in store.execute("SELECT hash FROM sessions")]
    name, session = next(iter(team_server.cookies["ada"].items()))
    assert "sha256:" + hashlib.sha256(session.encode()).hexdigest() in hashes
    with team_server.client(None) as client:
        for stored in hashes:
            assert client.get("/audit", headers={"cookie": f"{name}={stored}"}).status_code == 401


def test_a_session_that_has_ended_is_nobody(team_server: Running) -> None:
    cookies = logged_in(team_server, team_server.tokens["ada"])
    (session,) = cookies.values()
    digest = "sha256:" + hashlib.sha256(session.encode()).hexdigest()
    with team_server.client(None) as client:
        client.cookies.update(cookies)
        assert client.get("/audit").status_code == 200
        with sqlite3.connect(team_server.folder / "data" / "shoal.sqlite") as store:
            changed = store.execute("UPDATE sessions SET ends = ? WHERE hash = ?", (1.0, digest))
            assert changed.rowcount == 1
        assert client.get("/audit").status_code == 401


def test_cookies_cannot_be_read_by_scripts_or_sent_by_other_sites(team_server: Running) -> None:
    with team_server.client(None) as client:
        answer = client.post("/login", data={"token": team_server.tokens["bob"]})
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": SOMEBODY_ELSE},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:1"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"sec-fetch-site": "none", "origin": SOMEBODY_ELSE},
        {"sec-fetch-site": "none", "origin": "null"},
        {"sec-fetch-site": "same-origin", "origin": SOMEBODY_ELSE},
        {"sec-fetch-site": "cross-site", "origin": "OWN"},
        {},
    ],
)
def test_another_site_cannot_write_with_the_users_cookie(
    team_server: Running, headers: dict[str, str]
) -> None:
    cookies = team_server.cookies["alice"]
    headers = {k: v.replace("OWN", team_server.base) for k, v in headers.items()}
    for path in ("/logout", "/api/v1/uploads", "/api/v1/jobs"):
        url = f"{team_server.base}{path}"
        answer = httpx.post(url, cookies=cookies, headers=headers, content=b"{}")
        assert answer.status_code == 403, path
    with team_server.client("alice") as client:
        assert client.get("/audit").json()["title"].startswith("this needs the role")


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_another_site_cannot_load_answers_into_its_pages(team_server: Running, site: str) -> None:
    with team_server.client("ada") as client:
        for mode in ("no-cors", "cors", "websocket"):
            headers = {"sec-fetch-site": site, "sec-fetch-mode": mode}
            assert client.get("/audit", headers=headers).status_code == 403
        headers = {"sec-fetch-site": site, "sec-fetch-mode": "navigate"}
        assert client.get("/audit", headers=headers).status_code == 200


def test_another_site_cannot_log_a_browser_in(team_server: Running) -> None:
    fields = {"token": team_server.tokens["bob"]}
    headers = {"origin": SOMEBODY_ELSE}
    answer = httpx.post(f"{team_server.base}/login", data=fields, headers=headers)
    assert answer.status_code == 403
    assert "set-cookie" not in answer.headers


def test_a_preflight_of_another_site_gets_no_permission(team_server: Running) -> None:
    headers = {"origin": SOMEBODY_ELSE, "access-control-request-method": "POST"}
    answer = httpx.options(f"{team_server.base}/api/v1/jobs", headers=headers)
    assert answer.status_code == 400
    assert not [name for name in answer.headers if name.startswith("access-control")]


def test_a_wrong_token_is_refused_and_a_token_opens_no_page(team_server: Running) -> None:
    right = {"authorization": f"Bearer {team_server.tokens['ada']}"}
    url = team_server.base
    assert httpx.get(f"{url}/api/v1/openapi.json", headers=right).status_code == 200
    assert httpx.get(f"{url}/audit", headers=right).status_code == 401
    for wrong in ("Bearer", "Bearer x", f"Basic {team_server.tokens['ada']}"):
        answer = httpx.get(f"{url}/api/v1/openapi.json", headers={"authorization": wrong})
        assert answer.status_code == 401


def test_guessing_tokens_is_slowed_down_and_locks_nobody_out(tmp_path: Path) -> None:
    config = tmp_path / "server.toml"
    config.write_text(team_settings({"ada": "right"}))
    with (
        running("serve", "--config", config, folder=tmp_path) as server,
        server.client(None) as client,
    ):
        wrong = [client.post("/login", data={"token": "x"}).status_code for _ in range(12)]
        assert wrong == [401] * 10 + [429] * 2
        headers = {"authorization": "Bearer wrong"}
        refused = client.get("/api/v1/openapi.json", headers=headers)
        assert (refused.status_code, refused.json()["code"]) == (429, "too-many-requests")
        assert 0 < int(refused.headers["retry-after"]) <= 60
        assert client.post("/login", data={"token": "right"}).status_code == 303


def test_an_oversize_body_is_refused_before_it_is_sent(team_server: Running) -> None:
    request = (
        f"POST /api/v1/jobs HTTP/1.1\nHost: {host_of(team_server)}\nOrigin: {team_server.base}\n"
        f"Cookie: {cookie_of(team_server, 'alice')}\nContent-Type: application/json\n"
        "Content-Length: 300000\n\n"
    )
    assert raw(team_server, request).split(" ")[1] == "413"


def test_a_body_without_length_is_counted_as_it_comes(team_server: Running) -> None:
    def endless() -> Iterator[bytes]:
        yield b'{"a": "'
        for _ in range(400):
            yield b"x" * 1000

    with team_server.client("alice") as client:
        answer = client.post("/login", content=endless())
        assert (answer.status_code, answer.json()["code"]) == (413, "too-large")


def test_a_body_that_stops_coming_is_given_up(team_server: Running) -> None:
    request = (
        f"POST /login HTTP/1.1\nHost: {host_of(team_server)}\nOrigin: {team_server.base}\n"
        "Content-Type: application/x-www-form-urlencoded\nContent-Length: 1000\n\ntoken=a"
    )
    begun = time.monotonic()
    assert raw(team_server, request).split(" ")[1] == "408"
    assert time.monotonic() - begun < 8


@pytest.mark.parametrize("length", ["-1", "1e9", "0x10", "9" * 30])
def test_odd_lengths_are_refused(team_server: Running, length: str) -> None:
    request = (
        f"POST /login HTTP/1.1\nHost: {host_of(team_server)}\nOrigin: {team_server.base}\n"
        f"Content-Length: {length}\nConnection: close\n\ntoken=a"
    )
    assert raw(team_server, request).split(" ")[1] in ("400", "413")


def test_every_answer_has_the_protecting_headers(team_server: Running) -> None:
    paths = {"/login": None, "/audit": "ada", "/nowhere": "ada", "/static/plain.css": None}
    for path, name in paths.items():
        with team_server.client(name) as client:
            headers = client.get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert not re.search(r"https?:|\*", policy)
        assert "'unsafe-inline'" not in re.findall(r"script-src[^;]*", policy)[0]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cross-origin-resource-policy"] == "same-origin"
        assert "server" not in headers
        if not path.startswith("/static/"):
            assert headers["cache-control"] == "no-store"


def test_the_log_has_no_tokens_queries_or_cookies(team_server: Running) -> None:
    with team_server.client("alice") as client:
        client.get("/audit", params={"secret": "diagnosis-of-somebody"})
        client.get("/start", params={"token": team_server.tokens["alice"]})
    log = team_server.log
    assert "alice GET /audit 403" in log
    assert "diagnosis-of-somebody" not in log
    for token in team_server.tokens.values():
        assert token not in log
    for cookies in team_server.cookies.values():
        assert not any(value in log for value in cookies.values())


def test_a_path_cannot_write_lines_into_the_log(team_server: Running) -> None:
    with team_server.client("alice") as client:
        client.get("/a%0d%0a2026 INFO shoal.web.access: ada logged in")
    assert not re.search(r"^2026 INFO", team_server.log, re.MULTILINE)


def test_the_one_time_token_of_a_local_server_is_void_after_its_use(ui_server: Running) -> None:
    with ui_server.client(None) as client:
        for token in ("", "x", "' OR 1=1 --"):
            assert client.get("/start", params={"token": token}).status_code == 401
    with ui_server.client(None) as client:
        assert "set-cookie" not in client.post("/login", data={"token": ""}).headers
