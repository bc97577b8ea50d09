"""XML, YAML and JSON are spellings of one definition: none of them loses anything."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from definitions import definitions
from shoal.definition.model import Definition, Taxonomy
from shoal.definition.read import from_mapping, parse
from shoal.definition.write import spelled
from shoal.errors import BadOutput

CHECKS = [HealthCheck.too_slow, HealthCheck.filter_too_much]


def reread(text: str, spelling: str) -> Definition:
    parsed = parse(text.encode(), "definition", f".{spelling}")
    assert parsed.mistakes == ()
    return Definition.model_validate(parsed.data, context={"folder": Path()})


@pytest.mark.slow
@settings(max_examples=150, suppress_health_check=CHECKS)
@given(definitions)
def test_a_definition_survives_all_spellings(definition: Definition) -> None:
    found = definition
    for spelling in ("xml", "yaml", "json", "xml"):
        found = reread(spelled(found, spelling), spelling)
        assert found == definition, spelling
    assert spelled(found, "xml") == spelled(definition, "xml")


def test_a_control_character_is_refused_by_xml_in_words() -> None:
    definition = from_mapping(
        {"source": "a\x07.csv", "k": 2, "attributes": {"a": "quasi-identifier"}}
    )
    with pytest.raises(BadOutput, match=r"U\+0007") as caught:
        spelled(definition, "xml")
    assert caught.value.code == "not-in-xml"


def tree_of(tree: Any) -> Any:
    attribute = {"role": "quasi-identifier", "hierarchy": {"tree": tree}}
    definition = from_mapping({"source": "x.csv", "k": 2, "attributes": {"a": attribute}})
    hierarchy = definition.attributes["a"].hierarchy
    assert isinstance(hierarchy, Taxonomy)
    return hierarchy.tree


@pytest.mark.parametrize(
    "tree",
    [
        {"top": ["x", {"y": ["1"]}]},
        {"top": {"x": None, "y": "1"}},
        {"top": [["x"], {"y": {"1": None}}]},
        {"top": {"x": [], "y": [{"1": ""}]}},
    ],
)
def test_a_tree_has_one_form_however_it_is_spelled(tree: Any) -> None:
    assert tree_of(tree) == {"top": {"x": None, "y": ("1",)}}
