"""One user reaches nothing of another: every address with an id is tried, on every method.

The addresses are taken from the OpenAPI description and from the source of the pages, so a new one
is tried without a change here. For the other user each answer is the same as for an id that nobody
has.
"""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

import shoal.web
from web.server import Running
from web.tabs import Tabs

pytestmark = pytest.mark.slow

PAGES = Path(shoal.web.__file__).parent / "pages"
ROUTE = re.compile(r'@(?:ui\.page|app\.(get|post|put|delete))\(\s*"(/[^"]*\{[^"]*)"')
NOBODYS = "0" * 32
CSV = b"zip,age,illness\n" + b"".join(b"%d,%d,flu\n" % (n % 3, n % 4) for n in range(60))


@pytest.fixture(scope="module")
def of_alice(team_server: Running, tabs: Tabs) -> dict[str, str]:
    """Ids that belong to alice: an upload, a job that has released something, a project."""
    with team_server.client("alice") as client:
        upload = client.post("/api/v1/uploads", params={"name": "a.csv"}, content=CSV).json()["id"]
        definition = {
            "source": {"upload": upload},
            "k": 2,
            "attributes": {"zip": "quasi-identifier", "age": "quasi-identifier", "illness": "keep"},
        }
        job = client.post("/api/v1/jobs/run", json={"definition": definition}).json()["id"]
        project = new_project(team_server, tabs)
        ended = ended_job(client, job)
    assert ended["state"] == "done", ended
    return {"uploads": upload, "jobs": job, "project": project}


def new_project(server: Running, tabs: Tabs) -> str:
    """A project of alice, made in the browser; its id."""
    with tabs.open(server, "alice") as page:
        page.goto("/")
        page.get_by_role("button", name="New project").click()
        page.get_by_label("Name of the project").fill("<script>alert(1)</script>")
        page.get_by_role("button", name="Create").click()
        page.wait_for_url("**/project/*/data")
        found = re.search(r"/project/([0-9a-f]{32})/", page.url)
    assert found
    return found[1]


def ended_job(client: httpx.Client, job: str) -> dict[str, Any]:
    """A job of the client's user, once it has ended."""
    for _ in range(600):
        found: dict[str, Any] = client.get(f"/api/v1/jobs/{job}").json()
        if found["state"] not in ("waiting", "running"):
            return found
        time.sleep(0.1)
    raise AssertionError(found)


def operations_with_ids(client: httpx.Client) -> list[tuple[str, str]]:
    """Every method and address of the API that has an id in it."""
    paths = client.get("/api/v1/openapi.json").json()["paths"]
    return [(method, path) for path in paths for method in paths[path] if "{" in path]


def pages_with_ids() -> list[tuple[str, str]]:
    """Every method and address of the pages that has an id in it."""
    return [
        (method or "get", path)
        for file in sorted(PAGES.glob("*.py"))
        for method, path in ROUTE.findall(file.read_text(encoding="utf-8"))
    ]


def with_id(path: str, identity: str) -> str:
    """The address with this id, and any word in its other gaps."""
    return re.sub(r"\{[^}]*\}", "release", re.sub(r"\{\w*id\}", identity, path))


def kind_of(path: str) -> str | None:
    """Whose id an address has in it."""
    return next((kind for kind in ("uploads", "jobs", "project") if f"/{kind}/{{" in path), None)


def test_nothing_of_another_user_is_found_by_the_api(
    team_server: Running, of_alice: dict[str, str]
) -> None:
    with team_server.client("alice") as alice, team_server.client("bob") as bob:
        tried = set()
        for method, path in operations_with_ids(alice):
            if kind := kind_of(path):
                theirs = bob.request(method, with_id(path, of_alice[kind]))
                nobodys = bob.request(method, with_id(path, NOBODYS))
                assert theirs.status_code == 404, (method, path, theirs.text)
                assert theirs.json() == nobodys.json()
                tried.add(path)
        assert {"/api/v1/jobs/{id}/release", "/api/v1/uploads/{id}"} <= tried
        for kind in ("jobs", "uploads"):
            assert of_alice[kind] not in bob.get(f"/api/v1/{kind}").text
            assert of_alice[kind] in alice.get(f"/api/v1/{kind}").text
        assert alice.get(f"/api/v1/jobs/{of_alice['jobs']}/release").status_code == 200


def test_nothing_of_another_user_is_found_by_pages(
    team_server: Running, of_alice: dict[str, str]
) -> None:
    found = [pair for pair in pages_with_ids() if kind_of(pair[1]) == "project"]
    assert len(found) >= 11
    with team_server.client("alice") as alice, team_server.client("bob") as bob:
        for method, path in found:
            theirs = bob.request(method, with_id(path, of_alice["project"]))
            nobodys = bob.request(method, with_id(path, NOBODYS))
            assert theirs.status_code == 404, (method, path, theirs.text[:300])
            assert theirs.json() == nobodys.json()
            own = alice.request(method, with_id(path, of_alice["project"]))
            assert own.status_code != 403, (method, path)


def test_a_job_cannot_use_the_upload_or_the_job_of_another_user(
    team_server: Running, of_alice: dict[str, str]
) -> None:
    definition = {
        "source": {"upload": of_alice["uploads"]},
        "k": 2,
        "attributes": {"zip": "quasi-identifier", "age": "drop", "illness": "drop"},
    }
    with team_server.client("bob") as bob:
        answer = bob.post("/api/v1/jobs/run", json={"definition": definition})
        assert (answer.status_code, "no such upload" in answer.text) == (422, True)
        for task in ("risk", "utility"):
            answer = bob.post(f"/api/v1/jobs/{task}", json={"job": of_alice["jobs"]})
            assert answer.status_code == 404, answer.text


@pytest.mark.parametrize("name", ["ruth", "ada"])
def test_who_is_no_custodian_reaches_no_data(
    team_server: Running, of_alice: dict[str, str], name: str
) -> None:
    with team_server.client(name) as client:
        for method, path in operations_with_ids(client):
            if kind := kind_of(path):
                answer = client.request(method, with_id(path, of_alice[kind]))
                assert answer.status_code in (403, 404), (method, path)
        for method, path in pages_with_ids():
            if kind_of(path) == "project":
                answer = client.request(method, with_id(path, of_alice["project"]))
                assert answer.status_code == 403, (method, path)
        assert client.post("/api/v1/uploads", content=CSV).status_code == 403
        assert client.get("/api/v1/sources").status_code in (200, 403)
        assert client.get("/api/v1/jobs").status_code == 403


@pytest.mark.parametrize(
    "identity",
    ["../../etc/passwd", "..%2f..%2fetc%2fpasswd", "%00", "a" * 5000, "'; DROP TABLE jobs; --",
     "%2e%2e", "0" * 31, "\u0661" * 32],
)  # fmt: skip
def test_ids_that_are_paths_or_queries_are_not_found(team_server: Running, identity: str) -> None:
    with team_server.client("alice") as client:
        for method, path in [*operations_with_ids(client), *pages_with_ids()]:
            answer = client.request(method, with_id(path, identity))
            assert answer.status_code in (403, 404, 405, 422), (method, path, answer.text[:300])
            assert "root:" not in answer.text
