"""Counting as one SELECT: distinct combinations of raw texts or codes, with their records."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import sqlalchemy as sa

from shoal.engines.database.labels import Labels, Scratch, scratch_tables

if TYPE_CHECKING:
    from shoal.engines.base import Question
    from shoal.engines.database.dialects.values import Expression
    from shoal.engines.database.relation import Relation
    from shoal.engines.database.session import Session


def count(session: Session, relation: Relation, question: Question) -> pa.Table:
    """Distinct combinations as text columns, and a last column of counts."""
    names = [f"t{i}" for i in range(len(question.columns))]
    with scratch_tables(session) as scratch:
        keys = [_key(session, scratch, relation, question, name) for name in question.columns]
        query = _classes(session, relation, question, keys)
        if question.at_most is not None and keys:
            query = _merged(query).limit(question.at_most + 1)
        types = [pa.int64() if key.labels else pa.string() for key in keys]
        schema = pa.schema([*zip(names, types, strict=True), ("n", pa.int64())])
        with _grouping(session):
            table = pa.Table.from_batches(session.batches(query, schema), schema)
    return _spelled(relation, table, keys).rename_columns(list(question.names))


def count_distinct(session: Session, relation: Relation, question: Question) -> int:
    """How many combinations there are, or one more than `at_most`."""
    with scratch_tables(session) as scratch:
        keys = [_key(session, scratch, relation, question, name) for name in question.columns]
        found = _merged(_classes(session, relation, question, keys))
        if question.at_most is not None:
            found = found.limit(question.at_most + 1)
        number = sa.select(sa.func.count()).select_from(found.subquery("found"))
        with _grouping(session):
            return int(session.rows(number)[0][0])


@contextmanager
def _grouping(session: Session) -> Iterator[None]:
    """The settings of the dialect for queries that group; an error ends their transaction."""
    settings = session.dialect.grouping_settings
    for before, _ in settings:
        session.run(before)
    yield
    for _, after in settings:
        session.run(after)


@dataclass(frozen=True)
class _Key:
    """How one column is counted: an expression for each record, and one for each group of them.

    As much as possible is left to the groups, of which there are fewer than records.
    """

    name: str
    expression: Expression
    finish: Callable[[Expression], Expression] = lambda grouped: grouped
    labels: Labels | None = None
    names_missing: bool = False


def _key(
    session: Session, scratch: Scratch, relation: Relation, question: Question, name: str
) -> _Key:
    generalization = question.generalized.get(name)
    if generalization is not None and generalization.values:
        labels = scratch.labels(relation, name, generalization, question.missing)
        return _Key(name, relation.raw(name), labels=labels)
    label = None if generalization is None else generalization.missing
    field = relation.field(name)
    native = relation.values.groups_natively(field)

    def finish(grouped: Expression) -> Expression:
        text = relation.raw(name, grouped) if native else grouped
        instead = sa.null() if label is None else relation.values.raw_of_label(field, label)
        missing = relation.is_missing(session, name, question.missing, text)
        return sa.case((missing, instead), else_=text)

    expression = relation.column(name) if native else relation.raw(name)
    return _Key(name, expression, finish, names_missing=label is not None)


def _records(
    session: Session, relation: Relation, question: Question, keys: Sequence[_Key]
) -> sa.Subquery:
    """One row per record: t0, t1, ... are what is counted."""
    columns = [key.expression.label(f"t{i}") for i, key in enumerate(keys)]
    cleaned = sa.select(*(columns or [sa.literal(1).label("one")]))
    cleaned = cleaned.select_from(relation.source)
    for name in question.complete:
        cleaned = cleaned.where(~relation.is_missing(session, name, question.missing))
    records = cleaned.subquery("records")
    if not any(key.labels for key in keys):
        return records
    source: sa.FromClause = records
    columns = []
    for i, key in enumerate(keys):
        column: Expression = records.c[f"t{i}"]
        if key.labels is not None:
            source = key.labels.join(source, column)
            column = key.labels.code(relation.values, column, f"records.t{i}")
        columns.append(column.label(f"t{i}"))
    return sa.select(*columns).select_from(source).subquery("labelled")


def _classes(
    session: Session, relation: Relation, question: Question, keys: Sequence[_Key]
) -> sa.Select[Any]:
    """The groups of equal records as t0, t1, ... and n; groups with missing values may repeat."""
    number = sa.func.count().label("n")
    records = _records(session, relation, question, keys)
    if not keys:
        return sa.select(number).select_from(records)
    groups = sa.select(*records.c, number).group_by(*records.c).subquery("classes")
    texts = [key.finish(groups.c[f"t{i}"]).label(f"t{i}") for i, key in enumerate(keys)]
    return sa.select(*texts, groups.c.n)


def _merged(query: sa.Select[Any]) -> sa.Select[Any]:
    """The same query with equal groups merged."""
    groups = query.subquery("groups")
    *texts, number = groups.c
    total = sa.cast(sa.func.sum(number), sa.BigInteger).label("n")
    return sa.select(*texts, total).group_by(*texts)


def _spelled(relation: Relation, table: pa.Table, keys: Sequence[_Key]) -> pa.Table:
    """Codes as labels, raw texts as texts; combinations that are then equal become one.

    There are equal ones only where a value is missing or was spelled again.
    """
    respelled = False
    for i, key in enumerate(keys):
        column = table.column(i)
        if key.labels is not None:
            table = table.set_column(i, f"t{i}", key.labels.codes.texts(column))
        elif relation.is_spelled(key.name):
            respelled = True
            known = pc.unique(column).drop_null()
            texts = relation.spelled(key.name, known.to_pylist())
            spelled = pa.array([texts[each] for each in known.to_pylist()], pa.string())
            column = pc.take(spelled, pc.index_in(column, value_set=known))
            table = table.set_column(i, f"t{i}", column)
    *names, _ = table.column_names
    if respelled or any(
        key.names_missing or table.column(i).null_count for i, key in enumerate(keys)
    ):
        table = table.group_by(names).aggregate([("n", "sum")]).select([*names, "n_sum"])
    return table
