"""A mart for the tests of the web application: the clinic of tests/mart, in a folder of its own.

`mart_server` is `shoal serve` with it, on which custodians decide, started once in a test process.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from mart.clinic import many
from web.server import Running, logged_in, running

ODD = '<script>alert(1)</script> & "day" \u05d9\u05d5\u05dd, = {x} ' + "long " * 30
"""The name of a column that pages must show as text."""
REQUEST = {"purpose": "survival of staged tumours", "project": ["PT", "age"], "select": ["PT = 1"]}
"""A request that the clinic answers."""


def write_mart(folder: Path, number: int = 60, **policy: object) -> Path:
    """Write the sources of a clinic and its catalog; the path of the catalog."""
    folder.mkdir(parents=True, exist_ok=True)
    clinic = many(folder, number)
    clinic.keys["policy"] = {"k": 3, "suppression": "20%", **policy}
    clinic.columns["survival"][ODD] = {"role": "keep", "derive": "days"}
    clinic.write()
    catalog = folder / "catalog.json"
    catalog.write_text(json.dumps(clinic.catalog), encoding="utf-8")
    return catalog


def wait_for(state: Callable[[], str], *wanted: str, seconds: float = 60) -> str:
    """Wait until a state is one of those wanted."""
    end = time.monotonic() + seconds
    while (found := state()) not in wanted:
        assert time.monotonic() < end, found
        time.sleep(0.05)
    return found


MART_USERS = {
    "anna": ["researcher"],
    "bert": ["researcher"],
    "cara": ["custodian"],
    "dora": ["custodian", "researcher"],
    "adam": ["admin"],
}


@contextmanager
def serving(folder: Path, catalog: Path | None, approval: str) -> Iterator[Running]:
    """A server with these users, all of them logged in, and a mart where there is a catalog."""
    tokens = {name: secrets.token_urlsafe(32) for name in MART_USERS}
    users = "".join(
        f'[[users]]\nname = "{name}"\nroles = {json.dumps(MART_USERS[name])}\n'
        f'token = "sha256:{hashlib.sha256(token.encode()).hexdigest()}"\n'
        for name, token in tokens.items()
    )
    mart = f'[mart]\ncatalog = "{catalog}"\napproval = "{approval}"\n' if catalog else ""
    folder.mkdir(parents=True, exist_ok=True)
    config = folder / "server.toml"
    config.write_text(f'folder = "data"\nport = 0\n{users}{mart}', encoding="utf-8")
    with running("serve", "--config", config, folder=folder) as server:
        server.tokens.update(tokens)
        for name, token in tokens.items():
            server.cookies[name] = logged_in(server, token)
        yield server


@pytest.fixture(scope="session")
def mart_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A server with a mart on which custodians decide; overlaps are reported, not refused."""
    folder = tmp_path_factory.mktemp("mart")
    catalog = write_mart(folder / "mart", overlap="report")
    with serving(folder, catalog, "always") as server:
        yield server
