"""Tables that nobody sees until they are published, and that are gone when they are not.

PostgreSQL and SQLite make tables in a transaction: the staged table, its verification and its
renaming are one, which a lost connection undoes. MySQL and MariaDB do not: there the staged table
has a name that says whose it is, and one RENAME TABLE puts it in place of the old one.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import TYPE_CHECKING

import sqlalchemy as sa
from sqlalchemy.sql.elements import quoted_name

from shoal.engines.base import Staged, without_password
from shoal.engines.database.failures import failure
from shoal.engines.database.labels import Scratch
from shoal.engines.database.names import (
    REPLACED,
    STAGED,
    TableName,
    check_length,
    exists,
    future,
    is_table,
    located,
    staged_name,
)
from shoal.engines.database.overlap_postgres import has_read
from shoal.engines.database.recoding import Recoded, recoded
from shoal.engines.database.relation import table_relation
from shoal.engines.database.session import Session
from shoal.engines.database.source import DatabaseSource
from shoal.engines.database.storable import column_type, storable
from shoal.engines.database.writing import insert
from shoal.errors import BadOutput, UserError

if TYPE_CHECKING:
    import pyarrow as pa

    from shoal.engines.base import DatabaseTarget, Recoding, Source


def check_table(target: DatabaseTarget) -> None:
    """Refuse, before any long work, a table that could not be made in the end.

    A table is made for that, and undone.
    """
    session = Session(target.url, shown(target))
    try:
        name = _free(session, target)
        trial = staged_name(name)
        session.run(f"CREATE TABLE {trial.sql(session)} (c INTEGER)")
        if session.has_transactional_tables:
            session.rollback()
        else:
            session.run(f"DROP TABLE {trial.sql(session)}")
    finally:
        session.close()


def stage_rows(target: DatabaseTarget, rows: pa.RecordBatchReader) -> StagedInDatabase:
    """Write a stream of records, in its order, to a staged table of a connection of its own."""
    session = Session(target.url, shown(target))

    def fill(name: TableName) -> None:
        columns = [
            sa.Column(quoted_name(field.name, True), column_type(session.system, field.type))
            for field in rows.schema
        ]
        table = _table(name, columns)
        session.run(sa.schema.CreateTable(table))
        insert(session, table, storable(session.system, shown(target), rows))

    return _staged(session, target, list(rows.schema.names), fill, owns=True)


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
    owns = not session.has_transactional_tables
    writing = Session(target.url, relation.name) if owns else session

    def fill(name: TableName) -> None:
        with Scratch(writing, beside=name) as scratch:
            made = recoded(writing, scratch, relation, recoding, into_table=True)
            _create_as(writing, name, made)

    return _staged(writing, target, list(recoding.columns), fill, owns=owns)


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
        """The staged table, read by what is stored, with no memory of how it was written."""
        relation = table_relation(self._session, self._staged, shown(self._target), stored=True)
        return DatabaseSource(self._session, relation, owns=False)

    def publish(self) -> str:
        """Put it in place of the old table, if that may be replaced, in one step."""
        session = self._session
        session.name = shown(self._target)
        try:
            name = _free(session, self._target)
            _check_not_read(session, self._target, name)
            _put_in_place(session, self._staged, name, replace=self._target.replace)
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
        if self._session.has_transactional_tables:
            self._session.rollback()
        else:
            _drop(self._session, self._target, self._staged)
        if self._owns:
            self._session.close()


def shown(target: DatabaseTarget) -> str:
    """What people see of a target: never a password."""
    return f"{target.table} of {without_password(target.url)}"


def _staged(
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
        staged = StagedInDatabase(session, target, staged_name(_free(session, target)), owns=owns)
        for name in columns:
            check_length(session, name)
        fill(staged._staged)
    except BaseException:
        if staged is not None:
            staged.discard()
        elif owns:
            session.close()
        raise
    return staged


def _free(session: Session, target: DatabaseTarget) -> TableName:
    """The name to take: free, or that of a table that may be replaced."""
    name = future(session, target.table)
    if exists(session, name):
        if not target.replace:
            raise failure("table-exists", shown(target))
        if not is_table(session, name):
            raise BadOutput(
                f"the output {shown(target)} is a view, or something else that is no table",
                code="output-not-a-table",
                hint="give a name that is free, or that of a table",
            )
        return located(session, name)
    return name


def _check_not_read(session: Session, target: DatabaseTarget, name: TableName) -> None:
    """Refuse to replace a table that was read in this transaction, by a function perhaps.

    `check_apart` refuses what can be seen before the run. On other systems the session that
    publishes reads nothing else, and waits for a lock of the one that reads.
    """
    if session.system == "postgresql" and has_read(session, name):
        raise failure("output-is-source", shown(target))


def _create_as(session: Session, name: TableName, made: Recoded) -> None:
    """Make a table of the recoded records; unchanged columns keep their types.

    PostgreSQL makes it in one statement, which it may run in parallel. The others would take the
    types of expressions, so there the table is made first; SQLite knows declared types alone.
    """
    table, text = name.sql(session), session.sql(made.query)
    if session.system == "postgresql":
        session.run(f"CREATE TABLE {table} AS {text}")
        return
    if session.system == "sqlite":
        quote = session.connection.dialect.identifier_preparer.quote_identifier
        columns = (f"{quote(column)} {kind}" for column, kind in made.declared.items())
        session.run(f"CREATE TABLE {table} ({', '.join(columns)})")
    elif session.system == "mssql":
        session.run(f"SELECT * INTO {table} FROM ({session.sql(made.shape)}) AS shape")
    else:
        session.run(f"CREATE TABLE {table} AS {session.sql(made.shape)}")
    session.run(f"INSERT INTO {table} {text}")


def _put_in_place(session: Session, staged: TableName, target: TableName, *, replace: bool) -> None:
    """Give a staged table its name: in the transaction, or else in one statement."""
    new, old = staged.sql(session), target.sql(session)
    if session.system in ("mysql", "mariadb") and replace and exists(session, target):
        away = target.beside(staged.table.replace(STAGED, REPLACED)).sql(session)
        session.run(f"RENAME TABLE {old} TO {away}, {new} TO {old}")
        with contextlib.suppress(UserError):  # the release is there; `leftovers` finds the old one
            session.run(f"DROP TABLE {away}")
        return
    if session.system in ("mysql", "mariadb"):
        session.run(f"RENAME TABLE {new} TO {old}")
        return
    if replace:
        session.run(f"DROP TABLE IF EXISTS {old}")
    if session.system == "mssql":
        renamed = sa.text("EXEC sp_rename :old, :new").bindparams(old=new, new=target.table)
        session.run(renamed)
        return
    quote = session.connection.dialect.identifier_preparer.quote_identifier
    session.run(f"ALTER TABLE {new} RENAME TO {quote(target.table)}")


def _drop(session: Session, target: DatabaseTarget, staged: TableName) -> None:
    """Remove a staged table that is no part of a transaction; a lost connection is made anew."""
    session.rollback()
    with contextlib.suppress(Exception):
        session.run(f"DROP TABLE IF EXISTS {staged.sql(session)}")
        return
    with contextlib.suppress(Exception):
        other = Session(target.url, shown(target))
        try:
            other.run(f"DROP TABLE IF EXISTS {staged.sql(other)}")
        finally:
            other.close()


def _table(name: TableName, columns: list[sa.Column[object]]) -> sa.Table:
    schema = None if name.schema is None else quoted_name(name.schema, True)
    return sa.Table(quoted_name(name.table, True), sa.MetaData(), *columns, schema=schema)
