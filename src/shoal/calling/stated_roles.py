"""The attributes of a definition, from the arguments of `shoal.anonymize`.

Every column has one role. A column that two arguments name is an error, since it is not clear which
one was meant.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from shoal.calling.argument_types import names_of
from shoal.definition.model import Attribute
from shoal.errors import BadDefinition, Mistake, quoted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shoal.calling.argument_types import Names, QuasiIdentifiers, Sensitive

CALL = "anonymize"
"""What messages call the definition that a call states."""
KEYS = frozenset(field.alias or name for name, field in Attribute.model_fields.items())
"""What a definition can say of an attribute."""
LEAST_DISTINCT = 2
"""The different values in each class of a sensitive column of which nothing more is said."""
DEMANDS = {
    "l": "3",
    "distinct": "3",
    "entropy": '{"diversity": {"entropy": 2}}',
    "recursive": '{"diversity": {"recursive": {"c": 2, "l": 3}}}',
    "c": '{"diversity": {"recursive": {"c": 2, "l": 3}}}',
    "t": '{"closeness": 0.2}',
    "beta": '{"likeness": 1}',
    "delta": '{"disclosure": 1}',
}
"""What to demand of a sensitive column in place of words that are no keys."""


def attributes_of(
    quasi_identifiers: QuasiIdentifiers,
    sensitive: Sensitive,
    *,
    person: Sequence[str],
    others: Mapping[str, object],
    **roles: Names,
) -> dict[str, Any]:
    """The attributes; `roles` are names by their role, `others` are stated as in a definition."""
    stated: dict[str, Mapping[str, Any]] = {
        "quasi_identifiers": {name: _quasi(each) for name, each in _pairs(quasi_identifiers)},
        "sensitive": {name: _sensitive(name, each) for name, each in _pairs(sensitive)},
        **{_PARAMETERS[role]: dict.fromkeys(names_of(roles[role]), role) for role in roles},
        "attributes": {str(name): each for name, each in others.items()},
    }
    _refuse_two_roles(stated)
    attributes = {name: each for given in stated.values() for name, each in given.items()}
    return {**attributes, **{name: "identifier" for name in person if name not in attributes}}


_PARAMETERS = {"identifier": "identifiers", "keep": "keep", "drop": "drop"}
"""The parameters that name columns, by their role."""


def _pairs(given: QuasiIdentifiers | Sensitive) -> list[tuple[str, Any]]:
    """Names with what is said of them; None where nothing is."""
    if isinstance(given, Mapping):
        return [(str(name), each) for name, each in given.items()]
    return [(name, None) for name in names_of(given)]


def _quasi(given: Any) -> dict[str, Any]:
    """An attribute from nothing, a hierarchy, or a mapping with hierarchy, limit, priority."""
    attribute: dict[str, Any] = {"role": "quasi-identifier"}
    if given is None:
        return attribute
    if isinstance(given, Mapping) and not KEYS.isdisjoint(given):
        return {**attribute, **given}
    return {**attribute, "hierarchy": given}


def _sensitive(name: str, demand: Any) -> dict[str, Any]:
    """An attribute from nothing, a number of different values, or the keys of a definition."""
    attribute: dict[str, Any] = {"role": "sensitive"}
    if demand is None:
        return {**attribute, "diversity": {"distinct": LEAST_DISTINCT}}
    if isinstance(demand, int) and not isinstance(demand, bool):
        return {**attribute, "diversity": {"distinct": demand}}
    if not isinstance(demand, Mapping):
        remedy = (
            f'write {{{name!r}: 3}} for 3 different values, or {{{name!r}: {{"closeness": 0.2}}}}'
        )
        raise _mistaken(name, f"{type(demand).__name__} is no demand", remedy)
    for word in demand:
        if word in DEMANDS:
            remedy = f"write sensitive={{{name!r}: {DEMANDS[word]}}}"
            raise _mistaken(name, f"{word!r} is no demand", remedy)
    return {**attribute, **demand}


def _mistaken(name: str, what: str, remedy: str) -> BadDefinition:
    return BadDefinition(CALL, [Mistake(f"sensitive.{name}", what, remedy)])


def _refuse_two_roles(stated: Mapping[str, Mapping[str, Any]]) -> None:
    """Refuse a column that several arguments name."""
    names = dict.fromkeys(name for given in stated.values() for name in given)
    mistakes = [
        Mistake(
            name,
            f"is named by {' and '.join(parameters)}",
            "name it once, with the role that was meant",
        )
        for name in names
        if len(parameters := [key for key, given in stated.items() if name in given]) > 1
    ]
    if mistakes:
        raise BadDefinition(CALL, mistakes)


def refuse_without_role(columns: Sequence[str], attributes: Mapping[str, object]) -> None:
    """Refuse columns without a role: one of them may identify a person."""
    unnamed = [name for name in columns if name not in attributes]
    if unnamed:
        what = f"nothing is said of {quoted(unnamed)}"
        remedy = 'say others="keep" to release them unchanged or others="drop" to leave them out'
        raise BadDefinition(CALL, [Mistake("others", what, remedy)])
