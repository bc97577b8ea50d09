"""A source that DuckDB counts and recodes: files and frames differ only in how they are opened."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

import duckdb
import pyarrow as pa

from shoal.engines.base import COUNT, Column, FileTarget, Recoding
from shoal.engines.duckdb.counting import counting
from shoal.engines.duckdb.recoding import recoded
from shoal.engines.duckdb.session import Session, explained
from shoal.engines.duckdb.staged import StagedTable
from shoal.engines.duckdb.staged_folder import write_staged
from shoal.engines.opening import stage
from shoal.errors import BadData

if TYPE_CHECKING:
    from shoal.engines.base import Generalization, Staged, Target
    from shoal.engines.duckdb.relation import Relation
    from shoal.errors import UserError

COLUMNS_AT_ONCE = 4096
"""Columns whose values are counted in one pass over the records."""

Diagnosis = Callable[[duckdb.Error], BadData | None]
"""Looks at the source again after DuckDB failed to read it, to say what is wrong and where."""


class TableSource:
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

    def columns(self) -> tuple[Column, ...]:
        """The columns, in order."""
        return self._relation.columns()

    def count_by(
        self,
        columns: Sequence[str],
        missing: Sequence[str] = (),
        *,
        generalized: Mapping[str, Generalization] | None = None,
        complete: Sequence[str] = (),
        at_most: int | None = None,
    ) -> pa.Table:
        """Distinct combinations as text, null where missing, with counts; one GROUP BY."""
        keys = ", ".join(f"g{i}" for i in range(len(columns)))
        selected = f"{keys}, count(*)" if keys else "count(*)"
        tail = f" GROUP BY {keys}" * bool(keys) + _limit(at_most)
        counted = (self._session, self._relation, columns, missing, generalized, complete)
        with counting(*counted) as records, self._explaining():
            table = self._session.table(f"SELECT {selected} FROM ({records}) AS counted{tail}")
        types = [pa.string()] * len(columns) + [pa.int64()]
        names = [*columns, count_name(columns)]
        return table.rename_columns(names).cast(pa.schema(zip(names, types, strict=True)))

    def count_distinct(
        self,
        columns: Sequence[str],
        missing: Sequence[str] = (),
        *,
        generalized: Mapping[str, Generalization] | None = None,
        complete: Sequence[str] = (),
        at_most: int | None = None,
    ) -> int:
        """How many rows `count_by` would give; the query ends once there are more than asked."""
        if not columns:
            return 1
        counted = (self._session, self._relation, columns, missing, generalized, complete)
        with counting(*counted) as records, self._explaining():
            distinct = f"SELECT DISTINCT * FROM ({records}) AS counted{_limit(at_most)}"
            table = self._session.table(f"SELECT count(*) FROM ({distinct}) AS found")
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
            table = self._asked(f"SELECT place, value, count(*) FROM ({cells}) GROUP BY ALL")
            rows = zip(*(column.to_pylist() for column in table.columns), strict=True)
            for place, value, number in rows:
                found[place][value] = number
            yield from zip(names, found, strict=True)

    def count_where(self, condition: Callable[[str], str]) -> dict[str, int]:
        """How many records have a value that meets a condition, which is SQL for SQL, by column."""
        counts: dict[str, int] = {}
        for names, cells in self._cells():
            where = condition("value")
            table = self._asked(f"SELECT place, count(*) FROM ({cells}) WHERE {where} GROUP BY ALL")
            rows = zip(*(column.to_pylist() for column in table.columns), strict=True)
            counts |= {names[place]: number for place, number in sorted(rows)}
        return counts

    def _cells(self) -> Iterator[tuple[tuple[str, ...], str]]:
        """Names of many columns, and a query for their cells: the place of the column, the value.

        That is faster than a query for each column, and with thousands of them much faster.
        """
        every = self._relation.comparable()
        for first in range(0, len(every), COLUMNS_AT_ONCE):
            names = every[first : first + COLUMNS_AT_ONCE]
            values = ", ".join(f"g{i}" for i in range(len(names)))
            unnested = f"unnest(range({len(names)})) AS place, unnest([{values}]) AS value"
            with counting(self._session, self._relation, names, ()) as records:
                yield names, f"SELECT {unnested} FROM ({records}) AS counted"

    def _asked(self, query: str) -> pa.Table:
        with self._explaining():
            return self._session.table(query)

    def recode_into(self, recoding: Recoding, target: Target | None = None) -> Staged:
        """Recode in one query, into a staged file or, without a target, into memory."""
        if target is not None and not isinstance(target, FileTarget):
            with self.recoded(recoding) as rows:
                return stage(target, rows, self._session.resources)
        first = () if target is None else target.partition_by
        with recoded(self._session, self._relation, recoding, first) as query:
            if target is None:
                with self._explaining():
                    table = self._session.table(query).rename_columns(list(recoding.columns))
                return StagedTable(table, self._session.resources)
            with self._explaining(f"the output {target.path}"):
                return write_staged(target, self._session, query, recoding.columns)

    @contextmanager
    def recoded(self, recoding: Recoding) -> Iterator[pa.RecordBatchReader]:
        """The recoded records as a stream, in order."""
        with (
            recoded(self._session, self._relation, recoding) as query,
            self._explaining(),
            self._session.stream(query, recoding.columns) as rows,
        ):
            yield rows

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

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @contextmanager
    def _explaining(self, written: str = "") -> Iterator[None]:
        """Turn DuckDB's errors into ours; the diagnosis comes first, since it knows the place.

        `written` is what is being written, which is what a full disk stops.
        """
        try:
            yield
        except duckdb.Error as error:
            general: UserError = explained(error, self.name, written)
            if general.code == "unreadable-data":
                general = self._diagnose(error) or general
            raise general from None


def _limit(at_most: int | None) -> str:
    return "" if at_most is None else f" LIMIT {at_most + 1}"


def count_name(columns: Sequence[str]) -> str:
    """COUNT, with underscores added until no data column has that name."""
    name = COUNT
    while name in columns:
        name += "_"
    return name
