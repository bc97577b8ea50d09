"""Mistakes in the definition of a hierarchy that can be seen without the data."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, get_args

from shoal import plugins
from shoal.definition.model import (
    Csv,
    Cuts,
    Dates,
    DateUnit,
    Groups,
    Hierarchy,
    Intervals,
    Mask,
    PluggedIn,
    Suppress,
    Taxonomy,
)
from shoal.errors import MissingExtra, Mistake, did_you_mean

if TYPE_CHECKING:
    from pathlib import Path

UNITS: tuple[str, ...] = get_args(DateUnit)
"""The units of dates from short to long; each but the week lies inside every longer one."""


def of_hierarchy(key: str, hierarchy: Hierarchy) -> list[Mistake]:
    """Levels that are none, do not nest, or cannot be read."""
    match hierarchy:
        case Csv():
            return list(_of_csv(key, hierarchy.path))
        case Mask():
            return list(_of_mask(f"{key}.mask", hierarchy.mask))
        case Intervals():
            return list(_of_intervals(key, hierarchy))
        case Cuts():
            return list(_of_cuts(f"{key}.cuts", hierarchy.cuts))
        case Dates():
            return list(_of_dates(f"{key}.date", hierarchy.units))
        case Groups():
            return list(_of_sizes(f"{key}.groups", hierarchy.sizes, "size"))
        case PluggedIn():
            return list(_of_builder(key, hierarchy))
        case _:
            return []


def heights(hierarchy: Hierarchy) -> tuple[int, int] | None:
    """The least and the greatest number of the top level, None where it cannot be known.

    A builder lists levels 1 to n above the values and gets a level `*` when level n still has more
    than one label, which depends on the data unless level n is that label already.
    """
    match hierarchy:
        case Csv():
            columns = _columns(hierarchy)
            return (columns - 1, columns - 1) if columns else None
        case Taxonomy():
            paths = set(_paths(hierarchy.tree, ()))
            top = max(map(len, paths)) - (len({path[0] for path in paths}) == 1)
            return top, top
        case Cuts() if hierarchy.cuts and not hierarchy.cuts[-1]:
            return len(hierarchy.cuts), len(hierarchy.cuts)
        case Suppress():
            return 0, 1
        case PluggedIn():
            return None
    listed = _listed(hierarchy)
    return len(listed), len(listed) + 1


def near_files(path: Path) -> str:
    """The remedy for a missing file: one of its folder with a similar name, if there is any."""
    try:
        names = [file.name for file in path.parent.iterdir()]
    except OSError:
        return f"there is no folder {str(path.parent)!r} either; check the path"
    return did_you_mean(path.name, names).lstrip("; ") or "check the path"


def _listed(hierarchy: Hierarchy) -> Sequence[object]:
    """The levels that a builder lists above the values."""
    match hierarchy:
        case Mask():
            return hierarchy.mask
        case Intervals():
            return hierarchy.widths
        case Cuts():
            return hierarchy.cuts
        case Dates():
            return hierarchy.units
        case Groups():
            return hierarchy.sizes
        case _:
            return ()


def _of_builder(key: str, hierarchy: PluggedIn) -> Iterator[Mistake]:
    """A builder that is not installed, or does not take its parameters."""
    try:
        plugins.make("builder", hierarchy.builder, hierarchy.parameters)
    except MissingExtra as error:
        yield Mistake(key, error.what, error.hint)
    except ValueError as error:
        yield Mistake(key, str(error), "see the documentation of the builder")


def _of_csv(key: str, path: Path) -> Iterator[Mistake]:
    if not path.exists():
        yield Mistake(key, f"there is no file {str(path)!r}", near_files(path))
    elif path.is_dir():
        yield Mistake(key, f"{str(path)!r} is a folder", "give the path of a hierarchy file")


def _columns(hierarchy: Csv) -> int:
    """How many columns the first row of the file has; 0 when it cannot be read."""
    try:
        with hierarchy.path.open(encoding="utf-8-sig", newline="") as file:
            return len(next(csv.reader(file, delimiter=hierarchy.delimiter), ()))
    except (OSError, ValueError, csv.Error):
        return 0


def _paths(node: object, above: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """The labels from the root to each leaf of a tree."""
    if isinstance(node, Mapping):
        for label, child in node.items():
            yield from _paths(child, (*above, label))
    elif isinstance(node, tuple):
        for child in node or (None,):
            yield from _paths(child, above)
    else:
        yield above if node is None else (*above, str(node))


def _of_mask(key: str, steps: Sequence[int]) -> Iterator[Mistake]:
    if not steps:
        yield Mistake(key, "lists no level", "write for example `mask: 5`")
    elif steps[0] < 1 or any(later <= step for step, later in pairwise(steps)):
        what = "must rise from 1 up, so that each level hides more"
        yield Mistake(key, what, "write for example `mask: [1, 2, 4]`")


def _of_intervals(key: str, hierarchy: Intervals) -> Iterator[Mistake]:
    yield from _of_sizes(f"{key}.intervals", hierarchy.widths, "width")
    bottom, top = hierarchy.bottom, hierarchy.top
    if bottom is not None and top is not None and bottom >= top:
        what = f"{bottom:g} is not below top {top:g}"
        yield Mistake(f"{key}.bottom", what, "make bottom the smaller of the two")


def _of_sizes(key: str, sizes: Sequence[float], noun: str) -> Iterator[Mistake]:
    """Widths and sizes are positive, rise, and each is a multiple of the one before.

    They are compared as the decimals people wrote, so that 0.3 is three times 0.1.
    """
    exact = [Fraction(str(size)) for size in sizes]
    if not sizes:
        yield Mistake(key, "lists no level", f"give at least one {noun}")
    elif min(exact) <= 0:
        yield Mistake(key, f"has a {noun} that is not above 0", f"give positive {noun}s")
    else:
        for before, after in pairwise(exact):
            if after <= before or after % before:
                what = f"{noun} {_brief(after)} is no multiple of {_brief(before)} before it"
                remedy = f"make each {noun} a multiple of the one before, as in [5, 10, 20]"
                yield Mistake(key, what, remedy)


def _brief(size: Fraction) -> str:
    """A size as people write it; one beyond all floats is a slip, whatever its digits."""
    return f"{float(size):g}" if size < 10**300 else "above 1e+300"


def _of_cuts(key: str, levels: Sequence[Sequence[float]]) -> Iterator[Mistake]:
    if not levels:
        yield Mistake(key, "lists no level", "write for example `cuts: [18, 30, 65]`")
    for number, points in enumerate(levels, start=1):
        if any(later <= point for point, later in pairwise(points)):
            what = f"the points of level {number} do not rise"
            yield Mistake(key, what, "list each level from the smallest point to the largest")
    for number, (before, after) in enumerate(pairwise(levels), start=2):
        new = sorted(set(after) - set(before))
        if new:
            what = f"level {number} cuts at {new[0]:g} where level {number - 1} does not"
            yield Mistake(key, what, "take the points of each level from the level before")
        elif len(set(after)) == len(set(before)):
            what = f"level {number} is the same as level {number - 1}"
            yield Mistake(key, what, "leave out points from level to level")


def _of_dates(key: str, units: Sequence[str]) -> Iterator[Mistake]:
    if not units:
        yield Mistake(key, "lists no unit", "write for example `date: [month, year]`")
    for unit, longer in pairwise(units):
        if UNITS.index(longer) <= UNITS.index(unit):
            remedy = f"list the units from short to long: {', '.join(UNITS)}"
            yield Mistake(key, f"{longer} is not longer than {unit}", remedy)
        elif unit == "week":
            remedy = f"leave out week or {longer}"
            yield Mistake(key, f"a week may lie in two {_plural(longer)}", remedy)


def _plural(unit: str) -> str:
    return "centuries" if unit == "century" else f"{unit}s"
