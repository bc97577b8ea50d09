"""Changes of a definition that a page makes: one key at a time, in the keys of the file.

A definition may say things in short (`zip: quasi-identifier`); a change below such a value makes it
long first. What becomes empty is left out, so that a definition says no more than was chosen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

_SHORT: Mapping[str, str] = {
    "missing": "match",
    "loss": "name",
    "closeness": "t",
    "likeness": "beta",
}
"""The key that a bare value means, by the key that it stands at; a bare attribute is its role."""


def value_at(definition: Mapping[str, Any], path: Sequence[str]) -> Any:
    """The value at a path of keys, None where there is none."""
    found: Any = definition
    for number, key in enumerate(path):
        if not isinstance(found, Mapping):
            found = _long(found, path[:number])
        if not isinstance(found, Mapping):
            return None
        found = found.get(key)
    return found


def with_value(definition: Mapping[str, Any], path: Sequence[str], value: Any) -> dict[str, Any]:
    """The definition with another value at a path; None takes it away."""
    changed: dict[str, Any] = _with(definition, tuple(path), 0, value)
    return changed


def _with(part: Any, path: tuple[str, ...], depth: int, value: Any) -> Any:
    if depth == len(path):
        return value
    mapping = part if isinstance(part, Mapping) else _long(part, path[:depth])
    changed = dict(mapping or {})
    inner = _with(changed.get(path[depth]), path, depth + 1, value)
    if inner is None:
        changed.pop(path[depth], None)
    else:
        changed[path[depth]] = inner
    is_named = depth == 0 or path[:depth] == ("attributes",)
    return changed if changed or is_named else None


def _long(value: Any, path: Sequence[str]) -> Mapping[str, Any] | None:
    """The long form of a bare value at a path."""
    if value is None or isinstance(value, Mapping):
        return value
    if len(path) == 2 and path[0] == "attributes":
        return {"role": value}
    short = _SHORT.get(path[-1]) if path else None
    return {short: value} if short else None
