"""Arrow into a table: COPY where there is one, else INSERT."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import sqlalchemy as sa
from sqlalchemy.dialects import mysql

if TYPE_CHECKING:
    from shoal.engines.database.session import Session

BATCH = 50_000
"""Records that travel at once."""
MYSQL = ("mysql", "mariadb")
"""Two systems of one kind."""


def text_type(system: str, longest: int = 0) -> sa.types.TypeEngine[Any]:
    """The type of a column of text; `longest` is its number of characters, 0 when not known."""
    if system in MYSQL:
        if 0 < longest <= 1000:
            return mysql.VARCHAR(longest, charset="utf8mb4", collation="utf8mb4_bin")
        return mysql.LONGTEXT(charset="utf8mb4", collation="utf8mb4_bin")
    if system in ("mssql", "oracle"):
        return sa.Unicode(longest or 4000)
    return sa.Text()


def insert(session: Session, table: sa.Table, batches: Iterable[pa.RecordBatch]) -> None:
    """Put the batches into a table, in their order; its columns are those of the batches."""
    with session.working():
        if session.system == "postgresql":
            _copy(session, table, batches)
        else:
            for batch in batches:
                _insert(session, table, batch)


def _copy(session: Session, table: sa.Table, batches: Iterable[pa.RecordBatch]) -> None:
    preparer = session.connection.dialect.identifier_preparer
    columns = ", ".join(preparer.quote_identifier(column.name) for column in table.columns)
    statement = f"COPY {preparer.format_table(table)} ({columns}) FROM STDIN" % ()
    with session.driver.cursor() as cursor, cursor.copy(statement) as copy:
        for batch in batches:
            for start in range(0, batch.num_rows, BATCH):
                lines = copy_lines(batch.slice(start, BATCH))
                session.attend(lambda lines=lines: copy.write(lines))  # type: ignore[misc]


def copy_lines(batch: pa.RecordBatch) -> bytes:
    r"""Records in PostgreSQL's text format: tabs between values, `\N` for null."""
    columns = [_escaped(column) for column in batch.columns]
    tab, end, nothing = (pa.scalar(text, pa.large_string()) for text in ("\t", "\n", ""))
    rows = pc.binary_join_element_wise(
        *columns, tab, null_handling="replace", null_replacement="\\N"
    )
    lines = pc.binary_join_element_wise(rows, nothing, end)
    length = pc.sum(pc.binary_length(lines)).as_py() or 0
    return lines.buffers()[2].slice(0, length).to_pybytes()  # type: ignore[no-any-return]


def _escaped(column: pa.Array) -> pa.Array:
    """A column as text in which no character ends a value or a line."""
    text = column.cast(pa.large_string())
    if _is_text(column.type):
        for character, escape in (("\\", r"\\"), ("\t", r"\t"), ("\n", r"\n"), ("\r", r"\r")):
            text = pc.replace_substring(text, character, escape)
    return text


def _insert(session: Session, table: sa.Table, batch: pa.RecordBatch) -> None:
    """One INSERT for many records; the names of the parameters are ours."""
    keys = [f"p{i}" for i in range(batch.num_columns)]
    values = {
        column: sa.bindparam(key, type_=column.type)
        for column, key in zip(table.columns, keys, strict=True)
    }
    statement = sa.insert(table).values(values)
    for start in range(0, batch.num_rows, BATCH):
        part = batch.slice(start, BATCH)
        columns = [column.to_pylist() for column in part.columns]
        rows = [dict(zip(keys, row, strict=True)) for row in zip(*columns, strict=True)]
        session.attend(lambda rows=rows: session.connection.execute(statement, rows))  # type: ignore[misc]


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))
