"""How a hierarchy is defined: one small part per kind, told apart by its first key."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BeforeValidator, Discriminator, Field, Tag, field_validator, model_validator

from shoal import plugins
from shoal.definition.protection import Parameters, parameters_of
from shoal.definition.scalars import (
    Delimiter,
    FilePath,
    Part,
    Wrong,
    listed,
    nearest,
    shown,
    text_of,
)

LONGEST_MASK = 1000
"""More characters than any code has; `mask: 100000` is a slip, not a wish for as many levels."""


class Csv(Part):
    """A hierarchy in a file: one row per value, `value;level 1;...;top`, no header."""

    path: FilePath
    delimiter: Delimiter = ";"


class Suppress(Part):
    """The value, then `*`."""


class Mask(Part):
    """Characters replaced by `*`, one more at each level or as many as `mask` lists."""

    mask: tuple[int, ...]
    side: Literal["left", "right"] = Field(default="right", alias="from")

    @model_validator(mode="before")
    @classmethod
    def _count_means_steps(cls, data: Any) -> Any:
        given = str(data.get("mask")) if isinstance(data, Mapping) else ""
        if re.fullmatch(r"[0-9]+", given):
            count = int(given[: len(str(LONGEST_MASK)) + 1])
            if count > LONGEST_MASK:
                raise Wrong(
                    f"mask {shown(given)[1:-1]} is longer than any code",
                    f"give at most {LONGEST_MASK} characters",
                )
            data = {**data, "mask": tuple(range(1, count + 1))}
        return data


class Intervals(Part):
    """Numbers in intervals of equal width, one width per level.

    Interval `i` of width `w` is `[origin + i*w, origin + (i+1)*w)`. Values below `bottom` share one
    interval, values from `top` up another.
    """

    widths: Annotated[tuple[float, ...], BeforeValidator(listed)] = Field(alias="intervals")
    origin: float = 0.0
    bottom: float | None = None
    top: float | None = None


class Cuts(Part):
    """Numbers between cut points, one list of points per level, both ends open."""

    cuts: tuple[tuple[float, ...], ...]

    @model_validator(mode="before")
    @classmethod
    def _one_level(cls, data: Any) -> Any:
        """A plain list of points is a single level."""
        cuts = data.get("cuts") if isinstance(data, Mapping) else None
        if isinstance(cuts, list | tuple) and cuts and not any(map(_is_list, cuts)):
            data = {**data, "cuts": (cuts,)}
        return data


def _is_list(value: object) -> bool:
    return isinstance(value, list | tuple)


DateUnit: TypeAlias = Literal["day", "week", "month", "quarter", "year", "decade", "century"]


class Dates(Part):
    """Dates coarsened to the listed units; `format` as in strftime, ISO dates by default."""

    units: Annotated[tuple[DateUnit, ...], BeforeValidator(listed)] = Field(alias="date")
    format: str | None = None


class Groups(Part):
    """Sorted values in runs of so many neighbours, one size per level."""

    sizes: Annotated[tuple[int, ...], BeforeValidator(listed)] = Field(alias="groups")
    order: Literal["auto", "text", "number"] = "auto"


class Taxonomy(Part):
    """A value generalization tree; its leaves are the values.

    However the file spells it, the tree has one form: a label has a mapping under it, or a tuple
    where all below it are leaves, or None where it is a leaf itself. Labels and leaves are text.
    """

    tree: Mapping[str, Any]

    @field_validator("tree", mode="before")
    @classmethod
    def _one_form(cls, tree: Any) -> Any:
        return _mapped(list(_entries(tree))) or None if isinstance(tree, Mapping) else tree


def _below(node: object) -> object:
    """What is under a label, in the one form."""
    entries = list(_entries(node))
    if all(below is None for _, below in entries):
        return tuple(label for label, _ in entries) or None
    return _mapped(entries)


def _entries(node: object) -> Iterator[tuple[str, object]]:
    """Each label directly under a node with what is under it; lists in lists are one list."""
    if isinstance(node, Mapping):
        for label, child in node.items():
            yield _label(label), _below(child)
    elif isinstance(node, list | tuple):
        for child in node:
            if isinstance(child, Mapping | list | tuple):
                yield from _entries(child)
            else:
                yield _label(child), None
    elif node is not None and node != "":
        yield _label(node), None


def _mapped(entries: Sequence[tuple[str, object]]) -> dict[str, object]:
    found: dict[str, object] = {}
    for label, below in entries:
        if label in found:
            raise Wrong(f"{shown(label)} stands twice under one label", "keep one of them")
        found[label] = below
    return found


def _label(value: object) -> str:
    label = text_of(value)
    if label == "":
        raise Wrong("a label of the tree is empty", "give each leaf and each label a text")
    return label


def _parameters(data: Any) -> Any:
    return parameters_of(data) if isinstance(data, Mapping) else data


class PluggedIn(Part):
    """What a builder of a plug-in makes of the values, told as `{name of the builder: parameters}`.

    Where a builder has the name of one of our kinds, `{builder: name, parameters: ...}` says it.
    """

    builder: str
    parameters: Annotated[Parameters, BeforeValidator(_parameters)] = Field(default_factory=dict)


Hierarchy: TypeAlias = (
    Csv | Suppress | Mask | Intervals | Cuts | Dates | Groups | Taxonomy | PluggedIn
)

HIERARCHY_KEYS: Mapping[str, type[Part]] = {
    "path": Csv,
    "mask": Mask,
    "intervals": Intervals,
    "cuts": Cuts,
    "date": Dates,
    "groups": Groups,
    "tree": Taxonomy,
    "builder": PluggedIn,
}
SUPPRESS = "suppress"
KIND_EXAMPLES = (
    "`suppress`, a file such as `country.csv`, `{mask: 5}`, `{intervals: [5, 10]}`, "
    "`{cuts: [18, 65]}`, `{date: [month, year]}`, `{groups: [5, 10]}` or `{tree: {...}}`"
)


def _long_form(value: object) -> object:
    """`suppress` and a file name become mappings; anything whose kind is not clear is refused."""
    if isinstance(value, str):
        if value == SUPPRESS:
            return {SUPPRESS: None}
        if re.search(r"[./\\]", value):
            return {"path": value}
        raise Wrong(
            f"unknown hierarchy {shown(value)}",
            nearest(value, (SUPPRESS, *HIERARCHY_KEYS), otherwise=f"write {KIND_EXAMPLES}"),
        )
    if isinstance(value, Mapping):
        kinds = [key for key in value if key in HIERARCHY_KEYS]
        if len(kinds) == 1 or value == {SUPPRESS: None}:
            return value
        if kinds:
            raise Wrong(f"several kinds at once: {', '.join(kinds)}", "keep one of them")
        first = str(next(iter(value), ""))
        builders = plugins.names("builder")
        if len(value) == 1 and first in builders:
            return {"builder": first, "parameters": value[first]}
        known = (*HIERARCHY_KEYS, *builders)
        remedy = nearest(first, known, otherwise=f"write {KIND_EXAMPLES}")
        raise Wrong(f"{shown(first)} is no kind of hierarchy", remedy)
    if isinstance(value, Part):
        return value
    raise Wrong(f"{shown(value)} is not a hierarchy", f"write {KIND_EXAMPLES}")


def kind_of(value: object) -> str:
    """The key that tells the kind: of a part, or of a mapping in its long form."""
    if isinstance(value, Part):
        return next((k for k, part in HIERARCHY_KEYS.items() if type(value) is part), SUPPRESS)
    found = value if isinstance(value, Mapping) else {}
    return next((key for key in HIERARCHY_KEYS if key in found), SUPPRESS)


HierarchyChoice: TypeAlias = Annotated[
    Annotated[Csv, Tag("path")]
    | Annotated[Suppress, Tag(SUPPRESS)]
    | Annotated[Mask, Tag("mask")]
    | Annotated[Intervals, Tag("intervals")]
    | Annotated[Cuts, Tag("cuts")]
    | Annotated[Dates, Tag("date")]
    | Annotated[Groups, Tag("groups")]
    | Annotated[Taxonomy, Tag("tree")]
    | Annotated[PluggedIn, Tag("builder")],
    Discriminator(kind_of),
    BeforeValidator(_long_form),
]
"""A hierarchy as the file spells it, short forms included."""
