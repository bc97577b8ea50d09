"""Demands on sensitive values: what the search accepts the verifier accepts, and nothing else."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest

import shoal
from shoal.definition.check import mistakes
from shoal.errors import Infeasible
from shoal.values import Finding, Verdict
from shoal.verify.judge import verify
from shoal.verify.sources import source_facts
from verify.rows import Row, definition, source

CITY = {"role": "quasi-identifier", "hierarchy": "suppress"}
ROWS: list[Row] = [
    *[("rome", "flu"), ("rome", "gout"), ("rome", "gout")],
    *[("oslo", "flu"), ("oslo", "gout"), ("oslo", "flu")],
]
DEMANDS: dict[str, tuple[str, dict[str, Any]]] = {
    "distinct": ("distinct-diversity", {"diversity": {"distinct": 2}}),
    "entropy": ("entropy-diversity", {"diversity": {"entropy": 1.5}}),
    "recursive": ("recursive-diversity", {"diversity": {"recursive": {"c": 3, "l": 2}}}),
    "equal": ("t-closeness", {"closeness": {"t": 0.2}}),
    "ordered": ("t-closeness", {"closeness": {"t": 0.2, "distance": "ordered"}}),
    "hierarchical": (
        "t-closeness",
        {
            "closeness": {"t": 0.2, "distance": "hierarchical"},
            "hierarchy": {"tree": {"any": ["flu", "gout"]}},
        },
    ),
    "alpha": ("alpha-anonymity", {"alpha": 0.7}),
    "beta": ("beta-likeness", {"likeness": 0.5}),
    "enhanced": ("beta-likeness", {"likeness": {"beta": 0.5, "enhanced": True}}),
    "delta": ("delta-disclosure", {"disclosure": 0.5}),
}


def judged(spec: Mapping[str, Any], rows: list[Row], original: list[Row] | None = ROWS) -> Verdict:
    model = definition({"city": CITY, "ill": {"role": "sensitive", **spec}})
    release = source(["city", "ill"], rows)
    if original is None:
        return verify(model, release, records=len(rows))
    return verify(model, release, **source_facts(model, source(["city", "ill"], original), {}))


def failure(verdict: Verdict) -> Finding:
    (found,) = verdict.failures
    return found


@pytest.mark.parametrize("name", DEMANDS)
def test_swapping_values_until_a_class_is_homogeneous_is_caught(name: str) -> None:
    model, spec = DEMANDS[name]
    assert judged(spec, ROWS).safe
    swapped: list[Row] = [*[("rome", "gout")] * 3, *[("oslo", "flu")] * 3]
    found = failure(judged(spec, swapped))
    assert found.name == f"{model} of ill"
    assert found.saw.startswith("2 of 2 classes fail")


@pytest.mark.parametrize("name", DEMANDS)
def test_without_the_source_only_what_needs_it_is_not_judged(name: str) -> None:
    model, spec = DEMANDS[name]
    verdict = judged(spec, ROWS, None)
    if model in ("t-closeness", "beta-likeness", "delta-disclosure"):
        assert failure(verdict).saw.startswith("not judged: it compares classes with the source")
    else:
        assert verdict.safe


def test_the_reference_is_the_whole_source_with_suppressed_records() -> None:
    spec = {"closeness": {"t": 0.2}}
    rare: list[Row] = [("bari", "plague")] * 6
    assert judged(spec, ROWS).safe
    model = definition({"city": CITY, "ill": {"role": "sensitive", **spec}}, suppression=6)
    facts = source_facts(model, source(["city", "ill"], ROWS + rare), {})
    found = failure(verify(model, source(["city", "ill"], ROWS), **facts))
    assert found.name == "t-closeness of ill"


def test_under_basic_match_the_reference_is_that_of_the_complete_records() -> None:
    attributes = {"city": CITY, "ill": {"role": "sensitive", "closeness": {"t": 0.2}}}
    model = definition(attributes, missing={"match": "basic"})
    incomplete: list[Row] = [(None, "plague")] * 9
    facts = source_facts(model, source(["city", "ill"], ROWS + incomplete), {})
    assert verify(model, source(["city", "ill"], ROWS), **facts).safe


def test_failing_classes_are_named_with_what_they_reach_at_most_ten() -> None:
    towns: list[Row] = [(f"town {i:02}", "flu") for i in range(12)]
    rows = towns * 2
    found = failure(judged({"diversity": {"distinct": 2}}, rows, rows))
    assert found.saw.startswith("12 of 12 classes fail, distinct l >= 2 demanded: {city='town 00'}")
    assert found.saw.count("reaches 1") == 10
    assert found.saw.endswith("and 2 more")


def test_a_hierarchy_that_lacks_values_leaves_the_demand_unjudged() -> None:
    spec = DEMANDS["hierarchical"][1] | {"hierarchy": {"tree": {"any": ["flu"]}}}
    saw = failure(judged(spec, ROWS)).saw
    assert saw.startswith("not judged: 1 of 2 values are not in the hierarchy: 'gout' (3 records)")


def test_hierarchical_distance_needs_a_file_or_a_tree() -> None:
    spec = DEMANDS["hierarchical"][1] | {"hierarchy": {"mask": 2}}
    model = definition({"city": CITY, "ill": {"role": "sensitive", **spec}})
    found = [each for each in mistakes(model) if each.key == "attributes.ill.hierarchy"]
    assert "shoal hierarchy make" in found[0].remedy


@dataclass(frozen=True)
class Most:
    """No more than so many records of one value; a model of somebody else."""

    attribute: str
    most: int
    name: ClassVar[str] = "most"

    def demanded(self) -> str:
        return f"at most {self.most}"

    def holds(self, size: int, values: Mapping[Any, int], table: Mapping[Any, int]) -> bool:
        assert sum(values.values()) <= size
        assert values.keys() <= table.keys()
        return max(values.values()) <= self.most


@dataclass(frozen=True)
class Mute:
    """A model that cannot judge a class in plain Python."""

    attribute: str


@dataclass(frozen=True)
class Sizes:
    """A model without an attribute."""

    least: int

    def demanded(self) -> str:
        return f"at least {self.least}"

    def holds(self, size: int, values: Mapping[Any, int], table: Mapping[Any, int]) -> bool:
        assert (values, table) == ({}, {})
        return size >= self.least


@pytest.fixture
def plugged(monkeypatch: pytest.MonkeyPatch) -> None:
    models = {"most": Most, "mute": Mute, "sizes": Sizes}
    monkeypatch.setattr("shoal.plugins.find", lambda kind, name: models[name])


@pytest.mark.usefixtures("plugged")
def test_a_plug_in_judges_by_its_own_plain_python() -> None:
    assert judged({"privacy": {"most": {"most": 2}}}, ROWS).safe
    found = failure(judged({"privacy": {"most": {"most": 1}}}, ROWS))
    assert found.name == "most of ill"
    assert found.saw.startswith("2 of 2 classes fail, at most 1 demanded")


@pytest.mark.usefixtures("plugged")
def test_a_plug_in_that_cannot_judge_or_breaks_is_a_failing_finding() -> None:
    assert "no method `holds`" in failure(judged({"privacy": {"mute": {}}}, ROWS)).saw
    foreign: list[Row] = [("rome", "plague")] * 2 + ROWS[2:]
    broken = failure(judged({"privacy": {"most": {"most": 9}}}, foreign))
    assert broken.saw == "not judged: `holds` of most raised AssertionError"
    assert "with the source" in failure(judged({"privacy": {"most": {"most": 2}}}, ROWS, None)).saw


@pytest.mark.usefixtures("plugged")
def test_a_plug_in_without_an_attribute_sees_sizes_only() -> None:
    attributes = {"city": CITY, "ill": {"role": "keep"}}
    table = source(["city", "ill"], ROWS)
    for least, safe in {3: True, 4: False}.items():
        model = definition(attributes, privacy={"sizes": {"least": least}})
        assert verify(model, table, records=6).safe == safe


PATIENTS = """city,ill
rome,flu
rome,?
rome,gout
oslo,flu
oslo,?
oslo,
bari,?
bari,
bari,?
,?
,gout
,
"""


def run(folder: Path, spec: Mapping[str, Any], **others: Any) -> shoal.Result:
    (folder / "patients.csv").write_text(PATIENTS, encoding="utf-8")
    sensitive = others.pop("sensitive", "none")
    return shoal.run(
        {
            "source": str(folder / "patients.csv"),
            "output": str(folder / "release.csv"),
            "k": 2,
            "suppression": "50%",
            "missing": {"values": ["?"], "sensitive": sensitive},
            "attributes": {"city": {**CITY, "limit": 0}, "ill": {"role": "sensitive", **spec}},
            **others,
        }
    )


def released(folder: Path) -> list[list[str]]:
    with (folder / "release.csv").open(encoding="utf-8", newline="") as file:
        return sorted(list(csv.reader(file))[1:])


@pytest.mark.slow
@pytest.mark.parametrize("suppressed", ["drop", "mark"])
@pytest.mark.parametrize(
    ("sensitive", "cities"), [("none", {"rome"}), ("value", {"rome", "oslo", ""})]
)
def test_search_release_and_verifier_agree_about_missing_sensitive_values(
    tmp_path: Path, sensitive: str, cities: set[str], suppressed: str
) -> None:
    spec = {"diversity": {"distinct": 2}}
    share = "75%" if sensitive == "none" else "50%"
    others = {"suppressed": suppressed, "suppression": share, "sensitive": sensitive}
    result = run(tmp_path, spec, **others)
    assert result.verified
    assert result.suppressed == 12 - 3 * len(cities)
    kept = [row for row in released(tmp_path) if suppressed == "drop" or any(row)]
    assert {row[0] for row in kept} == cities
    assert ["rome", "?"] in kept


@pytest.mark.slow
@pytest.mark.parametrize("name", DEMANDS)
@pytest.mark.parametrize("sensitive", ["none", "value"])
@pytest.mark.parametrize("match", ["extended", "basic"])
def test_whatever_is_released_was_found_safe_by_both(
    tmp_path: Path, name: str, sensitive: str, match: str
) -> None:
    missing = {"match": match, "values": ["?"], "sensitive": sensitive}
    try:
        result = run(tmp_path, DEMANDS[name][1], missing=missing, suppression="95%")
    except Infeasible:
        assert sensitive == "value"
        return
    assert result.verified
    verdict = shoal.verify(
        tmp_path / "release.csv",
        {
            "source": str(tmp_path / "patients.csv"),
            "k": 2,
            "suppression": "95%",
            "missing": missing,
            "attributes": {
                "city": {**CITY, "limit": 0},
                "ill": {"role": "sensitive", **DEMANDS[name][1]},
            },
        },
    )
    assert verdict.safe
