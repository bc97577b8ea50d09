"""What is refused before any long work: outputs that cannot be made, or that the source reads.

Names do not show whether a source reads the table that its release would replace: one table has
many names (schemas, search paths, case, quotes, hosts), and a view or a query reads tables that it
hides. So the dialect asks the database; nothing is changed by that.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from shoal.engines.database.address import address, dialect_of
from shoal.engines.database.column_types import OTHER_YEARS, column_type, unstorable
from shoal.engines.database.connection import OpenSource
from shoal.engines.database.failures import failure
from shoal.engines.database.names import new_name, staged_name
from shoal.engines.database.session import Session
from shoal.engines.database.source import DatabaseSource, open_table
from shoal.engines.database.staged import free_name, shown
from shoal.engines.failures import check_finite, check_nanoseconds, check_negative_zeros
from shoal.engines.options import without_password

if TYPE_CHECKING:
    from shoal.engines.base import Column, Source
    from shoal.engines.database.dialects.values import Values
    from shoal.engines.options import DatabaseOptions, DatabaseTarget


def is_there(target: DatabaseTarget) -> bool:
    """Whether there is a table, or a view, of the name of the target."""
    with closing(Session(target.url, without_password(target.url))) as output:
        return output.has_table(new_name(output, target.table))


def check_url(url: str) -> None:
    """Refuse a URL that names no supported database, or that its driver could not use."""
    address(url)


def check_table(target: DatabaseTarget) -> None:
    """Refuse a table that could not be made in the end: one is made, and undone."""
    with closing(Session(target.url, shown(target))) as session:
        trial = staged_name(free_name(session, target))
        session.run(f"CREATE TABLE {trial.sql(session)} (c INTEGER)")
        if session.dialect.has_transactional_tables:
            session.rollback()
        else:
            session.run(f"DROP TABLE {trial.sql(session)}")


def check_columns(target: DatabaseTarget, source: Source, released: Collection[str]) -> None:
    """Refuse values that the database of the output cannot hold, as far as it can be asked.

    What stays in its database fits there.
    """
    values = dialect_of(address(target.url)).values
    if isinstance(source, DatabaseSource) and source.is_beside(target):
        return
    if not values.holds_nul:
        for name in source.columns_with_nul(released):
            what = "texts with NUL characters"
            raise unstorable(name, shown(target), what, "unstorable-text")
    dated = [c.name for c in source.columns() if c.name in released and _is_dated(values, c)]
    for name in source.columns_with_other_years(dated):
        raise unstorable(name, shown(target), OTHER_YEARS)
    check_nanoseconds(source, released, shown(target))
    if not values.holds_infinity:
        check_finite(source, released, shown(target), "unstorable-value")
    if not values.holds_negative_zero:
        check_negative_zeros(source, released, shown(target))


def _is_dated(values: Values, column: Column) -> bool:
    """Whether the table has dates or times for the column, not their texts."""
    kind = column.arrow
    return kind is not None and isinstance(column_type(values, kind), sa.Date | sa.DateTime)


def check_apart(
    options: DatabaseOptions, target: DatabaseTarget, *, is_member: bool = False
) -> None:
    """Refuse to replace a table that the source reads, or of which that cannot be known.

    `is_member` says that the source is one of several, or has columns with other names: then it is
    read by a connection that does not write the release.
    """
    source = _Opener(options)
    source_url, output_url = address(options.url), address(target.url)
    dialect = dialect_of(source_url)
    is_same_kind = dialect.is_like(dialect_of(output_url))
    if is_member and is_same_kind and dialect.locks_out(source, source_url, output_url):
        raise failure("output-locked-by-source", without_password(target.url))
    if not target.replace:
        return
    with closing(Session(target.url, shown(target))) as output:
        name = new_name(output, target.table)
        if not output.has_table(name):
            return
        table = output.dialect.located(output, name)
        overlap = dialect.overlap(source, output if is_same_kind else None, table)
    if overlap.reads:
        raise failure("output-is-source", shown(target))
    if overlap.unknown:
        raise failure("output-may-be-source", shown(target), overlap.unknown)


@dataclass(frozen=True)
class _Opener:
    """Opens the source of a run for its dialect."""

    options: DatabaseOptions

    @contextmanager
    def connected(self) -> Iterator[Session]:
        """A connection to the database of the source, which reads nothing yet."""
        url = self.options.url
        with closing(Session(url, without_password(url))) as session:
            yield session

    @contextmanager
    def opened(self, *, lock_wait: int | None = None) -> Iterator[OpenSource]:
        """The source, and a query for all its records."""
        with closing(open_table(self.options, lock_wait=lock_wait)) as source:
            every: sa.Select[Any] = sa.select(sa.literal_column("*")).select_from(
                source.relation.source
            )
            yield OpenSource(source.session, source.session.sql(every))
