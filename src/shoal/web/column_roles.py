"""Changes of roles in a definition: what a column becomes when a custodian gives it a role."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shoal.web.project_data import persons_of

ROLES = ("identifier", "person", "quasi-identifier", "sensitive", "keep", "drop")
"""In the order of the buttons. `person` is an identifier that says which person a record is of."""


def role_in(definition: Mapping[str, Any], column: str) -> str | None:
    """The role of a column, `person` included; None where it has none yet."""
    said = definition.get("attributes", {}).get(column)
    role = said.get("role") if isinstance(said, Mapping) else said
    if role == "identifier" and column in persons_of(definition):
        return "person"
    return None if role is None else str(role)


def with_role(
    definition: Mapping[str, Any], profile: Mapping[str, Any], role: str
) -> dict[str, Any]:
    """The definition with another role for one column, given by its profile.

    A quasi-identifier gets the hierarchy that fits its values, a sensitive column a demand; where
    the role was guessed, all as guessed.
    """
    column = profile["name"]
    attribute = _attribute(profile, "identifier" if role == "person" else role)
    attributes = {**definition.get("attributes", {}), column: attribute}
    persons = [each for each in persons_of(definition) if each != column]
    if role == "person":
        persons.append(column)
    return with_persons({**definition, "attributes": attributes}, persons)


def with_persons(definition: Mapping[str, Any], columns: list[str]) -> dict[str, Any]:
    """The definition with other columns that identify persons; none means each record is one."""
    rest = {key: value for key, value in definition.items() if key not in ("person", "attributes")}
    person: dict[str, Any] = {"person": columns[0] if len(columns) == 1 else columns}
    attributes = definition.get("attributes", {})
    return {**rest, **(person if columns else {}), "attributes": attributes}


def _attribute(profile: Mapping[str, Any], role: str) -> Any:
    """One column as a definition has it."""
    if role == profile["role"]:
        return profile["attribute"]
    if role == "quasi-identifier":
        hierarchy = profile["hierarchy"]
        return {"role": role, "hierarchy": hierarchy} if hierarchy is not None else {"role": role}
    if role == "sensitive":
        distinct = 3 if profile["distinct"] >= 10 else 2
        return {"role": role, "diversity": {"distinct": distinct}}
    return role
