"""Staged tables: verified before they are published, dropped when they are not.

PostgreSQL and SQLite make tables in a transaction: the staged table, its verification and its
renaming are one, which a lost connection undoes. MySQL and MariaDB do not: there the staged table
has a name with the PID and host of its process, and one RENAME TABLE publishes it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import TYPE_CHECKING

import sqlalchemy as sa
from sqlalchemy.sql.elements import quoted_name

from shoal.engines.base import Staged
from shoal.engines.database.column_types import column_type, storable
from shoal.engines.database.failures import failure
from shoal.engines.database.labels import scratch_tables
from shoal.engines.database.names import REPLACED, STAGED, check_length, new_name, staged_name
from shoal.engines.database.recoding import recoded
from shoal.engines.database.relation import table_relation
from shoal.engines.database.session import Session
from shoal.engines.database.source import DatabaseSource
from shoal.engines.options import Resources, without_password
from shoal.errors import BadOutput

if TYPE_CHECKING:
    import pyarrow as pa

    from shoal.engines.base import Recoding, Source
    from shoal.engines.database.connection import TableName
    from shoal.engines.options import DatabaseTarget


def stage_rows(
    target: DatabaseTarget,
    rows: pa.RecordBatchReader,
    resources: Resources = Resources(),  # noqa: ARG001, B008
) -> StagedInDatabase:
    """Write a stream of records, in its order, to a staged table of a connection of its own.

    It needs none of the resources of this machine.
    """
    session = Session(target.url, shown(target))
    values = session.dialect.values

    def fill(name: TableName) -> None:
        columns = [
            sa.Column(quoted_name(field.name, True), column_type(values, field.type))
            for field in rows.schema
        ]
        table = _table(name, columns)
        session.run(sa.schema.CreateTable(table))
        session.insert(table, storable(values, shown(target), rows))

    return _stage(session, target, list(rows.schema.names), fill, owns=True)


def stage_recoded(
    source: Source, recoding: Recoding, target: DatabaseTarget
) -> StagedInDatabase | None:
    """Recode inside the database, into a staged table; None where the source is not in it.

    Where tables are transactional this is the transaction that counted, so the recoding sees what
    was counted. Elsewhere making a table would end it, so a second connection makes it.
    """
    if not isinstance(source, DatabaseSource) or not source.is_beside(target):
        return None
    session, relation = source.session, source.relation
    owns = not session.dialect.has_transactional_tables
    writing = Session(target.url, relation.name) if owns else session

    def fill(name: TableName) -> None:
        with scratch_tables(writing, beside=name) as scratch:
            made = recoded(writing, scratch, relation, recoding, into_table=True)
            query, shape = writing.sql(made.query), writing.sql(made.shape)
            writing.dialect.create_as(writing, name.sql(writing), query, shape, made.types)

    return _stage(writing, target, list(recoding.columns), fill, owns=owns)


class StagedInDatabase(Staged):
    """A table in the schema of its target under a name of its own, published by renaming it."""

    def __init__(
        self, session: Session, target: DatabaseTarget, staged: TableName, *, owns: bool
    ) -> None:
        self._session = session
        self._target = target
        self._staged = staged
        self._owns = owns
        self._done = False

    def source(self) -> DatabaseSource:
        """The staged table, read by what is stored, whatever was meant to be written."""
        relation = table_relation(self._session, self._staged, shown(self._target), stored=True)
        return DatabaseSource(self._session, relation, owns=False)

    def publish(self) -> str:
        """Put it in place of the old table, if that may be replaced, in one step."""
        session = self._session
        session.name = shown(self._target)
        try:
            name = free_name(session, self._target)
            _check_not_read(session, self._target, name)
            away = name.beside(self._staged.table.replace(STAGED, REPLACED))
            session.dialect.put_in_place(
                session, self._staged, name, away, replace=self._target.replace
            )
            session.commit()
        except BaseException:
            self.discard()
            raise
        self._done = True
        if self._owns:
            session.close()
        return shown(self._target)

    def discard(self) -> None:
        """Remove it; the old table stays. Harmless after publish or when called twice."""
        if self._done:
            return
        self._done = True
        if self._session.dialect.has_transactional_tables:
            self._session.rollback()
        else:
            _drop(self._session, self._target, self._staged)
        if self._owns:
            self._session.close()


def shown(target: DatabaseTarget) -> str:
    """What people see of a target: never a password."""
    return f"{target.table} of {without_password(target.url)}"


def _stage(
    session: Session,
    target: DatabaseTarget,
    columns: list[str],
    fill: Callable[[TableName], None],
    *,
    owns: bool,
) -> StagedInDatabase:
    """A staged table that `fill` makes; nothing of it stays when that fails."""
    staged = None
    try:
        table = staged_name(free_name(session, target))
        staged = StagedInDatabase(session, target, table, owns=owns)
        for name in columns:
            check_length(session, name)
        fill(table)
        if session.dialect.analyzes:
            session.run(f"ANALYZE {table.sql(session)}")
    except BaseException:
        if staged is not None:
            staged.discard()
        elif owns:
            session.close()
        raise
    return staged


def free_name(session: Session, target: DatabaseTarget) -> TableName:
    """The name to take: free, or that of a table that may be replaced."""
    name = new_name(session, target.table)
    if session.has_table(name):
        if not target.replace:
            raise failure("table-exists", shown(target))
        if not session.dialect.is_table(session, name):
            raise BadOutput(
                f"the output {shown(target)} is a view, or something else that is no table",
                code="output-not-a-table",
                hint="give a name that is free, or that of a table",
            )
        return session.dialect.located(session, name)
    return name


def _check_not_read(session: Session, target: DatabaseTarget, name: TableName) -> None:
    """Refuse to replace a table that was read in this transaction, by a function perhaps.

    `check_apart` refuses what can be known before the run. Where the session that publishes is not
    the one that reads, it waits for a lock of that one.
    """
    if session.dialect.has_read(session, name):
        raise failure("output-is-source", shown(target))


def _drop(session: Session, target: DatabaseTarget, staged: TableName) -> None:
    """Drop a staged table that is no part of a transaction; reconnect where that is needed."""
    session.rollback()
    with contextlib.suppress(Exception):
        session.run(f"DROP TABLE IF EXISTS {staged.sql(session)}")
        return
    with (
        contextlib.suppress(Exception),
        contextlib.closing(Session(target.url, shown(target))) as other,
    ):
        other.run(f"DROP TABLE IF EXISTS {staged.sql(other)}")


def _table(name: TableName, columns: list[sa.Column[object]]) -> sa.Table:
    schema = None if name.schema is None else quoted_name(name.schema, True)
    return sa.Table(quoted_name(name.table, True), sa.MetaData(), *columns, schema=schema)
