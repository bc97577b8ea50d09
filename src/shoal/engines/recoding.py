"""A recoding as one SELECT: look up labels, let judged classes pass, forget the input order."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pyarrow as pa

from shoal.engines.duck import CHANGED, Session, literal

if TYPE_CHECKING:
    from shoal.engines.base import Generalization, Recoding
    from shoal.engines.relation import Relation

CLASSES = "shoal_classes"


@contextmanager
def recoded(session: Session, relation: Relation, recoding: Recoding) -> Iterator[str]:
    """A query for the released columns as r0, r1, ..., ordered by all of them.

    The label tables that the query reads are registered while the context lasts.
    """
    tables = {CLASSES: _classes(recoding)}
    for number, generalization in enumerate(recoding.generalized.values()):
        if generalization.values:
            tables[_labels(number)] = _label_table(generalization)
    for name, table in tables.items():
        session.register(name, table)
    try:
        yield _query(relation, recoding)
    finally:
        for name in tables:
            session.unregister(name)


def _query(relation: Relation, recoding: Recoding) -> str:
    """Three steps: clean the records, label them, keep those of the listed classes.

    The order of all released columns is total up to equal records, so it decides every byte.
    """
    released = ", ".join(f"{_released(name, recoding)} AS r{i}" for i, name in _numbered(recoding))
    order = ", ".join(f"r{i} NULLS FIRST" for i, _ in _numbered(recoding))
    return f"""
        WITH records AS ({_records(relation, recoding)}),
             labelled AS ({_labelled(recoding)})
        SELECT {released} FROM labelled {_passing(recoding)} ORDER BY {order}
    """


def _numbered(recoding: Recoding) -> list[tuple[int, str]]:
    return list(enumerate(recoding.columns))


def _labels(number: int) -> str:
    return f"shoal_labels_{number}"


def _label_table(generalization: Generalization) -> pa.Table:
    """Values are distinct, so the join with this table repeats no record."""
    return pa.table(
        {
            "value": pa.array(generalization.values, pa.string()),
            "label": pa.array(generalization.labels, pa.string()),
        }
    )


def _classes(recoding: Recoding) -> pa.Table:
    """The classes that may pass, as columns k0, k1, ... in the order of the keys."""
    columns = [recoding.classes.column(name).cast(pa.string()) for name in recoding.generalized]
    names = [f"k{number}" for number in range(len(columns))]
    table = pa.table(columns, names=names)
    return table.group_by(names).aggregate([]) if recoding.mark else table


def _records(relation: Relation, recoding: Recoding) -> str:
    """The columns in use: `v_i` in its own type for a released column, `t_j` as text for a key."""
    parts = []
    for i, name in _numbered(recoding):
        position = relation.position(name)
        unchanged = name not in recoding.generalized
        value = (
            relation.value(position) if unchanged else relation.present(position, recoding.missing)
        )
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
        missing = "NULL" if generalization.missing is None else literal(generalization.missing)
        if generalization.values:
            table = _labels(j)
            joins += f" LEFT JOIN {table} ON t{j} = {table}.value"
            labels.append(
                f"CASE WHEN t{j} IS NULL THEN {missing}"
                f" WHEN {table}.label IS NULL THEN error({literal(CHANGED)})"
                f" ELSE {table}.label END AS g{j}"
            )
        else:
            labels.append(f"coalesce(t{j}, {missing}) AS g{j}")
    return f"SELECT {', '.join(['records.*', *labels])} FROM records{joins}"


def _passing(recoding: Recoding) -> str:
    """The join that lets classes pass; null-safe, since missing is a value like any other."""
    keys = range(len(recoding.generalized))
    match = " AND ".join(f"g{j} IS NOT DISTINCT FROM k{j}" for j in keys) or "true"
    if recoding.mark:
        return f"LEFT JOIN (SELECT *, true AS passes FROM {CLASSES}) AS judged ON {match}"
    return f"SEMI JOIN {CLASSES} ON {match}"


def _released(name: str, recoding: Recoding) -> str:
    """What is released of a column: its label, or the unchanged value in its own type."""
    value = f"v{recoding.columns.index(name)}"
    generalization = recoding.generalized.get(name)
    if generalization is not None and (generalization.values or generalization.missing is not None):
        value = f"g{list(recoding.generalized).index(name)}"
    if recoding.mark and name in recoding.blanked:
        return f"CASE WHEN passes THEN {value} END"
    return value
