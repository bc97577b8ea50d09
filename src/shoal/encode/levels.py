"""What a definition says of the levels of a hierarchy, fitted to the levels that the data has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shoal.errors import BadData

if TYPE_CHECKING:
    from shoal.definition.model import Attribute
    from shoal.encode.hierarchy import Hierarchy


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
