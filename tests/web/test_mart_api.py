"""The mart over HTTP: each role gets what it may, everything else is refused the same way."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

import shoal
from shoal.client import mart as client_mart
from shoal.errors import BadDefinition, Declined, ShoalError
from web.marts import MART_USERS, ODD, REQUEST, wait_for
from web.server import Running

pytestmark = pytest.mark.slow
API = "/api/v1/mart"


@pytest.fixture(scope="module")
def clients(mart_server: Running) -> Iterator[dict[str, httpx.Client]]:
    """A client for each user, and one for nobody."""
    found = {name: mart_server.client(name) for name in MART_USERS}
    found["nobody"] = mart_server.client(None)
    for client in found.values():
        client.base_url = f"{mart_server.base}{API}"
    yield found
    for client in found.values():
        client.close()


def send(client: httpx.Client, **more: Any) -> str:
    """The id of a new request."""
    answer = client.post("/requests", json={**REQUEST, **more})
    assert answer.status_code == 201, answer.text
    assert answer.json()["state"] == "waiting"
    return str(answer.json()["id"])


def test_a_request_goes_from_its_words_to_the_release(clients: dict[str, httpx.Client]) -> None:
    anna, cara = clients["anna"], clients["cara"]
    assert anna.post("/requests/check", json=REQUEST).json() == {"mistakes": []}
    one = send(anna)

    def previewed() -> str:
        return str(cara.get(f"/requests/{one}/preview").json()["state"])

    assert wait_for(previewed, "done", "failed") == "done"
    preview = cara.get(f"/requests/{one}/preview").json()["answer"]["result"]
    assert preview["rows_released"] > 0
    assert anna.get(f"/requests/{one}/release").status_code == 404
    approved = cara.post(f"/requests/{one}/approve", json={"reason": "a good purpose"})
    assert approved.json()["decided_by"] == "cara"

    def state() -> str:
        return str(anna.get(f"/requests/{one}").json()["state"])

    assert wait_for(state, "released", "refused", "failed") == "released"
    for client in (anna, cara, clients["dora"]):
        release = client.get(f"/requests/{one}/release")
        assert release.headers["content-disposition"].startswith("attachment")
        rows = list(csv.DictReader(io.StringIO(release.text)))
        assert len(rows) == preview["rows_released"]
        assert list(rows[0]) == ["PT", "age"]
    result = anna.get(f"/requests/{one}/result").json()
    assert (result["asker"], result["output"]) == ("anna", "release.csv")
    assert "attachment" in anna.get(f"/requests/{one}/report").headers["content-disposition"]
    log = cara.get("/log").json()["entries"]
    assert [entry["digest"] for entry in log if entry["digest"] == result["digest"]]
    check = cara.get("/log/check", params={"contains": [result["digest"], "0" * 64]}).json()
    assert (check["faults"], check["lacking"]) == ([], ["0" * 64])


ROUTES = [
    ("GET", "/catalog", "researcher custodian"),
    ("POST", "/requests/check", "researcher"),
    ("POST", "/requests", "researcher"),
    ("GET", "/requests", "researcher"),
    ("GET", "/requests?whose=all", "custodian"),
    ("GET", "/requests/{id}", "asker custodian"),
    ("PUT", "/requests/{id}", "asker"),
    ("POST", "/requests/{id}/send", "asker"),
    ("POST", "/requests/{id}/retry", "asker"),
    ("POST", "/requests/{id}/approve", "custodian"),
    ("POST", "/requests/{id}/refuse", "custodian"),
    ("GET", "/requests/{id}/preview", "custodian"),
    ("POST", "/requests/{id}/preview", "custodian"),
    ("GET", "/requests/{id}/result", "asker custodian"),
    ("GET", "/requests/{id}/release", "asker custodian"),
    ("GET", "/requests/{id}/report", "asker custodian"),
    ("POST", "/estimates", "researcher"),
    ("GET", "/estimates/{id}", "asker"),
    ("GET", "/log", "custodian"),
    ("GET", "/log/check", "custodian"),
    ("POST", "/requests/{id}/cancel", "asker"),
]


def test_every_route_is_for_its_roles_alone(
    mart_server: Running, clients: dict[str, httpx.Client]
) -> None:
    """Who has no role for it gets 403, another researcher 404, nobody 401."""
    one = send(clients["anna"])
    for method, path, allowed in ROUTES:
        body = REQUEST if path in ("/requests/check", "/requests", "/estimates") else {}
        body = REQUEST if method == "PUT" else body
        for name, client in clients.items():
            roles = {*MART_USERS.get(name, ()), *(["asker"] if name == "anna" else [])}
            if roles.intersection(allowed.split()):
                continue
            answer = client.request(
                method, path.format(id=one), json=None if method == "GET" else body
            )
            expected = 401 if name == "nobody" else 403
            if "asker" in allowed and "researcher" in roles:
                expected = 404
            assert answer.status_code == expected, (method, path, name, answer.text)
            assert answer.headers["content-type"] == "application/problem+json"
    openapi = clients["anna"].get(f"{mart_server.base}/api/v1/openapi.json").json()["paths"]
    known = {
        (method.upper(), path.removeprefix(API))
        for path, methods in openapi.items()
        if path.startswith(API)
        for method in methods
    }
    tried = {(method, path.partition("?")[0]) for method, path, _ in ROUTES}
    assert known == tried


def test_unknown_ids_and_those_of_others_get_the_same_answer(
    clients: dict[str, httpx.Client],
) -> None:
    one, bert = send(clients["anna"]), clients["bert"]
    for path in ("", "/result", "/release", "/report"):
        tried = (one, "0" * 32, "x", "%00", "' OR 1=1 --")
        answers = {bert.get(f"/requests/{each}{path}").text for each in tried}
        assert len(answers) == 1, path
        assert bert.get(f"/requests/..%2f..%2f{one}{path}").status_code == 404
    assert one not in bert.get("/requests").text


def test_a_client_names_neither_who_asks_nor_a_file(clients: dict[str, httpx.Client]) -> None:
    before = clients["anna"].get("/requests").json()
    for more in (
        {"asker": "bert"},
        {"output": "/tmp/release.csv"},
        {"report": "../report.html"},
        {"catalog": "/etc/passwd"},
        {"source": {"url": "sqlite:///x"}},
        {"search": {"strategy": "box"}},
        {"format": "../../etc/passwd"},
        {"format": "/tmp/x"},
    ):
        answer = clients["anna"].post("/requests", json={**REQUEST, **more})
        assert answer.status_code == 422, (more, answer.text)
        assert answer.json()["code"] == "bad-definition"
    assert clients["anna"].get("/requests").json() == before


def test_nobody_approves_their_own_request(clients: dict[str, httpx.Client]) -> None:
    one = send(clients["dora"])
    for path in ("approve", "refuse"):
        answer = clients["dora"].post(f"/requests/{one}/{path}", json={"reason": "mine"})
        assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")
    assert clients["dora"].get(f"/requests/{one}/preview").status_code == 403
    assert clients["cara"].post(f"/requests/{one}/refuse", json={"reason": "no"}).json()[
        "state"
    ] == ("refused")
    again = clients["cara"].post(f"/requests/{one}/approve", json={})
    assert (again.status_code, again.json()["code"]) == (409, "conflict")


def test_mistakes_come_with_their_keys_and_codes(clients: dict[str, httpx.Client]) -> None:
    asked = {"project": ["PT", "P"], "select": ["PT = 7"], "k": 2}
    found = clients["anna"].post("/requests/check", json=asked).json()["mistakes"]
    assert {(each["key"], each["code"]) for each in found} == {
        ("project.1", "unknown-column"),
        ("purpose", "bad-definition"),
    }
    asked["project"] = ["PT"]
    answer = clients["anna"].post("/requests", json=asked)
    assert answer.status_code == 422
    keys = {(each["key"], each["code"]) for each in answer.json()["mistakes"]}
    assert keys == {("select.0", "unknown-value"), ("k", "policy"), ("purpose", "bad-definition")}


def test_odd_values_are_mistakes_and_no_failures(clients: dict[str, httpx.Client]) -> None:
    huge, deep = "9" * 5000, '{"a":' * 500 + "1" + "}" * 500
    for body in (
        '{"project": ["PT"], "suppression": NaN}',
        '{"project": ["PT"], "suppression": 1e999}',
        '{"project": ["\\ud800"]}',
        '{"purpose": "\\ud800", "project": ["PT"]}',
        f'{{"project": ["PT"], "k": {huge}}}',
        f'{{"project": ["PT"], "diversity": {deep}}}',
        '{"project": ["PT"], "diversity": {"distinct": {"x": NaN}}}',
        '{"project": "PT"}',
        '{"project": [["PT"]]}',
        "[1]",
        "null",
        "{",
    ):
        for path in ("/requests?draft=true", "/requests/check"):
            headers = {"content-type": "application/json"}
            answer = clients["anna"].post(path, content=body, headers=headers)
            assert 400 <= answer.status_code < 500, (body[:60], answer.text)
            assert answer.headers["content-type"] == "application/problem+json"


def test_a_draft_is_kept_changed_sent_and_taken_back(clients: dict[str, httpx.Client]) -> None:
    anna = clients["anna"]
    draft = anna.post("/requests?draft=true", json={"project": ["PT"]}).json()
    assert draft["state"] == "draft"
    assert clients["cara"].get(f"/requests/{draft['id']}").status_code == 404
    assert anna.put(f"/requests/{draft['id']}", json=REQUEST).json()["request"] == REQUEST
    assert anna.post(f"/requests/{draft['id']}/send").json()["state"] == "waiting"
    assert anna.put(f"/requests/{draft['id']}", json=REQUEST).status_code == 409
    assert anna.post(f"/requests/{draft['id']}/cancel").json()["state"] == "cancelled"
    other = anna.post("/requests?draft=true", json={}).json()
    assert anna.post(f"/requests/{other['id']}/cancel").status_code == 204
    assert anna.get(f"/requests/{other['id']}").status_code == 404


def test_the_catalog_has_names_and_labels_and_nothing_of_records(
    clients: dict[str, httpx.Client],
) -> None:
    found = clients["anna"].get("/catalog").json()
    assert found["approval"] == "always"
    columns = {each["name"]: each for each in found["columns"]}
    assert set(columns) == {"sex", "PT", "age", "cause", "days", "therapy", ODD}
    assert found["trees"]["PT"][0]["label"] == "*"
    text = clients["anna"].get("/catalog").text
    for value in ("C18", "I25", "findings.csv", "log.jsonl"):
        assert value not in text


def test_the_client_asks_decides_and_saves(
    mart_server: Running, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client_mart, "PAUSE", 0.1)
    tokens = mart_server.tokens
    with (
        shoal.Client(mart_server.base, tokens["anna"]) as anna,
        shoal.Client(mart_server.base, tokens["cara"]) as cara,
    ):
        assert anna.mart.catalog()["mart"] == "clinic"
        assert anna.mart.check(REQUEST) == []
        asked = anna.mart.ask(REQUEST)
        with pytest.raises(TimeoutError):
            asked.wait(0)
        found = cara.mart.request(asked.id)
        assert found.preview()["result"]["persons_released"] > 0
        found.approve()
        result = asked.wait(60)
        asked.save_release(tmp_path / "release.csv")
        asked.save_report(tmp_path / "report.html")
        with (tmp_path / "release.csv").open(encoding="utf-8") as file:
            assert len(list(csv.DictReader(file))) == result["rows_released"]
        assert "<html" in (tmp_path / "report.html").read_text()
        assert cara.mart.check_log([result["digest"]])["whole"]
        assert cara.mart.log()[-1]["digest"] == result["digest"]
        assert asked.id in {each["id"] for each in cara.mart.requests(whose="all")}

        refused = anna.mart.ask(REQUEST)
        cara.mart.request(refused.id).refuse("ask for less")
        with pytest.raises(Declined, match="cara refused the request: ask for less"):
            refused.wait()
        with pytest.raises(BadDefinition):
            anna.mart.ask({"project": ["nothing"]})
        with pytest.raises(ShoalError, match="custodian decides"):
            anna.mart.estimate(REQUEST)
