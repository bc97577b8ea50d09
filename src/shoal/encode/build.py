"""From the definition of a hierarchy and the values of the data to its rows and levels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shoal.definition.hierarchies.base import TOP
from shoal.definition.hierarchies.file import Csv
from shoal.definition.hierarchies.uncovered import refuse_uncovered
from shoal.encode.hierarchy import Hierarchy
from shoal.errors import BadData

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from shoal.definition.hierarchies.base import Kind
    from shoal.definition.model import Attribute


def build(attribute: str, kind: Kind, counts: Mapping[str, int], *, lowest: int = 0) -> Hierarchy:
    """The hierarchy of an attribute whose values occur so often; missing values are not among them.

    Every value is a leaf, or BadHierarchy says which are not. Files and trees may have more leaves
    than the data. All other kinds have exactly the values as leaves, in their natural order, so
    that a hierarchy written to a file and read again costs the same.

    Their last level is `*`. It says no more than the level below where that has a single label on
    this data, so there it is left out, unless `lowest`, the lowest level that may be used, is that
    level.
    """
    if not counts and not kind.names_values:
        return Hierarchy.without_leaves(attribute, levels=(kind.listed or 0) + 1)
    found = kind.rows(attribute, counts)
    rows = found.rows if kind.names_values else _with_top(found.rows, lowest)
    hierarchy = Hierarchy.from_rows(attribute, rows, found.where, remedy=kind.nesting)
    leaves = frozenset(hierarchy.labels[0])
    uncovered = [value for value in counts if value not in leaves]
    refuse_uncovered(attribute, uncovered, counts, _remedy(kind, hierarchy))
    return hierarchy


def levels_of(
    name: str, declared: Attribute, hierarchy: Hierarchy
) -> tuple[int, tuple[float, ...] | None]:
    """The highest level that may be used, and the losses of the levels; BadData if they do not fit.

    A definition may name the level `*` of a builder also where `build` left it out, since it says
    no more than the level below: a limit there allows all levels, and its loss is never paid.
    """
    limit, losses, height = declared.limit, declared.information_loss, hierarchy.height
    known = declared.hierarchy.heights if declared.hierarchy else None
    highest = height if known is None else max(height, known[1])
    if declared.lowest > height:
        raise BadData(
            f"attributes.{name}.from is {declared.lowest}, but the hierarchy ends at level "
            f"{highest}",
            code="from-above-hierarchy",
            hint=f"write a level from 0 to {highest}, or leave it out",
        )
    if limit is not None and limit > highest:
        raise BadData(
            f"attributes.{name}.limit is {limit}, but the hierarchy ends at level {highest}",
            code="limit-above-hierarchy",
            hint=f"set the limit to {highest} or less, or leave it out",
        )
    if losses is not None and len(losses) not in (height + 1, highest + 1):
        raise BadData(
            f"attributes.{name}.information loss has {len(losses)} numbers, but on this data the "
            f"hierarchy has {height + 1} levels",
            code="losses-of-levels",
            hint="give one number for each level; `shoal hierarchy show` shows them",
        )
    return (
        height if limit is None else min(limit, height),
        None if losses is None else losses[: height + 1],
    )


def _with_top(rows: Sequence[tuple[str, ...]], lowest: int) -> Sequence[tuple[str, ...]]:
    """The rows with a level `*`, unless their last level is a single label already."""
    listed = max(map(len, rows), default=1) - 1
    repeats = listed > 0 and len({row[-1] for row in rows}) == 1
    return rows if repeats and lowest <= listed else [(*row, TOP) for row in rows]


def _remedy(kind: Kind, hierarchy: Hierarchy) -> str:
    """How to cover more values; a file of one column may just have another delimiter."""
    if not isinstance(kind, Csv):
        return (
            "add each as a leaf of the tree"
            if kind.names_values
            else ("choose another hierarchy, or builder")
        )
    if hierarchy.height == 0:
        return (
            f"{kind.path.name} has one column when split at {kind.delimiter!r}: give its "
            'delimiter, as {path: file.csv, delimiter: ","}'
        )
    return f"add a row for each to {kind.path.name}: value;level 1;...;top"
