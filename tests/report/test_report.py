"""What is said of a result: in sentences, as HTML for notebooks, and as a page of its own."""

from __future__ import annotations

import dataclasses
import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pandas as pd  # type: ignore[import-untyped]
import pytest

import commands
import shoal
from shoal.definition.read import from_mapping
from shoal.report.result import ShownResult, to_json
from shoal.report.run import document, page, text, write_report
from shoal.report.sections import lost, safety, where
from shoal.values import Result

VOID = {"meta", "br"}


class Strict(HTMLParser):
    """Tags must close in the order in which they opened; remembers tags, addresses and text."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.addresses: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.addresses += [value or "" for name, value in attrs if name in ("src", "href")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def parsed(html: str) -> Strict:
    reader = Strict()
    reader.feed(html)
    reader.close()
    assert reader.open == []
    return reader


@pytest.fixture(scope="module")
def result() -> ShownResult:
    frame = pd.DataFrame({"<b>": ["<i>x</i>", "<i>y</i>"] * 4, "a&b": list("11112222")})
    _, result = shoal.anonymize(
        frame, ["<b>", "a&b"], k=4, suppression=0, with_result=True, missing={"values": ["<NA>"]}
    )
    return result


def definition(**keys: Any) -> shoal.Definition:
    attributes = {"<b>": "quasi-identifier", "a&b": "quasi-identifier", "name": "identifier"}
    return from_mapping(
        {"source": "folder/pat<ients>.csv", "k": 4, "attributes": attributes, **keys}
    )


def test_a_notebook_shows_well_formed_html_with_names_as_text(result: ShownResult) -> None:
    html = parsed(result._repr_html_())
    assert "<b>" in html.text
    assert "a&b" in html.text
    assert not html.tags & {"b", "i", "script"}
    assert html.addresses == []


def test_the_report_answers_in_order_and_then_says_what_it_rests_on(result: Result) -> None:
    given = dataclasses.replace(result, input_sha256="0123abcd")
    text = parsed(page(given, definition(suppression="5%", others="drop"))).text
    order = (
        "Release of pat<ients>.csv",
        "Safe: verified",
        "What was lost",
        "What was done to each attribute",
        "Where it is",
        "left out (identifiers)",
        "k4",
        "5%",
        "extended match",
        "lossiyengar",
        "strategybox",
        "0123abcd",
        "duckdb",
    )
    places = [text.index(part) for part in order]
    assert places == sorted(places)


def test_the_report_needs_nothing_from_outside_and_holds_no_date(
    result: Result, tmp_path: Path
) -> None:
    path = tmp_path / "report.html"
    write_report(result, definition(), path)
    html = path.read_text(encoding="utf-8")
    assert parsed(html).addresses == []
    assert "http" not in html
    assert html == page(result, definition())
    assert [each.name for each in tmp_path.iterdir()] == ["report.html"]


def test_proposed_hierarchies_are_shown_ready_to_copy(result: Result) -> None:
    text = parsed(page(result, definition())).text
    assert "Proposed hierarchies" in text
    assert "a&b" in text[text.index("attributes:") :]


def test_the_sentences_distinguish_a_proof_from_a_stop(result: Result) -> None:
    assert "proved the least possible among" in lost(result)[0]
    stopped = dataclasses.replace(result, status="feasible", loss=0.5, bound=0.25, gap=0.5)
    assert "not proved the least possible" in lost(stopped)[0]
    assert "0.250000 (gap 50.0%)" in lost(stopped)[0]


def test_removed_and_suppressed_records_are_distinguished(result: Result) -> None:
    other = dataclasses.replace(result, records=11, removed=1, suppressed=2, suppression_limit=3)
    lines = lost(other)
    assert lines[1] == "2 of 10 records suppressed (20.00%; up to 3 were allowed)."
    assert lines[2] == "1 record with a missing quasi-identifier removed before."


def test_an_unverified_result_never_reads_as_safe(result: ShownResult) -> None:
    unsafe = dataclasses.replace(result, verified=False)
    assert safety(unsafe) == "Not verified: do not pass this on."
    assert "Safe" not in parsed(unsafe._repr_html_()).text


def test_where_is_the_path_of_the_file(result: Result) -> None:
    assert where(result).startswith("In memory")
    assert where(result.published("out.csv")).startswith("out.csv (written and verified in ")


def test_the_json_has_every_field_that_scripts_rely_on(result: Result) -> None:
    fields = json.loads(to_json(dataclasses.replace(result, gap=float("inf"))))
    assert fields.keys() >= {
        *("status", "loss", "bound", "gap", "levels", "records", "suppressed", "classes"),
        *("smallest_class", "tuples", "lattice", "checked", "boxes", "strategy", "seconds"),
        *("verified", "privacy", "output", "input_sha256", "versions"),
    }
    assert fields["seconds"].keys() >= {"read", "search", "release", "verify", "total"}
    assert fields["gap"] is None


def test_demands_are_shown_attribute_by_attribute() -> None:
    frame = pd.DataFrame({"q": list("aabb"), "s": list("xyxy"), "t": list("xyxy")})
    both = {"role": "sensitive", "diversity": {"distinct": 2, "entropy": 1.5}, "alpha": 0.5}
    alone = {"role": "sensitive", "closeness": 0.5}
    _, told = shoal.anonymize(frame, "q", k=2, attributes={"s": both, "t": alone}, with_result=True)
    assert (
        "k >= 2; s: distinct l >= 2, entropy l >= 1.5, alpha <= 0.5; "
        "t: t <= 0.5 (equal distance); the smallest of 2 classes"
    ) in safety(told)


def test_the_report_has_three_forms_by_the_ending_of_its_path(
    result: Result, tmp_path: Path
) -> None:
    for name in ("r.html", "r.txt", "r.json"):
        write_report(result, definition(), tmp_path / name)
    assert (tmp_path / "r.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    plain = (tmp_path / "r.txt").read_text(encoding="utf-8")
    assert plain.startswith("Release of pat<ients>.csv\n====")
    assert "visited nodes" in plain
    assert "Weighted information loss" in plain
    told = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
    assert told["definition"]["k"] == 4
    assert told["result"]["levels"] == dict(result.levels)


def test_class_sizes_cover_every_released_class_once(result: Result) -> None:
    assert sum(each.classes for each in result.class_sizes) == result.classes
    assert sum(each.records for each in result.class_sizes) == 8
    assert result.class_sizes[0].least == result.smallest_class


def test_no_form_of_the_report_shows_a_password(result: Result) -> None:
    place = {"url": "postgresql://ana:se-cret@host/db?password=se-cret", "table": "t"}
    cluster = {"spark": "clinic.visits", "master": "sc://host:443/;use_ssl=true;token=se-cret"}
    for places in ((place, place | {"table": "u"}), (cluster, cluster | {"spark": "clinic.safe"})):
        stated = definition(source=places[0], output=places[1])
        for form in (page, text, document):
            assert "se-cret" not in form(result, stated)


@pytest.fixture
def failed() -> Result:
    with pytest.raises(shoal.Infeasible) as caught:
        shoal.anonymize(
            pd.DataFrame({"q": list("aabbc")}),
            {"q": {"hierarchy": "suppress", "limit": 0}},
            k=2,
            suppression=0,
        )
    assert caught.value.result is not None
    return caught.value.result


def test_a_run_without_a_solution_has_a_result_that_says_why(failed: Result) -> None:
    fields = json.loads(to_json(failed))
    assert (fields["status"], fields["loss"], fields["output"]) == ("infeasible", None, None)
    assert fields["verified"] is False
    assert fields["privacy"][0]["reached"] == 1
    assert "raise the limit of q to 1" in fields["failure"]["remedies"]
    plain = text(failed, definition())
    assert plain.startswith("No release of")
    assert "What would be enough" in plain
    assert "Safe" not in parsed(page(failed, definition())).text


@pytest.mark.slow
def test_the_command_writes_result_and_report_of_a_run_without_a_solution(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("q\na\nb\n")
    (tmp_path / "d.yaml").write_text(
        "{source: t.csv, output: o.csv, report: r.txt, k: 2, attributes: {q: {role: "
        "quasi-identifier, hierarchy: suppress, limit: 0}}}"
    )
    done = commands.shoal("run", "d.yaml", "--json", "r.json", folder=tmp_path)
    assert done.returncode == 3
    assert json.loads((tmp_path / "r.json").read_text())["status"] == "infeasible"
    assert "Nothing was released" in (tmp_path / "r.failed.txt").read_text()
    assert "r.failed.txt" in done.stderr
    assert not (tmp_path / "r.txt").exists()
    assert not (tmp_path / "o.csv").exists()


@pytest.mark.slow
def test_a_failed_run_keeps_the_report_of_the_last_release(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("q\na\na\nb\nb\n")
    (tmp_path / "d.yaml").write_text(
        "{source: t.csv, output: o.csv, report: r.html, k: 2, attributes: {q: {role: "
        "quasi-identifier, hierarchy: suppress, limit: 0}}}"
    )
    assert commands.shoal("run", "d.yaml", folder=tmp_path).returncode == 0
    report, release = (tmp_path / "r.html").read_bytes(), (tmp_path / "o.csv").read_bytes()
    for options, code in ((["--k", "3", "--quiet"], 3), (["--k", "1"], 2)):
        assert commands.shoal("run", "d.yaml", *options, folder=tmp_path).returncode == code
        assert (tmp_path / "r.html").read_bytes() == report
        assert (tmp_path / "o.csv").read_bytes() == release
    assert "No release of" in (tmp_path / "r.failed.html").read_text()
