"""Tables of one database, joined there by the texts of their keys.

A key text is the one by which a value is compared everywhere: byte by byte, whatever the collation
of the column ignores, without the spaces that pad it. Two key columns can be joined where these
texts are what the database has, or where both columns spell their values in the same way.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import sqlalchemy as sa

from shoal.engines.base import Fetchable
from shoal.engines.database.column_types import arrow_types, respelled
from shoal.engines.database.fetching import fetched_value, is_listed
from shoal.engines.database.labels import scratch_tables

if TYPE_CHECKING:
    from shoal.engines.base import TableJoin
    from shoal.engines.database.dialects.values import Expression, Spelling
    from shoal.engines.database.labels import Scratch
    from shoal.engines.database.relation import Relation
    from shoal.engines.database.session import Session


def can_join(one: Relation, other: Relation, keys: Sequence[tuple[str, str]]) -> bool:
    """Whether keys of two tables of a database can be compared there."""
    return all(_comparable(one, name, other, other_name) for name, other_name in keys)


def _comparable(one: Relation, name: str, other: Relation, other_name: str) -> bool:
    spellings = (one.streamed_spelling(name), other.streamed_spelling(other_name))
    fields = one.field(name), other.field(other_name)
    same = fields[0].kind == fields[1].kind and fields[0].scale == fields[1].scale
    return same or spellings == (None, None)


class JoinedTables(Fetchable):
    """Tables that a session joins, in one transaction.

    `columns` says of which table, and which column of it, each column of the join is.
    """

    def __init__(
        self,
        session: Session,
        relations: Mapping[str, Relation],
        joins: Sequence[TableJoin],
        columns: Mapping[str, tuple[str, str]],
    ) -> None:
        self._session = session
        self._relations = relations
        self._joins = tuple(joins)
        self._columns = columns

    @property
    def name(self) -> str:
        """What to call it in messages."""
        return " and ".join(relation.name for relation in self._relations.values())

    @contextmanager
    def fetched(
        self,
        columns: Sequence[str],
        only: Mapping[str, Collection[str | None]],
        missing: Sequence[str] = (),
    ) -> Iterator[pa.RecordBatchReader]:
        """The joined records whose values are listed, as `Source.fetched` gives those of one."""
        types: dict[str, pa.DataType] = {}
        for table in self._relations:
            own = {name: self._columns[name][1] for name in columns if self._is_of(table, name)}
            found = arrow_types(self._session, self._relations[table], list(own.values()))
            types |= {name: found[column] for name, column in own.items()}
        texts = {name for name in columns if pa.types.is_string(types[name])}
        spellings = {name: self._spelling(name) for name in texts}
        schema = pa.schema([(name, types[name]) for name in columns])
        with scratch_tables(self._session) as scratch:
            query = self._query(scratch, columns, texts, only, missing)
            with closing(self._session.batches(query, schema)) as batches:
                spelled = (respelled(batch, spellings) for batch in batches)
                yield pa.RecordBatchReader.from_batches(schema, spelled)

    def _is_of(self, table: str, name: str) -> bool:
        return self._columns[name][0] == table

    def _spelling(self, name: str) -> Spelling | None:
        table, column = self._columns[name]
        return self._relations[table].streamed_spelling(column)

    def _query(
        self,
        scratch: Scratch,
        columns: Sequence[str],
        texts: Collection[str],
        only: Mapping[str, Collection[str | None]],
        missing: Sequence[str],
    ) -> sa.Select[Any]:
        """A query for these columns under their names."""
        parts = {
            table: self._part(scratch, table, columns, texts, only, missing)
            for table in self._relations
        }
        source: sa.FromClause = parts[next(iter(parts))]
        for number, join in enumerate(self._joins):
            keys = self._keys(number, join)
            known, new = parts[join.known].c, parts[join.new].c
            match = sa.and_(*(known[f"known_{key}"] == new[f"new_{key}"] for key in keys))
            source = sa.join(source, parts[join.new], match, isouter=join.optional)
        released = (parts[self._columns[name][0]].c[f"c{i}"] for i, name in enumerate(columns))
        return sa.select(*released).select_from(source)

    def _part(
        self,
        scratch: Scratch,
        table: str,
        columns: Sequence[str],
        texts: Collection[str],
        only: Mapping[str, Collection[str | None]],
        missing: Sequence[str],
    ) -> sa.Subquery:
        """The listed records of one table: its columns c0, c1, ... and its keys."""
        relation = self._relations[table]
        values = [
            fetched_value(relation, self._columns[name][1], as_text=name in texts).label(f"c{i}")
            for i, name in enumerate(columns)
            if self._is_of(table, name)
        ]
        for number, join in enumerate(self._joins):
            for side, is_here in (("known", join.known == table), ("new", join.new == table)):
                found = self._keys(number, join, side) if is_here else {}
                values += [value.label(f"{side}_{key}") for key, value in found.items()]
        query = sa.select(*values).select_from(relation.source)
        for name, listed in only.items():
            if self._is_of(table, name):
                column = self._columns[name][1]
                query = query.where(
                    is_listed(self._session, scratch, relation, column, listed, missing)
                )
        limit = self._session.dialect.no_limit
        part = query if limit is None else query.limit(limit)
        return part.subquery(f"part_{list(self._relations).index(table)}")

    def _keys(self, number: int, join: TableJoin, side: str = "known") -> dict[str, Expression]:
        """What must be equal in a join, as one side has it, by names of our own."""
        relation = self._relations[join.known if side == "known" else join.new]
        found: dict[str, Expression] = {}
        for i, (known, new) in enumerate(join.keys):
            text = relation.streamed_text(known if side == "known" else new)
            checksum = relation.values.checksum(text)
            found |= {} if checksum is None else {f"{number}_{i}_checksum": checksum}
            found[f"{number}_{i}"] = text
        return found
