"""The places where data lives, alike for tests: put a table there, release it, read the release."""

from __future__ import annotations

import csv
import secrets
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

import servers
from shoal.definition.read import from_mapping
from shoal.engines.base import Source, Staged
from shoal.engines.duckdb.session import Session
from shoal.engines.frames.source import StagedTable, open_frame
from shoal.engines.opening import open_source, recode_into
from shoal.pipeline import ignore, release, run
from shoal.values import Result

Rows: TypeAlias = Counter[tuple[str | None, ...]]
"""How often each record occurs, as texts."""


class Place(Protocol):
    """Somewhere a table can be put, and an output of the same kind."""

    def load(self, table: pa.Table) -> None:
        """Put the table there, in place of the one before."""

    def open(self) -> Source:
        """The table, to be counted and recoded."""

    def target(self) -> Any:
        """The output as the engine gets it; None for memory."""

    def release(self, mapping: Mapping[str, Any]) -> Result:
        """Run a definition that says neither source nor output."""

    def rows(self) -> Rows:
        """The records of the output; no output is an empty one."""

    def lying(self) -> Any:
        """The output as it lies there, order included."""

    def strays(self) -> list[str]:
        """What a run left beside the output."""


def rows_of(source: Source) -> Rows:
    """The records of a source as texts, with how often each occurs."""
    with closing(source):
        names = [column.name for column in source.columns()]
        table = source.count_by(names)
    columns = [column.to_pylist() for column in table.columns]
    return Counter({tuple(row): count for *row, count in zip(*columns, strict=True)})


def as_texts(table: pa.Table) -> pa.Table:
    """The table with the text that DuckDB makes of each value, null where it is missing."""
    session = Session()
    try:
        names = [f"c{i}" for i in range(table.num_columns)]
        session.register("given", table.rename_columns(names))
        texts = ", ".join(f"nullif(CAST({name} AS VARCHAR), 'nan')" for name in names)
        return session.table(f"SELECT {texts} FROM given").rename_columns(table.column_names)
    finally:
        session.close()


class Defined:
    """An engine that a definition names, used as users do."""

    source: Any
    output: Any

    def load(self, table: pa.Table) -> None:
        """Put the table there, in place of the one before."""
        raise NotImplementedError

    def add(self, before: pa.Table, more: pa.Table) -> None:
        """Add records to those that were there before."""
        self.load(pa.concat_tables([before, more]))

    def open(self) -> Source:
        """The table, to be counted and recoded."""
        return open_source(self._definition().source.options())

    def target(self) -> Any:
        """The output as the engine gets it."""
        output = self._definition().output
        assert output is not None
        return output.target()

    def release(self, mapping: Mapping[str, Any]) -> Result:
        """Run a definition that says neither source nor output."""
        return run({"source": self.source, "output": self.output, **mapping})

    def _definition(self) -> Any:
        bare = {"k": 2, "attributes": {"a": "quasi-identifier"}}
        return from_mapping({"source": self.source, "output": self.output, **bare})


class InFile(Defined):
    """CSV or Parquet, counted by DuckDB."""

    def __init__(self, folder: Path, ending: str) -> None:
        self._in, self._out = folder / f"in{ending}", folder / "out" / f"out{ending}"
        self._out.parent.mkdir()
        self.source, self.output = str(self._in), str(self._out)

    def load(self, table: pa.Table) -> None:
        """Write the file; CSV has texts only."""
        if self._in.suffix == ".parquet":
            pq.write_table(table, self._in)
            return
        with self._in.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(table.column_names)
            writer.writerows(zip(*(c.to_pylist() for c in as_texts(table).columns), strict=True))

    def rows(self) -> Rows:
        """The records of the output."""
        if not self._out.exists():
            return Counter()
        options = replace(self._definition().source.options(), path=str(self._out))
        return rows_of(open_source(options))

    def lying(self) -> bytes:
        """The file."""
        return self._out.read_bytes()

    def strays(self) -> list[str]:
        """What is beside the output."""
        return [path.name for path in self._out.parent.iterdir() if path != self._out]


class InMemory:
    """A frame of pandas, polars or Arrow, and an Arrow table for the output."""

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._frame: Any = None
        self._staged: Staged | None = None

    def load(self, table: pa.Table) -> None:
        """Make the frame."""
        import polars

        makers: dict[str, Any] = {"pandas": pa.Table.to_pandas, "polars": polars.from_arrow}
        self._frame = makers[self._kind](table) if self._kind in makers else table

    def open(self) -> Source:
        """The frame, to be counted and recoded."""
        return open_frame(self._frame)

    def target(self) -> None:
        """Memory."""
        return

    def release(self, mapping: Mapping[str, Any]) -> Result:
        """Release the frame."""
        definition = from_mapping({"source": "frame", **mapping})
        with closing(self.open()) as source:
            self._staged, result = release(definition, source, None, ignore)
        return result

    def rows(self) -> Rows:
        """The records of the output."""
        return Counter() if self._staged is None else rows_of(self._staged.source())

    def lying(self) -> Any:
        """The rows of the table."""
        assert isinstance(self._staged, StagedTable)
        return pa.table(self._staged.frame()).to_pylist()

    def strays(self) -> list[str]:
        """Memory is forgotten."""
        return []


class InDatabase(Defined):
    """A table of a database, and another one for the output."""

    def __init__(self, url: str) -> None:
        self._url, self._name = url, f"suite {secrets.token_hex(4)}"
        self.source = {"url": url, "table": self._name}
        self.output = {"url": url, "table": f"{self._name} out"}

    def load(self, table: pa.Table) -> None:
        """Make the table."""
        servers.load(self._url, self._name, table)

    def add(self, before: pa.Table, more: pa.Table) -> None:
        """Insert records, from another connection."""
        import sqlalchemy as sa

        table = sa.table(self._name, *(sa.column(name) for name in before.column_names))
        with servers.engine(self._url).begin() as connection:
            connection.execute(table.insert(), more.to_pylist())

    def rows(self) -> Rows:
        """The records of the output."""
        if f"{self._name} out" not in self._tables():
            return Counter()
        return rows_of(
            open_source(replace(self._definition().source.options(), table=f"{self._name} out"))
        )

    def lying(self) -> list[tuple[Any, ...]]:
        """The rows, in the order in which the database has them."""
        return servers.rows_of(self._url, f"{self._name} out")

    def strays(self) -> list[str]:
        """Staged tables."""
        return [name for name in self._tables() if "shoal" in name]

    def _tables(self) -> list[str]:
        import sqlalchemy as sa

        return sa.inspect(servers.engine(self._url)).get_table_names()


class InDuckDB(Defined):
    """A table of a DuckDB file, and another one of the same file for the output."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "patients's.duckdb"
        url = f"duckdb:///{self.file}"
        self.source = {"url": url, "table": 'the "in"'}
        self.output = {"url": url, "table": "main.out"}

    def load(self, table: pa.Table) -> None:
        """Make the table, by DuckDB itself."""
        with duckdb.connect(self.file) as connection:
            connection.register("given", table)
            connection.execute('CREATE OR REPLACE TABLE "the ""in""" AS FROM given')

    def rows(self) -> Rows:
        """The records of the output."""
        if "out" not in self._tables():
            return Counter()
        options = replace(self._definition().source.options(), table="out")
        return rows_of(open_source(options))

    def lying(self) -> list[tuple[Any, ...]]:
        """The rows, in the order in which the file has them."""
        with duckdb.connect(self.file, read_only=True) as connection:
            return connection.execute("FROM out").fetchall()

    def strays(self) -> list[str]:
        """What is beside the file, and other tables."""
        files = [path.name for path in self.file.parent.iterdir() if path != self.file]
        return files + [name for name in self._tables() if name not in ('the "in"', "out")]

    def _tables(self) -> list[str]:
        with duckdb.connect(self.file, read_only=True) as connection:
            return [name for (name,) in connection.execute("SHOW TABLES").fetchall()]


@dataclass
class InSpark(Defined):
    """A folder of Parquet that a cluster reads, and another one for the output."""

    folder: Path
    session: Any

    def __post_init__(self) -> None:
        self.source = {"spark": str(self.folder / "in"), "format": "parquet"}
        self.output = {"spark": str(self.folder / "out" / "it"), "format": "parquet"}
        (self.folder / "out").mkdir()

    def load(self, table: pa.Table) -> None:
        """Write the file."""
        (self.folder / "in").mkdir(exist_ok=True)
        pq.write_table(table, self.folder / "in" / "part.parquet")

    def open(self) -> Source:
        """The table, to be counted and recoded."""
        return open_source(self._definition().source.options(), spark=self.session)

    def release(self, mapping: Mapping[str, Any]) -> Result:
        """Run a definition that says neither source nor output."""
        places = {"source": self.source, "output": self.output}
        return run({**places, **mapping}, spark=self.session)

    def rows(self) -> Rows:
        """The records of the output."""
        place = self.folder / "out" / "it"
        if not place.exists():
            return Counter()
        options = replace(self._definition().source.options(), name=str(place))
        return rows_of(open_source(options, spark=self.session))

    def lying(self) -> list[list[dict[str, Any]]]:
        """The rows of each file."""
        files = sorted((self.folder / "out" / "it").glob("part-*"))
        return [pq.read_table(file).to_pylist() for file in files]

    def strays(self) -> list[str]:
        """What is beside the output."""
        return [path.name for path in (self.folder / "out").iterdir() if path.name != "it"]


@contextmanager
def staged(source: Source, recoding: Any, place: Place) -> Iterator[Staged]:
    """A recoding staged by an engine, discarded in the end."""
    made = recode_into(source, recoding, place.target())
    try:
        yield made
    finally:
        made.discard()
