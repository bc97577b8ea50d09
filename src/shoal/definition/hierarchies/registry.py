"""All kinds of hierarchies, and the type of the key `hierarchy`.

A kind is found because its module is in this package: nothing lists the kinds.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, Union

from pydantic import BeforeValidator, Discriminator, Tag

from shoal import plugins
from shoal.definition import hierarchies
from shoal.definition.hierarchies.base import Kind
from shoal.definition.hierarchies.listed import LOOKS_LIKE_A_PATH, Csv
from shoal.definition.hierarchies.mask import Suppress
from shoal.definition.hierarchies.plugin import PluggedIn
from shoal.definition.scalars import DefinitionPart, Wrong, nearest, shown


def _found_kinds() -> dict[str, type[Kind]]:
    """The kinds of all modules of the package, in the order of their keys."""
    for module in iter_modules(hierarchies.__path__):
        if module.name != "registry":
            import_module(f"{hierarchies.__name__}.{module.name}")
    kinds = sorted(Kind.__subclasses__(), key=lambda kind: kind.key)
    return {kind.key: kind for kind in kinds}


KINDS: Mapping[str, type[Kind]] = _found_kinds()
"""The kinds by their keys."""
KINDS_BY_ELEMENT: Mapping[str, type[Kind]] = {kind.tag(): kind for kind in KINDS.values()}
"""The kinds by the name of their XML element."""
EXAMPLES: tuple[str, ...] = (
    *(kind.example for kind in (Suppress, Csv)),
    *(kind.example for kind in KINDS.values() if kind not in (Suppress, Csv, PluggedIn)),
)
"""A hierarchy of each kind, as it follows `hierarchy:`."""

_REMEDY = (
    f"write `{EXAMPLES[0]}`, a file such as `{EXAMPLES[1]}`, "
    f"or for example {', '.join(f'`{example}`' for example in EXAMPLES[2:])}"
)
_KEYS = tuple(key for key in KINDS if key != Suppress.key)
"""The keys that a mapping can begin with."""


def _long_form(value: object) -> object:
    """`suppress` and a file name become mappings; anything whose kind is not clear is refused."""
    if isinstance(value, DefinitionPart):
        return value
    if isinstance(value, str):
        if value == Suppress.key:
            return {Suppress.key: None}
        if LOOKS_LIKE_A_PATH.search(value):
            return {Csv.key: value}
        remedy = nearest(value, KINDS, otherwise=_REMEDY)
        raise Wrong(f"unknown hierarchy {shown(value)}", remedy)
    if isinstance(value, Mapping):
        return _of_one_kind(value)
    raise Wrong(f"{shown(value)} is not a hierarchy", _REMEDY)


def _of_one_kind(value: Mapping[Any, Any]) -> Mapping[Any, Any]:
    """A mapping with the key of one kind; the name of a builder means its long form."""
    kinds = [key for key in value if key in _KEYS]
    if len(kinds) == 1 or value == {Suppress.key: None}:
        return value
    if kinds:
        raise Wrong(f"several kinds at once: {', '.join(kinds)}", "keep one of them")
    first = str(next(iter(value), ""))
    builders = plugins.names("builder")
    if len(value) == 1 and first in builders:
        return {"builder": first, "parameters": value[first]}
    remedy = nearest(first, (*_KEYS, *builders), otherwise=_REMEDY)
    raise Wrong(f"{shown(first)} is no kind of hierarchy", remedy)


def kind_of(value: object) -> str:
    """The key of a kind, or of a mapping in its long form."""
    if isinstance(value, Kind):
        return value.key
    keys = value if isinstance(value, Mapping) else {}
    return next((key for key in _KEYS if key in keys), Suppress.key)


def written(hierarchy: Kind) -> Any:
    """The hierarchy as a definition file has it.

    The name of a builder is the key, unless it is a key of ours or not installed.
    """
    found = hierarchy.written()
    if not isinstance(hierarchy, PluggedIn) or hierarchy.builder in KINDS:
        return found
    installed = hierarchy.builder in plugins.names("builder")
    return {hierarchy.builder: found.get("parameters", {})} if installed else found


if TYPE_CHECKING:
    HierarchyChoice: TypeAlias = Kind
else:
    HierarchyChoice = Annotated[
        Union[tuple(Annotated[kind, Tag(key)] for key, kind in KINDS.items())],  # noqa: UP007
        Discriminator(kind_of),
        BeforeValidator(_long_form),
    ]
"""A hierarchy as the file writes it, short forms included."""
