"""A table, view or query of a database as a source."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

import pyarrow as pa

from shoal.engines.base import Source
from shoal.engines.database.address import address, dialect_of, same_database
from shoal.engines.database.column_types import arrow_types, columns_with_nul, respelled
from shoal.engines.database.counting import count, count_distinct
from shoal.engines.database.fetching import fetching
from shoal.engines.database.joining import JoinedTables, can_join
from shoal.engines.database.labels import scratch_tables
from shoal.engines.database.names import existing_name
from shoal.engines.database.recoding import recoded
from shoal.engines.database.relation import Relation, query_relation, table_relation
from shoal.engines.database.session import Session
from shoal.engines.options import Resources, without_password
from shoal.errors import BadData

if TYPE_CHECKING:
    from shoal.engines.base import Column, Question, Recoding, TableJoin
    from shoal.engines.options import DatabaseOptions, DatabaseTarget


def open_table(
    options: DatabaseOptions,
    *,
    resources: Resources = Resources(),  # noqa: ARG001, B008
    lock_wait: int | None = None,
) -> DatabaseSource:
    """Open what the options name: a table or view, else a query.

    It needs none of the resources of this machine.
    """
    shown = without_password(options.url)
    url = address(options.url)
    file = dialect_of(url).file(url)
    if file is not None and not file.is_file():
        raise BadData(
            f"no file {file}, which {shown} names",
            code="no-file",
            hint="see the path: sqlite:///file is relative, sqlite:////file is absolute",
        )
    session = Session(options.url, shown, lock_wait=lock_wait)
    try:
        if options.table is not None:
            table = existing_name(session, options.table)
            session.name = f"{options.table} of {shown}"
            relation = table_relation(session, table, session.name)
        else:
            session.name = f"a query of {shown}"
            relation = query_relation(session, options.query or "", session.name)
    except BaseException:
        session.close()
        raise
    return DatabaseSource(session, relation)


class DatabaseSource(Source):
    """A relation in a session: what is counted is counted there, and so is what is recoded.

    All of it happens in one transaction, so it sees one state of the data where the database has
    snapshots.
    """

    def __init__(self, session: Session, relation: Relation, *, owns: bool = True) -> None:
        self._session = session
        self._relation = relation
        self._owns = owns

    @property
    def name(self) -> str:
        """What to call it in messages."""
        return self._relation.name

    @property
    def session(self) -> Session:
        """The connection that reads it."""
        return self._session

    @property
    def relation(self) -> Relation:
        """What it reads."""
        return self._relation

    def columns(self) -> tuple[Column, ...]:
        """The columns, in order."""
        return self._relation.columns()

    def count(self, question: Question) -> pa.Table:
        """Distinct combinations as text, null where missing, with counts; one GROUP BY."""
        return count(self._session, self._relation, question)

    def distinct(self, question: Question) -> int:
        """How many combinations there are, or `at_most` + 1 once there are more."""
        return count_distinct(self._session, self._relation, question)

    def is_beside(self, target: DatabaseTarget) -> bool:
        """Whether the target is in the same database."""
        return same_database(self._session.url, address(target.url))

    def columns_with_nul(self, names: Collection[str]) -> list[str]:
        """Those of the columns that have a text with a NUL character."""
        return columns_with_nul(self._session, self._relation, names)

    @contextmanager
    def recoded(self, recoding: Recoding) -> Iterator[pa.RecordBatchReader]:
        """The recoded records as a stream, in order; they are never all in memory."""
        own = [name for name in recoding.columns if recoding.is_unchanged(name)]
        types = arrow_types(self._session, self._relation, own)
        schema = pa.schema([(name, types.get(name, pa.string())) for name in recoding.columns])
        texts = {name for name, kind in types.items() if pa.types.is_string(kind)}
        spellings = {name: self._relation.streamed_spelling(name) for name in texts}
        with scratch_tables(self._session) as scratch:
            made = recoded(self._session, scratch, self._relation, recoding, as_texts=texts)
            with closing(self._session.batches(made.query, schema)) as batches:
                spelled = (respelled(batch, spellings) for batch in batches)
                yield pa.RecordBatchReader.from_batches(schema, spelled)

    @contextmanager
    def fetched(
        self,
        columns: Sequence[str],
        only: Mapping[str, Collection[str | None]],
        missing: Sequence[str] = (),
    ) -> Iterator[pa.RecordBatchReader]:
        """The records whose values are listed, as a stream; they are never all in memory."""
        types = arrow_types(self._session, self._relation, columns)
        schema = pa.schema([(name, types[name]) for name in columns])
        texts = {name for name, kind in types.items() if pa.types.is_string(kind)}
        spellings = {name: self._relation.streamed_spelling(name) for name in texts}
        with scratch_tables(self._session) as scratch:
            query = fetching(self._session, scratch, self._relation, columns, only, missing, texts)
            with closing(self._session.batches(query, schema)) as batches:
                spelled = (respelled(batch, spellings) for batch in batches)
                yield pa.RecordBatchReader.from_batches(schema, spelled)

    def can_join(self, other: Source, keys: Sequence[tuple[str, str]]) -> bool:
        """Whether both are in one database, and their keys can be compared there."""
        if not isinstance(other, DatabaseSource):
            return False
        if not same_database(self._session.url, other.session.url):
            return False
        return can_join(self._relation, other.relation, keys)

    def joined(
        self,
        tables: Mapping[str, Source],
        joins: Sequence[TableJoin],
        columns: Mapping[str, tuple[str, str]],
    ) -> JoinedTables:
        """Tables that the connection of this one joins."""
        found = {n: each.relation for n, each in tables.items() if isinstance(each, DatabaseSource)}
        return JoinedTables(self._session, found, joins, columns)

    def close(self) -> None:
        """Disconnect, unless the connection is another's."""
        if self._owns:
            self._session.close()
