"""A definition with other values for some of its keys, as the options of a command give them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shoal.definition.model import Definition
from shoal.definition.read import from_mapping

if TYPE_CHECKING:
    from collections.abc import Mapping

    from shoal.definition.model import DefinitionPart

JOINED = ("search", "engine")
"""Keys that hold several settings: those that are given replace the old ones, the others stay."""
KEYS_OF_A_STRATEGY = ("backtrack", "parameters")
"""Settings of a search that only its strategy understands."""


def override(definition: Definition, changes: Mapping[str, Any], file: str) -> Definition:
    """The definition with these values for its keys; None changes nothing.

    A value is written as in a definition file. The new definition is checked as a whole, and
    BadDefinition calls it `file`. Another strategy does not inherit the settings that only the old
    one understood.
    """
    given = _not_none(changes)
    for key in JOINED:
        settings = _not_none(given.pop(key, {}))
        if settings:
            given[key] = _joined(getattr(definition, key), settings)
    if not given:
        return definition
    kept = {name: getattr(definition, name) for name in Definition.model_fields}
    return from_mapping({**kept, **given}, file=file)


def _joined(old: DefinitionPart, new: Mapping[str, Any]) -> dict[str, Any]:
    """The old settings, replaced by the new ones where these say something else."""
    settings = old.model_dump(by_alias=True, exclude_defaults=True)
    if "strategy" in new:
        settings = {key: settings[key] for key in settings if key not in KEYS_OF_A_STRATEGY}
    return {**settings, **new}


def _not_none(values: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value is not None}
