"""Reading a definition: its spellings, its short forms, and paths."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from shoal.definition.model import (
    Csv,
    Cuts,
    Dates,
    Definition,
    Files,
    Groups,
    Hierarchy,
    Intervals,
    Mask,
    OutputFile,
    Suppress,
    Taxonomy,
)
from shoal.definition.read import LARGEST, from_mapping, read
from shoal.definition.write import spelled
from shoal.errors import BadDefinition

FULL = """
source: patients.csv
output: release.csv
report: release.html
k: 5
suppression: 5%
missing: {match: extended, values: ["", "NA", "?"]}
loss: iyengar
search: {strategy: exhaustive, time limit: 60 s, gap: 0, threads: 2}
attributes:
  name:      identifier
  zip:       {role: quasi-identifier, hierarchy: {mask: 5}, limit: 3, priority: 0.8}
  age:       {role: quasi-identifier, hierarchy: {intervals: [5, 10, 20, 100]}}
  sex:       {role: quasi-identifier, hierarchy: suppress}
  birth:     {role: quasi-identifier, hierarchy: {date: [month, year, decade]}}
  country:   {role: quasi-identifier, hierarchy: country.csv}
  staging:
    role: quasi-identifier
    hierarchy: {tree: {"[1-2]": {"1": [1a, 1b, 1c], "2": [2]}, "[3-4]": ["3", "4"]}}
    information loss: [0, 0.3, 0.7, 1]
  diagnosis: {role: sensitive, diversity: {distinct: 3}}
  income:    {role: sensitive, closeness: {t: 0.2, distance: ordered}}
  ward:      keep
  notes:     drop
"""


def written(folder: Path, text: str, name: str = "definition.yaml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def with_attribute(attribute: object, **keys: object) -> Definition:
    attributes = {"a": attribute, "other": "quasi-identifier"}
    return from_mapping({"source": "x.csv", "k": 5, "attributes": attributes, **keys})


def hierarchy_of(spelling: object) -> Hierarchy | None:
    definition = with_attribute({"role": "quasi-identifier", "hierarchy": spelling})
    return definition.attributes["a"].hierarchy


def test_the_contract_of_the_file_is_read_key_by_key(tmp_path: Path) -> None:
    written(tmp_path, "a;*\n", "country.csv")
    definition = read(written(tmp_path, FULL))
    assert isinstance(definition.source, Files)
    assert definition.source.path == str(tmp_path / "patients.csv")
    assert isinstance(definition.output, OutputFile)
    assert definition.output.path == tmp_path / "release.csv"
    assert definition.report == tmp_path / "release.html"
    assert (definition.k, definition.suppression) == (5, 0.05)
    assert definition.missing.values == ("", "NA", "?")
    assert (definition.search.time_limit, definition.search.threads) == (60.0, 2)
    assert definition.quasi_identifiers == ("zip", "age", "sex", "birth", "country", "staging")
    assert definition.sensitive == ("diagnosis", "income")
    attributes = definition.attributes
    assert attributes["zip"].hierarchy == Mask(mask=(1, 2, 3, 4, 5))
    assert (attributes["zip"].limit, attributes["zip"].priority) == (3, 0.8)
    assert attributes["country"].hierarchy == Csv(path=tmp_path / "country.csv")
    assert attributes["staging"].information_loss == (0, 0.3, 0.7, 1)


@pytest.mark.parametrize(
    ("spelling", "hierarchy"),
    [
        ("suppress", Suppress()),
        ({"mask": 3}, Mask(mask=(1, 2, 3))),
        ({"mask": "3"}, Mask(mask=(1, 2, 3))),
        ({"mask": [2, 4]}, Mask(mask=(2, 4))),
        ({"mask": 1, "from": "left"}, Mask.model_validate({"mask": (1,), "from": "left"})),
        ({"intervals": [5, 10]}, Intervals(intervals=(5, 10))),
        ({"intervals": 5}, Intervals(intervals=(5,))),
        ({"cuts": [18, 65]}, Cuts(cuts=((18, 65),))),
        ({"cuts": [[18, 65], [18], []]}, Cuts(cuts=((18, 65), (18,), ()))),
        ({"date": ["month", "year"]}, Dates(date=("month", "year"))),
        ({"date": "year"}, Dates(date=("year",))),
        ({"groups": [2, 4]}, Groups(groups=(2, 4))),
        ({"tree": {"x": ["1", 2], "y": None}}, Taxonomy(tree={"x": ("1", "2"), "y": None})),
        (Suppress(), Suppress()),
    ],
)
def test_every_spelling_of_a_hierarchy_is_understood(
    spelling: object, hierarchy: Hierarchy
) -> None:
    assert hierarchy_of(spelling) == hierarchy


@pytest.mark.parametrize(
    ("given", "share"),
    [("5%", 0.05), ("0.05", 0.05), (0.07, 0.07), ("100 %", 1.0), ("12", 12), (3, 3), (1.0, 1.0)],
)
def test_suppression_is_a_share_or_a_number_of_records(given: object, share: float) -> None:
    suppression = with_attribute("keep", suppression=given).suppression
    assert suppression == share
    assert type(suppression) is type(share)


@pytest.mark.parametrize(
    ("given", "seconds"), [("2s", 2), ("60 s", 60), ("5 min", 300), ("1 h", 3600), (10, 10)]
)
def test_durations_are_read(given: object, seconds: float) -> None:
    assert with_attribute("keep", search={"time limit": given}).search.time_limit == seconds


def test_short_forms_of_missing_and_loss_are_understood() -> None:
    definition = with_attribute("keep", missing="basic", loss="iyengar")
    assert definition.missing.match == "basic"
    assert definition.loss.name == "iyengar"


def test_a_tab_can_be_written_as_a_word() -> None:
    definition = with_attribute("keep", source={"path": "x.csv", "delimiter": "tab"})
    assert isinstance(definition.source, Files)
    assert isinstance(definition.source, Files)
    assert definition.source.delimiter == "\t"


def test_yaml_scalars_stay_the_text_they_are(tmp_path: Path) -> None:
    text = """
source: {path: x.csv, header: yes}
k: 5
missing: {values: [007, no, 1e3, null, ~, ""]}
attributes:
  no: keep
  code: {role: quasi-identifier, hierarchy: {tree: {yes: [007, 1.0, no], 0x1: [null]}}}
"""
    definition = read(written(tmp_path, text))
    assert definition.missing.values == ("007", "no", "1e3", "null", "~", "")
    assert isinstance(definition.source, Files)
    assert definition.source.header is True
    assert definition.attributes["code"].hierarchy == Taxonomy(
        tree={"yes": ("007", "1.0", "no"), "0x1": ("null",)}
    )
    assert "no" in definition.attributes


@pytest.mark.parametrize(
    ("stated", "meant"),
    [
        *[(True, True), ("yes", True), ("true", True), ("1", True), (1, True)],
        *[(0, False), ("no", False), (3, 3), ("3", 3), (" 12 ", 12)],
    ],
)
def test_the_header_is_a_row_or_whether_the_first_is_one(stated: object, meant: object) -> None:
    definition = with_attribute("keep", source={"path": "x.csv", "header": stated})
    assert isinstance(definition.source, Files)
    assert definition.source.header is meant or definition.source.header == meant > 1  # type: ignore[operator]


@pytest.mark.parametrize("spelling", ["yaml", "json", "xml"])
def test_how_a_file_is_read_survives_every_spelling(tmp_path: Path, spelling: str) -> None:
    source = {"path": "x.xlsx", "header": 3, "decimal": ",", "options": {"sheet": "Tabelle 1"}}
    definition = with_attribute("keep", source=source)
    path = tmp_path / f"d.{spelling}"
    path.write_text(spelled(definition, spelling), encoding="utf-8")
    found = read(path).source
    assert isinstance(found, Files)
    assert (found.header, found.decimal, found.settings) == (3, ",", {"sheet": "Tabelle 1"})


def test_nothing_after_a_key_means_not_given(tmp_path: Path) -> None:
    text = "source: x.csv\nk: 5\nreport:\noutput: null\nattributes:\n  a: {role: quasi-identifier}"
    definition = read(written(tmp_path, text))
    assert definition.report is None
    assert definition.output is None


def test_json_and_yaml_spell_the_same_definition(tmp_path: Path) -> None:
    data: dict[str, Any] = {
        "source": "x.csv",
        "k": 5,
        "suppression": 0.05,
        "report": None,
        "attributes": {
            "code": {"role": "quasi-identifier", "hierarchy": {"tree": {"a": [1, "2", 1.50]}}},
            "sex": {"role": "quasi-identifier", "hierarchy": {"cuts": [[1.5, 2], [2]]}},
        },
    }
    text = json.dumps(data).replace("1.5]", "1.50]")
    yaml_twin = read(written(tmp_path, text, "a.yaml"))
    assert read(written(tmp_path, text, "a.json")) == yaml_twin
    assert yaml_twin.attributes["code"].hierarchy == Taxonomy(tree={"a": ("1", "2", "1.50")})


def test_the_content_decides_when_the_ending_does_not(tmp_path: Path) -> None:
    as_json = '{"source": "x.csv",\t"k": 5, "attributes": {"a": "quasi-identifier"}}'
    as_yaml = "source: x.csv\nk: 5\nattributes: {a: quasi-identifier}"
    assert read(written(tmp_path, as_json, "a.txt")) == read(written(tmp_path, as_yaml, "b.conf"))


def test_a_glob_under_a_folder_with_brackets_matches_in_that_folder_only(tmp_path: Path) -> None:
    folder = tmp_path / "study [1]"
    folder.mkdir()
    text = "source: '*.csv'\nk: 5\nattributes: {a: quasi-identifier}"
    source = read(written(folder, text)).source
    assert isinstance(source, Files)
    pattern = source.path
    assert pattern == str(tmp_path / "study [[]1]" / "*.csv")


def test_absolute_paths_stay_as_they_are(tmp_path: Path) -> None:
    text = "source: /data/x.csv\noutput: /out/y.csv\nk: 5\nattributes: {a: quasi-identifier}"
    definition = read(written(tmp_path, text))
    assert isinstance(definition.source, Files)
    assert definition.source.path == "/data/x.csv"
    assert isinstance(definition.output, OutputFile)
    assert definition.output.path == Path("/out/y.csv")


def test_a_byte_order_mark_is_no_part_of_the_first_key(tmp_path: Path) -> None:
    text = "\ufeffsource: x.csv\nk: 5\nattributes: {a: quasi-identifier}"
    assert read(written(tmp_path, text)).k == 5


def test_the_suppression_limit_rounds_down_but_not_by_float_noise() -> None:
    assert with_attribute("keep", suppression="7%").suppression_limit(100) == 7
    assert with_attribute("keep", suppression="5%").suppression_limit(30162) == 1508
    assert with_attribute("keep", suppression=50).suppression_limit(20) == 20


def mistake_of(path: Path) -> str:
    with pytest.raises(BadDefinition) as caught:
        read(path)
    assert len(caught.value.mistakes) == 1
    assert caught.value.file == str(path)
    return str(caught.value.mistakes[0])


def test_a_missing_file_is_refused_with_a_near_miss(tmp_path: Path) -> None:
    written(tmp_path, "", "patients.yaml")
    assert "did you mean 'patients.yaml'?" in mistake_of(tmp_path / "patient.yaml")


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    assert "no folder" in mistake_of(tmp_path / "nowhere" / "a.yaml")


def test_a_folder_is_refused(tmp_path: Path) -> None:
    assert "is a folder" in mistake_of(tmp_path)


@pytest.mark.parametrize("text", ["", "# only a comment\n", "- a\n- b\n", "just text"])
def test_a_file_without_keys_is_refused(tmp_path: Path, text: str) -> None:
    assert "shoal init" in mistake_of(written(tmp_path, text))


def test_broken_utf8_is_refused_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_bytes(b"source: x.csv\nk: 5\nreport: caf\xe9.html\n")
    assert "not UTF-8 in line 3" in mistake_of(path)


def test_a_huge_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_bytes(b"#" * (LARGEST + 1))
    assert "larger than 10 MB" in mistake_of(path)


@pytest.mark.parametrize("name", ["a.xml", "a.yaml"])
def test_what_looks_like_xml_is_read_as_xml(tmp_path: Path, name: str) -> None:
    assert "begin with `<definition>`" in mistake_of(written(tmp_path, "<a/>", name))
