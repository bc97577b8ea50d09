"""Which engine does what: opens a source, checks a target, writes a release.

This is the only module that knows all engines. It imports an engine when it is needed.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, Protocol

from shoal.engines.base import GivenFrame
from shoal.engines.failures import not_releasable, unknown_column
from shoal.engines.local_files import is_duckdb
from shoal.engines.object_store.address import Address, is_object
from shoal.engines.options import (
    DatabaseOptions,
    DatabaseTarget,
    FileOptions,
    FileTarget,
    ObjectTarget,
    Resources,
    SparkOptions,
    SparkTarget,
    UnitedOptions,
)
from shoal.errors import BadOutput

if TYPE_CHECKING:
    import pyarrow as pa

    from shoal.engines.base import Recoding, Source, Staged
    from shoal.engines.options import SourceOptions, Target


def open_source(
    options: SourceOptions,
    expect: Collection[str] = (),
    *,
    resources: Resources = Resources(),  # noqa: B008 frozen
    spark: Any = None,
) -> Source:
    """Open what the options name.

    `expect` are column names that the caller expects; they help to tell a header from a record.
    `spark` is a session to use, in place of one that is made.
    """
    if isinstance(options, FileOptions):
        from shoal.engines.duckdb.files import open_files

        return open_files(options, expect, resources=resources)
    if isinstance(options, DatabaseOptions):
        return _tables(options.url).open_table(options, resources=resources)
    if isinstance(options, UnitedOptions):
        from shoal.engines.united import open_united

        _check_urls(options)

        def open_member(
            member: SourceOptions, expected: Collection[str], shared: Resources
        ) -> Source:
            return open_source(member, expected, resources=shared, spark=spark)

        return open_united(options, open_member, expect, resources=resources)
    from shoal.engines.spark import open_spark

    return open_spark(options, spark)


class Tables(Protocol):
    """What an engine does for tables that a URL leads to; a module is one."""

    def check_url(self, url: str) -> None:
        """Refuse a URL that cannot be used."""

    def open_table(self, options: DatabaseOptions, *, resources: Resources) -> Source:
        """Open a table, view or query."""

    def is_there(self, target: DatabaseTarget) -> bool:
        """Whether there is a table, or a view, of the name of the target."""

    def check_table(self, target: DatabaseTarget) -> None:
        """Refuse a table that could not be made in the end."""

    def check_columns(
        self, target: DatabaseTarget, source: Source, released: Collection[str]
    ) -> None:
        """Refuse columns that the table cannot hold."""

    def check_apart(
        self, options: DatabaseOptions, target: DatabaseTarget, *, is_member: bool = False
    ) -> None:
        """Refuse to replace a table that the source reads."""

    def stage_recoded(
        self, source: Source, recoding: Recoding, target: DatabaseTarget
    ) -> Staged | None:
        """Recode inside of the engine; None where it does not hold the source."""

    def stage_rows(
        self, target: DatabaseTarget, rows: pa.RecordBatchReader, resources: Resources
    ) -> Staged:
        """Write a stream to a table, in its order."""


def _tables(url: str) -> Tables:
    if is_duckdb(url):
        from shoal.engines.duckdb import tables as of_duckdb

        return of_duckdb
    from shoal.engines import database

    return database


def _check_urls(options: UnitedOptions) -> None:
    """Refuse a URL of a database that cannot be used, before any member is read."""
    for each in _each(options):
        if isinstance(each, DatabaseOptions):
            _tables(each.url).check_url(each.url)


def records_by_source(source: Source, records: int) -> dict[str, int]:
    """How many records each source has: of a united table each member, else all."""
    from shoal.engines.united import UnitedSource

    return (
        source.records_by_member() if isinstance(source, UnitedSource) else {source.name: records}
    )


def check_columns(source: Source, target: Target | None, released: Collection[str]) -> None:
    """Refuse, before the search, columns whose values could not be released as they are."""
    for column in source.columns():
        if column.fault and column.name in released:
            raise not_releasable(column.name, source.name, column.fault)
    if isinstance(target, ObjectTarget):
        target = target.file()
    if isinstance(target, DatabaseTarget):
        _tables(target.url).check_columns(target, source, released)
    elif isinstance(target, SparkTarget):
        from shoal.engines.failures import check_nanoseconds

        check_nanoseconds(source, released, target.name)
    elif target is not None:
        from shoal.engines.duckdb.writing import check_columns as check_for_file

        check_for_file(target, source, released)


def check_names(source: Source, names: Collection[str]) -> None:
    """Refuse a source that lacks one of these columns."""
    columns = [column.name for column in source.columns()]
    for name in names:
        if name not in columns:
            raise unknown_column(name, source.name, columns)


def check_records(target: Target, records: int) -> None:
    """Refuse a release with at least this many records if its target cannot hold them."""
    if isinstance(target, ObjectTarget):
        target = target.file()
    if isinstance(target, FileTarget):
        from shoal.engines.duckdb.writing import check_records

        check_records(target, records)


def check_target(target: Target, *, spark: Any = None) -> None:
    """Refuse, before any long work, a target that could not be written in the end."""
    if isinstance(target, FileTarget):
        from shoal.engines.duckdb.staged import check_file

        check_file(target)
    elif isinstance(target, ObjectTarget):
        from shoal.engines.duckdb.staged_object import check_target as check_object

        check_object(target)
    elif isinstance(target, DatabaseTarget):
        _tables(target.url).check_table(target)
    else:
        from shoal.engines.spark import check_spark

        check_spark(target, spark)


def check_apart(options: SourceOptions, target: Target, *, spark: Any = None) -> None:
    """Refuse, before any long work, a target that would overwrite the source.

    Files that are read and written as files are compared where the definition is checked.
    """
    for each in _each(options):
        if isinstance(target, ObjectTarget):
            _check_object_apart(each, target)
        elif isinstance(each, DatabaseOptions) and isinstance(target, DatabaseTarget):
            if is_duckdb(each.url) == is_duckdb(target.url):
                united = isinstance(options, UnitedOptions)
                _tables(target.url).check_apart(each, target, is_member=united)
        elif isinstance(each, SparkOptions):
            from shoal.engines.spark import check_apart as check_spark_apart

            replaces = _replaces_table(target)
            check_spark_apart(each, target, spark, replaces_table=replaces)
        elif isinstance(each, FileOptions) and isinstance(target, SparkTarget):
            from shoal.engines.spark import check_files_apart

            check_files_apart(each, target, spark)


def _check_object_apart(
    options: FileOptions | DatabaseOptions | SparkOptions, target: ObjectTarget
) -> None:
    """Refuse to replace an object that is read; Spark spells its scheme s3a."""
    place = Address.of(target.url)
    url = ""
    if isinstance(options, FileOptions):
        url = options.path
    elif isinstance(options, SparkOptions):
        url = re.sub("^s3[an]:", "s3:", options.name)
    if not is_object(url):
        return
    read = Address.of(url)
    if read.bucket == place.bucket and read.matches(place.key):
        raise BadOutput(
            f"the output {target.url} is read by the source, which would be lost",
            code="output-is-source",
            hint="write to another key",
        )


@contextmanager
def one_session(
    sources: Iterable[SourceOptions], target: Target | None = None, *, spark: Any = None
) -> Iterator[None]:
    """Keep one session of Spark from the checks of a run to its end, where it needs one.

    It is on the master that one of the sources or the target names.
    """
    places = (*(each for options in sources for each in _each(options)), target)
    of_spark = [each for each in places if isinstance(each, SparkOptions | SparkTarget)]
    with ExitStack() as kept:
        if of_spark:
            from shoal.engines.spark import keep_session

            masters = (each.master for each in of_spark if each.master is not None)
            kept.enter_context(keep_session(next(masters, None), spark))
        yield


def _each(options: SourceOptions) -> list[FileOptions | DatabaseOptions | SparkOptions]:
    """Every member of a united source, or the source itself."""
    if isinstance(options, UnitedOptions):
        return [member.options for member in options.members]
    return [options]


def _replaces_table(target: Target) -> bool:
    """Whether a table of a database is there that the target replaces."""
    if not isinstance(target, DatabaseTarget) or not target.replace:
        return False
    return _tables(target.url).is_there(target)


def recode_into(
    source: Source, recoding: Recoding, target: Target | None, *, spark: Any = None
) -> Staged:
    """Stage the recoded table, in an order of its own values.

    The engine that holds the source writes a target of its own in one step, where the data is. Any
    other target gets the stream of `recoded`. Without a target it is staged in memory: of a frame
    as a frame of the same kind, else as an Arrow table.
    """
    if target is None:
        return _recode_in_memory(source, recoding)
    staged = _recode_inside(source, recoding, target)
    if staged is not None:
        return staged
    with source.recoded(recoding) as rows:
        return _stage_stream(target, rows, source.resources, spark)


def _recode_in_memory(source: Source, recoding: Recoding) -> Staged:
    if isinstance(source, GivenFrame):
        return source.stage_frame(recoding)
    from shoal.engines.frames.source import StagedTable

    with source.recoded(recoding) as rows:
        return StagedTable(rows.read_all(), source.resources)


def _recode_inside(source: Source, recoding: Recoding, target: Target) -> Staged | None:
    """What the engine of the target stages itself; None where it does not hold the source."""
    if isinstance(target, FileTarget):
        from shoal.engines.duckdb.staged import stage_recoded as stage_in_file

        return stage_in_file(source, recoding, target)
    if isinstance(target, ObjectTarget):
        from shoal.engines.duckdb.staged_object import stage_recoded as stage_in_object

        return stage_in_object(source, recoding, target)
    if isinstance(target, DatabaseTarget):
        return _tables(target.url).stage_recoded(source, recoding, target)
    from shoal.engines.spark import stage_recoded as stage_in_spark

    return stage_in_spark(source, recoding, target)


def _stage_stream(
    target: Target, rows: pa.RecordBatchReader, resources: Resources, spark: Any
) -> Staged:
    """Stage a stream of records, in its order.

    When the stream itself fails, its own error is raised, not what the target makes of it.
    """
    failures: list[BaseException] = []

    def watched() -> Iterator[pa.RecordBatch]:
        try:
            yield from rows
        except GeneratorExit:  # the target failed and reads no further
            raise
        except BaseException as error:
            failures.append(error)
            raise

    stream = type(rows).from_batches(rows.schema, watched())
    try:
        return _stage_rows(target, stream, resources, spark)
    except BaseException:
        if failures:
            try:
                raise failures[0] from None
            finally:
                failures.clear()  # an error keeps this frame, which must not keep the error
        raise


def _stage_rows(
    target: Target, rows: pa.RecordBatchReader, resources: Resources, spark: Any
) -> Staged:
    if isinstance(target, FileTarget):
        from shoal.engines.duckdb.staged import stage_rows as stage_in_file

        return stage_in_file(target, rows, resources)
    if isinstance(target, ObjectTarget):
        from shoal.engines.duckdb.staged_object import stage_rows as stage_in_object

        return stage_in_object(target, rows, resources)
    if isinstance(target, DatabaseTarget):
        return _tables(target.url).stage_rows(target, rows, resources)
    from shoal.engines.spark import stage_rows as stage_in_spark

    return stage_in_spark(target, rows, spark)
