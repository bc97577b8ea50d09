"""Spark Connect: a session whose Java is on another machine, reached at `sc://host:port`.

It has no Hadoop file systems and shows no plans. So what needs them is refused: a folder cannot be
published, and nothing that is there is replaced. Reading, counting, recoding and tables of the
catalog are requests that any session answers.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pyarrow as pa

from shoal.engines.options import shown_master
from shoal.errors import BadData, BadOutput, MissingExtra

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SCHEME = "sc://"
_PORT = 15002
"""That of a server that does not say another."""
_NEEDED = ("googleapis-common-protos", "grpcio", "grpcio-status", "pandas", "zstandard")


def is_connect(spark: Any) -> bool:
    """Whether a session is one of Spark Connect."""
    return type(spark).__module__.startswith("pyspark.sql.connect.")


def server_of(master: str) -> str:
    """The server that a master names, by host and port; nothing where its port is no number."""
    url = urlsplit(shown_master(master))
    try:
        return f"{url.hostname}:{url.port or _PORT}"
    except ValueError:
        return ""


def server_of_session(spark: Any) -> str | None:
    """The server of a session, by host and port; None where its channel does not say."""
    found: str | None = getattr(getattr(spark.client, "_builder", None), "endpoint", None)
    return found


def start(master: str) -> SparkSession:
    """A new session at the server; an error at once where nothing answers."""
    if missing := [name for name in _NEEDED if not _is_installed(name)]:
        raise MissingExtra(
            f"Spark Connect needs {', '.join(missing)}, which is not installed",
            code="missing-driver",
            hint="install it: pip install 'shoal[spark-connect]'",
        )
    try:
        host, _, port = server_of(master).rpartition(":")
        socket.create_connection((host, int(port)), timeout=5).close()
    except (OSError, ValueError):
        raise BadData(
            f"no Spark Connect server answers at {shown_master(master)}",
            code="cannot-connect",
            hint="see that it runs and that host and port are right",
        ) from None
    from pyspark.sql import SparkSession

    return SparkSession.builder.remote(master).create()


def _is_installed(name: str) -> bool:
    try:
        version(name)
    except PackageNotFoundError:
        return False
    return True


def is_usable(spark: Any) -> bool:
    """Whether a session has not been stopped."""
    return not getattr(spark, "is_stopped", True)


def batches(frame: DataFrame) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
    """The rows of a frame as the server sends them, and their schema; never all in memory."""
    schema = frame.limit(0).toArrow().schema
    plan: Any = frame
    request = plan._plan.to_proto(plan.sparkSession.client)
    answers = plan.sparkSession.client.to_table_as_iterator(request, plan._plan.observations)

    def sent() -> Iterator[pa.RecordBatch]:
        for answer in answers:
            if isinstance(answer, pa.Table):
                yield from answer.cast(schema).to_batches()

    return schema, sent()


def cancel(spark: Any, tag: str) -> None:
    """Ask the server to stop what has a tag."""
    with suppress(Exception):
        spark.interruptTag(tag)


def no_files() -> BadOutput:
    """A path cannot be published."""
    return BadOutput(
        "files of Spark cannot be published over Spark Connect, which has no file systems",
        code="spark-connect-files",
        hint="write a table of the catalog, an object of S3, a database or a file of this machine",
    )


def may_be_source(shown: str) -> BadOutput:
    """Something that is there is not replaced."""
    return BadOutput(
        f"the output {shown} is there already, and Spark Connect does not show whether the source"
        " reads it",
        code="output-may-be-source",
        hint="write to a place where nothing is yet, or remove what is there yourself",
    )
