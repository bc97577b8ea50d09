"""Attacks by files and definitions: bombs, entities, tags, names, sizes, scripts in names."""

from __future__ import annotations

import gzip
import io
import json
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from web.server import Running
from web.tabs import Tabs
from web.test_attacks import cookie_of, host_of, raw
from web.test_cross_user_attacks import ended_job, new_project

pytestmark = pytest.mark.slow

ENTITIES = b"""<?xml version="1.0"?><!DOCTYPE rows [<!ENTITY a "aaaaaaaaaa">
<!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;">
<!ENTITY d "&c;&c;&c;&c;&c;&c;&c;&c;&c;&c;">]><rows><row><zip>&d;</zip></row></rows>"""
FILE_ENTITY = b"""<?xml version="1.0"?><!DOCTYPE rows [<!ENTITY a SYSTEM "file:///etc/passwd">]>
<rows><row><zip>&a;</zip></row><row><zip>&a;</zip></row></rows>"""
DEFINITION: dict[str, Any] = {"k": 2, "attributes": {"zip": "quasi-identifier"}}


def upload(client: httpx.Client, name: str, content: bytes) -> httpx.Response:
    return client.post("/api/v1/uploads", params={"name": name}, content=content)


def run(client: httpx.Client, name: str, content: bytes) -> dict[str, Any]:
    """The job that releases an upload, once it has ended; or the refusal of the upload."""
    answer = upload(client, name, content)
    if answer.status_code != 201:
        return {"state": "refused", "problem": answer.json()}
    definition = {**DEFINITION, "source": {"upload": answer.json()["id"]}}
    started = client.post("/api/v1/jobs/run", json={"definition": definition})
    if started.status_code != 202:
        return {"state": "refused", "problem": started.json()}
    return ended_job(client, started.json()["id"])


def workbook(sheet: bytes) -> bytes:
    """An Excel file with this as its only sheet, packed."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr("xl/workbook.xml", "<workbook/>")
        archive.writestr("xl/worksheets/sheet1.xml", sheet)
    return packed.getvalue()


def test_an_excel_file_that_unpacks_to_too_much_is_refused(team_server: Running) -> None:
    bomb = workbook(b"<worksheet>" + b" " * 200_000_000 + b"</worksheet>")
    assert len(bomb) < 1_000_000
    with team_server.client("alice") as client:
        answer = upload(client, "bomb.xlsx", bomb)
        assert answer.status_code in (413, 415), answer.text


def test_a_packed_csv_file_that_unpacks_to_too_much_is_refused(team_server: Running) -> None:
    bomb = gzip.compress(b"zip\n" + b"1\n" * 20_000_000)
    assert len(bomb) < 1_000_000
    with team_server.client("alice") as client:
        assert upload(client, "bomb.csv.gz", bomb).status_code == 413


@pytest.mark.parametrize("content", [ENTITIES, FILE_ENTITY])
def test_entities_in_xml_data_are_refused(team_server: Running, content: bytes) -> None:
    with team_server.client("alice") as client:
        ended = run(client, "data.xml", content)
    assert ended["state"] in ("refused", "failed"), ended
    assert "root:" not in json.dumps(ended)


def test_deeply_nested_json_data_is_refused(team_server: Running) -> None:
    with team_server.client("alice") as client:
        ended = run(client, "data.json", b'[{"zip":' * 50_000 + b"1" + b"}]" * 50_000)
    assert ended["state"] in ("refused", "failed"), ended


@pytest.mark.parametrize(
    "name",
    ["../../../etc/cron.d/x.csv", "..\\..\\x.csv", "/etc/passwd.csv", "a\x00.csv", "x.csv\r\nA: b",
     "CON.csv", ".csv", "<img src=x onerror=alert(1)>.csv", "a" * 900 + ".csv", "\u202evsc.exe"],
)  # fmt: skip
def test_the_name_of_a_file_is_never_part_of_a_path(team_server: Running, name: str) -> None:
    folder = team_server.folder / "data" / "uploads"
    with team_server.client("alice") as client:
        answer = upload(client, name, b"zip\n1\n1\n")
        assert answer.status_code == 201, answer.text
        assert not {"/", "\\", "\n", "\x00"} & set(answer.json()["name"])
        assert (folder / f"data-{answer.json()['id']}.csv").is_file()
    outside = [path for path in team_server.folder.rglob("*") if "cron" in path.name]
    assert outside == []


def test_a_file_larger_than_allowed_is_refused_before_it_is_sent(team_server: Running) -> None:
    request = (
        f"POST /api/v1/uploads?name=a.csv HTTP/1.1\nHost: {host_of(team_server)}\n"
        f"Origin: {team_server.base}\nCookie: {cookie_of(team_server, 'alice')}\n"
        "Content-Length: 5000000\n\n"
    )
    assert raw(team_server, request).split(" ")[1] == "413"


def test_a_file_of_unknown_length_is_counted_and_leaves_nothing_behind(
    team_server: Running,
) -> None:
    def endless() -> Iterator[bytes]:
        yield b"zip\n"
        for _ in range(60):
            yield b"1\n" * 50_000

    folder = team_server.folder / "data" / "uploads"
    before = set(folder.iterdir())
    with team_server.client("alice") as client:
        answer = client.post("/api/v1/uploads", params={"name": "a.csv"}, content=endless())
        assert (answer.status_code, answer.json()["code"]) == (413, "too-large")
    assert set(folder.iterdir()) == before


def test_an_upload_that_stops_coming_is_given_up_and_leaves_nothing_behind(
    team_server: Running,
) -> None:
    folder = team_server.folder / "data" / "uploads"
    before = set(folder.iterdir())
    request = (
        f"POST /api/v1/uploads?name=a.csv HTTP/1.1\nHost: {host_of(team_server)}\n"
        f"Origin: {team_server.base}\nCookie: {cookie_of(team_server, 'alice')}\n"
        "Content-Length: 100000\n\nzip\n1\n"
    )
    begun = time.monotonic()
    assert raw(team_server, request).split(" ")[1] == "408"
    assert time.monotonic() - begun < 8
    assert set(folder.iterdir()) == before


ALIASES = """
a: &a [x, x, x, x, x, x, x, x, x]
b: &b [*a, *a, *a, *a, *a, *a, *a, *a]
c: &c [*b, *b, *b, *b, *b, *b, *b, *b]
d: &d [*c, *c, *c, *c, *c, *c, *c, *c]
e: [*d, *d, *d, *d, *d, *d, *d, *d]
"""
INCLUDE = """<definition xmlns:xi="http://www.w3.org/2001/XInclude">
<xi:include href="/etc/passwd" parse="text"/></definition>"""
ENTITY = '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><definition>&a;</definition>'


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("!!python/object/apply:os.system ['touch evil']", "yaml"),
        ("k: !!python/name:os.system\nattributes: {zip: quasi-identifier}", "yaml"),
        (ALIASES, "yaml"),
        (ENTITY, "xml"),
        (INCLUDE, "xml"),
        ("[" * 100_000, "json"),
    ],
)
def test_a_definition_with_tags_entities_or_bombs_is_refused(
    team_server: Running, text: str, kind: str
) -> None:
    with team_server.client("alice") as client:
        body = {"definition": text, "format": kind}
        answer = client.post("/api/v1/jobs/run", json=body)
    assert answer.status_code == 422, answer.text[:300]
    assert "root:" not in answer.text
    assert list(team_server.folder.rglob("evil")) == []


@pytest.mark.parametrize(
    "source",
    ["/etc/passwd", "../server.toml", {"path": "/etc/passwd"},
     {"url": "sqlite:////x", "table": "x"}, {"url": "http://169.254.169.254/latest", "table": "x"},
     {"spark": "/etc/passwd"},
     {"source": "no-such-source"}, [{"path": "/etc/passwd"}, {"path": "/etc/group"}],
     {"upload": "../../server.toml"}, "file:///etc/passwd", "glob/*.csv"],
)  # fmt: skip
def test_no_path_or_address_of_a_client_is_opened(team_server: Running, source: Any) -> None:
    with team_server.client("alice") as client:
        definition = {**DEFINITION, "source": source}
        answer = client.post("/api/v1/jobs/run", json={"definition": definition})
        assert answer.status_code == 422, answer.text
        hierarchy = {"zip": {"role": "quasi-identifier", "hierarchy": source}}
        uploaded = upload(client, "a.csv", b"zip\n1\n1\n").json()["id"]
        definition = {"source": {"upload": uploaded}, "k": 2, "attributes": hierarchy}
        answer = client.post("/api/v1/jobs/run", json={"definition": definition})
        assert answer.status_code == 422, answer.text


def test_json_that_is_broken_deep_or_not_utf8_is_refused(team_server: Running) -> None:
    bodies = [b"[" * 90_000, b"\xff\xfe", b'{"definition": NaN}', b"null", b'{"a": 1, "a": 2}', b""]
    with team_server.client("alice") as client:
        for body in bodies:
            headers = {"content-type": "application/json"}
            answer = client.post("/api/v1/jobs/run", content=body, headers=headers)
            assert answer.status_code in (400, 413, 422), (body[:20], answer.text)
            assert answer.headers["content-type"] == "application/problem+json"


def test_scripts_in_names_and_values_are_shown_as_text(
    team_server: Running, tabs: Tabs, tmp_path: Path
) -> None:
    script = "<script>window.stolen=1</script><img src=x onerror=window.stolen=1>"
    data = tmp_path / "<img src=x onerror=window.stolen=1>.csv"
    lines = [
        f'"{script}","{{{{constructor}}}}","age"',
        *(f'"{script}",x,{n % 5}' for n in range(30)),
    ]
    data.write_text("\n".join(lines) + "\n", encoding="utf-8")
    project = new_project(team_server, tabs)
    with tabs.open(team_server, "alice") as page:
        page.goto(f"/project/{project}/data")
        page.locator("input[type=file]").first.set_input_files(data)
        page.get_by_text("{{constructor}}").first.wait_for(timeout=60_000)
        page.goto(f"/project/{project}/columns")
        page.get_by_text("{{constructor}}").first.wait_for(timeout=60_000)
        assert page.get_by_text("<script>window.stolen=1").count() > 0
        assert page.evaluate("window.stolen") is None
