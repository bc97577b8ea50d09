"""Kept texts as ENUMs of DuckDB: small numbers, which are sorted faster than texts.

They are texts again before they are written. A type lists all its texts, those of suppressed
records too, and a Parquet file that is written from ENUMs has dictionaries of them. Which texts are
in each dictionary would also depend on how DuckDB cuts the rows into pieces.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from shoal.engines.duckdb.session import MANY_COLUMNS, Session, literal
from shoal.engines.failures import CHANGED

if TYPE_CHECKING:
    from shoal.engines.base import Recoding
    from shoal.engines.duckdb.relation import Relation

MOST_TEXTS = 4096
"""So many values are few."""
MOST_COLUMNS = 16
"""Columns that are read once more, to see whether their values are few."""


def of_few_values(session: Session, relation: Relation, recoding: Recoding) -> list[int]:
    """The numbers of the columns of text that are released unchanged, no keys, of few values."""
    if len(relation.names) > MANY_COLUMNS:
        return []
    texts = [
        (i, relation.position(name))
        for i, name in enumerate(recoding.columns)
        if name not in recoding.generalized and relation.types[relation.position(name)] == "VARCHAR"
    ]
    limit = f"LIMIT {MOST_TEXTS + 1}"
    return [
        i
        for i, position in texts[:MOST_COLUMNS]
        if len(session.table(f"{_values_of(relation, position)} {limit}")) <= MOST_TEXTS
    ]


@contextmanager
def enum_of_values(session: Session, relation: Relation, name: str, number: int) -> Iterator[None]:
    """A type for the values of a column, which sorts as they do, while the context lasts."""
    values = _values_of(relation, relation.position(name))
    session.execute(f"CREATE TEMP TYPE {_type(number)} AS ENUM ({values} ORDER BY v)")
    try:
        yield
    finally:
        session.execute(f"DROP TYPE IF EXISTS {_type(number)}")


def as_enum(value: str, number: int) -> str:
    """SQL for a value in the type of its column; one that is not listed stops the query."""
    known, stop = f"TRY_CAST({value} AS {_type(number)})", f"error({literal(CHANGED)})"
    return f"CASE WHEN {value} IS NOT NULL AND {known} IS NULL THEN {stop} ELSE {known} END"


def _values_of(relation: Relation, position: int) -> str:
    """A query for the different values of a column, missing ones left out."""
    values = f"SELECT {relation.value(position)} AS v FROM ({relation.query}) AS source"
    return f"SELECT DISTINCT v FROM ({values}) WHERE v IS NOT NULL"


def _type(number: int) -> str:
    return f"shoal_values_{number}"
