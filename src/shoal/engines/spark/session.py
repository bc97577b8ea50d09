"""A Spark session: the caller's, the one that runs in this process already, or one of our own.

A process has one SparkContext at most. So whether one of ours is still in use is counted for the
process as a whole: it is stopped when the last source or staged output that uses it is closed.
"""

from __future__ import annotations

import os
import secrets
import signal
import socket
import subprocess
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import pyarrow as pa

from shoal.engines.options import shown_master
from shoal.engines.process import run_interruptible
from shoal.engines.spark import connect
from shoal.engines.spark.failures import explained, not_started
from shoal.engines.spark.java import java_in_environment
from shoal.errors import BadData

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Answer = TypeVar("Answer")

LOOPBACK = "127.0.0.1"
OWN = {
    "spark.app.name": "shoal",
    "spark.sql.session.timeZone": "UTC",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
"""Settings of a session of our own; the rest comes from spark-defaults.conf."""


class _Uses:
    """How many leases our own session of this process has.

    `warehouse` is the folder that Spark makes where it is started, None where one was before.
    `connected` is a session of our own at a server.
    """

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.count = 0
        self.warehouse: Path | None = None
        self.connected: SparkSession | None = None


_uses = _Uses()


class Session:
    """A session in use until `close`, whose queries Ctrl-C can stop.

    A session that we did not make is never stopped, and its settings are never changed.
    """

    def __init__(self, spark: SparkSession, *, is_own: bool) -> None:
        self.spark = spark
        self.is_own = is_own
        self._is_open = True
        self._tag = f"shoal-{secrets.token_hex(8)}"

    @property
    def is_connect(self) -> bool:
        """Whether Java is at a server, out of reach."""
        return connect.is_connect(self.spark)

    def close(self) -> None:
        """Give the session back; harmless when called twice."""
        with _uses.lock:
            if self.is_own and self._is_open:
                _uses.count -= 1
                if _uses.count == 0:
                    with suppress(Exception):
                        self.spark.stop()
                    _uses.connected = None
                    if _uses.warehouse is not None:
                        with suppress(OSError):  # not there, or tables are in it
                            _uses.warehouse.rmdir()
            self._is_open = False

    def shared(self) -> Session:
        """The same session for one more user, whose `close` does not end it for this one."""
        return Session(self.spark, is_own=False)

    def run(self, work: Callable[[], Answer], name: str, written: str = "") -> Answer:
        """Run a call to Spark so that Ctrl-C can stop its jobs.

        When this thread is interrupted, it asks Spark to cancel the jobs of this session until the
        work has ended, and only then lets the interrupt go on. `name` is what messages call the
        data that is read, `written` what is written.
        """
        from pyspark import InheritableThread

        def tagged() -> Answer:
            if self.is_connect:
                self.spark.addTag(self._tag)
            else:
                self.spark.sparkContext.addJobTag(self._tag)
            return work()

        kind: Any = threading.Thread if self.is_connect else InheritableThread
        try:
            return run_interruptible(tagged, self.cancel, thread=kind)
        except Exception as error:
            raise explained(error, name, written) from None

    def cancel(self) -> None:
        """Ask Spark to stop what this session does; asking twice does no harm."""
        if self.is_connect:
            connect.cancel(self.spark, self._tag)
            return
        with suppress(Exception):
            self.spark.sparkContext.cancelJobsWithTag(self._tag)

    @contextmanager
    def batches(
        self, frame: DataFrame, names: Sequence[str], name: str
    ) -> Iterator[pa.RecordBatchReader]:
        """The rows of a frame as a stream of batches under these names, never all in memory.

        Spark turns each partition into Arrow where it lies; the driver fetches one partition while
        the one before is read. Jobs that still run in the end are stopped. `name` is what messages
        call the data.
        """
        from pyspark.core.rdd import RDD
        from pyspark.serializers import NoOpSerializer

        def unpacked(packed: Iterator[bytes], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
            for message in packed:
                yield pa.ipc.read_record_batch(pa.py_buffer(message), schema)

        def prepare() -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
            if self.is_connect:
                return connect.batches(frame)
            schema = frame.limit(0).toArrow().schema
            packed = frame._jdf.toArrowBatchRdd().toJavaRDD()
            rows: RDD[bytes] = RDD(packed, self.spark.sparkContext, NoOpSerializer())
            return schema, unpacked(rows.toLocalIterator(prefetchPartitions=True), schema)

        schema, made = self.run(prepare, name)
        renamed = schema.empty_table().rename_columns(list(names)).schema

        def explaining() -> Iterator[pa.RecordBatch]:
            try:
                for batch in made:
                    yield batch.rename_columns(list(names))
            except Exception as error:
                raise explained(error, name) from None

        try:
            yield pa.RecordBatchReader.from_batches(renamed, explaining())
        finally:
            self.cancel()

    @property
    def jvm(self) -> Any:
        """Java's side of the session, for the file systems that only it knows."""
        if self.is_connect:
            raise connect.no_files()
        return self.spark.sparkContext._jvm


def open_session(spark: Any = None, master: str | None = None) -> Session:
    """The caller's session; else the one that runs here already; else a new one on the master."""
    if spark is not None:
        _check_usable(spark)
        return Session(spark, is_own=False)
    with _uses.lock:
        running = _running()
        if running is not None:
            check_master(running, master)
        if running is not None and not _uses.count:
            return Session(running, is_own=False)
        if running is None and master is not None and master.startswith(connect.SCHEME):
            running = _uses.connected = connect.start(master)
        elif running is None:
            warehouse = Path("spark-warehouse").absolute()
            _uses.warehouse = None if warehouse.exists() else warehouse
        session = Session(running or _start(master), is_own=True)
        _uses.count += 1
        return session


def _check_usable(spark: Any) -> None:
    """A stopped session has nothing at all."""
    if connect.is_connect(spark) and connect.is_usable(spark):
        return
    context = None
    with suppress(Exception):
        context = spark.sparkContext._jsc
    if context is None:
        raise BadData(
            "the Spark session that was given is stopped, or is none",
            code="no-spark-session",
            hint="give a running SparkSession",
        )


def _running() -> SparkSession | None:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    if _uses.connected is not None:
        return _uses.connected
    if SparkContext._active_spark_context is None:
        return None
    return SparkSession.getActiveSession() or SparkSession.builder.getOrCreate()


def check_master(running: SparkSession, master: str | None) -> None:
    """Refuse a master that is not the one of the running session: a process has one at a time."""
    if master is None:
        return
    if connect.is_connect(running):
        server = connect.server_of_session(running)
        fits = master.startswith(connect.SCHEME) and connect.server_of(master) == server
        other = f"{connect.SCHEME}{server}" if server else "a server"
    else:
        other = str(running.sparkContext.master)
        fits = master == other
    if not fits:
        raise BadData(
            f"this process has a Spark session on {other} already, and can have none on"
            f" {shown_master(master)}",
            code="no-spark-session",
            hint="stop the session first, give it with spark=, or leave `master` out",
        )


def _start(master: str | None) -> SparkSession:
    """A new session; nothing of it is printed on the terminal."""
    from pyspark import SparkConf, SparkContext
    from pyspark.java_gateway import launch_gateway
    from pyspark.sql import SparkSession

    master = master or os.environ.get("SPARK_MASTER")
    if master is not None:
        _check_reachable(master)
    settings = dict(OWN)
    if master is None or master.startswith("local"):
        settings |= {"spark.driver.bindAddress": LOOPBACK, "spark.driver.host": LOOPBACK}
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with java_in_environment(), _signals_kept(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            if SparkContext._gateway is None:
                gateway = launch_gateway(popen_kwargs=quiet)  # type: ignore[no-untyped-call]
                SparkContext._ensure_initialized(gateway=gateway)
            conf = SparkConf(_jvm=SparkContext._jvm).setAll(list(settings.items()))
            conf.setIfMissing("spark.master", "local[*]")
            if master is not None:
                conf.setMaster(master)
            context = SparkContext(conf=conf)
            context.setLogLevel("ERROR")
            return SparkSession(context)
        except Exception as error:
            raise not_started(error, master) from None


@contextmanager
def _signals_kept() -> Iterator[None]:
    """A SparkContext takes Ctrl-C for itself; afterwards it means again what it meant before."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _check_reachable(master: str) -> None:
    """Refuse a standalone master that does not answer: Spark would try for a minute."""
    if not master.startswith("spark://"):
        return
    for address in master.removeprefix("spark://").split(","):
        host, _, port = address.rpartition(":")
        with suppress(OSError, ValueError), socket.create_connection((host, int(port)), timeout=5):
            return
    raise BadData(
        f"no Spark master answers at {master}",
        code="cannot-connect",
        hint="see that it runs and that host and port are right",
    )
