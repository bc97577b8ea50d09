"""Tables and folders of a Spark cluster, and DataFrames: counted, recoded and released there.

Read in this order: `java.py` and `session.py` give a session, `connect.py` one of Spark Connect;
`reading.py` opens a table or a path;
`relation.py` and `values.py` say what a column's value is, and its text; `queries.py` has the two
queries, counting and recoding, and `joining.py` joins tables for a data mart; `source.py` puts them
together as a Source. A release is staged by `staging.py`, as a folder (`folder.py`, `storage.py`)
or a table (`catalog.py`), in the types of `writing.py`. `overlap.py` finds whether a source reads
what would be replaced, `failures.py` explains Spark's errors. The functions below import
PySpark when they are called.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from shoal.errors import MissingExtra

if TYPE_CHECKING:
    import pyarrow as pa

    from shoal.engines.base import Recoding, Source, Staged
    from shoal.engines.options import FileOptions, SparkOptions, SparkTarget, Target
    from shoal.engines.spark.source import FrameSource

__all__ = ["check_spark", "left_tables", "open_frame", "open_spark", "stage_recoded", "stage_rows"]


def open_spark(options: SparkOptions, session: Any = None) -> Source:
    """A table, view or path as a source; without a session one is made, and stopped by `close`."""
    _check_installed()
    from shoal.engines.spark.source import open_spark

    return open_spark(options, session)


def open_frame(frame: Any) -> FrameSource:
    """A Spark DataFrame as a source, in the session it belongs to."""
    from shoal.engines.spark.source import open_frame

    return open_frame(frame)


def check_spark(target: SparkTarget, session: Any = None) -> None:
    """Refuse, before any long work, a target that could not be written in the end.

    Also removes what killed processes left beside it.
    """
    _check_installed()
    from shoal.engines.spark.staging import check_spark

    check_spark(target, session)


def check_apart(
    options: SparkOptions, target: Target, session: Any = None, *, replaces_table: bool = False
) -> None:
    """Refuse to replace what a source of Spark reads, or may read.

    `replaces_table` says that the target replaces a table of a database.
    """
    _check_installed()
    from shoal.engines.spark.overlap import check_apart

    check_apart(options, target, session, replaces_table=replaces_table)


def check_files_apart(options: FileOptions, target: SparkTarget, session: Any = None) -> None:
    """Refuse to replace a table of Spark whose files are read as files."""
    _check_installed()
    from shoal.engines.spark.overlap import check_files_apart

    check_files_apart(options, target, session)


@contextmanager
def keep_session(master: str | None, session: Any = None) -> Iterator[None]:
    """Let all that is done meanwhile share one session, which is started and stopped once."""
    _check_installed()
    from shoal.engines.spark.session import open_session

    kept = open_session(session, master)
    try:
        yield
    finally:
        kept.close()


def stage_recoded(source: Source, recoding: Recoding, target: SparkTarget) -> Staged | None:
    """Recode in Spark, into a staged folder or table; None where Spark has not the source."""
    _check_installed()
    from shoal.engines.spark.staging import stage_recoded

    return stage_recoded(source, recoding, target)


def stage_rows(target: SparkTarget, rows: pa.RecordBatchReader, session: Any = None) -> Staged:
    """Stage a stream of records, in its order."""
    _check_installed()
    from shoal.engines.spark.staging import stage_rows

    return stage_rows(target, rows, session)


def left_tables(target: SparkTarget, *, remove: bool) -> list[str]:
    """What killed processes left beside a table of the catalog; with `remove` it is dropped."""
    _check_installed()
    from shoal.engines.spark.catalog import left_tables

    return left_tables(target, remove=remove)


def _check_installed() -> None:
    if find_spec("pyspark") is None:
        raise MissingExtra(
            "Spark needs pyspark, which is not installed",
            code="missing-driver",
            hint="install it: pip install 'shoal[spark]'",
        )
