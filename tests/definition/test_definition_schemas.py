"""The JSON schema accepts what the reader accepts, and the XML schema knows every key."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from jsonschema import Draft202012Validator

from definitions import definitions
from shoal.definition import demands, model, sources
from shoal.definition.json_schema import json_schema
from shoal.definition.model import Definition, DefinitionPart
from shoal.definition.write import to_mapping
from shoal.definition.xml_parse import schema_text

ROOT = Path(__file__).parents[2]
VALIDATOR = Draft202012Validator(json_schema())


def examples() -> Iterator[tuple[str, Any]]:
    """Every whole definition in YAML of the documentation."""
    for page in sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]):
        text = page.read_text(encoding="utf-8")
        for block in re.findall(r"^```yaml\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
            data = yaml.safe_load(block)
            if isinstance(data, dict) and {"source", "attributes"} <= set(data):
                yield page.name, data


def test_the_json_schema_is_one() -> None:
    Draft202012Validator.check_schema(json_schema())


def test_the_definitions_of_the_documentation_are_valid_by_the_json_schema() -> None:
    found = list(examples())
    assert len(found) > 3
    for name, data in found:
        problems = [error.message for error in VALIDATOR.iter_errors(data)]
        assert problems == [], name


@pytest.mark.slow
@settings(max_examples=60, suppress_health_check=list(HealthCheck))
@given(definitions)
def test_every_definition_is_valid_by_the_json_schema(definition: Definition) -> None:
    assert VALIDATOR.is_valid(to_mapping(definition)), to_mapping(definition)


NAMES_IN_XML = {
    "source": "datasource",
    "suppression": "max_supp",
    "missing": "null_handling",
    "match": "null_handling",
    "values": "null_string",
    "sensitive": "null_sensitive",
    "role": "type",
    "parameters": "parameter",
    "options": "option",
    "recursive": "diversity-type",
    "distinct": "diversity-type",
    "entropy": "diversity-type",
}
"""What XML calls a key where it is not the key with underscores."""


def test_the_xml_schema_has_a_name_for_every_key() -> None:
    parts = {
        part
        for module in (model, sources, demands)
        for part in vars(module).values()
        if isinstance(part, type) and issubclass(part, DefinitionPart)
    }
    keys = {field.alias or name for part in parts for name, field in part.model_fields.items()}
    names = set(re.findall(r'name="([^"]+)"', schema_text()))
    assert len(keys) > 50
    assert {NAMES_IN_XML.get(key, key.replace(" ", "_")) for key in keys} - names == set()


SMALL: dict[str, Any] = {"source": "x.csv", "k": 5, "attributes": {"a": "quasi-identifier"}}


@pytest.mark.parametrize(
    "wrong",
    [
        {"k": 1},
        {"k": "many"},
        {"kk": 5},
        {"suppression": "five"},
        {"attributes": {"a": "quasi"}},
        {"attributes": {"a": {"role": "keep", "limits": 3}}},
        {"attributes": {"a": {"role": "keep", "hierarchy": {"masks": 3}}}},
        {"missing": "some"},
        {"search": {"time limit": "soon"}},
        {"output": {"path": "x.csv", "table": "y"}},
    ],
)
def test_a_wrong_key_or_value_is_not_valid_by_the_json_schema(wrong: dict[str, Any]) -> None:
    assert VALIDATOR.is_valid(SMALL)
    assert not VALIDATOR.is_valid({**SMALL, **wrong})
