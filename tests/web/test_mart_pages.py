"""The pages of the mart in a real browser: a researcher and a custodian, each in their own."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from web.accessible import violations
from web.marts import ODD, REQUEST, serving, write_mart
from web.server import Running
from web.tabs import Tabs

if TYPE_CHECKING:
    from playwright.sync_api import Page, ViewportSize, WebSocketRoute

pytestmark = pytest.mark.slow
WIDE: ViewportSize = {"width": 1280, "height": 800}
NARROW: ViewportSize = {"width": 390, "height": 844}


def look(page: Page) -> None:
    """No serious violation of accessibility, and nothing wider than a small screen."""
    assert violations(page) == []
    page.set_viewport_size(NARROW)
    assert page.evaluate("document.documentElement.scrollWidth") <= NARROW["width"]
    page.set_viewport_size(WIDE)


def wait_for_draft(server: Running, name: str, page: Page, saved: str) -> None:
    """Until the server has what was typed last: the page sends it after a short pause."""
    with server.client(name) as client:
        for _ in range(600):
            if saved in client.get("/api/v1/mart/requests").text:
                return
            page.wait_for_timeout(100)
    raise AssertionError("the draft was not saved")


def compose(page: Page, purpose: str) -> None:
    """Choose two columns and a label of the hierarchy."""
    page.goto("/request/new")
    page.get_by_role("checkbox", name="PT", exact=True).click()
    page.get_by_role("checkbox", name="age", exact=True).click()
    page.get_by_role("button", name="Add a condition").click()
    row = page.get_by_role("group", name="Condition 1")
    row.get_by_label("Column").click()
    page.get_by_role("option", name="PT", exact=True).click()
    row.get_by_label("Value or label").click()
    page.get_by_role("option", name="1 (level 1)").click()
    page.get_by_label("What the data is for").fill(purpose)
    page.get_by_text("Saved as a draft").wait_for()


def sent(server: Running, name: str, *, draft: bool = False) -> str:
    """The id of a request that a user has sent, or kept as a draft."""
    with server.client(name) as client:
        path = f"/api/v1/mart/requests?draft={str(draft).lower()}"
        return str(client.post(path, json=REQUEST).json()["id"])


def test_a_request_is_written_sent_approved_and_downloaded(
    mart_server: Running, tabs: Tabs, tmp_path: Path
) -> None:
    purpose = "<img src=x onerror=alert(1)> staging"
    with (
        tabs.open(mart_server, "anna") as anna,
        tabs.open(mart_server, "cara") as cara,
    ):
        anna.goto("/")
        anna.wait_for_url("**/catalog")
        compose(anna, purpose)
        anna.get_by_role("button", name="Send for approval").click()
        anna.get_by_text("Waiting for approval").wait_for()
        look(anna)
        address = anna.url.replace(mart_server.base, "")

        cara.goto("/inbox")
        look(cara)
        cara.get_by_text(purpose).first.click()
        cara.get_by_text("Highest risk").wait_for(timeout=60_000)
        assert cara.get_by_text("PT = 1", exact=True).is_visible()
        cara.get_by_label("What you say to the asker").fill("a good purpose")
        cara.get_by_role("button", name="Approve and release").click()
        cara.get_by_text("cara approved it").wait_for()

        anna.get_by_role("link", name="Download the release").wait_for(timeout=60_000)
        look(anna)
        assert anna.get_by_text("a good purpose").is_visible()
        with anna.expect_download() as saved:
            anna.get_by_role("link", name="Download the release").click()
        saved.value.save_as(tmp_path / "release.csv")
        with (tmp_path / "release.csv").open(encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        assert {row["PT"] for row in rows} <= {"1", "1a", "1b", "1c", "1mic"}

        cara.goto("/mart-log")
        cara.get_by_text(re.compile("The log is whole")).wait_for()
        look(cara)
        cara.goto(address.replace("/request/", "/inbox/"))
        cara.get_by_role("link", name="Download the report").wait_for()
        anna.goto("/requests")
        anna.get_by_text("Released", exact=True).first.wait_for()
        look(anna)


def test_mistakes_are_shown_where_they_are_made(mart_server: Running, tabs: Tabs) -> None:
    with tabs.open(mart_server, "bert") as page:
        page.goto("/request/new")
        page.get_by_role("button", name="Send for approval").click()
        page.get_by_text("purpose: is missing", exact=False).wait_for()
        page.get_by_text("project: is missing", exact=False).wait_for()
        page.get_by_role("checkbox", name="age", exact=True).click()
        page.get_by_text("project: is missing", exact=False).wait_for(state="detached")
        page.get_by_label("Records that may be left out").fill("50%")
        page.get_by_text("suppression is 50%, above 20%", exact=False).wait_for()
        page.get_by_role("button", name="Add a condition").click()
        row = page.get_by_role("group", name="Condition 1")
        row.get_by_label("Column").click()
        page.get_by_role("option", name="age", exact=True).click()
        row.get_by_label("Condition", exact=True).click()
        page.get_by_role("option", name="is between").click()
        row.get_by_label("From").fill("40")
        row.get_by_text("two values after between", exact=False).wait_for()
        row.get_by_label("To").fill("60")
        row.get_by_text("two values after between", exact=False).wait_for(state="detached")
        look(page)
        page.reload()
        assert page.get_by_role("checkbox", name="age", exact=True).is_checked()
        assert page.get_by_label("To").input_value() == "60"
        page.get_by_role("button", name="Delete the draft").click()
        page.get_by_text("No request yet").wait_for()
        look(page)


def test_a_refusal_needs_a_reason_which_the_asker_reads(mart_server: Running, tabs: Tabs) -> None:
    with (
        tabs.open(mart_server, "dora") as dora,
        tabs.open(mart_server, "cara") as cara,
    ):
        number = sent(mart_server, "dora")
        dora.goto(f"/inbox/{number}")
        dora.get_by_text("This is your own request", exact=False).wait_for()
        assert dora.get_by_role("button", name="Approve and release").count() == 0
        assert dora.get_by_text("Highest risk").count() == 0
        dora.goto(f"/request/{number}")
        cara.goto(f"/inbox/{number}")
        cara.get_by_role("button", name="Refuse").click()
        cara.get_by_text("reason: is missing", exact=False).wait_for()
        cara.get_by_label("What you say to the asker").fill("ask for fewer columns")
        cara.get_by_role("button", name="Refuse").click()
        cara.get_by_text("cara refused it").wait_for()
        dora.get_by_text("ask for fewer columns", exact=False).wait_for(timeout=20_000)


def test_a_draft_of_the_api_opens_in_the_builder(mart_server: Running, tabs: Tabs) -> None:
    """With other spellings of its columns, and also with mistakes that the builder cannot make."""
    body = {
        "project": ["findings.PT", "survival.*", "nothing"],
        "select": ["findings.age between 30 and 50", "nothing = 3", "PT"],
        "limits": {"findings.PT": 9, "nothing": 1},
        "priorities": {"PT": 0.8},
        "scope": "zzz",
        "keys": "zzz",
        "k": -5,
        "suppression": "x",
        "purpose": "staging",
    }
    with mart_server.client("bert") as client:
        draft = client.post("/api/v1/mart/requests?draft=true", json=body).json()["id"]
    with tabs.open(mart_server, "bert") as page:
        page.goto(f"/request/{draft}")
        for name in ("PT", "cause", "days", "therapy"):
            assert page.get_by_role("checkbox", name=name, exact=True).is_checked()
        assert page.get_by_label("To").input_value() == "50"
        assert page.get_by_role("group", name="Condition 2").count() == 0
        page.get_by_text("9 is above the hierarchy", exact=False).wait_for()
        page.get_by_text("How general each column may become", exact=False).click()
        page.get_by_label("PT: level").click()
        page.get_by_role("option", name="at most level 1").click()
        page.get_by_text("9 is above the hierarchy", exact=False).wait_for(state="detached")
        page.get_by_label("PT: priority").click()
        page.get_by_role("option", name="matters most").click()
        page.get_by_text("Saved as a draft").wait_for()
        look(page)
    with mart_server.client("bert") as client:
        saved = client.get(f"/api/v1/mart/requests/{draft}").json()["request"]
        client.post(f"/api/v1/mart/requests/{draft}/cancel")
    assert saved["limits"] == {"PT": 1}
    assert saved["priorities"] == {"PT": 1}
    assert saved["project"] == ["PT", "cause", "days", "therapy", ODD]


def test_odd_names_are_shown_as_text_everywhere(mart_server: Running, tabs: Tabs) -> None:
    with (
        tabs.open(mart_server, "anna") as anna,
        tabs.open(mart_server, "cara") as cara,
    ):
        anna.goto("/catalog")
        anna.locator(".name", has_text="<script>alert(1)</script>").wait_for()
        look(anna)
        anna.goto("/request/new")
        anna.get_by_role("checkbox", name=ODD.strip()).click()
        anna.get_by_role("button", name="Add a condition").click()
        row = anna.get_by_role("group", name="Condition 1")
        row.get_by_label("Column").click()
        anna.get_by_role("option", name=ODD.strip()).click()
        row.get_by_label("Condition", exact=True).click()
        anna.get_by_role("option", name="is above").click()
        row.get_by_label("Value").fill("100")
        anna.get_by_label("What the data is for").fill(ODD)
        anna.get_by_text("Saved as a draft").wait_for()
        look(anna)
        wait_for_draft(mart_server, "anna", anna, '"purpose":"<script>')
        anna.reload()
        assert anna.get_by_role("checkbox", name=ODD.strip()).is_checked()
        assert anna.get_by_label("Value").input_value() == "100"
        anna.get_by_role("button", name="Send for approval").click()
        anna.get_by_text("Waiting for approval").wait_for()
        cara.goto(anna.url.replace("/request/", "/inbox/"))
        cara.get_by_text("Highest risk").wait_for(timeout=60_000)
        look(cara)


class SlowAnswers:
    """Holds back what the server says to a page until `release`, as a slow line would."""

    def __init__(self, page: Page) -> None:
        self._held: list[tuple[WebSocketRoute, str | bytes]] = []
        self._is_holding = False
        page.route_web_socket(re.compile("/socket.io/"), self._connect)

    def _connect(self, route: WebSocketRoute) -> None:
        server = route.connect_to_server()
        server.on_message(lambda message: self._pass(route, message))

    def _pass(self, route: WebSocketRoute, message: str | bytes) -> None:
        if self._is_holding:
            self._held.append((route, message))
        else:
            route.send(message)

    def hold(self) -> None:
        self._is_holding = True

    def release(self, page: Page, pause: int = 300) -> None:
        """Let pass what was held back, after a pause in which the server answers."""
        page.wait_for_timeout(pause)
        self._is_holding = False
        for route, message in self._held:
            route.send(message)
        self._held.clear()


def test_a_late_answer_closes_no_list_and_takes_no_text_away(
    mart_server: Running, tabs: Tabs
) -> None:
    with tabs.open(mart_server, "bert") as tab:
        page = tab.context.new_page()
        answers = SlowAnswers(page)
        page.goto("/request/new")
        page.get_by_role("button", name="Add a condition").click()
        row = page.get_by_role("group", name="Condition 1")
        row.get_by_label("Column").click()
        answers.hold()
        page.get_by_role("option", name=ODD.strip()).click()
        row.get_by_label("Condition", exact=True).click()
        above = page.get_by_role("option", name="is above")
        above.wait_for()
        answers.release(page)
        page.get_by_text("Saved as a draft").wait_for()
        answers.hold()
        above.click()
        row.get_by_label("Value").fill("100")
        answers.release(page)
        page.wait_for_function("location.pathname != '/request/new'")
        wait_for_draft(mart_server, "bert", page, "> 100")
        assert row.get_by_label("Value").input_value() == "100"
        page.get_by_role("button", name="Delete the draft").click()
        page.get_by_text("No request yet").wait_for()


def test_pages_are_for_their_roles_and_their_owners(mart_server: Running) -> None:
    with mart_server.client("anna") as client:
        draft = client.post("/api/v1/mart/requests?draft=true", json={"project": ["PT"]}).json()
    pages = {
        "/catalog": {"anna": 200, "cara": 200, "adam": 403},
        "/requests": {"anna": 200, "cara": 403, "adam": 403},
        "/request/new": {"anna": 200, "cara": 403, "adam": 403},
        f"/request/{draft['id']}": {"anna": 200, "bert": 404, "dora": 404, "cara": 403},
        f"/inbox/{draft['id']}": {"anna": 403, "cara": 404, "dora": 404},
        "/inbox": {"anna": 403, "cara": 200, "adam": 403},
        "/mart-log": {"anna": 403, "cara": 200, "adam": 403},
    }
    for path, expected in pages.items():
        for name, status in expected.items():
            with mart_server.client(name) as client:
                answer = client.get(path, headers={"accept": "text/html"})
            assert answer.status_code == status, (path, name, answer.text[:300])


def test_the_catalog_is_searched_and_filtered(mart_server: Running, tabs: Tabs) -> None:
    with tabs.open(mart_server, "anna") as page:
        page.goto("/catalog")
        page.get_by_text("survival", exact=True).wait_for()
        page.get_by_label("Search names, labels and rules").fill("1mic")
        page.get_by_text("survival", exact=True).wait_for(state="detached")
        assert page.get_by_text("PT", exact=True).is_visible()
        page.get_by_role("button", name="Sensitive").click()
        page.get_by_text("No column fits").wait_for()
        page.get_by_label("Search names, labels and rules").fill("")
        page.get_by_text("therapy", exact=True).wait_for()


def test_an_estimate_is_made_where_the_policy_alone_decides(tabs: Tabs, tmp_path: Path) -> None:
    catalog = write_mart(tmp_path / "mart")
    with serving(tmp_path, catalog, "never") as server, tabs.open(server, "anna") as page:
        page.goto(f"/request/{sent(server, 'anna', draft=True)}")
        page.get_by_role("button", name="Estimate").click()
        page.get_by_text("10 to 99 records").wait_for(timeout=60_000)
        assert page.get_by_role("button", name="Send and release").is_visible()
        kinds = [
            json.loads(line)["kind"]
            for line in (tmp_path / "mart" / "log.jsonl").read_text().splitlines()
        ]
        assert kinds == ["estimated"]


def test_a_local_recoding_is_asked_for_estimated_and_released_with_its_levels(
    tabs: Tabs, tmp_path: Path
) -> None:
    catalog = write_mart(tmp_path / "mart")
    with serving(tmp_path, catalog, "never") as server, tabs.open(server, "anna") as page:
        page.goto(f"/request/{sent(server, 'anna', draft=True)}")
        page.get_by_role("button", name="Levels by class").click()
        wait_for_draft(server, "anna", page, '"recoding":"local"')
        page.reload()
        chosen = page.get_by_role("button", name="Levels by class")
        assert chosen.get_attribute("aria-pressed") == "true"
        page.get_by_role("button", name="Estimate").click()
        page.get_by_text(re.compile("PT at level [0-9]")).wait_for(timeout=60_000)
        page.get_by_role("button", name="Send and release").click()
        page.get_by_role("link", name="Download the release").wait_for(timeout=60_000)
        assert page.get_by_text("levels by class (local)").is_visible()
        assert "PT" in page.get_by_role("region", name="Levels of the columns").inner_text()
        look(page)
        request = page.url.rpartition("/")[2]
        with server.client("anna") as client:
            result = client.get(f"/api/v1/mart/requests/{request}/result").json()
        levels = [level for each in result["sources"].values() for level in each["levels"].values()]
        assert levels
        assert all(isinstance(each, dict) for each in levels)


def test_a_server_without_a_mart_says_how_to_get_one(tabs: Tabs, team_server: Running) -> None:
    with tabs.open(team_server, "ruth") as page:
        page.goto("/catalog")
        page.get_by_text("No data mart here yet").wait_for()
        assert page.get_by_text("[mart]", exact=False).is_visible()
        look(page)
