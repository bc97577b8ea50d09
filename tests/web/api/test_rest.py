"""The REST API of a real server: definitions in, jobs, releases and reports out."""

from __future__ import annotations

import contextlib
import json
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

import shoal
from web.server import Running

pytestmark = pytest.mark.slow
pytest_plugins = ("web.server",)

ROWS = [f"{age},{code},{ill}" for age in (31, 38, 44) for code in (10115, 10117) for ill in "ab"]
DATA = "age,zip,diagnosis\n" + "\n".join(ROWS * 2) + "\n"
AGES = "".join(f"{age};{age // 10}0s;*\n" for age in (31, 38, 44))
DEFINITION: dict[str, Any] = {
    "source": "people.csv",
    "output": "safe.csv",
    "k": 4,
    "attributes": {
        "age": {"role": "quasi-identifier", "hierarchy": "ages.csv"},
        "zip": {"role": "quasi-identifier", "hierarchy": {"mask": 5}},
        "diagnosis": {"role": "sensitive", "diversity": {"distinct": 2}},
    },
}
YAML = """
source: people.csv
output: safe.csv
k: 4
attributes:
  age: {role: quasi-identifier, hierarchy: ages.csv}
  zip: {role: quasi-identifier, hierarchy: {mask: 5}}
  diagnosis: {role: sensitive, diversity: {distinct: 2}}
"""


def api(server: Running, name: str | None) -> httpx.Client:
    headers = {"authorization": f"Bearer {server.tokens[name]}"} if name else {}
    return httpx.Client(base_url=f"{server.base}/api/v1", headers=headers, timeout=60, verify=False)


@pytest.fixture(scope="module")
def alice(team_server: Running) -> Iterator[httpx.Client]:
    with api(team_server, "alice") as client:
        yield client


@pytest.fixture(scope="module")
def bob(team_server: Running) -> Iterator[httpx.Client]:
    with api(team_server, "bob") as client:
        yield client


@pytest.fixture(scope="module")
def files(alice: httpx.Client) -> dict[str, str]:
    return {
        "people.csv": upload(alice, DATA, "people.csv"),
        "ages.csv": upload(alice, AGES, "ages.csv"),
    }


@pytest.fixture(scope="module")
def released(alice: httpx.Client, files: dict[str, str]) -> str:
    """The id of a job that has released."""
    job = submit(alice, "run", definition=DEFINITION, files=files)
    assert ended(alice, job)["state"] == "done"
    return job


def upload(client: httpx.Client, text: str, name: str) -> str:
    answer = client.post("/uploads", content=text.encode(), params={"name": name})
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


def submit(client: httpx.Client, task: str, **body: Any) -> str:
    answer = client.post(f"/jobs/{task}", json=body)
    assert answer.status_code == 202, answer.text
    return str(answer.json()["id"])


def ended(client: httpx.Client, job: str) -> dict[str, Any]:
    limit = time.monotonic() + 60
    while time.monotonic() < limit:
        found: dict[str, Any] = client.get(f"/jobs/{job}").json()
        if found["state"] not in ("waiting", "running"):
            return found
        time.sleep(0.1)
    raise AssertionError("the job did not end")


def result(client: httpx.Client, task: str, **body: Any) -> Any:
    job = submit(client, task, **body)
    ended(client, job)
    answer = client.get(f"/jobs/{job}/result")
    assert answer.status_code == 200, answer.text
    return answer.json()


def problem(answer: httpx.Response, status: int, code: str) -> dict[str, Any]:
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    found: dict[str, Any] = answer.json()
    assert (found["status"], found["code"]) == (status, code)
    return found


def test_the_release_is_that_of_the_command_line_byte_for_byte(
    alice: httpx.Client, released: str, tmp_path: Path
) -> None:
    (tmp_path / "people.csv").write_text(DATA, encoding="utf-8")
    (tmp_path / "hierarchies").mkdir()
    (tmp_path / "hierarchies" / "ages.csv").write_text(AGES, encoding="utf-8")
    definition = tmp_path / "definition.yaml"
    definition.write_text(alice.get(f"/jobs/{released}/definition").text, encoding="utf-8")
    shoal.run(definition)
    answer = alice.get(f"/jobs/{released}/release")
    assert answer.content == (tmp_path / "safe.csv").read_bytes()
    assert 'filename="safe.csv"' in answer.headers["content-disposition"]


def test_report_definitions_and_transformation_can_be_downloaded(
    alice: httpx.Client, released: str, team_server: Running
) -> None:
    report = alice.get(f"/jobs/{released}/report")
    assert report.headers["content-type"].startswith("text/html")
    assert "people.csv" in report.text
    assert str(team_server.folder) not in report.text
    xml = alice.get(f"/jobs/{released}/definition", params={"format": "xml"})
    assert xml.text.startswith("<?xml")
    plan = alice.get(f"/jobs/{released}/transformation").json()
    assert plan


@pytest.mark.parametrize("form", ["object", "yaml", "json"])
def test_a_definition_is_an_object_or_a_text(
    alice: httpx.Client, files: dict[str, str], form: str
) -> None:
    texts: dict[str, Any] = {"object": DEFINITION, "yaml": YAML, "json": json.dumps(DEFINITION)}
    body = {"definition": texts[form], "files": files}
    answer = alice.post("/definitions/check", json=body)
    assert answer.status_code == 200, answer.text
    assert "source: people.csv" in answer.json()["definition"]


def test_events_are_streamed_and_taken_up_after_the_last_one_seen(
    alice: httpx.Client, files: dict[str, str]
) -> None:
    job = submit(alice, "run", definition=DEFINITION, files=files)
    with alice.stream("GET", f"/jobs/{job}/events") as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        blocks = "".join(answer.iter_text()).strip().split("\n\n")
    assert [block.split("\n")[0] for block in blocks] == [
        f"id: {number}" for number in range(1, len(blocks) + 1)
    ]
    assert blocks[-1].endswith('event: state\ndata: {"state": "done"}')
    rest = alice.get(f"/jobs/{job}/events", headers={"last-event-id": "3"}).text
    assert rest.strip().split("\n\n") == blocks[3:]


def test_analyses_answer_as_the_command_line_does(
    alice: httpx.Client, files: dict[str, str], released: str
) -> None:
    body = {"definition": DEFINITION, "files": files}
    best = result(alice, "solutions", best=3, **body)
    assert best["solutions"][0]["loss"] <= best["solutions"][1]["loss"]
    assert result(alice, "lattice", **body)["complete"]
    points = result(alice, "frontier", k="2,4", suppression="0,5%", **body)["points"]
    assert {point["k"] for point in points} == {2, 4}
    assert result(alice, "risk", **body)["after"] is None
    both = result(alice, "risk", job=released)
    assert both["after"]["prosecutor"]["highest"] <= 1 / 4
    assert result(alice, "utility", job=released)["losses"]


def test_an_allowed_source_is_used_by_its_name(alice: httpx.Client) -> None:
    assert [each["name"] for each in alice.get("/sources").json()] == ["patients"]
    definition = {
        "source": {"source": "patients"},
        "k": 5,
        "others": "drop",
        "attributes": {"sex": {"role": "quasi-identifier", "hierarchy": "suppress"}},
    }
    job = submit(alice, "run", definition=definition)
    assert ended(alice, job)["state"] == "done"
    text = alice.get(f"/jobs/{job}/definition").text
    assert "source: {source: patients}" in text
    assert alice.get(f"/jobs/{job}/release").text.startswith("sex\n")


def test_a_population_may_be_an_allowed_source(alice: httpx.Client) -> None:
    upload_id = upload(alice, "sex\nfemale\nfemale\nmale\nmale\n", "source.csv")
    definition = {
        "source": {"upload": upload_id},
        "k": 2,
        "attributes": {"sex": {"role": "quasi-identifier", "hierarchy": "suppress"}},
    }
    checked = alice.post("/definitions/check", json={"definition": definition})
    assert "source: source.csv" in checked.json()["definition"]
    definition["population"] = {"source": {"source": "patients"}, "k": 3}
    job = submit(alice, "run", definition=definition)
    assert ended(alice, job)["problem"] is None
    assert "{source: patients}" in alice.get(f"/jobs/{job}/definition").text
    answer = alice.get(f"/jobs/{job}/definition", params={"format": "xml"})
    problem(answer, 404, "not-found")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("source", "/etc/passwd"),
        ("source", "../data/shoal.sqlite"),
        ("source", {"path": "/etc/passwd"}),
        ("source", {"url": "postgresql://localhost/x", "table": "t"}),
        ("source", {"spark": "people"}),
        ("source", {"source": "nobody"}),
        ("source", ["people.csv", "/etc/passwd"]),
        ("source", {"upload": "0" * 32}),
        ("source", {"upload": "../../etc/passwd"}),
        ("source", {"path": "people.csv", "format": "sqlite"}),
        ("output", "/tmp/out.exe"),
        ("output", {"url": "sqlite:///x.db", "table": "t"}),
        ("output", {"path": "out.parquet", "partition by": "age"}),
        ("engine", {"spill folder": "/tmp"}),
        ("population", {"source": "/etc/passwd", "k": 3}),
        ("privacy", {"my-model": {"file": "/etc/passwd"}}),
        ("loss", {"name": "iyengar", "parameters": {"table": "../x"}}),
        ("search", {"parameters": {"file": "/etc/passwd"}}),
    ],
)
def test_no_path_or_address_of_a_client_is_opened(
    alice: httpx.Client, files: dict[str, str], key: str, value: Any
) -> None:
    body = {"definition": {**DEFINITION, key: value}, "files": files}
    answer = alice.post("/jobs/run", json=body)
    found = problem(answer, 422, "bad-definition")
    assert any(mistake["key"].startswith(key) for mistake in found["mistakes"]), found


@pytest.mark.parametrize(
    "hierarchy", ["/etc/passwd", "../x.csv", {"path": "/etc/passwd"}, {"upload": "1" * 32}]
)
def test_a_hierarchy_is_an_upload_or_none(
    alice: httpx.Client, files: dict[str, str], hierarchy: Any
) -> None:
    attributes = {**DEFINITION["attributes"]}
    attributes["age"] = {"role": "quasi-identifier", "hierarchy": hierarchy}
    body = {"definition": {**DEFINITION, "attributes": attributes}, "files": files}
    found = problem(alice.post("/jobs/run", json=body), 422, "bad-definition")
    assert found["mistakes"][0]["key"] == "attributes.age.hierarchy"


def test_all_mistakes_of_a_definition_come_at_once_with_their_lines(
    alice: httpx.Client, files: dict[str, str]
) -> None:
    wrong = YAML.replace("k: 4", "k: 1").replace("mask: 5", "mask: many")
    answer = alice.post("/definitions/check", json={"definition": wrong, "files": files})
    mistakes = problem(answer, 422, "bad-definition")["mistakes"]
    assert [(each["key"], each["line"]) for each in mistakes] == [
        ("k", 4),
        ("attributes.zip.hierarchy.mask", 7),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "k: 5\nk: 6\n",
        "a: &a [x]\nb: [*a, *a]\n" * 3,
        "!!python/object/apply:os.system [id]",
        '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><anonymization>&e;</anonymization>',
        "{" * 5000,
        "- 1\n- 2\n",
        "\x00",
        "",
    ],
)
def test_yaml_json_and_xml_are_read_as_strictly_as_files(alice: httpx.Client, text: str) -> None:
    problem(alice.post("/jobs/run", json={"definition": text}), 422, "bad-definition")


def test_a_key_that_occurs_twice_in_json_is_a_mistake(
    alice: httpx.Client, files: dict[str, str]
) -> None:
    text = json.dumps({"definition": DEFINITION, "files": files})
    twice = text.replace('"k": 4', '"k": 4, "k": 2')
    headers = {"content-type": "application/json"}
    answer = alice.post("/definitions/check", content=twice, headers=headers)
    found = problem(answer, 422, "bad-definition")
    assert found["mistakes"][0]["key"] == "k"


def test_the_problem_of_a_job_is_that_of_its_result(
    alice: httpx.Client, files: dict[str, str]
) -> None:
    job = submit(alice, "run", definition={**DEFINITION, "k": 1000}, files=files)
    found = ended(alice, job)
    assert found["state"] == "failed"
    answer = problem(alice.get(f"/jobs/{job}/result"), 409, "infeasible")
    assert answer["remedies"]
    assert answer["detail"] == found["problem"]["detail"]
    problem(alice.get(f"/jobs/{job}/release"), 409, "infeasible")


def test_nobody_gets_at_what_belongs_to_another(
    bob: httpx.Client, files: dict[str, str], released: str
) -> None:
    for path in ("", "/result", "/events", "/release", "/report", "/definition"):
        problem(bob.get(f"/jobs/{released}{path}"), 404, "not-found")
    problem(bob.delete(f"/jobs/{released}"), 404, "not-found")
    problem(bob.post(f"/jobs/{released}/stop"), 404, "not-found")
    problem(bob.post("/jobs/utility", json={"job": released}), 404, "not-found")
    problem(bob.get(f"/uploads/{files['people.csv']}"), 404, "not-found")
    problem(bob.delete(f"/uploads/{files['people.csv']}"), 404, "not-found")
    body = {"definition": DEFINITION, "files": files}
    problem(bob.post("/jobs/run", json=body), 422, "bad-definition")
    assert released not in {job["id"] for job in bob.get("/jobs").json()}


def test_roles_and_tokens_are_asked_for(team_server: Running) -> None:
    with api(team_server, None) as nobody:
        assert nobody.get("/health").json()["status"] == "ok"
        problem(nobody.get("/jobs"), 401, "not-logged-in")
    with api(team_server, "ruth") as researcher:
        problem(researcher.get("/jobs"), 403, "forbidden")
        problem(researcher.post("/uploads", content=b"a\n1\n"), 403, "forbidden")
        problem(researcher.get("/metrics"), 403, "forbidden")


def test_metrics_count_and_name_nothing_of_the_data(
    team_server: Running, released: str, files: dict[str, str]
) -> None:
    with api(team_server, "ada") as admin:
        text = admin.get("/metrics").text
    assert 'shoal_jobs{state="done"}' in text
    for word in ("alice", "people", released, *files.values()):
        assert word not in text


def test_uploads_are_listed_and_deleted(alice: httpx.Client) -> None:
    upload_id = upload(alice, DATA, "<b>my data</b>.csv")
    found = alice.get(f"/uploads/{upload_id}").json()
    assert (found["kind"], found["bytes"]) == ("CSV", len(DATA))
    assert upload_id in [each["id"] for each in alice.get("/uploads").json()]
    assert alice.delete(f"/uploads/{upload_id}").status_code == 204
    problem(alice.get(f"/uploads/{upload_id}"), 404, "not-found")


def test_a_file_larger_than_allowed_is_refused_before_it_is_sent(team_server: Running) -> None:
    address = httpx.URL(team_server.base)
    head = (
        f"POST /api/v1/uploads HTTP/1.1\r\nHost: {address.netloc.decode()}\r\n"
        f"Authorization: Bearer {team_server.tokens['alice']}\r\n"
        f"Content-Length: {5 * 2**20}\r\n\r\n"
    )
    with socket.create_connection((address.host, address.port or 80), 10) as connection:
        connection.sendall(head.encode())
        answer = b"".join(iter(lambda: connection.recv(65536), b""))
    assert answer.startswith(b"HTTP/1.1 413 ")
    assert b'"code":"too-large"' in answer


def test_a_file_of_no_stated_length_is_refused_when_it_is_too_large(alice: httpx.Client) -> None:
    sent = 0

    def body() -> Iterator[bytes]:
        nonlocal sent
        while sent < 256 * 2**20:
            sent += 2**16
            yield b"x" * 2**16

    with contextlib.suppress(httpx.WriteError):
        problem(alice.post("/uploads", content=body()), 413, "too-large")
    assert sent < 64 * 2**20


def test_every_operation_is_described(alice: httpx.Client) -> None:
    description = alice.get("/openapi.json").json()
    operations = [
        operation for path in description["paths"].values() for operation in path.values()
    ]
    ids = [operation["operationId"] for operation in operations]
    assert len(ids) == len(set(ids))
    assert {"run", "getJob", "followJob", "getRelease", "checkDefinition", "upload"} <= set(ids)
    assert all(operation["tags"] for operation in operations)
    assert description["components"]["securitySchemes"]["token"]["scheme"] == "bearer"
    assert all(path.startswith("/api/v1/") for path in description["paths"])
