"""The guide of catalogs: its files are valid, and it explains every key."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from shoal.mart.catalog import Catalog, CatalogSource, Link, PersonKey, Policy, SharedColumn
from shoal.mart.conditions import OPERATORS
from shoal.mart.read import (
    catalog_from_mapping,
    read_catalog,
    read_request,
    request_from_mapping,
)
from shoal.mart.request import Request

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "mart-catalog.md"
TEXT = GUIDE.read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)


def test_every_yaml_file_of_the_guide_is_valid(tmp_path: Path) -> None:
    for name in ("towns.csv", "wards.csv"):
        (tmp_path / name).write_text("a;b\n" if name == "towns.csv" else "a,b\n")
    kinds: list[type] = []
    whole = yaml.load(blocks("yaml")[0], yaml.BaseLoader)
    for block in blocks("yaml"):
        data = yaml.load(block, yaml.BaseLoader)
        if "project" in data:
            kinds.append(type(request_from_mapping(data, tmp_path)))
        else:
            kinds.append(type(catalog_from_mapping({**whole, **data}, tmp_path)))
    assert kinds == [Catalog, Catalog, Request, Request]


def test_every_column_of_the_requests_is_in_the_catalog() -> None:
    catalog = catalog_from_mapping(yaml.load(blocks("yaml")[0], yaml.BaseLoader))
    request = request_from_mapping(yaml.load(blocks("yaml")[2], yaml.BaseLoader))
    named = [*request.project, *(condition.column for condition in request.select)]
    assert len(catalog.expand([*named, *request.priorities, *request.limits])) == 5


def test_every_xml_file_of_the_guide_is_valid(tmp_path: Path) -> None:
    catalog, request = blocks("xml")
    (tmp_path / "catalog.xml").write_text(catalog)
    (tmp_path / "request.xml").write_text(request)
    assert read_catalog(tmp_path / "catalog.xml").policy.k == 3
    assert read_request(tmp_path / "request.xml").limits == {"age": 1}


@pytest.mark.parametrize(
    "part", [Catalog, PersonKey, CatalogSource, SharedColumn, Link, Policy, Request]
)
def test_every_key_is_explained(part: type[Catalog | Request]) -> None:
    keys = [field.alias or name for name, field in part.model_fields.items()]
    assert [key for key in keys if f"`{key}`" not in TEXT] == []


def test_every_operator_is_explained() -> None:
    shown = [operator for operator in OPERATORS if operator not in ("missing", "present")]
    assert [operator for operator in shown if not re.search(rf"`[^`]*{operator}[^`]*`", TEXT)] == []
    assert "is missing" in TEXT
    assert "is not missing" in TEXT
