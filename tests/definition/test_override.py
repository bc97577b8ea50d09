"""The options of a command replace keys of a definition, and the result is checked as a whole."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from shoal.definition.model import Definition
from shoal.definition.read import from_mapping, override
from shoal.errors import BadDefinition

AGE = {"role": "quasi-identifier", "hierarchy": {"intervals": [5, 10]}, "limit": 2}
MAPPING: dict[str, Any] = {
    "source": "people.csv",
    "output": {"path": "release.csv", "delimiter": ";"},
    "report": "release.html",
    "k": 3,
    "suppression": "0.000001",
    "search": {"time limit": "0.01 ms", "gap": 0.1},
    "engine": {"memory limit": "2 GB"},
    "privacy": {},
    "attributes": {"age": AGE, "name": "identifier", "code": {"role": "keep"}},
}


@pytest.fixture
def definition() -> Definition:
    return from_mapping(MAPPING, folder=Path("somewhere"))


def test_nothing_given_changes_nothing(definition: Definition) -> None:
    nothing: dict[str, Any] = {"k": None, "search": {"strategy": None}}
    assert override(definition, nothing, "file") is definition


@pytest.mark.parametrize(
    ("changes", "key", "value"),
    [
        ({"k": 7}, "k", 7),
        ({"suppression": "5%"}, "suppression", 0.05),
        ({"suppression": "5"}, "suppression", 5),
        ({"report": Path("other.html")}, "report", Path("other.html")),
    ],
)
def test_a_key_gets_the_value_and_all_others_stay(
    definition: Definition, changes: dict[str, Any], key: str, value: object
) -> None:
    changed = override(definition, changes, "file")
    assert getattr(changed, key) == value
    assert changed == definition.model_copy(update={key: value})


def test_settings_of_a_search_join_those_that_are_there(definition: Definition) -> None:
    changed = override(definition, {"search": {"strategy": "ola", "time limit": None}}, "file")
    assert (changed.search.strategy, changed.search.gap) == ("ola", 0.1)
    assert changed.search.time_limit == definition.search.time_limit


def test_an_output_is_replaced_as_a_whole(definition: Definition) -> None:
    changed = override(definition, {"output": {"path": "other.csv"}}, "file")
    assert changed.output == from_mapping({**MAPPING, "output": "other.csv"}).output


def test_all_mistakes_of_the_values_come_at_once_and_name_the_file(definition: Definition) -> None:
    with pytest.raises(BadDefinition) as error:
        override(definition, {"k": 1, "suppression": "300%", "engine": {"threads": 0}}, "the file")
    assert [mistake.key for mistake in error.value.mistakes] == [
        "k",
        "engine.threads",
        "suppression",
    ]
    assert "the file" in str(error.value)
