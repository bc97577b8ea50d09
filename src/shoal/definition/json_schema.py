"""The JSON schema of definitions in YAML and JSON, for editors; made from the model.

The model knows every key, type and bound. What it accepts beside the long form, before anything is
checked, is listed here: the short forms, and texts such as `5%`. What several keys say together is
beyond a schema; it is checked when the definition is read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shoal.definition.hierarchies.registry import KINDS
from shoal.definition.model import ROLES, Definition

_TEXT: dict[str, Any] = {"type": "string"}
_NUMBER: dict[str, Any] = {"type": "number"}
_SIZE: dict[str, Any] = {"type": "string", "pattern": r"^\s*[0-9]*\.?[0-9]+\s*[a-zA-Z]*$"}
_PERCENT: dict[str, Any] = {"type": "string", "pattern": r"^\s*[0-9]*\.?[0-9]+\s*%\s*$"}
_SCALARS: dict[str, Any] = {
    "type": "object",
    "additionalProperties": {"type": ["string", "number", "boolean"]},
}

_BUILDER: dict[str, Any] = {
    "type": "object",
    "minProperties": 1,
    "maxProperties": 1,
    "propertyNames": {"not": {"enum": list(KINDS)}},
    "additionalProperties": {"type": ["object", "null"]},
}
_ABOUT = ("default", "description")

SHORT_PARTS: Mapping[str, dict[str, Any]] = {
    "Attribute": {"enum": list(ROLES)},
    "Missing": {"enum": ["extended", "basic"]},
    "LossChoice": _TEXT,
    "Closeness": _NUMBER,
    "Likeness": _NUMBER,
}
"""Short forms of a whole part."""

SHORT_KEYS: Mapping[tuple[str, str], dict[str, Any]] = {
    ("Definition", "source"): _TEXT,
    ("Several", "items"): _TEXT,
    ("Population", "source"): _TEXT,
    ("Definition", "output"): _TEXT,
    ("Definition", "person"): _TEXT,
    ("Definition", "suppression"): _PERCENT,
    ("AboveThreshold", "share"): _PERCENT,
    ("Search", "time limit"): {
        "type": "string",
        "pattern": r"^\s*[0-9]*\.?[0-9]+\s*(ms|s|sec|min|h)?\s*$",
    },
    ("Engine", "memory limit"): _SIZE,
    ("OutputFile", "file size"): _SIZE,
    ("OutputFile", "partition by"): _TEXT,
    ("OutputFile", "options"): _SCALARS,
    ("OutputObject", "options"): _SCALARS,
    ("Files", "options"): _SCALARS,
    ("Files", "columns"): _TEXT,
    ("Database", "columns"): _TEXT,
    ("Spark", "columns"): _TEXT,
    ("Attribute", "hierarchy"): {"anyOf": [_TEXT, _BUILDER]},
    ("Missing", "values"): {"type": "array", "items": {"type": ["string", "number"]}},
    **{
        (kind.__name__, kind.key): dict(kind.short)
        for kind in KINDS.values()
        if kind.short is not None
    },
}
"""Short forms of a key beside the form that the model keeps, `items` for those of a list."""


def json_schema() -> dict[str, Any]:
    """The schema of a definition in the keys of its file."""
    schema = _without_titles(Definition.model_json_schema(by_alias=True))
    parts = {**schema["$defs"], "Definition": schema}
    for (part, key), form in SHORT_KEYS.items():
        properties = parts[part].get("properties", parts[part])
        properties[key] = _either(form, properties[key])
    for part, form in SHORT_PARTS.items():
        schema["$defs"][part] = _either(form, schema["$defs"][part])
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Definition of a release",
        **schema,
    }


def _either(short: dict[str, Any], long: dict[str, Any]) -> dict[str, Any]:
    """Both forms, with the default and the description of the long one."""
    about: dict[str, Any] = {key: long[key] for key in _ABOUT if key in long}
    return {**about, "anyOf": [short, {key: long[key] for key in long if key not in about}]}


def _without_titles(schema: Any) -> Any:
    """The schema without the titles that are only the names of keys once more."""
    if isinstance(schema, Mapping):
        return {
            key: _without_titles(value)
            for key, value in schema.items()
            if not (key == "title" and isinstance(value, str))
        }
    return [_without_titles(each) for each in schema] if isinstance(schema, list) else schema
