"""A table of Spark's catalog, staged under a name of its own until it is published."""

from __future__ import annotations

import contextlib
import re
import secrets
from typing import TYPE_CHECKING

from shoal.engines.base import Staged
from shoal.engines.local_files import is_left, owned
from shoal.engines.spark.reading import parts_of, sql_name, tables_beside
from shoal.engines.spark.relation import relation_of
from shoal.engines.spark.session import open_session
from shoal.engines.spark.source import SparkSource
from shoal.engines.spark.writing import prepared
from shoal.errors import BadData, BadOutput, UserError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from shoal.engines.options import SparkTarget
    from shoal.engines.spark.session import Session

STAGED = "shoal_staged_"
"""Prefix of staged tables."""
BEFORE = "_shoal_before"
"""Suffix of the backup of a table while it is replaced."""


def check_table(target: SparkTarget, session: Session) -> None:
    """Refuse a table that exists and may not be replaced, or that nobody could find later.

    Also drops what killed processes of this host left, and undoes an unfinished replacement.
    """
    parts = parts_of(target.name)
    if len(parts) < 3 or parts[0] == "spark_catalog":
        _check_session_catalog(target, parts, session)

    def check() -> None:
        catalog = session.spark.catalog
        if len(parts) > 1 and not catalog.databaseExists(sql_name(parts[:-1])):
            raise BadData(
                f"no schema {'.'.join(parts[:-1])!r} in Spark's catalog",
                code="no-schema",
                hint=f"create it, or quote a name that has a dot: `{target.name}`",
            )
        _sweep(session, parts)
        if catalog.tableExists(sql_name(parts)):
            kind = catalog.getTable(sql_name(parts)).tableType
            _refuse_to_replace(target, is_table=kind in ("MANAGED", "EXTERNAL"))

    session.run(check, target.name)


def _check_session_catalog(target: SparkTarget, parts: list[str], session: Session) -> None:
    """Spark's own catalog allows few names; in memory it forgets all tables with the session."""
    kept = session.spark.conf.get("spark.sql.catalogImplementation", "in-memory") != "in-memory"
    if session.is_own and not session.is_connect and not kept:
        raise BadOutput(
            f"the table {target.name!r} would be lost: this Spark keeps its catalog in memory",
            code="no-catalog",
            hint="write to a path (with a slash), pass a session with spark=, or set"
            " spark.sql.catalogImplementation to hive in spark-defaults.conf",
        )
    if not all(re.fullmatch(r"[A-Za-z0-9_]+", part) for part in parts):
        raise BadOutput(
            f"Spark's catalog allows no table of the name {target.name!r}",
            code="bad-table-name",
            hint="use letters from a to z, digits and underscores; a path has a slash",
        )


def _refuse_to_replace(target: SparkTarget, *, is_table: bool) -> None:
    if not is_table:
        raise BadOutput(
            f"{target.name!r} is a view, which is not replaced",
            code="table-exists",
            hint="choose another name",
        )
    if not target.replace:
        raise BadOutput(
            f"the table {target.name!r} is there already",
            code="table-exists",
            hint="say replace: true to replace it, or choose another name",
        )


def left_tables(target: SparkTarget, *, remove: bool) -> list[str]:
    """What killed processes of this host left beside a table; with `remove` it is put in order.

    Gives the staged tables, and the backup of an unfinished replacement.
    """
    session, parts = open_session(None, target.master), parts_of(target.name)
    try:
        sweep = _sweep if remove else _left
        return session.run(lambda: sweep(session, parts), target.name)
    finally:
        session.close()


def _left(session: Session, parts: list[str]) -> list[str]:
    """Tables whose process is gone, and the old table of a replacement that was not finished."""
    there = tables_beside(session.spark, parts)
    return [name for name in there if is_left(name, STAGED) or name == parts[-1] + BEFORE]


def _sweep(session: Session, parts: list[str]) -> list[str]:
    """Drop what is left, but put an old table back that nothing has replaced."""
    left = _left(session, parts)
    for name in left:
        aside = [*parts[:-1], name]
        if is_left(name, STAGED) or session.spark.catalog.tableExists(sql_name(parts)):
            session.spark.sql(f"DROP TABLE {sql_name(aside)}")
        else:
            _rename(session, aside, parts)
    return left


def _rename(session: Session, old: list[str], new: list[str]) -> None:
    session.spark.sql(f"ALTER TABLE {sql_name(old)} RENAME TO {sql_name(new)}")


class StagedCatalogTable(Staged):
    """A table in the output's own schema, published by a rename.

    Where a table is replaced there are two renames, between which there is no table of that name;
    when the second fails, the first is undone.
    """

    def __init__(self, target: SparkTarget, session: Session, *, owns_session: bool) -> None:
        self._target = target
        self._session = session
        self._owns_session = owns_session
        self._final = parts_of(target.name)
        unique = f"{owned(STAGED)}{secrets.token_hex(4)}".replace("-", "_")
        self._staged = [*self._final[:-1], unique]

    def write(self, frame: DataFrame, names: tuple[str, ...], name: str) -> None:
        """Write the columns r0, r1, ... of a frame under these names, after what is there."""

        def work() -> None:
            writer = prepared(frame, names, self._target.format).write.mode("append")
            if self._target.format is not None:
                writer = writer.format(self._target.format)
            writer.saveAsTable(sql_name(self._staged))

        self._session.run(work, name, f"the table {self._target.name}")

    def source(self) -> SparkSource:
        """The staged table, opened afresh."""
        spark, name = self._session.spark, self._target.name
        frame = self._session.run(lambda: spark.table(sql_name(self._staged)), name)
        return SparkSource(self._session.shared(), relation_of(frame, name, stored=True))

    def publish(self) -> str:
        """Rename it; a table in its place gets a backup name first, and is dropped afterwards."""
        try:
            self._session.run(self._rename_into_place, self._target.name, self._target.name)
        except UserError:
            self.discard()
            raise BadOutput(
                f"the table {self._target.name} cannot be put in place",
                code="output-not-published",
                hint="see that nobody made a table of that name meanwhile, and that its schema is"
                " still there",
            ) from None
        return self._target.name

    def discard(self) -> None:
        """Drop it; harmless after publish or when called twice."""
        with contextlib.suppress(UserError):
            drop = f"DROP TABLE IF EXISTS {sql_name(self._staged)}"
            self._session.run(lambda: self._session.spark.sql(drop), self._target.name)
        if self._owns_session:
            self._session.close()

    def _rename_into_place(self) -> None:
        session, aside = self._session, [*self._final[:-1], self._final[-1] + BEFORE]
        is_there = session.spark.catalog.tableExists(sql_name(self._final))
        if is_there:
            _refuse_to_replace(self._target, is_table=True)
            _rename(session, self._final, aside)
        try:
            _rename(session, self._staged, self._final)
        except BaseException:
            if is_there:
                _rename(session, aside, self._final)
            raise
        if is_there:
            session.spark.sql(f"DROP TABLE {sql_name(aside)}")
