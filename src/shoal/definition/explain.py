"""What is wrong with a value of a definition, in our own words and with an example."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from shoal.definition.hierarchies.registry import KINDS
from shoal.definition.model import (
    AboveThreshold,
    Attribute,
    Closeness,
    Definition,
    DefinitionPart,
    Diversity,
    Engine,
    Likeness,
    LossChoice,
    Missing,
    Population,
    Recursive,
    Risk,
    Search,
)
from shoal.definition.outputs import OUTPUTS
from shoal.definition.parse import dotted
from shoal.definition.scalars import Wrong, nearest, shown
from shoal.definition.sources import SEVERAL, SOURCES
from shoal.errors import Mistake

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

EXAMPLES: Mapping[str, str] = {
    "source": "source: patients.csv",
    "output": "output: release.csv",
    "report": "report: release.html",
    "k": "k: 5",
    "person": "person: patient_id",
    "risk": "risk: {average: 0.1}",
    "average": "average: 0.1",
    "population": "population: {source: register.csv, k: 3}",
    "presence": "presence: [0, 0.5]",
    "records above": "records above: {threshold: 0.2, share: 1%}",
    "threshold": "threshold: 0.2",
    "share": "share: 1%",
    "strict": "strict: true",
    "suppression": "suppression: 5%",
    "suppressed": "suppressed: drop",
    "missing": 'missing: {match: extended, values: ["NA", "?"]}',
    "values": 'values: ["NA", "?"]',
    "loss": "loss: iyengar",
    "recoding": "recoding: local",
    "search": "search: {strategy: box, time limit: 60 s}",
    "time limit": "time limit: 60 s",
    "attributes": "attributes: {age: quasi-identifier, name: identifier}",
    "others": "others: drop",
    "role": "role: quasi-identifier",
    "from": "from: 1",
    "limit": "limit: 3",
    "priority": "priority: 0.8",
    "information loss": "information loss: [0, 0.3, 0.7, 1]",
    "diversity": "diversity: {distinct: 3}",
    "distinct": "distinct: 3",
    "entropy": "entropy: 3",
    "recursive": "recursive: {c: 4, l: 3}",
    "closeness": "closeness: {t: 0.2, distance: ordered}",
    "alpha": "alpha: 0.5",
    "likeness": "likeness: {beta: 1, enhanced: true}",
    "beta": "beta: 1",
    "enhanced": "enhanced: true",
    "disclosure": "disclosure: 1.5",
    "privacy": "privacy: {my-model: {l: 3}}",
    "aggregate": "aggregate: geometric",
    "parameters": "parameters: {weight: 2}",
    "sensitive": "sensitive: value",
    "t": "t: 0.2",
    "c": "c: 4",
    "l": "l: 3",
    "gap": "gap: 0.01",
    "threads": "threads: 2",
    "effort": "effort: high",
    "backtrack": "backtrack: true",
    "header": "header: true",
    "rename": "rename: {geschlecht: sex}",
    "columns": "columns: [age, sex]",
    "options": "options: {row: patient}",
    "path": "path: patients.csv",
    "url": "url: postgresql://host/db",
    "table": "table: public.patients",
    "spark": "spark: patients",
    "replace": "replace: true",
    "engine": "engine: {memory limit: 8 GB}",
    "memory limit": "memory limit: 8 GB",
    "tuples": "tuples: 50000000",
    "spill folder": "spill folder: /big",
    "partition by": "partition by: [year]",
    "file size": "file size: 500 MB",
    **{key: kind.example[1:-1] for key, kind in KINDS.items() if kind.example[0] == "{"},
}

_PARTS: Mapping[tuple[str, ...], type[DefinitionPart]] = {
    (): Definition,
    **{("source", kind): part for kind, part in SOURCES.items()},
    **{("output", kind): part for kind, part in OUTPUTS.items()},
    ("risk",): Risk,
    ("risk", "*"): AboveThreshold,
    ("population",): Population,
    **{("population", "*", kind): part for kind, part in SOURCES.items()},
    ("missing",): Missing,
    ("loss",): LossChoice,
    ("search",): Search,
    ("engine",): Engine,
    ("attributes", "*"): Attribute,
    ("attributes", "*", "diversity"): Diversity,
    ("attributes", "*", "diversity", "recursive"): Recursive,
    ("attributes", "*", "closeness"): Closeness,
    ("attributes", "*", "likeness"): Likeness,
}

_EXPECTED: Mapping[str, str] = {
    "int_parsing": "a whole number",
    "int_parsing_size": "a whole number of this size",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_parsing": "a number",
    "float_type": "a number",
    "finite_number": "a finite number",
    "bool_parsing": "true or false",
    "bool_type": "true or false",
    "string_type": "a text",
    "path_type": "a path",
    "tuple_type": "a list",
    "mapping_type": "a mapping",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
}

_BOUNDS: Mapping[str, tuple[str, str]] = {
    "greater_than_equal": ("ge", "must be at least"),
    "greater_than": ("gt", "must be above"),
    "less_than_equal": ("le", "must be at most"),
    "less_than": ("lt", "must be below"),
}


def key_path(error: ErrorDetails) -> tuple[str | int, ...]:
    """The path of keys to the error, as the file has them.

    Under `hierarchy`, `source` and `output` the location names the kind before the keys, which the
    file does not.
    """
    return without_kinds(error["loc"])


def without_kinds(where: tuple[str | int, ...]) -> tuple[str | int, ...]:
    """The keys of the file in a location of the model."""
    if len(where) > 2 and where[:2] == ("population", "source"):
        return ("population", *without_kinds(where[1:]))
    if len(where) > 1 and where[0] in ("source", "output"):
        if where[1] == SEVERAL:
            return (where[0], *where[2:3], *where[4:])
        return (where[0], *where[2:])
    if len(where) > 3 and where[0] == "attributes" and where[2] == "hierarchy":
        return (*where[:3], *where[4:])
    return where


def explain(error: ErrorDetails) -> Mistake:
    """The error of the model as a mistake with its remedy."""
    return explain_at(error, key_path(error), known_keys, EXAMPLES)


def explain_at(
    error: ErrorDetails,
    path: tuple[str | int, ...],
    keys_around: Callable[[tuple[str | int, ...]], list[str]],
    examples: Mapping[str, str],
) -> Mistake:
    """The error as a mistake at a path of keys.

    `keys_around` gives the keys that are known where the model locates the error; `examples` has a
    line for each key.
    """
    key, kind, value = dotted(path), error["type"], error["input"]
    name = str(path[-1]) if path else ""
    context: Mapping[str, Any] = error.get("ctx", {})
    if isinstance(wrong := context.get("error"), Wrong):
        return Mistake(key, wrong.what, wrong.remedy)
    if kind == "extra_forbidden":
        return Mistake(key, "is no known key", nearest(name, keys_around(error["loc"])))
    if kind == "missing":
        return Mistake(key, "is missing", _for_example(path, examples))
    if kind == "literal_error":
        return _no_such_choice(key, name, value, context)
    if kind in _BOUNDS:
        bound, words = _BOUNDS[kind]
        what = f"is {shown(value).strip(chr(39))}, but {words} {context[bound]:g}"
        return Mistake(key, what, _for_example(path, examples))
    expected = _EXPECTED.get(kind, "something that is allowed here")
    return Mistake(key, f"{shown(value)} is not {expected}", _for_example(path, examples))


def _no_such_choice(key: str, name: str, value: object, context: Mapping[str, Any]) -> Mistake:
    """A word that is not among the few allowed ones."""
    choices = str(context["expected"]).replace("'", "").replace(" or ", ", ").split(", ")
    what = (
        f"unknown role {shown(value)}" if name == "role" else f"{shown(value)} is not possible here"
    )
    return Mistake(key, what, nearest(str(value), choices))


def known_keys(where: tuple[str | int, ...]) -> list[str]:
    """The keys of the part that holds this one."""
    holder = tuple(map(str, where[:-1]))
    if len(holder) == 4 and holder[2] == "hierarchy":
        part: type[DefinitionPart] = KINDS[holder[3]]
    else:
        if holder[1:2] == (SEVERAL,):
            holder = (holder[0], *holder[3:])
        if holder[:1] == ("population",) and holder[2:3] == (SEVERAL,):
            holder = (*holder[:2], *holder[4:])
        kept = holder if holder[:1] in (("source",), ("output",)) else None
        part = _PARTS[kept or (*holder[:1], *("*" for _ in holder[1:2]), *holder[2:])]
    return [field.alias or name for name, field in part.model_fields.items()]


def _for_example(path: tuple[str | int, ...], examples: Mapping[str, str]) -> str:
    """An example of the innermost key that has one."""
    for key in reversed(path):
        if key in examples:
            return f"write for example `{examples[str(key)]}`"
    return "see the reference of the definition file"
