"""Which sources are joined, and in which order.

Links form a tree, which the catalog was checked for, so between two sources there is one path. The
sources of a request are those that it reads, the person's, and all on the paths between them. They
are joined from the person's source outwards, each to one that is there already. No optional end
lies on a path to another source, so a source that may be absent is a leaf.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shoal.errors import UserError
from shoal.mart.catalog import ColumnRef

if TYPE_CHECKING:
    from shoal.mart.catalog import Catalog, End, Link


@dataclass(frozen=True)
class Join:
    """One step: the source at the end `new` is joined to that at the end `known`."""

    link: Link
    known: End
    new: End

    @property
    def keys(self) -> tuple[tuple[ColumnRef, ColumnRef], ...]:
        """The pairs of columns that must be equal, that of the known source first."""
        pairs = zip(self.known.columns, self.new.columns, strict=True)
        return tuple(
            (ColumnRef(self.known.source, one), ColumnRef(self.new.source, other))
            for one, other in pairs
        )

    @property
    def is_optional(self) -> bool:
        """Whether rows without a partner in the new source stay."""
        return self.link.optional == self.new.source


@dataclass(frozen=True)
class Plan:
    """The tree of sources that are joined: its root, then each further source by its join."""

    root: str
    joins: tuple[Join, ...]

    @property
    def sources(self) -> tuple[str, ...]:
        """All sources, in the order in which they are joined."""
        return (self.root, *(join.new.source for join in self.joins))

    @property
    def optional(self) -> frozenset[str]:
        """The sources that can be absent in a row."""
        return frozenset(join.new.source for join in self.joins if join.is_optional)


def plan_of(catalog: Catalog, used: Collection[str]) -> Plan:
    """The tree for these sources and the person's."""
    root = catalog.person.source
    joins: dict[str, Join] = {}
    for source in sorted({*used} - {root}):
        joins |= {join.new.source: join for join in _path(catalog, root, source)}
    return Plan(root, tuple(joins.values()))


def _path(catalog: Catalog, start: str, goal: str) -> tuple[Join, ...]:
    """The joins that lead from one source to another."""
    paths: dict[str, tuple[Join, ...]] = {start: ()}
    pending = [start]
    while pending:
        source = pending.pop()
        for link in catalog.links_of(source):
            join = Join(link, link.end(source), link.other(source))
            if join.new.source not in paths:
                paths[join.new.source] = (*paths[source], join)
                pending.append(join.new.source)
    if goal in paths:
        return paths[goal]
    raise UserError(
        f"no links lead from {goal!r} to {start!r}, whose records say who a person is",
        code="not-linked",
        hint=f"add a link of {goal!r} to `links`, or leave out its columns",
    )
