"""What is fetched at once: a source, or several that their own engine joins.

Sources that are linked and are in one database, or in one session of Spark, are joined there:
only rows of the join leave it. Keys must mean the same there as here; where they cannot be
compared by their texts, each source is fetched for itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from shoal.engines.base import TableJoin

if TYPE_CHECKING:
    from shoal.engines.base import Fetchable
    from shoal.mart.catalog import ColumnRef
    from shoal.mart.linking.plan import Join, Plan
    from shoal.mart.opened import OpenedSources


@dataclass(frozen=True, eq=False)
class Unit:
    """Sources of the catalog that are one table of an engine.

    `names` says what their columns are called in that table, where it is not their own names.
    """

    sources: tuple[str, ...]
    table: Fetchable
    names: Mapping[ColumnRef, str] = field(default_factory=dict)

    def name(self, ref: ColumnRef) -> str:
        """The name of a column in the table."""
        return self.names.get(ref, ref.column)


def units_of(
    sources: OpenedSources, plan: Plan, refs: Iterable[ColumnRef], *, apart: bool
) -> tuple[Unit, ...]:
    """The sources of a plan as units, that of the root first; with `apart` each is its own."""
    groups = {name: [name] for name in plan.sources}
    for join in () if apart else plan.joins:
        one, other = groups[join.known.source], groups[join.new.source]
        if _can_join(sources, join):
            one += other
            groups |= dict.fromkeys(other, one)
    distinct = {id(group): group for group in groups.values()}
    return tuple(_unit(sources, plan, group, refs) for group in distinct.values())


def _can_join(sources: OpenedSources, join: Join) -> bool:
    one, other = sources.open(join.known.source), sources.open(join.new.source)
    return one.can_join(other, _names(join))


def _names(join: Join) -> tuple[tuple[str, str], ...]:
    return tuple((one.column, other.column) for one, other in join.keys)


def _unit(
    sources: OpenedSources, plan: Plan, group: Sequence[str], refs: Iterable[ColumnRef]
) -> Unit:
    tables = {name: sources.open(name) for name in group}
    if len(group) == 1:
        return Unit(tuple(group), tables[group[0]])
    joins = [
        TableJoin(join.known.source, join.new.source, _names(join), join.is_optional)
        for join in plan.joins
        if join.known.source in group and join.new.source in group
    ]
    own = [ref for ref in refs if ref.source in group]
    names = {ref: f"f{i}" for i, ref in enumerate(own)}
    columns = {name: (ref.source, ref.column) for ref, name in names.items()}
    return Unit(tuple(group), tables[group[0]].joined(tables, joins, columns), names)
