"""A source that DuckDB counts and recodes; files and frames differ only in how they are opened."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import pyarrow as pa

from shoal.engines.base import Column, Question, Recoding, Source
from shoal.engines.duckdb.queries import counting_query, fetching_query, recoding_query
from shoal.engines.duckdb.session import Session, explained
from shoal.engines.duckdb.writing import is_formula
from shoal.engines.failures import not_releasable
from shoal.errors import BadData, UserError

if TYPE_CHECKING:
    from shoal.engines.duckdb.relation import Relation
    from shoal.engines.options import Resources

COLUMNS_AT_ONCE = 4096
"""Columns whose values are counted in one pass over the records."""

FETCHED_BATCH = 8192
"""Records of a fetched batch: few, since there may be hundreds of columns, or long lists."""

FIRST_SECOND, AFTER_LAST_SECOND = -62_135_596_800, 253_402_300_800
"""From 1970-01-01 to 0001-01-01, and to 10000-01-01."""

Diagnosis = Callable[[duckdb.Error], BadData | None]
"""Looks at the source again after DuckDB failed to read it, to say what is wrong and where."""


class TableSource(Source):
    """A relation in a session of its own."""

    def __init__(
        self,
        session: Session,
        relation: Relation,
        files: Sequence[Path] = (),
        diagnose: Diagnosis = lambda _: None,
    ) -> None:
        self._session = session
        self._relation = relation
        self._files = tuple(files)
        self._diagnose = diagnose
        session.expect_columns(len(relation.names))

    @property
    def name(self) -> str:
        """What to call it in messages."""
        return self._relation.name

    @property
    def session(self) -> Session:
        """The session that reads it."""
        return self._session

    @property
    def resources(self) -> Resources:
        """What may be used on this machine to write its release."""
        return self._session.resources

    def columns(self) -> tuple[Column, ...]:
        """The columns, in order."""
        return self._relation.columns()

    def count(self, question: Question) -> pa.Table:
        """Distinct combinations as text, null where missing, with counts; one GROUP BY."""
        keys = ", ".join(f"g{i}" for i in range(len(question.columns)))
        selected = f"{keys}, count(*)" if keys else "count(*)"
        tail = f" GROUP BY {keys}" * bool(keys) + _limit(question.at_most)
        with counting_query(self._session, self._relation, question) as records, self._explaining():
            table = self._session.table(f"SELECT {selected} FROM ({records}) AS counted{tail}")
        types = [pa.string()] * len(question.columns) + [pa.int64()]
        schema = pa.schema(zip(question.names, types, strict=True))
        return table.rename_columns(list(question.names)).cast(schema)

    def distinct(self, question: Question) -> int:
        """How many combinations there are; the query ends once there are more than `at_most`."""
        with counting_query(self._session, self._relation, question) as records, self._explaining():
            found = f"SELECT DISTINCT * FROM ({records}) AS counted{_limit(question.at_most)}"
            table = self._session.table(f"SELECT count(*) FROM ({found}) AS found")
        return int(table.column(0)[0].as_py())

    def count_each(self) -> Iterator[tuple[str, dict[str | None, int]]]:
        """How many records have each value of each column, with few passes over the records.

        Columns whose values cannot be compared come first, without any.
        """
        others = dict.fromkeys(self._relation.names)
        for name in self._relation.comparable():
            del others[name]
        yield from ((name, {}) for name in others)
        for names, cells in self._cells():
            found: list[dict[str | None, int]] = [{} for _ in names]
            table = self._table(f"SELECT column_index, value, count(*) FROM ({cells}) GROUP BY ALL")
            rows = zip(*(column.to_pylist() for column in table.columns), strict=True)
            for index, value, number in rows:
                found[index][value] = number
            yield from zip(names, found, strict=True)

    def count_where(self, condition: Callable[[str], str]) -> dict[str, int]:
        """How many records have a value that meets a condition, which is SQL for SQL, by column."""
        counts: dict[str, int] = {}
        for names, cells in self._cells():
            where = condition("value")
            table = self._table(
                f"SELECT column_index, count(*) FROM ({cells}) WHERE {where} GROUP BY ALL"
            )
            rows = zip(*(column.to_pylist() for column in table.columns), strict=True)
            counts |= {names[index]: number for index, number in sorted(rows)}
        return counts

    def count_formulas(self) -> dict[str, int]:
        """How many cells of each column a spreadsheet would run."""
        return self.count_where(is_formula)

    def columns_with_nul(self, names: Collection[str]) -> list[str]:
        """Those of these columns that have a text with a NUL character; one pass."""
        texts = [c.name for c in self.columns() if c.is_text and c.name in names]
        return self._columns_where(texts, lambda value: f"contains({value}, chr(0))")

    def columns_with_other_years(self, names: Collection[str]) -> list[str]:
        """Those of these columns of dates or times that have one outside of 1 to 9999; one pass."""
        dates = [c.name for c in self.columns() if c.name in names and _has_dates(c)]
        within = f"epoch({{}}) >= {FIRST_SECOND} AND epoch({{}}) < {AFTER_LAST_SECOND}"
        return self._columns_where(
            dates, lambda value: f"isinf({value}) OR NOT ({within.format(value, value)})"
        )

    def _columns_where(self, names: Sequence[str], condition: Callable[[str], str]) -> list[str]:
        """Those of these columns with a value that meets a condition, which is SQL for SQL."""
        if not names:
            return []
        values = [self._relation.value(self._relation.position(name)) for name in names]
        tests = ", ".join(f"bool_or({condition(value)})" for value in values)
        table = self._table(f"SELECT {tests} FROM ({self._relation.query}) AS source")
        return [name for name, (met,) in zip(names, table.columns, strict=True) if met.as_py()]

    def _cells(self) -> Iterator[tuple[tuple[str, ...], str]]:
        """Names of many columns, and a query for their cells: column_index and value.

        That is faster than a query for each column, and with thousands of them much faster.
        """
        every = self._relation.comparable()
        for first in range(0, len(every), COLUMNS_AT_ONCE):
            names = every[first : first + COLUMNS_AT_ONCE]
            values = ", ".join(f"g{i}" for i in range(len(names)))
            unnested = f"unnest(range({len(names)})) AS column_index, unnest([{values}]) AS value"
            with counting_query(self._session, self._relation, Question(names)) as records:
                yield names, f"SELECT {unnested} FROM ({records}) AS counted"

    def _table(self, query: str) -> pa.Table:
        with self._explaining():
            return self._session.table(query)

    @contextmanager
    def parsed_once(self, columns: Sequence[str]) -> Iterator[TableSource]:
        """A source of these columns for many questions in a row, which parses files only once.

        They are copied to a temporary table, which DuckDB spills to disk like all its data. Parquet
        files and frames need no copy. Without room for it, each question reads the files.
        """
        table = f"shoal_copy_{secrets.token_hex(4)}"
        if not self._copy(table, columns):
            yield self
            return
        try:
            types = tuple(self._relation.types[self._relation.position(c)] for c in columns)
            query = f"SELECT * FROM {table}"
            relation = replace(self._relation, query=query, names=tuple(columns), types=types)
            yield TableSource(self._session, relation, self._files, self._diagnose)
        finally:
            self._session.execute(f"DROP TABLE {table}")

    def _copy(self, table: str, columns: Sequence[str]) -> bool:
        """Whether the columns are in a temporary table now."""
        if self._needs_no_parsing():
            return False
        positions = map(self._relation.position, columns)
        selected = ", ".join(f"c{position} AS c{i}" for i, position in enumerate(positions))
        query = f"SELECT {selected} FROM ({self._relation.query}) AS source"
        try:
            with self._explaining():
                self._session.execute(f"CREATE TEMP TABLE {table} AS {query}")
        except UserError as error:
            if error.code not in ("out-of-memory", "disk-full"):
                raise
            return False
        return True

    def _needs_no_parsing(self) -> bool:
        """Whether to read a few columns once more is quick."""
        return all(path.suffix == ".parquet" for path in self._files)

    @contextmanager
    def release_query(
        self, recoding: Recoding, first: Sequence[str] = (), written: str = ""
    ) -> Iterator[tuple[Session, str]]:
        """A query of the session for the recoded records, while the context lasts.

        Its columns are r0, r1, ...; the columns of `first` come first in its order. What goes wrong
        meanwhile is explained; `written` is what is being written.
        """
        fast = bool(self._files) and self._needs_no_parsing()
        query = recoding_query(self._session, self._relation, recoding, first, is_read_fast=fast)
        with self._explaining(written), query as text:
            yield self._session, text

    @contextmanager
    def recoded(self, recoding: Recoding) -> Iterator[pa.RecordBatchReader]:
        """The recoded records as a stream, in order."""
        with (
            self.release_query(recoding) as (session, query),
            session.stream(query, recoding.columns) as rows,
        ):
            yield rows

    @contextmanager
    def fetched(
        self,
        columns: Sequence[str],
        only: Mapping[str, Collection[str | None]],
        missing: Sequence[str] = (),
    ) -> Iterator[pa.RecordBatchReader]:
        """The records whose values are listed, as a stream."""
        self._check_readable(columns)
        with (
            fetching_query(self._session, self._relation, columns, only, missing) as query,
            self._explaining(),
            self._session.stream(query, columns, FETCHED_BATCH) as rows,
        ):
            yield rows

    @contextmanager
    def fetched_in(
        self,
        session: Session,
        columns: Sequence[str],
        only: Mapping[str, Collection[str | None]],
        missing: Sequence[str],
        prefix: str,
    ) -> Iterator[str]:
        """A query of another session for what `fetched` gives, as columns f0, f1, ...

        Only for files: their relation reads nothing that this session alone has. `prefix` begins
        the names of the tables that the query needs while the context lasts.
        """
        self._check_readable(columns)
        if not {"FLOAT", "DOUBLE"}.isdisjoint(self._relation.types):
            session.distrust_statistics()
        with fetching_query(session, self._relation, columns, only, missing, prefix) as query:
            yield query

    @property
    def is_of_files(self) -> bool:
        """Whether other sessions can read it."""
        return bool(self._files)

    def diagnosed(self, error: duckdb.Error) -> UserError | None:
        """What of these files made a query of another session fail; None where they are whole."""
        if not all(path.is_file() for path in self._files):
            return explained(error, self.name)
        return self._diagnose(error)

    def _check_readable(self, columns: Sequence[str]) -> None:
        for name in columns:
            if name in self._relation.faults:
                raise not_releasable(name, self.name, self._relation.faults[name])

    def fingerprint(self) -> str | None:
        """SHA-256 of the bytes of all files, in the order of their paths; None for a frame."""
        if not self._files:
            return None
        digest = hashlib.sha256()
        for path in self._files:
            with path.open("rb") as file:
                while block := file.read(1 << 20):
                    digest.update(block)
        return digest.hexdigest()

    def close(self) -> None:
        """Give back the connection and the temporary files."""
        self._session.close()

    @contextmanager
    def _explaining(self, written: str = "") -> Iterator[None]:
        """Turn DuckDB's errors into ours; a diagnosis goes before, since it says where.

        `written` is what is being written, which is what a full disk stops.
        """
        try:
            yield
        except duckdb.Error as error:
            general: UserError = explained(error, self.name, written)
            if general.code == "unreadable-data":
                general = self._diagnose(error) or general
            raise general from None


def _has_dates(column: Column) -> bool:
    kind = column.arrow
    return kind is not None and (pa.types.is_date(kind) or pa.types.is_timestamp(kind))


def _limit(at_most: int | None) -> str:
    return "" if at_most is None else f" LIMIT {at_most + 1}"
