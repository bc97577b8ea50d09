"""Several tables as one: each is counted and recoded where it is, and only releases are merged.

Raw records never leave a member. Counts are summed up. Recoded records, which may be released, come
as one stream in one order, so that nothing shows which member a record came from.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import duckdb
import pyarrow as pa

from shoal.engines.base import Column, Question, Source
from shoal.engines.duckdb.queries import in_order
from shoal.engines.duckdb.session import Session, explained
from shoal.engines.failures import check_names, check_same_columns, unknown_column
from shoal.engines.options import Resources
from shoal.engines.process import half_of_memory

if TYPE_CHECKING:
    from shoal.engines.base import Generalization, Recoding
    from shoal.engines.options import Member, SourceOptions, UnitedOptions

    Opener = Callable[[SourceOptions, Collection[str], Resources], Source]


def open_united(
    options: UnitedOptions,
    open_member: Opener,
    expect: Collection[str] = (),
    *,
    resources: Resources = Resources(),  # noqa: B008 frozen
) -> UnitedSource:
    """Open every member; each has the same columns then, or an error names the one that has not."""
    shared = _shared(resources, len(options.members))
    with ExitStack() as opened:
        tables = []
        for member in options.members:
            names = {new: old for old, new in member.rename.items()}
            own = {names.get(name, name) for name in expect}
            source = open_member(member.options, own, shared)
            opened.callback(source.close)
            tables.append(Table.of(source, member))
        for table in tables[1:]:
            check_same_columns(
                (tables[0].name, tables[0].inside),
                (table.name, table.inside),
                "sources need the same columns: give some other names by `rename`, or leave"
                " some out by naming the others as `columns`",
            )
        opened.pop_all()
    return UnitedSource(tables, shared)


def _shared(resources: Resources, members: int) -> Resources:
    """The resources of each member: all of them, and their merging, run at the same time."""
    memory = resources.memory_limit or half_of_memory()
    if memory is None or members == 1:
        return resources
    return replace(resources, memory_limit=max(memory // (members + 1), 1))


@dataclass(frozen=True, eq=False)
class Table:
    """A member: its source, and the source's name for each column of the united table."""

    source: Source
    inside: Mapping[str, str]
    is_text: Mapping[str, bool] = field(default_factory=dict)

    @classmethod
    def of(cls, source: Source, member: Member) -> Table:
        """The member with its chosen columns, under their new names."""
        found = {column.name: column.is_text for column in source.columns()}
        for name in (*member.columns, *member.rename):
            if name not in found:
                raise unknown_column(name, source.name, found)
        taken = member.columns or tuple(found)
        names = [member.rename.get(name, name) for name in taken]
        check_names(names, source.name)
        inside = dict(zip(names, taken, strict=True))
        return cls(source, inside, {name: found[inside[name]] for name in names})

    @property
    def name(self) -> str:
        """What to call it in messages."""
        return self.source.name

    def own(self, names: Sequence[str]) -> list[str]:
        """The source's names of columns; an error that lists the columns for one it has not."""
        for name in names:
            if name not in self.inside:
                raise unknown_column(name, self.name, self.inside)
        return [self.inside[name] for name in names]

    def own_question(self, question: Question) -> Question:
        """A question about the united table in the source's names."""
        return replace(
            question,
            columns=tuple(self.own(question.columns)),
            generalized=self._own_keys(question.generalized),
            complete=tuple(self.own(question.complete)),
        )

    def own_recoding(self, recoding: Recoding) -> Recoding:
        """A recoding of the united table in the source's names."""
        keys = list(recoding.generalized)
        classes, labels = (
            None if each is None else each.select(keys).rename_columns(self.own(keys))
            for each in (recoding.classes, recoding.labels)
        )
        return replace(
            recoding,
            columns=tuple(self.own(recoding.columns)),
            generalized=self._own_keys(recoding.generalized),
            classes=classes,
            labels=labels,
            blanked=tuple(self.own(recoding.blanked)),
        )

    def _own_keys(self, generalized: Mapping[str, Generalization]) -> dict[str, Generalization]:
        return dict(zip(self.own(list(generalized)), generalized.values(), strict=True))


class UnitedSource(Source):
    """The records of all members, under the names of the united table."""

    def __init__(self, tables: Sequence[Table], resources: Resources) -> None:
        self._tables = tuple(tables)
        self._resources = resources
        self._records: tuple[int, ...] | None = None

    @property
    def name(self) -> str:
        """What to call it in messages."""
        return " and ".join(table.name for table in self._tables)

    def columns(self) -> tuple[Column, ...]:
        """The columns, in the order of the first member."""
        return tuple(
            Column(name, all(table.is_text[name] for table in self._tables))
            for name in self._tables[0].inside
        )

    @property
    def resources(self) -> Resources:
        """What may be used on this machine to write its release."""
        return self._resources

    def count(self, question: Question) -> pa.Table:
        """The members' counts, summed up.

        With `at_most`, a member with more combinations than that gives one more than that, and so
        does the whole.
        """
        most = question.at_most
        counted = [table.source.count(table.own_question(question)) for table in self._tables]
        if not question.complete and all(most is None or c.num_rows <= most for c in counted):
            self._records = tuple(sum(c.column(c.num_columns - 1).to_pylist()) for c in counted)
        keys = [f"k{i}" for i in range(len(question.columns))]
        together = pa.concat_tables(each.rename_columns([*keys, "n"]) for each in counted)
        summed = together.group_by(keys).aggregate([("n", "sum")]).select([*keys, "n_sum"])
        found = summed.rename_columns(list(question.names))
        return found if most is None else found.slice(0, most + 1)

    def distinct(self, question: Question) -> int:
        """How many combinations there are; those of several members are brought together first."""
        if len(self._tables) == 1:
            table = self._tables[0]
            return table.source.distinct(table.own_question(question))
        return int(self.count(question).num_rows)

    def records_by_member(self) -> dict[str, int]:
        """How many records each member has; members of one name are added up."""
        if self._records is None:
            self.count_by([])
        found: dict[str, int] = {}
        for table, records in zip(self._tables, self._records or (), strict=True):
            found[table.name] = found.get(table.name, 0) + records
        return found

    @contextmanager
    def recoded(self, recoding: Recoding) -> Iterator[pa.RecordBatchReader]:
        """The recoded records of all members as one stream, in one order."""
        names = list(recoding.columns)
        with ExitStack() as streams:
            readers = [
                (table, streams.enter_context(table.source.recoded(table.own_recoding(recoding))))
                for table in self._tables
            ]
            with self._one_stream(readers, names, ordered=True) as rows:
                yield rows

    @contextmanager
    def _one_stream(
        self,
        readers: Sequence[tuple[Table, pa.RecordBatchReader]],
        names: Sequence[str],
        *,
        ordered: bool,
    ) -> Iterator[pa.RecordBatchReader]:
        """The streams of the members as one, under these names."""
        if len(readers) == 1:
            yield renamed(readers[0][1], names)
            return
        failures: list[BaseException] = []
        with closing(Session(self._resources)) as session, explaining(failures, "the release"):
            query = _merged(session, readers, names, failures)
            order = in_order(names, session.types(query)) if ordered else ""
            with session.stream(f"SELECT * FROM ({query}) {order}", names) as rows:
                yield rows

    @contextmanager
    def fetched(
        self,
        columns: Sequence[str],
        only: Mapping[str, Collection[str | None]],
        missing: Sequence[str] = (),
    ) -> Iterator[pa.RecordBatchReader]:
        """The records of all members whose values are listed, as one stream."""
        with ExitStack() as streams:
            readers = []
            for table in self._tables:
                own = dict(zip(table.own(list(only)), only.values(), strict=True))
                stream = table.source.fetched(table.own(columns), own, missing)
                readers.append((table, streams.enter_context(stream)))
            with self._one_stream(readers, list(columns), ordered=False) as rows:
                yield rows

    def fingerprint(self) -> str | None:
        """Of a single member its own; of several the SHA-256 of theirs, where all have one."""
        found = [table.source.fingerprint() for table in self._tables]
        if None in found or len(found) == 1:
            return found[0] if len(found) == 1 else None
        return hashlib.sha256("".join(map(str, found)).encode()).hexdigest()

    def close(self) -> None:
        """Give back what the members hold."""
        with ExitStack() as all_of_them:
            for table in self._tables:
                all_of_them.callback(table.source.close)


def _merged(
    session: Session,
    readers: Sequence[tuple[Table, pa.RecordBatchReader]],
    names: Sequence[str],
    failures: list[BaseException],
) -> str:
    """A query for all streams; a column that is not of one type is text.

    Before they are merged, the streams of the members have the columns r0, r1, ...
    """
    columns = [f"r{i}" for i in range(len(names))]
    kinds = [{reader.schema.types[i] for _, reader in readers} for i in range(len(names))]
    selected = ", ".join(
        column if len(kind) == 1 else f"CAST({column} AS VARCHAR) AS {column}"
        for column, kind in zip(columns, kinds, strict=True)
    )
    queries = []
    for number, (table, reader) in enumerate(readers):
        batches = watched(renamed(reader, columns), table.name, failures)
        schema = reader.schema.empty_table().rename_columns(columns).schema
        session.register(f"shoal_member_{number}", type(reader).from_batches(schema, batches))
        queries.append(f"SELECT {selected} FROM shoal_member_{number}")
    return " UNION ALL ".join(queries)


def watched(
    reader: pa.RecordBatchReader, name: str, failures: list[BaseException]
) -> Iterator[pa.RecordBatch]:
    """The batches; an error is kept in `failures`, since DuckDB would replace it by its own."""
    try:
        yield from reader
    except duckdb.Error as error:
        failures.append(explained(error, name))
        raise
    except BaseException as error:
        failures.append(error)
        raise


@contextmanager
def explaining(failures: list[BaseException], name: str) -> Iterator[None]:
    """Raise the error of a stream, in place of what DuckDB makes of it; `name` is what is made."""
    try:
        yield
    except duckdb.Error as error:
        raise (failures[0] if failures else explained(error, name)) from None


def renamed(reader: pa.RecordBatchReader, names: Sequence[str]) -> pa.RecordBatchReader:
    """The same stream with other names."""
    schema = reader.schema.empty_table().rename_columns(list(names)).schema
    batches = (batch.rename_columns(list(names)) for batch in reader)
    return type(reader).from_batches(schema, batches)
