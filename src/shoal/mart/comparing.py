"""A new release against the earlier ones of its asker, or of all askers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from shoal.errors import Refused
from shoal.mart.overlap import find_overlaps
from shoal.mart.recipe import JOINT

if TYPE_CHECKING:
    from shoal.mart.catalog import Catalog
    from shoal.mart.log_chain import Entry
    from shoal.mart.overlap import Overlap
    from shoal.mart.recipe import Recipe
    from shoal.mart.sources import OpenSources


def compare(
    catalog: Catalog,
    sources: OpenSources,
    recipe: Recipe,
    asker: str | None,
    entries: Sequence[Entry],
) -> tuple[Overlap, ...]:
    """The overlaps with earlier releases that the policy says to compare with.

    Where the policy is to refuse, an overlap is an error.
    """
    earlier = [
        entry
        for entry in entries
        if entry.kind == "released" and (catalog.policy.across == "all" or entry.asker == asker)
    ]
    found = find_overlaps(sources, recipe, earlier) if earlier else ()
    if found and catalog.policy.overlap == "refuse":
        raise overlap_refused(found)
    return found


def overlap_refused(found: Sequence[Overlap]) -> Refused:
    """The refusal of a release with overlaps."""
    lines = "".join(f"\n  {each}" for each in dict.fromkeys(map(_named, found)))
    return Refused(
        "with earlier releases this one would single out fewer than k persons; nothing was "
        f"released{lines}",
        code="overlap",
        hint="ask for the same columns and levels as before, or for records apart from them",
    )


def _named(overlap: Overlap) -> str:
    """With which entries of the log, and by which source: without numbers of persons."""
    entries = ", ".join(map(str, overlap.earlier))
    word = "entry" if len(overlap.earlier) == 1 else "entries"
    source = "all sources" if overlap.source == JOINT else overlap.source
    return f"{word} {entries} of the log, by {source} ({overlap.kind})"
