"""A server with https behind a proxy: cookies, names, origins, and who is believed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from web.server import Running, running, team_settings

pytestmark = pytest.mark.slow

NAME = "shoal.example.org"


@pytest.fixture(scope="module")
def proxied(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("proxied")
    config = folder / "server.toml"
    keys = f'https = true\nhosts = ["{NAME}"]\nproxies = ["127.0.0.1"]\n'
    config.write_text(team_settings({"ada": "right"}, keys), encoding="utf-8")
    with running("serve", "--config", config, folder=folder) as server:
        yield server


def as_the_proxy(server: Running, address: str = "10.1.1.1") -> httpx.Client:
    """A client that says what a TLS proxy says about a browser at this address."""
    headers = {"host": NAME, "x-forwarded-for": address, "origin": f"https://{NAME}"}
    return httpx.Client(base_url=server.base, headers=headers, timeout=30, verify=False)


def test_the_cookie_is_bound_to_https_and_to_the_host(proxied: Running) -> None:
    with as_the_proxy(proxied) as client:
        answer = client.post("/login", data={"token": "right"})
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith("__Host-shoal=")
    assert all(word in cookie for word in ("; Secure", "; HttpOnly", "; SameSite=Strict", "Path=/"))
    assert "Domain" not in cookie
    assert "max-age" in answer.headers["strict-transport-security"]
    assert f"wss://{NAME}" in answer.headers["content-security-policy"]


def test_a_page_without_tls_is_another_origin(proxied: Running) -> None:
    with as_the_proxy(proxied) as client:
        headers = {"origin": f"http://{NAME}"}
        assert client.post("/login", data={"token": "right"}, headers=headers).status_code == 403


def test_failed_logins_are_counted_for_the_address_that_the_proxy_names(proxied: Running) -> None:
    with as_the_proxy(proxied, "10.2.2.2") as client:
        found = [client.post("/login", data={"token": "x"}).status_code for _ in range(11)]
        assert found[-1] == 429
        spoofed = {"x-forwarded-for": "10.9.9.9, 10.2.2.2"}
        assert client.post("/login", data={"token": "x"}, headers=spoofed).status_code == 429
    with as_the_proxy(proxied, "10.3.3.3") as client:
        assert client.post("/login", data={"token": "right"}).status_code == 303


def test_sessions_survive_a_restart_and_a_removed_user_does_not(tmp_path: Path) -> None:
    config = tmp_path / "server.toml"
    config.write_text(team_settings({"ada": "a", "eve": "e"}), encoding="utf-8")
    sessions = {}
    with running("serve", "--config", config, folder=tmp_path) as server:
        for name, token in {"ada": "a", "eve": "e"}.items():
            with server.client(None) as client:
                answer = client.post("/login", data={"token": token})
                sessions[name] = next(iter(answer.cookies.values()))
    config.write_text(team_settings({"ada": "a"}), encoding="utf-8")
    with running("serve", "--config", config, folder=tmp_path) as server:
        cookie = f"shoal-{server.base.rpartition(':')[2]}"
        for name, status in {"ada": 200, "eve": 401}.items():
            with server.client(None) as client:
                headers = {"cookie": f"{cookie}={sessions[name]}"}
                assert client.get("/audit", headers=headers).status_code == status
