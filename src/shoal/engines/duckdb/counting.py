"""Counting as one SELECT: values or their labels, of all records or of the complete ones."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from shoal.engines.duckdb.recoding import label_of, label_table

if TYPE_CHECKING:
    from shoal.engines.base import Question
    from shoal.engines.duckdb.relation import Relation
    from shoal.engines.duckdb.session import Session


@contextmanager
def counting(session: Session, relation: Relation, question: Question) -> Iterator[str]:
    """A query for the columns as g0, g1, ..., a row for each record that is counted.

    The label tables that the query reads are registered while the context lasts.
    """
    tables = {
        _labels(question.columns.index(name)): label_table(generalization)
        for name, generalization in question.generalized.items()
        if generalization.values
    }
    for name, table in tables.items():
        session.register(name, table)
    try:
        yield _query(relation, question)
    finally:
        for name in tables:
            session.unregister(name)


def _labels(number: int) -> str:
    return f"shoal_counted_{number}"


def _query(relation: Relation, question: Question) -> str:
    """First the texts that are there, null where missing, then their labels."""

    def text(name: str) -> str:
        return relation.present_text(relation.position(name), question.missing)

    texts = [text(name) for name in question.columns]
    present = [f"({text(name)}) IS NOT NULL" for name in question.complete]
    selected = ", ".join(f"{text} AS t{i}" for i, text in enumerate(texts)) or "1"
    where = f" WHERE {' AND '.join(present)}" if present else ""
    joins, labels = "", []
    for i, name in enumerate(question.columns):
        join, label = label_of(f"t{i}", _labels(i), question.generalized.get(name))
        joins += join
        labels.append(f"{label} AS g{i}")
    return f"""
        WITH records AS (SELECT {selected} FROM ({relation.query}) AS source{where})
        SELECT {", ".join(labels) or "1"} FROM records{joins}
    """
