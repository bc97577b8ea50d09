"""Mistakes of a request are found from the catalog alone, each at its key, all at once."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from mart.clinic import Clinic
from shoal import mart
from shoal.mart.catalog import Catalog


@pytest.fixture
def catalog(tmp_path: Path) -> Catalog:
    """The clinic's catalog; its sources do not exist."""
    policy = {"k": 3, "apart": [["age", "cause"]], "askers": ["anna"]}
    return mart.catalog_from_mapping(Clinic(tmp_path, keys={"policy": policy}).catalog)


def found(catalog: Catalog, asked: Mapping[str, Any], asker: str = "anna") -> set[tuple[str, str]]:
    return {(each.key, each.code) for each in mart.request_mistakes(catalog, asked, asker)}


def test_a_good_request_has_no_mistakes(catalog: Catalog) -> None:
    asked = {"project": ["PT", "age"], "select": ["PT = 1", "age >= 40"], "limits": {"PT": 1}}
    assert found(catalog, asked) == set()


@pytest.mark.parametrize(
    ("asked", "mistake"),
    [
        ({"project": ["PT", "P"]}, ("project.1", "unknown-column")),
        ({"project": ["PT"], "select": ["age > 1", "x = 1"]}, ("select.1", "unknown-column")),
        ({"project": ["PT"], "select": ["age"]}, ("select.0", "bad-definition")),
        ({"project": ["PT"], "select": ["PT = 3"]}, ("select.0", "unknown-value")),
        ({"project": ["PT"], "select": ["PT in [1, 3]"]}, ("select.0", "unknown-value")),
        ({"project": ["PT"], "limits": {"PT": 3}}, ("limits.PT", "bad-definition")),
        ({"project": ["PT"], "limits": {"Q": 1}}, ("limits.Q", "unknown-column")),
        ({"project": ["PT"], "priorities": {"Q": 1}}, ("priorities.Q", "unknown-column")),
        ({"project": ["PT"], "k": 2}, ("k", "policy")),
        ({"project": ["PT"], "suppression": "5%"}, ("suppression", "policy")),
        ({"project": ["age", "cause"]}, ("project", "policy")),
        ({"project": ["age"], "select": ["cause = heart"]}, ("project", "policy")),
        ({"project": []}, ("project", "bad-definition")),
    ],
)
def test_a_mistake_is_at_its_key(
    catalog: Catalog, asked: Mapping[str, Any], mistake: tuple[str, str]
) -> None:
    assert found(catalog, asked) == {mistake}


def test_mistakes_of_all_kinds_are_found_together_at_the_numbers_they_were_written_at(
    catalog: Catalog,
) -> None:
    asked = {"project": ["PT"], "select": ["PT", "PT = 3"], "k": 1, "suppression": "5%"}
    expected = {("select.0", "bad-definition"), ("select.1", "unknown-value")}
    assert found(catalog, asked) == expected | {("k", "bad-definition"), ("suppression", "policy")}


def test_who_is_not_admitted_is_told(catalog: Catalog) -> None:
    assert found(catalog, {"project": ["PT"]}, "bert") == {("asker", "policy")}


def test_values_that_only_the_records_tell_are_no_mistakes(catalog: Catalog) -> None:
    """Neither the right nor the wrong ones: nobody learns which values there are."""
    assert found(catalog, {"project": ["PT"], "select": ["cause = anything"]}) == set()
    assert found(catalog, {"project": ["PT"], "select": ["age = 41"]}) == set()


def test_nothing_is_told_of_a_source_that_the_asker_may_not_ask_for(tmp_path: Path) -> None:
    written = Clinic(tmp_path).catalog
    written["sources"]["findings"]["askers"] = ["bert"]
    catalog = mart.catalog_from_mapping(written)
    asked = {"project": ["PX", "sex"], "select": ["PT = 9"], "limits": {"PT": 9}}
    mistakes = mart.request_mistakes(catalog, asked, "anna")
    assert [each.key for each in mistakes] == ["project.0"]
    assert mistakes[0].remedy == "its columns are 'sex', 'cause', 'days', 'therapy'"
    asked["project"] = ["sex"]
    assert found(catalog, asked) == {("asker", "policy")}
    assert found(catalog, asked, "bert") == {
        ("select.0", "unknown-value"),
        ("limits.PT", "bad-definition"),
    }
