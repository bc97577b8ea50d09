"""What is fetched at once: a source, or several that their own engine joins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from shoal.engines.base import Source
    from shoal.mart.catalog import ColumnRef
    from shoal.mart.linking.plan import Plan
    from shoal.mart.opened import OpenedSources


@dataclass(frozen=True, eq=False)
class Unit:
    """Sources of the catalog that are one table of an engine.

    `names` says what their columns are called in that table, where it is not their own names.
    """

    sources: tuple[str, ...]
    table: Source
    names: Mapping[ColumnRef, str] = field(default_factory=dict)

    def name(self, ref: ColumnRef) -> str:
        """The name of a column in the table."""
        return self.names.get(ref, ref.column)


def units_of(sources: OpenedSources, plan: Plan) -> tuple[Unit, ...]:
    """The sources of a plan as units, that of the root first."""
    return tuple(Unit((name,), sources.open(name)) for name in plan.sources)
