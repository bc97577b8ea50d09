"""A definition as text: YAML, JSON or XML. Only comments are lost."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from shoal.definition.write import to_mapping, to_yaml

if TYPE_CHECKING:
    from shoal.definition.model import Definition

ENDINGS = {".yaml": "yaml", ".yml": "yaml", ".json": "json", ".xml": "xml"}
"""The language of a file by the ending of its name."""


def spelled(definition: Definition, spelling: str) -> str:
    """The definition as text in a spelling: yaml, json or xml.

    The text reads back as an equal definition: only keys that say what holds anyway are left out.
    """
    if spelling == "xml":
        from shoal.definition.xml_write import to_xml

        return to_xml(definition)
    if spelling == "json":
        return json.dumps(to_mapping(definition), indent=2, ensure_ascii=False) + "\n"
    return to_yaml(definition)
