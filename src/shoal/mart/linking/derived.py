"""Whether derived columns have a value in every record.

They are computed over whole sources first: whether a request is refused because an expression
fails, and what the error says, does not depend on what the request selects. Otherwise an asker
could select one person and learn from the error what that person's values are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from shoal.mart.linking.columns import Reading, key_columns, reading_of
from shoal.mart.linking.joining import joined
from shoal.mart.linking.plan import Plan, plan_of

if TYPE_CHECKING:
    from shoal.mart.catalog import Catalog, ColumnRef
    from shoal.mart.opened import OpenedSources


def check_derived(sources: OpenedSources, reading: Reading) -> None:
    """Check the derived columns of a reading, each once; the keys of its sources are sound."""
    for derivation in reading.derived:
        if derivation.ref not in sources.checked_derived:
            plan, needed = rows_of(sources.catalog, derivation.ref)
            with joined(sources, plan, needed, {}) as found, found.explaining():
                found.check_derived()
            sources.checked_derived.update(each.ref for each in needed.derived)


def rows_of(catalog: Catalog, ref: ColumnRef) -> tuple[Plan, Reading]:
    """The rows that a derived column is computed for, and what is read of them.

    They are the records of its source; where it reads other sources too, the rows of their join.
    """
    reading = reading_of(catalog, [ref])
    if reading.raw and reading.sources == {ref.source}:
        return Plan(ref.source, ()), reading
    plan = plan_of(catalog, reading.sources)
    return plan, reading_of(catalog, [ref, *key_columns(catalog, plan)])
