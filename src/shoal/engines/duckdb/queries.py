"""The queries, each one SELECT: what is counted, what is released, what is fetched to be linked.

`counting_query` looks up labels where a column is counted by them. `recoding_query` looks up
labels, lets the listed classes pass, and forgets the order of the input. `fetching_query` gives
records with listed values as they are.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

import pyarrow as pa

from shoal.arrow_arrays import from_texts
from shoal.engines.base import LAST_RANK, listed_texts
from shoal.engines.duckdb.enums import as_enum, enum_of_values, of_few_values
from shoal.engines.duckdb.session import Session, literal
from shoal.engines.failures import CHANGED

if TYPE_CHECKING:
    from shoal.engines.base import Generalization, Question, Recoding
    from shoal.engines.duckdb.relation import Relation

LISTED = "shoal_listed"
CLASSES = "shoal_classes"


@contextmanager
def counting_query(session: Session, relation: Relation, question: Question) -> Iterator[str]:
    """A query for the columns as g0, g1, ..., a row for each record that is counted.

    The label tables that the query reads are registered while the context lasts.
    """
    tables = {
        _counted_labels(question.columns.index(name)): label_table(generalization)
        for name, generalization in question.generalized.items()
        if generalization.values
    }
    for name, table in tables.items():
        session.register(name, table)
    try:
        yield _counting_sql(relation, question)
    finally:
        for name in tables:
            session.unregister(name)


def _counted_labels(number: int) -> str:
    return f"shoal_counted_{number}"


def _counting_sql(relation: Relation, question: Question) -> str:
    """First the texts that are there, null where missing, then their labels."""

    def text(name: str) -> str:
        return relation.present_text(relation.position(name), question.missing)

    texts = [text(name) for name in question.columns]
    present = [f"({text(name)}) IS NOT NULL" for name in question.complete]
    selected = ", ".join(f"{text} AS t{i}" for i, text in enumerate(texts)) or "1"
    where = f" WHERE {' AND '.join(present)}" if present else ""
    joins, labels = "", []
    for i, name in enumerate(question.columns):
        join, label = label_of(f"t{i}", _counted_labels(i), question.generalized.get(name))
        joins += join
        labels.append(f"{label} AS g{i}")
    return f"""
        WITH records AS (SELECT {selected} FROM ({relation.query}) AS source{where})
        SELECT {", ".join(labels) or "1"} FROM records{joins}
    """


@contextmanager
def recoding_query(
    session: Session,
    relation: Relation,
    recoding: Recoding,
    first: Sequence[str] = (),
    *,
    is_read_fast: bool = False,
) -> Iterator[str]:
    """A query for the released columns as r0, r1, ..., in an order that they alone decide.

    The order is by the columns of `first`, then by the classes, sorted by their labels, then by all
    other columns. The tables that the query reads exist while the context lasts.

    Where the relation `is_read_fast`, kept columns of few values are read once more before, so that
    they are sorted by numbers.
    """
    tables = {LISTED: _listed(recoding)}
    for number, generalization in enumerate(recoding.generalized.values()):
        if generalization.values:
            tables[_labels(number)] = label_table(generalization)
    with ExitStack() as cleanup:
        for name, table in tables.items():
            session.register(name, table)
            cleanup.callback(session.unregister, name)
        by_class = _same_in_class(relation, recoding)
        cleanup.enter_context(_classes(session, recoding, by_class))
        counted = of_few_values(session, relation, recoding) if is_read_fast else ()
        for i in counted:
            cleanup.enter_context(enum_of_values(session, relation, recoding.columns[i], i))
        yield _recoding_sql(relation, recoding, by_class, first, counted)


@contextmanager
def _classes(session: Session, recoding: Recoding, by_class: Sequence[str]) -> Iterator[None]:
    """The listed classes as a table: keys, a small number for each label, the rank in order.

    Records are sorted by rank, with the numbers instead of their labels, which takes half the
    memory. The rank depends on what is released of the labels and on nothing else. Where all of it
    is missing it is LAST_RANK, as for a marked record, so that their order does not tell the two
    apart. Classes are made distinct, so that a join with them repeats no record. All of it is
    temporary, since a transaction of DuckDB may write to one database beside that, which is an
    output.
    """
    created: list[str] = []
    keys = range(len(recoding.generalized))
    label = _shown(recoding)
    shown = [f"{label}{list(recoding.generalized).index(name)}" for name in by_class]
    order = ", ".join(f"{key} NULLS LAST" for key in shown) or "1"
    missing = " AND ".join(f"{key} IS NULL" for key in shown) or "true"
    rank = f"CASE WHEN {missing} THEN {LAST_RANK} ELSE dense_rank() OVER (ORDER BY {order}) END"
    try:
        for j in keys:
            session.execute(
                f"CREATE TEMP TYPE {_number(j)} AS ENUM"
                f" (SELECT DISTINCT {label}{j} AS label FROM {LISTED}"
                f" WHERE {label}{j} IS NOT NULL ORDER BY label)"
            )
            created.insert(0, f"TYPE IF EXISTS {_number(j)}")
        numbers = "".join(f", CAST({label}{j} AS {_number(j)}) AS l{j}" for j in keys)
        session.execute(
            f"CREATE TEMP TABLE {CLASSES} AS"
            f" SELECT *{numbers}, CAST({rank} AS INTEGER) AS class_rank"
            f" FROM (SELECT DISTINCT * FROM {LISTED})"
        )
        created.insert(0, f"TABLE IF EXISTS {CLASSES}")
        yield
    finally:
        for each in created:
            session.execute(f"DROP {each}")


def _recoding_sql(
    relation: Relation,
    recoding: Recoding,
    by_class: Sequence[str],
    first: Sequence[str],
    counted: Collection[int],
) -> str:
    """Four steps: clean the records, label them, keep those of the listed classes, order them.

    Columns that differ within a class are in the order too, so it is total up to equal records
    and decides every byte. Labels are ENUMs while they are sorted, and so are the columns whose
    values were `counted`.
    """
    columns, texts, others, ties = [], [], [], []
    for i, name in _numbered(recoding):
        columns.append(f"{_released(i, name, by_class, recoding)} AS r{i}")
        is_enum = i in counted or name in by_class
        texts.append(f"CAST(r{i} AS VARCHAR) AS r{i}" if is_enum else f"r{i}")
        if name not in by_class and name not in first:
            others.append(f"r{i} NULLS LAST")
            if recoding.is_unchanged(name):
                ties += tie_break(f"r{i}", relation.types[relation.position(name)])
    rank = f"coalesce(class_rank, {LAST_RANK})"
    begin = [f"CAST(r{recoding.columns.index(name)} AS VARCHAR) NULLS LAST" for name in first]
    return f"""
        WITH records AS ({_records(relation, recoding, counted)}),
             labelled AS ({_labelled(recoding)}),
             ordered AS (
                 SELECT {", ".join(columns)} FROM labelled {_passing(recoding)}
                 ORDER BY {", ".join([*begin, rank, *others, *ties])}
             )
        SELECT {", ".join(texts)} FROM ordered
    """


def _same_in_class(relation: Relation, recoding: Recoding) -> list[str]:
    """The columns that are the same in a class and released as text: they need no other order."""
    found = []
    for name in recoding.same_in_class():
        is_text = relation.types[relation.position(name)] == "VARCHAR"
        if is_text or not recoding.is_unchanged(name):
            found.append(name)
    return found


def in_order(columns: Sequence[str], types: Sequence[str], first: Sequence[str] = ()) -> str:
    """ORDER BY all of r0, r1, ...; the columns of `first` before the others, and as text."""
    names = list(columns)
    texts = [f"CAST(r{names.index(name)} AS VARCHAR) NULLS LAST" for name in first]
    others = [f"r{i} NULLS LAST" for i, name in enumerate(names) if name not in first]
    ties = [key for i, kind in enumerate(types) for key in tie_break(f"r{i}", kind)]
    return f"ORDER BY {', '.join([*texts, *others, *ties])}"


def tie_break(column: str, kind: str) -> list[str]:
    """What orders values that DuckDB takes for equal though they differ, if the type has any.

    These are -0.0 and 0.0, intervals of 30 days and of a month, and what contains them.
    """
    if kind in ("FLOAT", "DOUBLE"):
        return [f"signbit({column})"]
    return [f"CAST({column} AS VARCHAR)"] if re.search("FLOAT|DOUBLE|INTERVAL", kind) else []


@contextmanager
def fetching_query(
    session: Session,
    relation: Relation,
    columns: Sequence[str],
    only: Mapping[str, Collection[str | None]],
    missing: Sequence[str],
    prefix: str = "shoal_only",
) -> Iterator[str]:
    """A query for these columns as f0, f1, ... of the records whose values are listed in `only`.

    The tables of listed texts are registered while the context lasts; their names begin with
    `prefix`.
    """
    tables, conditions = {}, []
    for i, (name, texts) in enumerate(only.items()):
        text = relation.present_text(relation.position(name), missing)
        listed, or_missing = listed_texts(texts, missing)
        tables[f"{prefix}_{i}"] = pa.table({"value": from_texts(listed)})
        condition = f"{text} IN (SELECT value FROM {prefix}_{i})"
        conditions.append(f"({condition} OR {text} IS NULL)" if or_missing else condition)
    values = ", ".join(
        f"{relation.value(relation.position(name))} AS f{i}" for i, name in enumerate(columns)
    )
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    for name, table in tables.items():
        session.register(name, table)
    try:
        yield f"SELECT {values} FROM ({relation.query}) AS source{where}"
    finally:
        for name in tables:
            session.unregister(name)


def _numbered(recoding: Recoding) -> list[tuple[int, str]]:
    return list(enumerate(recoding.columns))


def _labels(number: int) -> str:
    return f"shoal_labels_{number}"


def _number(key: int) -> str:
    return f"shoal_number_{key}"


def _shown(recoding: Recoding) -> str:
    """The letter of the columns with the labels under which a class is released."""
    return "k" if recoding.labels is None else "m"


def label_table(generalization: Generalization) -> pa.Table:
    """The labels as a table; values are distinct, so a join with it repeats no record."""
    return pa.table(
        {
            "value": from_texts(generalization.values),
            "label": from_texts(generalization.labels),
        }
    )


def _listed(recoding: Recoding) -> pa.Table:
    """The classes that may pass as columns k0, k1, ... of the keys.

    In local recoding m0, m1, ... are the labels under which they are released.
    """
    tables = (
        {"k": recoding.classes}
        if recoding.labels is None
        else {"k": recoding.classes, "m": recoding.labels}
    )
    return pa.table(
        {
            f"{letter}{number}": table.column(name).cast(pa.string())
            for letter, table in tables.items()
            for number, name in enumerate(recoding.generalized)
        }
    )


def _records(relation: Relation, recoding: Recoding, counted: Collection[int]) -> str:
    """The columns in use: `v_i` in its own type for a released column, `t_j` as text for a key.

    Where its values were `counted` it is an ENUM of them; another value stops the query.
    """
    parts = []
    for i, name in _numbered(recoding):
        position = relation.position(name)
        unchanged = name not in recoding.generalized
        value = (
            relation.value(position) if unchanged else relation.present(position, recoding.missing)
        )
        if i in counted:
            value = as_enum(value, i)
        parts.append(f"{value} AS v{i}")
    texts = [
        relation.present_text(relation.position(name), recoding.missing)
        for name in recoding.generalized
    ]
    parts += [f"{text} AS t{j}" for j, text in enumerate(texts)]
    complete = " AND ".join(f"({text}) IS NOT NULL" for text in texts) or "true"
    where = f" WHERE {complete}" if recoding.complete else ""
    return f"SELECT {', '.join(parts)} FROM ({relation.query}) AS source{where}"


def _labelled(recoding: Recoding) -> str:
    """Adds the label `g_j` of every key; a value without a label stops the query."""
    joins, labels = "", []
    for j, generalization in enumerate(recoding.generalized.values()):
        join, label = label_of(f"t{j}", _labels(j), generalization)
        joins += join
        labels.append(f"{label} AS g{j}")
    return f"SELECT {', '.join(['records.*', *labels])} FROM records{joins}"


def label_of(text: str, table: str, generalization: Generalization | None) -> tuple[str, str]:
    """SQL that joins the table of labels to a text column, and SQL for its label.

    A value without a label stops the query.
    """
    if generalization is None:
        return "", text
    missing = "NULL" if generalization.missing is None else literal(generalization.missing)
    if not generalization.values:
        return "", f"coalesce({text}, {missing})"
    label = (
        f"CASE WHEN {text} IS NULL THEN {missing}"
        f" WHEN {table}.label IS NULL THEN error({literal(CHANGED)})"
        f" ELSE {table}.label END"
    )
    return f" LEFT JOIN {table} ON {text} = {table}.value", label


def _passing(recoding: Recoding) -> str:
    """The join that lets classes pass; null-safe, since missing is a value like any other."""
    keys = range(len(recoding.generalized))
    match = " AND ".join(f"g{j} IS NOT DISTINCT FROM k{j}" for j in keys) or "true"
    return f"{'LEFT' if recoding.mark else 'INNER'} JOIN {CLASSES} ON {match}"


def _released(i: int, name: str, by_class: Collection[str], recoding: Recoding) -> str:
    """What is released of column `i`: what its class says, or the value in its own type."""
    if name in by_class:
        return f"l{list(recoding.generalized).index(name)}"
    value = f"v{i}"
    if not recoding.is_unchanged(name):
        value = f"g{list(recoding.generalized).index(name)}"
    if recoding.mark and name in recoding.blanked:
        return f"CASE WHEN class_rank IS NOT NULL THEN {value} END"
    return value
