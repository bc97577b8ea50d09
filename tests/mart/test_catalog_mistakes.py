"""Mistakes of a catalog: each with its key, what is wrong and the remedy, all of them at once."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest

from mart_catalogs import CLINIC
from shoal.errors import BadDefinition
from shoal.mart.read import catalog_from_mapping, read_catalog, request_from_mapping


def changed(**changes: Any) -> dict[str, Any]:
    """The catalog with values at dotted keys; `__` is a dot, None removes a key."""
    data = copy.deepcopy(CLINIC)
    for path, value in changes.items():
        *holders, last = path.split("__")
        holder: Any = data
        for key in holders:
            holder = holder[int(key) if isinstance(holder, list) else key]
        if value is None:
            del holder[last]
        else:
            holder[int(last) if isinstance(holder, list) else last] = value
    return data


def mistakes(data: Any, folder: Path = Path("/data")) -> BadDefinition:
    with pytest.raises(BadDefinition) as raised:
        catalog_from_mapping(data, folder)
    return raised.value


def link(one: str, other: str, kind: str = "one-to-one", **more: str) -> dict[str, Any]:
    between = dict(each.split(".", 1) for each in (one, other))
    return {"between": between, "kind": kind, **more}


LINKS = CLINIC["links"]
SINGLE: list[tuple[dict[str, Any], str, str, str]] = [
    # Keys of the model.
    ({"mart": None}, "mart", "is missing", "write for example `mart: oncology`"),
    ({"log": None}, "log", "is missing", "`log: oncology.log`"),
    ({"person": None}, "person", "is missing", "`person: {source: patient"),
    ({"person__columns": []}, "person.columns", "is not", "write for example"),
    ({"person__colums": ["x"]}, "person.colums", "is no known key", "did you mean 'columns'"),
    ({"sourcs": {}}, "sourcs", "is no known key", "did you mean 'sources'"),
    ({"sources__genes__ask": ["a"]}, "sources.genes.ask", "no known key", "'askers'"),
    ({"sources__genes__source": "pg://x"}, "sources.genes.source", "which table", "{url:"),
    (
        {"sources__genes__source": {"path": "a.csv", "delimeter": ";"}},
        "sources.genes.source.delimeter",
        "is no known key",
        "did you mean 'delimiter'",
    ),
    (
        {"sources__genes__columns__g1": "identifier"},
        "sources.genes.columns.g1.role",
        "'identifier' is no role of a shared column",
        "leave the column out",
    ),
    (
        {"sources__genes__columns__g1": "hidden"},
        "sources.genes.columns.g1.role",
        "unknown role 'hidden'",
        "'quasi-identifier', 'sensitive', 'keep'",
    ),
    (
        {"sources__findings__columns__age": {"role": "quasi-identifier", "derived": "1"}},
        "sources.findings.columns.age.derived",
        "is no known key",
        "did you mean 'derive'",
    ),
    (
        {"sources__findings__columns__age__hierarchy": {"intervals": ["5"], "orign": "3"}},
        "sources.findings.columns.age.hierarchy.orign",
        "is no known key",
        "'origin'",
    ),
    ({"links__0__kind": "many-to-many"}, "links.0.kind", "cannot be joined", "between them"),
    ({"links__0__kind": "several"}, "links.0.kind", "not possible here", "'one-to-one'"),
    ({"links__0__between": {"findings": "a"}}, "links.0.between", "two sources", "between:"),
    ({"links__0__between__findings": []}, "links.0.between", "", "between:"),
    ({"links__0__optinal": "x"}, "links.0.optinal", "is no known key", "'optional'"),
    ({"policy": {"k": "1"}}, "policy.k", "is 1, but must be at least 2", "`k: 5`"),
    ({"policy": {"share": "120%"}}, "policy.share", "must be at most 1", "`share: 50%`"),
    ({"policy": {"diversity": {"distinkt": 3}}}, "policy.diversity.distinkt", "", "'distinct'"),
    ({"policy": {"overlap": "ignore"}}, "policy.overlap", "not possible", "'refuse', 'report'"),
    ({"maps": {"icd": "none.csv"}}, "maps.icd", "there is no file", "no folder"),
    ({"maps": {"icd": []}}, "maps.icd", "is no lookup", "icd.csv"),
    ({"maps": []}, "maps", "is not a mapping", "maps:"),
    # Names.
    (
        {"sources__genes__columns__person_id": "keep"},
        "sources.genes.columns.person_id",
        "name of the random ids",
        "another name",
    ),
    ({"sources__genes__columns__G1": "keep"}, "sources.genes.columns.g1", "case", "rename it"),
    # Columns.
    (
        {"sources__findings__columns__PT__information loss": ["0.1", "0.3", "1"]},
        "sources.findings.columns.PT.information loss",
        "does not go from 0 to 1",
        "[0, 0.3, 1]",
    ),
    (
        {"sources__findings__columns__PT__information loss": ["0", "0.3", "0.9"]},
        "sources.findings.columns.PT.information loss",
        "does not go from 0 to 1",
        "[0, 0.3, 1]",
    ),
    (
        {"sources__findings__columns__PT__information loss": ["0", "0.3", "0.4", "1"]},
        "sources.findings.columns.PT.information loss",
        "4 numbers for 3 levels",
        "one number for each level",
    ),
    (
        {"sources__findings__columns__PT__priority": "2"},
        "sources.findings.columns.PT.priority",
        "is above 1",
        "from 0 to 1",
    ),
    (
        {"sources__findings__columns__PT__limit": "7"},
        "sources.findings.columns.PT.limit",
        "above the hierarchy",
        "from 0 to 2",
    ),
    (
        {"sources__findings__columns__ill": "sensitive"},
        "sources.findings.columns.ill",
        "nothing is demanded of it",
        "diversity",
    ),
    # Sources that are released as they are.
    ({"sources__genes__untransformed": None}, "sources.genes", "unchanged", "why that is safe"),
    ({"sources__genes__untransformed": " "}, "sources.genes.untransformed", "no reason", "why"),
    (
        {"sources__genes__columns__g1": "quasi-identifier"},
        "sources.genes.columns.g1.role",
        "but the source is untransformed",
        "make it keep",
    ),
    # Persons.
    ({"person__source": "patients"}, "person.source", "no source 'patients'", "'patient'"),
    ({"person__columns": ["a", "a"]}, "person.columns", "twice", "once"),
    (
        {"sources__patient__columns__PatId": "keep"},
        "sources.patient.columns.PatId",
        "identifies persons",
        "leave the column out",
    ),
    (
        {"sources__findings__columns__PrepId": "quasi-identifier"},
        "sources.findings.columns.PrepId",
        "identifies persons",
        "keys: random",
    ),
    # Links.
    ({"links__1": link("gens.a", "findings.a")}, "links.1.between", "'gens'", "'genes'"),
    ({"links__1__between__genes": ["a", "b"]}, "links.1.between", "2 and 1 columns", "number"),
    ({"links__1__between__genes": ["a", "a"]}, "links.1.between", "twice", "once"),
    ({"links__1__optional": "patient"}, "links.1.optional", "not an end", "'genes'"),
    ({"links__1__optional": "findings"}, "links.1.optional", "to nobody", "`optional: genes`"),
    ({"links__0__optional": "findings"}, "links.1", "is optional", "another source"),
    ({"links": LINKS[:1]}, "sources.genes", "not linked with 'patient'", "add a link"),
    # Policy and log.
    ({"policy": {"suppression": "-1"}}, "policy.suppression", "below 0", "5%"),
    ({"policy": {"diversity": {}}}, "policy.diversity", "no kind", "distinct"),
    ({"policy": {"apart": [["PT"]]}}, "policy.apart", "less than two", "together"),
    ({"policy": {"apart": [["PT", "sax"]]}}, "policy.apart", "no column 'sax'", "'sex'"),
    ({"policy": {"apart": [["PT", "age"]]}}, "policy.apart", "'findings.age'", "the source"),
    ({"policy": {"askers": ["a", "a"]}}, "policy.askers", "'a' occurs twice", "once"),
    ({"policy": {"askers": []}}, "policy.askers", "names nobody", "leave it out"),
    ({"sources__genes__askers": [""]}, "sources.genes.askers", "names nobody", "leave it out"),
    ({"log": "genes", "sources__genes__source": "genes.head"}, "log", "genes.head", "its own"),
    ({"log": "genes.csv"}, "log", "is a file of the source 'genes'", "its own"),
]


@pytest.mark.parametrize(("changes", "key", "what", "remedy"), SINGLE)
def test_a_mistake_is_named_with_its_key_and_remedy(
    changes: dict[str, Any], key: str, what: str, remedy: str
) -> None:
    found = [m for m in mistakes(changed(**changes)).mistakes if m.key == key]
    assert any(what in mistake.what and remedy in mistake.remedy for mistake in found), found


@pytest.mark.parametrize("changes", [changes for changes, _, what, _ in SINGLE if what != "case"])
def test_one_mistake_is_reported_once_and_brings_no_other(changes: dict[str, Any]) -> None:
    assert len(mistakes(changed(**changes)).mistakes) == 1


def test_a_second_link_between_two_sources_is_ambiguous() -> None:
    error = mistakes(changed(links=[*LINKS, link("patient.a", "findings.b")]))
    assert error.code == "ambiguous-links"
    assert "linked by links.0 already" in str(error)


def test_links_in_a_circle_are_a_cycle() -> None:
    error = mistakes(changed(links=[*LINKS, link("genes.a", "patient.b")]))
    assert error.code == "cyclic-links"
    assert error.mistakes[0].key == "links.2"


def test_a_key_that_belongs_to_no_person_may_be_shared() -> None:
    data = changed(
        sources__wards={"source": "wards.csv", "columns": {"code": "quasi-identifier"}},
        sources__findings__columns__ward="sensitive",
        links=[*LINKS, link("findings.ward", "wards.code", "many-to-one")],
        policy={"diversity": {"distinct": "2"}},
    )
    catalog_from_mapping(data, Path("/data"))
    one_each = changed(
        sources__wards={"source": "wards.csv", "columns": {"code": "quasi-identifier"}},
        links=[*LINKS, link("findings.ward", "wards.code", "one-to-many")],
    )
    assert "sources.wards.columns.code: identifies persons" in str(mistakes(one_each))


def test_one_of_several_columns_of_a_key_may_be_a_quasi_identifier() -> None:
    keys = ["name", "birth"]
    ends = {"survival": ["name", "birth"], "patient": ["name", "birth"]}
    more: dict[str, Any] = {
        "sources__survival": {"source": "survival.csv"},
        "sources__patient__columns__birth": "quasi-identifier",
        "person__columns": keys,
    }
    links = [*LINKS, {"between": ends, "kind": "one-to-one", "optional": "survival"}]
    catalog_from_mapping(changed(**more, links=links), Path("/data"))
    more["sources__patient__columns__name"] = "keep"
    error = mistakes(changed(**more, links=links))
    assert [mistake.key for mistake in error.mistakes] == ["sources.patient.columns.name"]


def derived(**columns: Any) -> dict[str, Any]:
    keys = {
        f"sources__findings__columns__{name}": {"role": "quasi-identifier", **column}
        if isinstance(column, dict)
        else {"role": "quasi-identifier", "derive": column}
        for name, column in columns.items()
    }
    return changed(**keys)


@pytest.mark.parametrize(
    ("columns", "code", "what"),
    [
        ({"a": "1 +"}, "bad-expression", "character 4: the end of the expression"),
        ({"a": "(" * 200 + "1" + ")" * 200}, "expression-too-deep", "nested more than"),
        ({"a": "a + 1"}, "bad-definition", "is derived from itself"),
        ({"a": "b + 1", "b": "findings.a"}, "bad-definition", "is derived from itself"),
        ({"a": "patients.birth"}, "bad-definition", "no source 'patients'"),
        ({"a": "lookup(x, idc)"}, "bad-definition", "no map 'idc'"),
        ({"a": {"derive": "PatId", "role": "keep"}}, "bad-definition", "identifies persons"),
        ({"a": {"derive": "b", "role": "keep"}, "b": "patient.PatId"}, "bad-definition", "persons"),
    ],
)
def test_a_derived_column_must_be_computable(columns: dict[str, Any], code: str, what: str) -> None:
    error = mistakes(derived(**columns))
    assert error.code == code
    assert what in str(error)
    assert all(mistake.key.endswith(".derive") for mistake in error.mistakes)


def test_a_derived_column_reads_columns_lookups_and_other_derived_columns() -> None:
    data = derived(
        a="lookup(cause, icd)", b="upper(a)", c="days(patient.birth, day)", d="left(PatId, 1)"
    )
    catalog_from_mapping(data, Path("/data"))


def test_mistakes_of_all_parts_are_reported_at_once() -> None:
    data = changed(
        sources__findings__columns__age={"role": "qasi"},
        links=[*LINKS, link("genes.a", "patient.b")],
        policy={"apart": [["PT", "sax"], ["age", "PT"]], "k": "3"},
        sources__patient__columns__sex={"role": "quasi-identifier", "priority": "3"},
    )
    keys = [mistake.key for mistake in mistakes(data).mistakes]
    assert keys == [
        "sources.findings.columns.age.role",
        "sources.patient.columns.sex.priority",
        "links.2",
    ]


def test_a_source_with_a_mistake_is_still_a_source() -> None:
    data = changed(sources__findings__source="pg://x", links__1__optional="findings")
    keys = [mistake.key for mistake in mistakes(data).mistakes]
    assert keys == ["sources.findings.source", "links.1.optional"]


@pytest.mark.parametrize("data", [None, [], "x", {}, {"sources": []}, {"sources": {"a": None}}])
def test_a_catalog_without_content_is_refused(data: Any) -> None:
    assert mistakes(data).mistakes


def test_lines_of_the_file_are_named(tmp_path: Path) -> None:
    path = tmp_path / "mart.yaml"
    path.write_text(
        "mart: clinic\nlog: mart.yaml\nperson: {source: p, columns: id}\nsources:\n"
        "  p: {source: p.csv, columns: {age: quasi-identifier}}\n  q: {source: q.csv}\n"
    )
    with pytest.raises(BadDefinition) as raised:
        read_catalog(path)
    found = [(mistake.key, mistake.line) for mistake in raised.value.mistakes]
    assert found == [("log", 2), ("sources.q", 6)]
    assert "is the catalog" in str(raised.value)


@pytest.mark.parametrize(
    ("data", "key", "what"),
    [
        ({}, "project", "is missing"),
        ({"project": []}, "project", "is not"),
        ({"project": ["a", "a"]}, "project", "occurs twice"),
        ({"project": ["a"], "k": "1"}, "k", "at least 2"),
        ({"project": ["a"], "suppression": "2.0"}, "suppression", "over 100 %"),
        ({"project": ["a"], "priorities": {"a": "2"}}, "priorities.a", "at most 1"),
        ({"project": ["a"], "limits": {"a": "x"}}, "limits.a", "whole number"),
        ({"project": ["a"], "search": {"strategy": "bx"}}, "search.strategy", "not known"),
        ({"project": ["a"], "search": {"stratgy": "box"}}, "search.stratgy", "no known key"),
        ({"project": ["a"], "loss": "lss"}, "loss", "not known"),
        ({"project": ["a"], "output": {"path": "a.csv", "x": "y"}}, "output.x", "no known key"),
        ({"project": ["a"], "diversity": {"x": "2"}}, "diversity.x", "no known key"),
        ({"project": ["a"], "select": ["a = 1", "PT"]}, "select.1", "has no operator"),
        ({"project": ["a"], "select": {"PT": {"~": "1"}}}, "select.0.operator", "is no operator"),
        ({"project": ["a"], "select": {"PT": {"between": ["1"]}}}, "select.0", "takes 2 values"),
        ({"project": ["a"], "select": {"PT": {"=": None}}}, "select.0", "takes 1 value, not 0"),
        ({"project": ["a"], "select": {"PT": {"=": [[]]}}}, "select.0.values.0", "is not a text"),
        ({"project": ["a"], "select": {"PT": None}}, "select", "says nothing"),
        ({"project": ["a"], "scope": "all"}, "scope", "not possible here"),
        ({"project": ["a"], "wher": "x"}, "wher", "no known key"),
    ],
)
def test_a_mistake_of_a_request_is_named(data: dict[str, Any], key: str, what: str) -> None:
    with pytest.raises(BadDefinition) as raised:
        request_from_mapping(data)
    (mistake,) = raised.value.mistakes
    assert mistake.key == key
    assert what in mistake.what


def test_all_mistakes_of_a_request_are_named_at_once() -> None:
    with pytest.raises(BadDefinition) as raised:
        request_from_mapping({"project": ["a"], "select": ["PT", "a = 1", "b ="], "k": "1"})
    assert [mistake.key for mistake in raised.value.mistakes] == ["select.0", "select.2", "k"]


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"a\n", "row 1 of icd.csv has 1 cells"),
        (b"a;b\na;c\n", "row 2 of icd.csv gives a value a second result"),
        (b"", "has no rows"),
        (b"\xff;b\n", "is not UTF-8"),
        (b'"a;b\n', "cannot be read"),
    ],
)
def test_a_file_of_a_lookup_must_be_readable(tmp_path: Path, content: bytes, what: str) -> None:
    (tmp_path / "icd.csv").write_bytes(content)
    error = mistakes(changed(maps={"icd": "icd.csv"}), tmp_path)
    assert [mistake.key for mistake in error.mistakes] == ["maps.icd"]
    assert what in str(error)
