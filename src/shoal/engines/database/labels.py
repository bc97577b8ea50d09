"""Labels and classes as temporary tables of whole numbers, so that every join is plain equality.

A label's code is its rank among the labels of its column, from 0 on; missing comes after them. So
codes are never null, and they sort as the labels do with missing last.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from secrets import token_hex
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import sqlalchemy as sa

from shoal.engines.database.connection import TableName
from shoal.engines.database.names import staged_name

if TYPE_CHECKING:
    from shoal.engines.base import Generalization
    from shoal.engines.database.dialects.values import Expression, Values
    from shoal.engines.database.relation import Relation
    from shoal.engines.database.session import Session

UNKNOWN = -1
"""The code of a value that is not listed, where that is no error: it is in no class."""


@dataclass(frozen=True)
class Codes:
    """The labels of a column, sorted; `missing` is what a missing value becomes."""

    labels: pa.Array
    missing: str | None = None

    @staticmethod
    def of(labels: pa.Array | pa.ChunkedArray, missing: str | None = None) -> Codes:
        """The codes of these labels, which may repeat."""
        known: set[str | None] = {*pc.unique(labels).to_pylist(), missing}
        texts = sorted(label for label in known if label is not None)
        return Codes(pa.array(texts, pa.string()), missing)

    def codes(self, labels: pa.Array | pa.ChunkedArray) -> Any:
        """The code of each label, or of null."""
        return pc.fill_null(pc.index_in(labels, value_set=self.labels), self.code_of_null)

    @property
    def code_of_null(self) -> int:
        """The code of no label: the one after the last."""
        return len(self.labels)

    def code_of_missing(self) -> int:
        """The code of a missing value."""
        return int(self.codes(pa.array([self.missing], pa.string()))[0].as_py())

    def texts(self, codes: pa.Array | pa.ChunkedArray) -> Any:
        """The label of each code; null for that of null."""
        return pc.take(pa.concat_arrays([self.labels, pa.nulls(1, pa.string())]), codes)


@dataclass(frozen=True)
class Labels:
    """From raw texts to codes: a table that a query joins, or few texts in the query itself."""

    listed: sa.Table | Mapping[str, int]
    codes: Codes
    must_be_known: bool

    def join(self, records: sa.FromClause, raw: Expression) -> sa.FromClause:
        """The records, each with its code where it has one; raw texts are distinct in the table."""
        if not isinstance(self.listed, sa.Table):
            return records
        return sa.outerjoin(records, self.listed, raw == self.listed.c.value)

    def code(self, values: Values, raw: Expression, name: str) -> Expression:
        """The code of a value; one that must be known and is not stops the query.

        `name` is what the query calls the raw text.
        """
        otherwise = values.stop(name) if self.must_be_known else sa.literal(UNKNOWN)
        missing = sa.literal(self.codes.code_of_missing())
        absent = sa.case((raw.is_(None), missing), else_=otherwise)
        if not isinstance(self.listed, sa.Table):
            return sa.case(self.listed, value=raw, else_=absent) if self.listed else absent
        return sa.func.coalesce(self.listed.c.code, absent)


@contextlib.contextmanager
def scratch_tables(session: Session, beside: TableName | None = None) -> Iterator[Scratch]:
    """Temporary tables for the queries of the context, dropped at its end.

    After an error the connection is about to be closed, which drops them.
    """
    scratch = Scratch(session, beside)
    try:
        yield scratch
    except BaseException:
        session.rollback()
        raise
    scratch.drop()


class Scratch:
    """Makes tables that only this connection sees.

    They are temporary. Where a dialect has a `plain_prefix`, they are plain ones beside a table
    that this transaction makes: nobody sees them before it is committed.
    """

    def __init__(self, session: Session, beside: TableName | None = None) -> None:
        self._session = session
        self._beside = None if session.dialect.plain_prefix is None else beside
        self._made: list[sa.Table] = []

    def drop(self) -> None:
        """Drop all that were made."""
        for table in self._made:
            self._session.run(sa.schema.DropTable(table))

    def labels(
        self,
        relation: Relation,
        name: str,
        generalization: Generalization,
        missing: Sequence[str],
    ) -> Labels:
        """The codes of a generalized column; the query stops at a value without a label."""
        labels = pa.array(generalization.labels, pa.string())
        codes = Codes.of(labels, generalization.missing)
        values = dict(zip(generalization.values, codes.codes(labels).to_pylist(), strict=True))
        return self._listed(relation, name, codes, values, missing, must_be_known=True)

    def known_labels(
        self,
        relation: Relation,
        name: str,
        labels: pa.ChunkedArray,
        missing: Sequence[str],
        missing_label: str | None,
    ) -> Labels:
        """The codes of an unchanged column, whose labels are its values; others get UNKNOWN."""
        codes = Codes.of(labels, missing_label)
        values = {text: code for code, text in enumerate(codes.labels.to_pylist())}
        return self._listed(relation, name, codes, values, missing, must_be_known=False)

    def _listed(
        self,
        relation: Relation,
        name: str,
        codes: Codes,
        values: Mapping[str, int],
        missing: Sequence[str],
        *,
        must_be_known: bool,
    ) -> Labels:
        """The code of each of these texts of a column, missing ones among them."""
        values = {**values, **dict.fromkeys(("", *missing), codes.code_of_missing())}
        found = relation.raws(self._session, name, values)
        dialect = self._session.dialect
        if len(found) <= dialect.most_inline_texts:
            return Labels({raw: values[text] for raw, text in found.items()}, codes, must_be_known)
        code = sa.Column("code", sa.Integer, nullable=False, autoincrement=False)
        numbers = pa.array([values[text] for text in found.values()], pa.int32())
        return Labels(self.raws(relation, found, (code, numbers)), codes, must_be_known)

    def raws(
        self, relation: Relation, found: Collection[str], *more: tuple[sa.Column[Any], pa.Array]
    ) -> sa.Table:
        """A table of distinct raw texts, its column `value`, and more columns with their values."""
        dialect = self._session.dialect
        longest = max((len(raw.encode()) for raw in found if raw), default=1)
        kind = pa.binary() if relation.values.raw_is_bytes else pa.string()
        indexed = dialect.joins_by_index and longest <= dialect.longest_key
        raw_type = relation.values.raw_type(longest)
        value = sa.Column("value", raw_type, primary_key=indexed, nullable=False)
        data = {"value": pa.array(list(found), pa.string()).cast(kind)}
        data |= {column.name: values for column, values in more}
        return self.table([value, *(column for column, _ in more)], pa.table(data))

    def table(
        self,
        columns: list[sa.Column[Any]],
        data: pa.Table,
        typed: Mapping[str, Expression] = MappingProxyType({}),
    ) -> sa.Table:
        """A temporary table with these rows; the columns of `typed` have the expressions' types."""
        dialect = self._session.dialect
        prefix, name = "TEMPORARY", TableName(f"shoal_{token_hex(4)}")
        if self._beside is not None and dialect.plain_prefix is not None:
            prefix, name = dialect.plain_prefix, staged_name(self._beside)
        made = sa.Table(name.table, sa.MetaData(), *columns, schema=name.schema, prefixes=[prefix])
        if typed:
            empty = self._session.sql(_shape(columns, typed))
            self._session.run(f"CREATE {prefix} TABLE {name.sql(self._session)} AS {empty}")
        else:
            self._session.run(sa.schema.CreateTable(made))
        self._made.append(made)
        self._session.insert(made, data.to_batches())
        if dialect.analyzes:
            self._session.run(f"ANALYZE {name.sql(self._session)}")
        return made

    @property
    def joins_by_index(self) -> bool:
        """Whether tables to join get an index."""
        return self._session.dialect.joins_by_index


def _shape(
    columns: list[sa.Column[Any]], typed: Mapping[str, Expression]
) -> sa.Select[tuple[Any, ...]]:
    """No rows of these columns, some in the types of expressions."""
    nulls = {column.name: sa.cast(sa.null(), column.type) for column in columns}
    return sa.select(*(each.label(name) for name, each in {**nulls, **typed}.items())).limit(0)
