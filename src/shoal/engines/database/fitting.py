"""Whether a table of a database can hold what is to be released: asked before the search."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

import sqlalchemy as sa

from shoal.engines.database.address import address
from shoal.engines.database.source import DatabaseSource
from shoal.engines.database.staged import shown
from shoal.engines.database.storable import OTHER_YEARS, column_type, unstorable
from shoal.engines.database.writing import MYSQL
from shoal.engines.limits import check_finite, check_nanoseconds, check_negative_zeros

if TYPE_CHECKING:
    from shoal.engines.base import Column, DatabaseTarget, Source


def check_columns(target: DatabaseTarget, source: Source, released: Collection[str]) -> None:
    """Refuse now what would be refused when it is written, as far as it can be asked.

    What stays in its database fits there.
    """
    system = address(target.url).get_backend_name()
    if isinstance(source, DatabaseSource) and source.is_beside(target):
        return
    if system == "postgresql":
        for name in source.columns_with_nul(released):
            what = "texts with NUL characters"
            raise unstorable(name, shown(target), what, "unstorable-text")
    dated = [c.name for c in source.columns() if c.name in released and _is_dated(system, c)]
    for name in source.columns_with_other_years(dated):
        raise unstorable(name, shown(target), OTHER_YEARS)
    check_nanoseconds(source, released, shown(target))
    if system in MYSQL:
        check_finite(source, released, shown(target), "unstorable-value")
    if system == "sqlite":
        check_negative_zeros(source, released, shown(target))


def _is_dated(system: str, column: Column) -> bool:
    """Whether the table has dates or times for the column, not their texts."""
    kind = column.arrow
    return kind is not None and isinstance(column_type(system, kind), sa.Date | sa.DateTime)
