"""The join: in a private DuckDB, of files that it reads itself and of sources that it fetches.

Each source gives only the columns and the records that are needed. What is fetched is in a database
file in the private folder of the session, so it needs no memory; what a join cannot hold in memory
is spilled to that folder. Derived columns are computed from the joined rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import duckdb
import pyarrow as pa

from shoal.engines.base import listed_texts
from shoal.engines.duckdb.relation import Relation
from shoal.engines.duckdb.session import Session, explained, identifier, literal
from shoal.engines.duckdb.source import TableSource
from shoal.engines.united import explaining, renamed, watched
from shoal.mart.catalog import ColumnRef
from shoal.mart.expressions import FAILED, DerivedColumn, Input, derive
from shoal.mart.linking.units import Unit, units_of

if TYPE_CHECKING:
    from shoal.mart.linking.columns import Derivation, Reading
    from shoal.mart.linking.plan import Join, Plan
    from shoal.mart.opened import OpenedSources

Accepted = Mapping[ColumnRef, frozenset[str | None]]
"""The texts that a selection accepts of each column, None for missing values."""

DATABASE = "shoal_linked"
"""What the session calls the file that holds the fetched tables."""


@dataclass(frozen=True, eq=False)
class Joined:
    """The joined rows as a query of a session; the columns of its relation are named by `str(ref)`.

    `records` names, by source, the column with the number of its record in a row, null where the
    source is absent; only outer joins have it. `files` are the sources that the query reads itself.
    Each of `derived` is computed from a query.
    """

    session: Session
    relation: Relation
    missing: tuple[str, ...]
    records: Mapping[str, str]
    files: tuple[TableSource, ...] = ()
    derived: tuple[tuple[DerivedColumn, str], ...] = ()

    def column(self, ref: ColumnRef) -> str:
        """SQL for a value in its own type."""
        return f"c{self.relation.position(str(ref))}"

    def text(self, ref: ColumnRef) -> str:
        """SQL for the text of a value, null where it is missing."""
        return self.relation.present_text(self.relation.position(str(ref)), self.missing)

    def accepts(self, number: int, ref: ColumnRef, texts: frozenset[str | None]) -> str:
        """SQL that is true where a column has one of these texts."""
        listed, or_missing = listed_texts(texts, self.missing)
        table = f"shoal_accepted_{number}"
        self.session.register(table, pa.table({"value": pa.array(listed, pa.string())}))
        condition = f"{self.text(ref)} IN (SELECT value FROM {table})"
        return f"({condition} OR {self.text(ref)} IS NULL)" if or_missing else condition

    def check_derived(self) -> None:
        """Count the rows in which a derived column has no value; an error where there are some."""
        for column, query in self.derived:
            failures = self.session.table(column.failures(f"({query})"))
            column.check(zip(*(each.to_pylist() for each in failures.columns), strict=True))

    @contextmanager
    def explaining(self) -> Iterator[None]:
        """Turn DuckDB's errors into ours; what an expression cannot compute is counted first."""
        try:
            yield
        except duckdb.Error as error:
            if FAILED in str(error):
                self.check_derived()
            found = (source.diagnosed(error) for source in self.files)
            general = explained(error, self.relation.name)
            raise next((each for each in found if each is not None), general) from None


@contextmanager
def joined(
    sources: OpenedSources, plan: Plan, reading: Reading, only: Accepted, *, outer: bool = False
) -> Iterator[Joined]:
    """The rows of the joined sources with all columns of the reading.

    The records that `only` does not accept are left out as far as their source can do that: the
    caller applies it again. With `outer` the rows of every source stay, and all of `only` is left
    to the caller.
    """
    names = {ref: f"c{i}" for i, ref in enumerate(reading.raw)}
    with ExitStack() as stack:
        session = stack.enter_context(closing(Session(sources.resources())))
        file = session.folder / "linked.duckdb"
        session.execute(f"ATTACH {literal(str(file))} AS {DATABASE}")
        session.execute(f"USE {DATABASE}")
        types: dict[ColumnRef, str] = {}
        units = units_of(sources, plan, names, apart=outer)
        for number, unit in enumerate(units):
            own = {ref: name for ref, name in names.items() if ref.source in unit.sources}
            accepted = {} if outer else _pushed_down(plan, only, unit, own)
            fetched = _Fetched(unit, number, own, numbered=outer)
            types |= stack.enter_context(fetched.provided(session, accepted, sources.missing))
        relation = Relation(
            "the linked sources",
            _join_sql(plan, units, names, types, sources.missing, outer=outer),
            tuple(map(str, names)),
            tuple(types[ref] for ref in names),
        )
        session.expect_columns(len(names))
        records = {unit.sources[0]: f"r{i}" for i, unit in enumerate(units)} if outer else {}
        files = tuple(u.table for u in units if isinstance(u.table, TableSource))
        found = Joined(session, relation, sources.missing, records, files)
        for derivation in reading.derived:
            present = presence(found, plan, derivation.ref.source)
            found = _with_derived(found, derivation, sources.catalog.maps, present)
        yield found


def _pushed_down(
    plan: Plan, only: Accepted, unit: Unit, own: Mapping[ColumnRef, str]
) -> dict[str, frozenset[str | None]]:
    """What a unit itself can leave out.

    Where missing values of an optional source are accepted, a record that is not accepted must not
    be taken for one that is absent: so nothing is left out there.
    """
    return {
        unit.name(ref): texts
        for ref, texts in only.items()
        if ref in own and not (ref.source in plan.optional and None in texts)
    }


@dataclass(frozen=True)
class _Fetched:
    """A unit as a table of the session, with columns of our own names."""

    unit: Unit
    number: int
    names: Mapping[ColumnRef, str]
    numbered: bool

    @contextmanager
    def provided(
        self, session: Session, only: Mapping[str, frozenset[str | None]], missing: Sequence[str]
    ) -> Iterator[dict[ColumnRef, str]]:
        """The table, while the context lasts; gives DuckDB's types of the columns.

        Files are read by the query that joins, so the table is a view of them. Everything else is
        fetched into the table.
        """
        source, table = self.unit.table, _table(self.number)
        columns = [self.unit.name(ref) for ref in self.names]
        with ExitStack() as stack:
            if isinstance(source, TableSource) and source.is_of_files:
                prefix = f"shoal_only_{self.number}"
                query = stack.enter_context(
                    source.fetched_in(session, columns, only, missing, prefix)
                )
                with _naming(source):
                    session.execute(f"CREATE VIEW {table} AS {self._selected(f'({query})')}")
            else:
                self._load(session, columns, only, missing)
            types = session.types(f"SELECT {', '.join(self.names.values())} FROM {table}")
            yield dict(zip(self.names, types, strict=True))

    def _load(
        self,
        session: Session,
        columns: Sequence[str],
        only: Mapping[str, frozenset[str | None]],
        missing: Sequence[str],
    ) -> None:
        """Fetch the records into the table."""
        source, stream = self.unit.table, f"shoal_stream_{self.number}"
        failures: list[BaseException] = []
        with source.fetched(columns, only, missing) as rows, explaining(failures, source.name):
            reader = renamed(rows, [f"f{i}" for i in range(len(columns))])
            batches = watched(reader, source.name, failures)
            session.register(stream, type(rows).from_batches(reader.schema, batches))
            session.execute(f"CREATE TABLE {_table(self.number)} AS {self._selected(stream)}")
            session.unregister(stream)

    def _selected(self, relation: str) -> str:
        """A query for the columns, and the number of the record, of what has f0, f1, ..."""
        values = [f"f{i} AS {name}" for i, name in enumerate(self.names.values())]
        values += [f"row_number() OVER () AS r{self.number}"] * self.numbered
        return f"SELECT {', '.join(values)} FROM {relation}"


@contextmanager
def _naming(source: TableSource) -> Iterator[None]:
    """Turn DuckDB's errors into ours, of files that cannot be read any more."""
    try:
        yield
    except duckdb.Error as error:
        raise (source.diagnosed(error) or explained(error, source.name)) from None


def _table(number: int) -> str:
    return f"t{number}"


def _join_sql(
    plan: Plan,
    units: Sequence[Unit],
    names: Mapping[ColumnRef, str],
    types: Mapping[ColumnRef, str],
    missing: Sequence[str],
    *,
    outer: bool,
) -> str:
    """A query that joins the tables; keys are compared by their texts, and null equals nothing."""
    number_of = {source: i for i, unit in enumerate(units) for source in unit.sources}
    relation = Relation("", "", tuple(map(str, names)), tuple(types[ref] for ref in names))

    def equal(one: ColumnRef, other: ColumnRef) -> str:
        """Values of one type are equal when their texts are, but for zeros of doubles."""
        is_exact = types[one] == types[other] and types[one] not in ("FLOAT", "DOUBLE")
        key = relation.present if is_exact else relation.present_text
        values = (key(relation.position(str(ref)), missing) for ref in (one, other))
        return " = ".join(values)

    def step(join: Join) -> str:
        how = "FULL OUTER" if outer else "LEFT" if join.is_optional else "INNER"
        match = " AND ".join(equal(one, other) for one, other in join.keys)
        return f" {how} JOIN {_table(number_of[join.new.source])} ON {match}"

    between = [j for j in plan.joins if number_of[j.known.source] != number_of[j.new.source]]
    columns = [*names.values(), *(f"r{i}" for i in range(len(units) * outer))]
    return f"SELECT {', '.join(columns)} FROM {_table(0)}{''.join(map(step, between))}"


def presence(joined: Joined, plan: Plan, source: str) -> str | None:
    """SQL that is true where a source is there; None where it is there in every row.

    A record that was joined has a key, since null equals nothing.
    """
    if source in joined.records:
        return f"{joined.records[source]} IS NOT NULL"
    for join in plan.joins:
        if join.is_optional and join.new.source == source:
            return f"{joined.column(ColumnRef(source, join.new.columns[0]))} IS NOT NULL"
    return None


def _with_derived(
    joined: Joined,
    derivation: Derivation,
    maps: Mapping[str, Mapping[str, str]],
    present: str | None,
) -> Joined:
    """The joined rows with one more column, which is missing where its source is absent."""
    relation = joined.relation

    def column(source: str | None, name: str) -> Input:
        position = relation.position(str(derivation.inputs[source, name]))
        return Input(relation.present(position, joined.missing), relation.types[position])

    number = len(relation.names)
    taken = [*(f"c{i}" for i in range(number)), *joined.records.values()]
    made = derive(str(derivation.ref), derivation.expression, column, maps, taken, present=present)
    name = identifier(made.name)
    query = (
        f"SELECT * EXCLUDE ({name}), {name} AS c{number} FROM ({made.query(f'({relation.query})')})"
    )
    grown = replace(
        relation,
        query=query,
        names=(*relation.names, str(derivation.ref)),
        types=(*relation.types, made.type),
    )
    return replace(joined, relation=grown, derived=(*joined.derived, (made, relation.query)))
