"""What is wrong with a value of a catalog or a request, in our own words and with an example.

Sources and columns of a catalog are written as those of a definition, so a location inside them is
looked up as the location that it would have in a definition.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeAlias

from shoal.definition import explain
from shoal.mart.catalog import Catalog, CatalogSource, End, Link, PersonKey, Policy, SharedColumn
from shoal.mart.request import Request

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

    from shoal.definition.scalars import DefinitionPart
    from shoal.errors import Mistake

Location: TypeAlias = tuple[str | int, ...]

EXAMPLES: Mapping[str, str] = {
    **explain.EXAMPLES,
    "mart": "mart: oncology",
    "log": "log: oncology.log",
    "person": "person: {source: patient, columns: [PatId]}",
    "sources": "sources: {findings: {source: findings.csv, columns: {age: quasi-identifier}}}",
    "columns": "columns: {age: quasi-identifier, diagnosis: keep}",
    "links": "links: [{between: {findings: PatId, patient: PatId}, kind: many-to-one}]",
    "between": "between: {findings: PatId, patient: PatId}",
    "kind": "kind: many-to-one",
    "optional": "optional: survival",
    "derive": "derive: round(weight / (height / 100) ^ 2, 1)",
    "untransformed": "untransformed: gene expressions are known to nobody else",
    "askers": "askers: [anna, bert]",
    "asker": "asker: anna",
    "maps": "maps: {icd: icd.csv}",
    "policy": "policy: {k: 5, suppression: 5%}",
    "share": "share: 50%",
    "apart": "apart: [[age, Sender]]",
    "overlap": "overlap: refuse",
    "across": "across: all",
    "purpose": "purpose: survival of staged tumours",
    "project": "project: [PT, PN, age]",
    "select": 'select: ["PT = 1", "age >= 40"]',
    "scope": "scope: source",
    "recoding": "recoding: local",
    "priorities": "priorities: {PT: 0.8, PM: 1}",
    "limits": "limits: {PM: 0}",
    "keys": "keys: drop",
}

_PARTS: Mapping[tuple[str, ...], type[DefinitionPart]] = {
    ("person",): PersonKey,
    ("sources", "*"): CatalogSource,
    ("sources", "*", "columns", "*"): SharedColumn,
    ("links", "*"): Link,
    ("links", "*", "between", "*"): End,
    ("policy",): Policy,
}


def explain_catalog(error: ErrorDetails) -> Mistake:
    """The error of a catalog's model as a mistake with its remedy."""
    return explain.explain_at(error, key_path(error), lambda loc: _keys(loc, Catalog), EXAMPLES)


def explain_request(error: ErrorDetails) -> Mistake:
    """The error of a request's model as a mistake with its remedy."""
    return explain.explain_at(error, key_path(error), lambda loc: _keys(loc, Request), EXAMPLES)


def key_path(error: ErrorDetails) -> Location:
    """The path of keys to the error, as the file has them."""
    where = error["loc"]
    if where[:1] == ("links",) and where[2:3] == ("between",):
        return where[:3]
    if where[:1] == ("sources",):
        return (*where[:3], *explain.without_kinds(_as_in_a_definition(where))[1:])
    return explain.without_kinds(where)


def _as_in_a_definition(where: Location) -> Location:
    """The location that the same part would have in a definition."""
    if where[:1] == ("sources",):
        return ("attributes", *where[3:]) if where[2:3] == ("columns",) else where[2:]
    if "diversity" in where[:2]:
        return ("attributes", "", *where[where.index("diversity") :])
    return where


def _keys(where: Location, whole: type[DefinitionPart]) -> list[str]:
    """The keys of the part that holds this one."""
    holder = [str(each) for each in where[:-1]]
    part = whole if not holder else _PARTS.get(tuple(_starred(holder)))
    if part is not None:
        return [field.alias or name for name, field in part.model_fields.items()]
    return explain.known_keys(_as_in_a_definition(where))


def _starred(holder: list[str]) -> list[str]:
    """Names and numbers, which stand at every second place, as stars."""
    if holder[0] in ("sources", "links"):
        return [each if number % 2 == 0 else "*" for number, each in enumerate(holder)]
    return holder
