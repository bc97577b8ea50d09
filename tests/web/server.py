"""Real servers for the tests of the web application.

`ui_server` is `shoal ui` and `team_server` is `shoal serve`, each started once in a test process
with a folder of its own.
"""

from __future__ import annotations

import contextlib
import hashlib
import re
import secrets
import signal
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import commands

if TYPE_CHECKING:
    import httpx

LOG = "server.log"
"""What a server writes to standard error, in its folder."""


@dataclass(frozen=True)
class Running:
    """A server that runs: its address, its folder, and the cookies of whoever is logged in."""

    base: str
    folder: Path
    process: subprocess.Popen[str]
    cookies: dict[str, dict[str, str]] = field(default_factory=dict)
    tokens: dict[str, str] = field(default_factory=dict)

    @property
    def log(self) -> str:
        """What the server has written to its log."""
        return (self.folder / LOG).read_text(encoding="utf-8")

    def client(self, name: str | None = "you") -> httpx.Client:
        """A client with the session of a user (None: of nobody), as one of our pages would ask.

        Without `verify=False` each client reads all certificates, and no address here is of https.
        """
        import httpx

        cookies = self.cookies[name] if name else {}
        headers = {"origin": self.base}
        return httpx.Client(
            base_url=self.base, cookies=cookies, headers=headers, timeout=30, verify=False
        )


@contextlib.contextmanager
def running(*arguments: str | Path, folder: Path) -> Iterator[Running]:
    """`shoal ui` or `shoal serve` as a process, from its first line to its end by Ctrl-C."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / LOG).open("w") as log:
        process = subprocess.Popen(
            [*commands.SHOAL, *map(str, arguments)],
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            preexec_fn=_heed_signals,
        )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        found = re.search(r"(http://[0-9.:]+)(/start\?token=\S+)?", line)
        assert found, (folder / LOG).read_text()
        server = Running(found[1].rstrip("."), folder, process)
        _wait_until_it_answers(server.base)
        if found[2]:
            server.cookies["you"] = session_cookies(found[0])
        yield server
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)


def _heed_signals() -> None:
    """Tests that run in the background ignore Ctrl-C; the server is not to inherit that."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)


def _wait_until_it_answers(base: str) -> None:
    import httpx

    transport = httpx.HTTPTransport(retries=8, verify=False)
    with httpx.Client(transport=transport, timeout=60) as client:
        client.get(f"{base}/login")


def session_cookies(address: str) -> dict[str, str]:
    """The cookies that an address with a one-time token gives."""
    import httpx

    answer = httpx.get(address, timeout=60, verify=False)
    answer.raise_for_status()
    return dict(answer.cookies)


@pytest.fixture(scope="session")
def ui_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """`shoal ui` with an empty folder."""
    folder = tmp_path_factory.mktemp("ui")
    with running("ui", "--no-browser", "--folder", folder / "data", folder=folder) as server:
        yield server


TEAM = {
    "alice": ["custodian"],
    "bob": ["custodian"],
    "ruth": ["researcher"],
    "ada": ["admin"],
    "eve": ["admin"],
}
"""The users of `team_server` and their roles. Nobody has more than one, so that each is tested."""


@pytest.fixture(scope="session")
def team_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """`shoal serve` with five users and the demonstration's patients as an allowed source."""
    folder = tmp_path_factory.mktemp("team")
    from shoal.demo.files import write_demo

    tokens = {name: secrets.token_urlsafe(32) for name in TEAM}
    write_demo(folder / "demo", 2000, 7)
    config = folder / "server.toml"
    config.write_text(team_settings(tokens), encoding="utf-8")
    with running("serve", "--config", config, folder=folder) as server:
        server.tokens.update(tokens)
        for name, token in tokens.items():
            server.cookies[name] = logged_in(server, token)
        yield server


def team_settings(tokens: Mapping[str, str], more: str = "") -> str:
    """A server.toml with these users; `more` are further keys before its tables."""
    users = "".join(
        f'[[users]]\nname = "{name}"\nroles = {TEAM[name]}\n'
        f'token = "sha256:{hashlib.sha256(token.encode()).hexdigest()}"\n'
        for name, token in tokens.items()
    )
    return f"""folder = "data"
port = 0
{more}
[limits]
upload = "4 MB"
json = "200 kB"
silence = "2 s"
{users}
[sources.patients]
title = "Patients of the demonstration"
source = "demo/patients.csv"
"""


def logged_in(server: Running, token: str) -> dict[str, str]:
    """The cookies of a user who logs in with a token."""
    with server.client(None) as client:
        answer = client.post("/login", data={"token": token})
        assert answer.status_code == 303, answer.text
        return dict(answer.cookies)
