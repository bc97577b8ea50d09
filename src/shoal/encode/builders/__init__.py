"""From what a definition says of a hierarchy and the values of the data to the hierarchy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shoal.definition import model
from shoal.encode.builders.cover import refuse_uncovered
from shoal.encode.builders.dates import date_rows
from shoal.encode.builders.groups import group_rows
from shoal.encode.builders.numbers import cut_rows, interval_rows
from shoal.encode.builders.plugged import plugged_rows
from shoal.encode.builders.taxonomy import taxonomy_rows
from shoal.encode.builders.text import mask_rows, suppress_rows
from shoal.encode.hierarchy import TOP, Hierarchy
from shoal.encode.hierarchy_file import read_hierarchy

if TYPE_CHECKING:
    from collections.abc import Mapping


def build(
    attribute: str, spec: model.Hierarchy, counts: Mapping[str, int], *, lowest: int = 0
) -> Hierarchy:
    """The hierarchy of an attribute whose values occur so often; missing values are not among them.

    Every value is a leaf, or BadHierarchy says which are not. Files and trees may have more leaves
    than the data. All other builders have exactly the values as leaves, in their natural order, so
    that a hierarchy written to a file and read again costs the same.

    The last level of a builder is `*`. It says no more than the level below where that has a single
    label on this data, so there it is left out, unless `lowest`, the lowest level that may be used,
    is that level.
    """
    if isinstance(spec, model.Csv):
        hierarchy = read_hierarchy(attribute, spec.path, spec.delimiter)
        _refuse_values_without_leaf(hierarchy, counts, _row_to_add(hierarchy, spec))
        return hierarchy
    if isinstance(spec, model.Taxonomy):
        rows = _topped(taxonomy_rows(spec.tree))
        hierarchy = Hierarchy.from_rows(
            attribute,
            rows,
            lambda index: f"leaf {rows[index][0]!r}",
            remedy="a label may stand in one branch only: give the branches different labels",
        )
        _refuse_values_without_leaf(hierarchy, counts, "add each as a leaf of the tree")
        return hierarchy
    if not counts:
        return Hierarchy.without_leaves(attribute, levels=_listed_levels(spec) + 1)
    listed = _rows(attribute, spec, counts)
    built = _starred(listed) if lowest == len(listed[0]) else _topped(listed)
    hierarchy = Hierarchy.from_rows(
        attribute, built, lambda index: f"value {built[index][0]!r}", remedy=_nesting(spec)
    )
    _refuse_values_without_leaf(hierarchy, counts, "choose another hierarchy, or builder")
    return hierarchy


def _rows(
    attribute: str, spec: model.Hierarchy, counts: Mapping[str, int]
) -> list[tuple[str, ...]]:
    """One row per value, in natural order."""
    match spec:
        case model.Mask():
            return mask_rows(attribute, spec, counts)
        case model.Intervals():
            return interval_rows(attribute, spec, counts)
        case model.Cuts():
            return cut_rows(attribute, spec, counts)
        case model.Dates():
            return date_rows(attribute, spec, counts)
        case model.Groups():
            return group_rows(attribute, spec, counts)
        case model.PluggedIn():
            return plugged_rows(attribute, spec, counts)
        case _:
            return suppress_rows(counts)


def _topped(rows: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """With a level `*` on top, unless the last level is a single label already."""
    if len({row[-1] for row in rows}) == 1:
        return rows
    return _starred(rows)


def _starred(rows: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    return [(*row, TOP) for row in rows]


def _listed_levels(spec: model.Hierarchy) -> int:
    """How many levels above the values a builder lists."""
    match spec:
        case model.Mask():
            return len(spec.mask)
        case model.Intervals():
            return len(spec.widths)
        case model.Cuts():
            return len(spec.cuts)
        case model.Dates():
            return len(spec.units)
        case model.Groups():
            return len(spec.sizes)
        case _:
            return 0


def _nesting(spec: model.Hierarchy) -> str:
    """What makes the levels of a builder nest."""
    match spec:
        case model.Intervals():
            return "make each width a multiple of the one before"
        case model.Cuts():
            return "take the cut points of each level from those of the level before"
        case model.Dates():
            return "list units from short to long; a week fits into no longer unit"
        case model.Groups():
            return "make each size a multiple of the one before"
        case model.PluggedIn():
            return "this is a fault of the builder: tell its authors, or choose another hierarchy"
        case _:
            return "list rising numbers of characters"


def _refuse_values_without_leaf(
    hierarchy: Hierarchy, counts: Mapping[str, int], remedy: str
) -> None:
    leaves = frozenset(hierarchy.labels[0])
    refuse_uncovered(
        hierarchy.attribute, (value for value in counts if value not in leaves), counts, remedy
    )


def _row_to_add(hierarchy: Hierarchy, spec: model.Csv) -> str:
    """What to add to a file; a file of one column may just have another delimiter."""
    if hierarchy.height == 0:
        return (
            f"{spec.path.name} has one column when split at {spec.delimiter!r}: give its "
            'delimiter, as {path: file.csv, delimiter: ","}'
        )
    return f"add a row for each to {spec.path.name}: value;level 1;...;top"
