"""Catalogs and requests in XML: the same models, validated by the schema, nothing from outside."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree

from mart_catalogs import CLINIC
from shoal.errors import BadDefinition
from shoal.mart.conditions import COMPARISONS, Condition
from shoal.mart.read import (
    catalog_from_mapping,
    read_catalog,
    read_request,
    request_from_mapping,
)
from shoal.mart.request import Request
from shoal.mart.write import spelled
from shoal.mart.xml_read import schema_text

RICH: dict[str, Any] = {
    **CLINIC,
    "sources": {
        **CLINIC["sources"],
        "patient": {
            "source": [{"path": "a.csv", "rename": {"x": "sex"}, "columns": ["x"]}, "b.csv"],
            "askers": ["anna", "bert"],
            "columns": {"sex": {"role": "quasi-identifier", "hierarchy": "suppress"}},
        },
        "survival": {
            "source": {"url": "postgresql://host/db", "query": "SELECT * FROM s WHERE a < 1"},
            "columns": {
                "cause": {
                    "role": "sensitive",
                    "derive": "lookup(`cause of death`, icd)",
                    "diversity": {"distinct": "2", "recursive": {"c": "3", "l": "2"}},
                    "closeness": {"t": "0.3"},
                },
                "day": {
                    "role": "quasi-identifier",
                    "hierarchy": {"date": ["month", "year"]},
                    "priority": "0.5",
                    "limit": "2",
                    "from": "1",
                },
            },
        },
    },
    "links": [
        *CLINIC["links"],
        {
            "between": {"survival": ["name", "birth"], "patient": ["name", "born"]},
            "kind": "one-to-one",
            "optional": "survival",
        },
    ],
    "maps": {"icd": {"colon": "C18", "": "none"}, "odd": {"entries": {"path": "x"}}},
    "policy": {
        "k": "5",
        "suppression": "2.5%",
        "share": "50%",
        "diversity": {"distinct": "2", "recursive": {"c": "4", "l": "2"}},
        "askers": ["anna"],
        "apart": [["PT", "day"], ["sex", "day", "cause"]],
        "overlap": "report",
        "across": "all",
    },
    "missing": {"match": "basic", "values": ["NA", " "], "sensitive": "value"},
    "engine": {"memory limit": "1 GB", "threads": "2"},
}

REQUEST: dict[str, Any] = {
    "asker": "anna",
    "purpose": "survival & staging",
    "project": ["PT", "genes.*"],
    "select": ["PT = 1", 'cause in ["a, b", c]', "day is missing"],
    "k": "7",
    "suppression": "1%",
    "scope": "joint",
    "search": {"strategy": "priority-path", "time limit": "2 min"},
    "loss": {"name": "iyengar", "aggregate": "geometric"},
    "priorities": {"PT": "0.25"},
    "limits": {"PT": "1", "findings.age": "0"},
    "keys": "random",
    "diversity": {"entropy": "1.5"},
    "output": {"path": "out.csv", "delimiter": ";"},
    "report": "out.html",
}


@pytest.mark.parametrize("spelling", ["yaml", "json", "xml"])
@pytest.mark.parametrize("data", [CLINIC, RICH])
def test_a_catalog_reads_back_from_every_spelling(
    tmp_path: Path, data: dict[str, Any], spelling: str
) -> None:
    catalog = catalog_from_mapping(data, Path("/data"))
    path = tmp_path / f"mart.{spelling}"
    path.write_text(spelled(catalog, spelling))
    assert read_catalog(path) == catalog


@pytest.mark.parametrize("spelling", ["yaml", "json", "xml"])
@pytest.mark.parametrize("data", [{"project": "PT"}, {"project": "PT", "loss": "iyengar"}, REQUEST])
def test_a_request_reads_back_from_every_spelling(
    tmp_path: Path, data: dict[str, Any], spelling: str
) -> None:
    request = request_from_mapping(data, Path("/data"))
    path = tmp_path / f"request.{spelling}"
    path.write_text(spelled(request, spelling))
    assert read_request(path) == request


TEXT = st.text(st.characters(exclude_categories=("C", "Z")), min_size=1)


@pytest.mark.slow
@settings(max_examples=30)
@given(
    project=st.lists(TEXT, min_size=1, unique=True),
    select=st.lists(
        st.builds(
            Condition, column=TEXT, operator=st.sampled_from(COMPARISONS), values=st.tuples(TEXT)
        )
    ),
    limits=st.dictionaries(TEXT, st.integers(0, 9)),
    priorities=st.dictionaries(TEXT, st.floats(0, 1)),
)
def test_any_request_reads_back(tmp_path_factory: pytest.TempPathFactory, **keys: Any) -> None:
    request = Request(**keys)
    path = tmp_path_factory.mktemp("request") / "request.xml"
    for spelling in ("yaml", "json", "xml"):
        path = path.with_suffix(f".{spelling}")
        path.write_text(spelled(request, spelling))
        assert read_request(path) == request


ENTITY = "<!DOCTYPE catalog [<!ENTITY e SYSTEM 'file:///etc/passwd'>]>"
XINCLUDE = "http://www.w3.org/2001/XInclude"
CATALOG_XML = spelled(catalog_from_mapping(RICH, Path("/data")), "xml")


def test_the_schema_is_valid_and_accepts_the_catalog() -> None:
    schema = etree.XMLSchema(etree.fromstring(schema_text().encode()))
    schema.assertValid(etree.fromstring(CATALOG_XML.encode()))


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("<catalog ", f"{ENTITY}<catalog ", "DOCTYPE"),
        ("<policy", f'<x:include xmlns:x="{XINCLUDE}" href="a"/><policy', "XInclude"),
        ("catalog", "catalogue", "begin with `<catalog>`"),
        ('kind="one-to-one"', 'kind="one-to-none"', "'one-to-none' is not possible here"),
        ('limit="2"', 'limt="2"', "did you mean 'limit'"),
        ('limit="2"', 'limit="two"', "source.survival.column.day.limit"),
        ("<person", "<persons/><person", "<persons> is no known element"),
        ("<catalog ", "<catalog", "cannot be read as XML"),
        ('<source name="genes"', '<source name="findings"', "sources.findings (line"),
        ("<entry ", '<entry value="colon" result="C19"/><entry ', "occurs twice"),
        ('<lookup name="icd">', '<lookup name="icd" path="icd.csv">', "a path and entries"),
    ],
)
def test_other_documents_are_refused(tmp_path: Path, old: str, new: str, what: str) -> None:
    path = tmp_path / "mart.xml"
    _, _, elements = CATALOG_XML.partition("?>")
    path.write_text(elements.replace(old, new))
    with pytest.raises(BadDefinition) as raised:
        read_catalog(path)
    assert what in str(raised.value)
    assert "root:" not in str(raised.value)


def test_mistakes_of_the_model_have_the_line_of_their_element(tmp_path: Path) -> None:
    path = tmp_path / "mart.xml"
    path.write_text(CATALOG_XML.replace('priority="0.5"', 'priority="5"'))
    with pytest.raises(BadDefinition) as raised:
        read_catalog(path)
    (mistake,) = raised.value.mistakes
    assert mistake.key == "sources.survival.columns.day.priority"
    line = 1 + next(n for n, text in enumerate(CATALOG_XML.splitlines()) if 'name="day"' in text)
    assert mistake.line == line
