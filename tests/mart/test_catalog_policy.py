"""The policy: a request that breaks a rule is refused, with the rule and what is allowed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mart_catalogs import CLINIC
from shoal.errors import Refused
from shoal.mart.catalog import Catalog
from shoal.mart.policy import (
    check_request,
    check_share,
    demanded_diversity,
    demanded_k,
)
from shoal.mart.read import catalog_from_mapping, request_from_mapping


def mart(policy: dict[str, Any], askers: list[str] | None = None) -> Catalog:
    sources = {**CLINIC["sources"]}
    sources["findings"] = {**sources["findings"], "askers": askers}
    return catalog_from_mapping({**CLINIC, "sources": sources, "policy": policy}, Path("/data"))


def check(catalog: Catalog, given: dict[str, Any], asker: str | None = "anna") -> None:
    request = request_from_mapping({"project": ["PT"], **given})
    check_request(catalog, request, asker, catalog.expand(request.project))


@pytest.mark.parametrize(
    ("policy", "request_keys"),
    [
        ({}, {}),
        ({"k": "5"}, {}),
        ({"k": "5"}, {"k": "5"}),
        ({"suppression": "5%"}, {"suppression": "5%"}),
        ({"suppression": "5%"}, {"suppression": "0"}),
        ({"suppression": "10"}, {"suppression": "10"}),
        ({"diversity": {"distinct": "3"}}, {"diversity": {"distinct": "3"}}),
        ({"diversity": {"distinct": "3"}}, {"diversity": {"entropy": "1.5"}}),
        ({"apart": [["PT", "sex"]]}, {}),
        ({"apart": [["PT", "sex", "g1"]]}, {"project": ["PT", "sex"]}),
        ({"askers": ["anna"]}, {}),
    ],
)
def test_a_request_within_the_policy_passes(
    policy: dict[str, Any], request_keys: dict[str, Any]
) -> None:
    check(mart(policy), request_keys)


@pytest.mark.parametrize(
    ("policy", "request_keys", "rule", "remedy"),
    [
        ({"k": "5"}, {"k": "4"}, "k is 4, below 5", "write `k: 5` or more"),
        ({}, {"suppression": "1"}, "none may be", "write `suppression: 0`"),
        ({"suppression": "5%"}, {"suppression": "6%"}, "6%, above 5%", "`suppression: 5%` or less"),
        ({"suppression": "5%"}, {"suppression": "1"}, "must be a share", "`suppression: 5%`"),
        ({"suppression": "7"}, {"suppression": "1%"}, "must be a number", "`suppression: 7`"),
        ({"suppression": "7"}, {"suppression": "8"}, "8, above 7", "`suppression: 7` or less"),
        (
            {"diversity": {"distinct": "3"}},
            {"diversity": {"distinct": "2"}},
            "distinct diversity is 2, below 3",
            "`distinct: 3` or more",
        ),
        (
            {"diversity": {"recursive": {"c": "3", "l": "3"}}},
            {"diversity": {"recursive": {"c": "4", "l": "3"}}},
            "recursive diversity is weaker",
            "recursive: {c: 3, l: 3}",
        ),
        ({"apart": [["PT", "sex"]]}, {"project": ["PT", "sex"]}, "'PT', 'sex'", "leave one"),
        ({"apart": [["PT", "sex"]]}, {"select": ["sex = f"]}, "'PT', 'sex'", "leave one"),
        ({"askers": ["bert"]}, {}, "'anna' may not ask for this mart", "ask the owner"),
    ],
)
def test_a_request_that_breaks_a_rule_is_refused(
    policy: dict[str, Any], request_keys: dict[str, Any], rule: str, remedy: str
) -> None:
    with pytest.raises(Refused) as raised:
        check(mart(policy), request_keys)
    assert (raised.value.code, raised.value.exit_code) == ("policy", 4)
    assert rule in raised.value.what
    assert remedy in raised.value.hint


def test_all_broken_rules_are_named_at_once() -> None:
    with pytest.raises(Refused, match=r"k is 2, below 5; it lets records be suppressed"):
        check(mart({"k": "5"}), {"k": "2", "suppression": "1"})


def test_a_source_of_few_is_for_these_even_in_a_selection() -> None:
    catalog = mart({}, ["bert"])
    check(catalog, {}, "bert")
    check(catalog, {"project": ["sex"]})
    for given in ({}, {"project": ["sex"], "select": ["PT = 1"]}):
        with pytest.raises(Refused, match=r"'anna' may not ask for the source 'findings'"):
            check(catalog, given)


def test_nobody_is_none_of_the_askers() -> None:
    check(mart({}), {}, None)
    with pytest.raises(Refused, match="does not say who asks"):
        check(mart({"askers": ["anna"]}), {}, None)


def test_the_names_of_those_who_may_ask_are_not_told() -> None:
    with pytest.raises(Refused) as raised:
        check(mart({"askers": ["bert"]}, ["carl"]), {})
    assert "bert" not in str(raised.value)
    assert "carl" not in str(raised.value)


def test_a_release_has_at_most_the_share_of_a_source() -> None:
    catalog = mart({"share": "7%"})
    check_share(catalog, "findings", 7, 100)
    with pytest.raises(Refused, match="more than 7% of the persons of 'findings'") as raised:
        check_share(catalog, "findings", 8, 100)
    assert "8" not in str(raised.value)
    check_share(mart({}), "findings", 100, 100)


def test_the_strictest_demand_holds() -> None:
    catalog = mart({"k": "5", "diversity": {"distinct": "2", "recursive": {"c": "4", "l": "2"}}})
    column = catalog.column(catalog.find("PT")).model_copy(
        update={"diversity": None, "role": "sensitive"}
    )
    request = request_from_mapping(
        {
            "project": ["PT"],
            "k": "7",
            "diversity": {"distinct": "3", "entropy": "2", "recursive": {"c": "3", "l": "2"}},
        }
    )
    found = demanded_diversity(catalog, request, column)
    assert found is not None
    assert found.model_dump() == {"distinct": 3, "entropy": 2, "recursive": {"c": 3, "l": 2}}
    assert demanded_k(catalog, request) == 7
    assert demanded_k(catalog, request_from_mapping({"project": ["PT"]})) == 5
