"""What is refused before any long work, of an output that is a table of a DuckDB file."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import closing
from typing import TYPE_CHECKING

from shoal.engines.duckdb.session import Session
from shoal.engines.duckdb.staged import check_folder
from shoal.engines.duckdb.tables.attached import Attached, file_of
from shoal.engines.duckdb.tables.source import SOURCE, open_table, shown
from shoal.engines.duckdb.tables.staged import opened, undone_on_error
from shoal.engines.failures import names_differing_in_case
from shoal.engines.local_files import is_same_file
from shoal.engines.options import without_password
from shoal.errors import BadOutput

if TYPE_CHECKING:
    from shoal.engines.base import Source
    from shoal.engines.options import DatabaseOptions, DatabaseTarget


def check_url(url: str) -> None:
    """Refuse a URL that names no file."""
    file_of(url)


def check_table(target: DatabaseTarget) -> None:
    """Refuse a table that could not be made in the end: one is made, and undone."""
    check_folder(file_of(target.url))
    with closing(Session()) as session:
        output = opened(session, target)
        with undone_on_error(output):
            output.make("SELECT 1 AS c")
        output.undo()


def check_columns(target: DatabaseTarget, source: Source, released: Collection[str]) -> None:  # noqa: ARG001
    """Refuse names that one table of DuckDB cannot have: it ignores their case."""
    alike = names_differing_in_case(tuple(released))
    if alike is not None:
        raise BadOutput(
            f"the columns {alike[0]!r} and {alike[1]!r} differ only in case, which tables of DuckDB"
            " cannot have",
            code="names-differ-in-case",
            hint="write CSV or JSON, or rename or drop one of the columns",
        )


def is_there(target: DatabaseTarget) -> bool:
    """Whether there is a table, or a view, of the name of the target."""
    if not file_of(target.url).is_file():
        return False
    with closing(Session()) as session:
        output = Attached(session, file_of(target.url), SOURCE, shown(target))
        output.attach(writable=False)
        return output.found(output.meant(target.table))


def check_apart(
    options: DatabaseOptions, target: DatabaseTarget, *, is_member: bool = False
) -> None:
    """Refuse to replace a table that the source reads.

    `is_member` says that the source is one of several, or has columns with other names: then it is
    read by a session that does not write the release, and nobody can write to its file.
    """
    if not is_same_file(file_of(options.url), file_of(target.url)):
        return
    if is_member:
        raise BadOutput(
            f"{without_password(target.url)} would be read by one session and written by another,"
            " which DuckDB forbids: its source is one of several, or has columns renamed or left"
            " out",
            code="output-locked-by-source",
            hint="write to another file, or say it in a `query`",
        )
    if not is_there(target):
        return
    with closing(open_table(options)) as source:
        if source.is_read(target.table):
            raise BadOutput(
                f"the output {shown(target)} is read by the source, which would be lost",
                code="output-is-source",
                hint="write to another table",
            )
