"""The report as HTML and Markdown says the same, and explains its numbers."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pandas as pd  # type: ignore[import-untyped]
import pytest

import shoal
from shoal.definition.read import from_mapping
from shoal.report.run import markdown_page, page, text, write_report
from shoal.report.sections import explained, in_short
from shoal.values import Result

NASTY = {"a|b": "quasi-identifier", "q*": "quasi-identifier"}
DEFINITION = from_mapping({"source": "t.csv", "k": 3, "attributes": NASTY})


@pytest.fixture(scope="module")
def result() -> Result:
    rows = ["x|y", "# no", "`code`"] * 8 + ["rare<i>value"]
    frame = pd.DataFrame({"a|b": rows, "q*": ["1"] * 24 + ["2"]})
    _, result = shoal.anonymize(
        frame,
        {name: {"hierarchy": "suppress"} for name in frame},
        k=3,
        suppression=1,
        with_result=True,
    )
    assert result.suppressed == 1
    return result


def test_markdown_is_chosen_by_its_ending_and_shows_data_as_text(
    result: Result, tmp_path: Path
) -> None:
    write_report(result, DEFINITION, tmp_path / "r.md", command="shoal run d.yaml")
    said = (tmp_path / "r.md").read_text(encoding="utf-8")
    assert said.startswith("# Release of t.csv\n\n**Safe: verified")
    assert "| a\\|b | 0 of 1 |" in said
    assert "```text\nshoal run d.yaml\n```" in said
    tables = [row for row in said.splitlines() if row.startswith("|")]
    assert all(len(re.findall(r"(?<!\\)\|", row)) in (3, 4, 5, 7) for row in tables)


def test_all_forms_have_the_same_sections(result: Result) -> None:
    titles = re.findall(r"^## (.*)$", markdown_page(result, DEFINITION), re.MULTILINE)
    assert titles == re.findall(r"<h2>(.*?)</h2>", page(result, DEFINITION))
    plain = text(result, DEFINITION).splitlines()
    assert [each for each in titles if each in plain] == titles
    assert {"In short", "Risk before and after", "Certificate"} <= set(titles)


def test_no_form_names_a_value_that_only_suppressed_records_have(result: Result) -> None:
    for form in (page, markdown_page, text):
        assert "rare" not in form(result, DEFINITION).replace("too rare", "")


def test_a_loss_of_an_unchanged_attribute_is_explained(result: Result) -> None:
    said = " ".join(explained(result))
    assert "so 4.0% of each loss is due to the records left out" in said
    none = {n: dataclasses.replace(t, left_out=0.0) for n, t in result.treatments.items()}
    assert "left out" not in " ".join(explained(dataclasses.replace(result, treatments=none)))


def test_the_answer_comes_first_in_plain_words(result: Result) -> None:
    asked, safe, lost, look = (said for _, said in in_short(result).cards)
    assert "by a|b and q*: every class has at least 3 records. Up to 1 of 25 records" in asked
    assert "with at least 7 other records" in safe
    assert "at most 1 in 8 (12.5%). In the source it was 100%." in safe
    assert "1 of 25 records were left out (4.00%)" in lost
    assert "There are no warnings." in look


def test_an_unverified_result_is_not_called_safe_in_short(result: Result) -> None:
    unsafe = in_short(dataclasses.replace(result, verified=False)).cards[1][1]
    assert unsafe == "That was not verified: do not pass this on."


def test_the_command_that_makes_it_again_is_in_the_report(result: Result) -> None:
    assert "shoal run &#x27;d e.yaml&#x27; --k 3" in page(
        result, DEFINITION, "shoal run 'd e.yaml' --k 3"
    )


@pytest.mark.slow
def test_a_source_with_too_many_tuples_has_no_risk_before_and_names_no_value() -> None:
    zips = [f"AT-{10_000 + i}" for i in range(4_000)]
    frame = pd.DataFrame({"zip": zips, "sex": ["f", "m"] * 2_000})
    _, result = shoal.anonymize(
        frame,
        {"zip": {"mask": 5}, "sex": "suppress"},
        k=50,
        engine={"tuples": 1_000},
        with_result=True,
    )
    assert result.raised
    assert result.before is None
    assert result.treatments["zip"].levels[0].example is None
    attributes = dict.fromkeys(frame, "quasi-identifier")
    definition = from_mapping({"source": "t.csv", "k": 50, "attributes": attributes})
    for form in (page, markdown_page, text):
        said = form(result, definition)
        assert "too many different combinations" in " ".join(said.split())
        assert not [value for value in zips if value in said]
