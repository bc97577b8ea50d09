"""A real Spark cluster for tests: a standalone master and two workers, processes of their own.

They listen on loopback only, keep their files in a folder that is removed, and are started when
the first test asks for them. `conftest.py` names this module as a plug-in, so that all test files
share one cluster and one session.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import tempfile
import time
import warnings
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import pytest

from commands import TIME_LIMIT
from servers import needs_server

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LOOPBACK = "127.0.0.1"
QUICK_START = (
    "-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m -XX:MetaspaceSize=200m"
)
"""What makes a Java process start fast and stay small.

The quick compiler comes with a small code cache, which Spark fills: then Java compiles the same
methods again and again. Classes up to the size of the metaspace are loaded without a collection.
"""
SETTINGS = {
    "spark.app.name": "shoal-tests",
    "spark.cores.max": "2",
    "spark.default.parallelism": "2",
    "spark.driver.bindAddress": LOOPBACK,
    "spark.driver.extraJavaOptions": QUICK_START,
    "spark.driver.host": LOOPBACK,
    "spark.driver.memory": "1g",
    "spark.executor.cores": "1",
    "spark.executor.extraJavaOptions": QUICK_START,
    "spark.executor.memory": "512m",
    "spark.sql.session.timeZone": "America/Sao_Paulo",
    "spark.sql.shuffle.partitions": "2",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
"""Small, and in a time zone that no value may show."""


def write_defaults(folder: Path, **settings: str) -> None:
    """The settings of a session that the command makes, in a folder that SPARK_CONF_DIR names.

    One core is enough, and needs one executor.
    """
    small = {**SETTINGS, "spark.cores.max": "1", **settings}
    lines = [f"{key} {value}\n" for key, value in small.items()]
    (folder / "spark-defaults.conf").write_text("".join(lines))


class Cluster:
    """A master and its workers; `close` ends them all."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.environment = _environment(folder)
        self._processes: list[subprocess.Popen[bytes]] = []
        self._logs: list[IO[bytes]] = []
        self.workers: list[subprocess.Popen[bytes]] = []
        self.url = ""

    def start(self, workers: int = 2) -> None:
        """Start all at once; return when the master listens, which workers then join."""
        port = _free_port()
        self.url = f"spark://{LOOPBACK}:{port}"
        arguments = ["--host", LOOPBACK, "--port", str(port), "--webui-port", "0"]
        log = self._start("master", "org.apache.spark.deploy.master.Master", *arguments)
        for _ in range(workers):
            self.add_worker()
        _wait_for(log, "I have been elected leader")

    def start_connect(self) -> None:
        """Start a server of Spark Connect with a small Spark of its own, in one process."""
        port = _free_port()
        self.url = f"sc://{LOOPBACK}:{port}"
        settings = {
            **{name: value for name, value in SETTINGS.items() if "cores" not in name},
            "spark.connect.grpc.binding.address": LOOPBACK,
            "spark.connect.grpc.binding.port": str(port),
            "spark.sql.warehouse.dir": str(self._folder / "warehouse"),
        }
        stated = [word for pair in settings.items() for word in ("--conf", "=".join(pair))]
        server = "org.apache.spark.sql.connect.service.SparkConnectServer"
        self.environment["SPARK_DAEMON_MEMORY"] = "1g"
        main = ["org.apache.spark.deploy.SparkSubmit", "--master", "local[2]", "--class", server]
        log = self._start("connect", *main, *stated, "spark-internal")
        _wait_for(log, "Spark Connect server started")

    def add_worker(self) -> Path:
        """Start one more worker; returns its log."""
        name = f"worker-{len(self._processes)}"
        main = "org.apache.spark.deploy.worker.Worker"
        size = ["--cores", "2", "--memory", "2g", "--work-dir", str(self._folder / name)]
        log = self._start(name, main, "--host", LOOPBACK, "--webui-port", "0", *size, self.url)
        self.workers.append(self._processes[-1])
        return log

    def kill_worker(self) -> None:
        """Kill one worker as a failing machine would; its executors end with it."""
        worker = self.workers.pop()
        worker.kill()
        worker.wait()

    def replace_worker(self) -> None:
        """A new worker in place of one that was killed."""
        _wait_for(self.add_worker(), "Successfully registered with master")

    def close(self) -> None:
        """End all processes; workers end their executors first."""
        for process in reversed(self._processes):
            process.terminate()
        for process in self._processes:
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        for log in self._logs:
            log.close()

    def _start(self, name: str, main: str, *arguments: str) -> Path:
        path = self._folder / f"{name}.log"
        log = path.open("wb")
        self._logs.append(log)
        self._processes.append(
            subprocess.Popen(
                [f"{self.environment['SPARK_HOME']}/bin/spark-class", main, *arguments],
                env={**self.environment, "SPARK_LOCAL_DIRS": str(self._folder / "local")},
                cwd=self._folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                preexec_fn=_ignore_interrupts,
            )
        )
        return path


def _environment(folder: Path) -> dict[str, str]:
    import pyspark

    from shoal.engines.spark.java import find_java, home_for_spark

    return {
        **os.environ,
        "JAVA_HOME": str(home_for_spark(find_java(), folder)),
        "SPARK_DAEMON_JAVA_OPTS": QUICK_START,
        "SPARK_DAEMON_MEMORY": "256m",
        "SPARK_HOME": str(Path(pyspark.__file__).parent),
        "SPARK_LOCAL_IP": LOOPBACK,
    }


def _ignore_interrupts() -> None:
    """Ctrl-C is for the tests, which then end the cluster."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _free_port() -> int:
    with socket.socket() as candidate:
        candidate.bind((LOOPBACK, 0))
        return int(candidate.getsockname()[1])


def _wait_for(log: Path, words: str) -> None:
    """Return once a process says these words in its log."""
    end = time.monotonic() + TIME_LIMIT
    while words not in log.read_text(errors="replace"):
        if time.monotonic() > end:
            said = log.read_text(errors="replace")
            raise TimeoutError(f"{log.name} never said {words!r}:\n{said}")
        time.sleep(0.05)


@pytest.fixture(scope="session")
def spark_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A standalone master with two workers, each with a core to spare for a second session."""
    cluster = Cluster(tmp_path_factory.mktemp("cluster"))
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.close()


@pytest.fixture(scope="session")
def connect_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server of Spark Connect, `sc://127.0.0.1:PORT`."""
    server = Cluster(tmp_path_factory.mktemp("connect"))
    try:
        server.start_connect()
        yield server.url
    finally:
        server.close()


@pytest.fixture(scope="session")
def spark_master(spark_cluster: Cluster) -> str:
    """The address of the master, `spark://127.0.0.1:PORT`."""
    return spark_cluster.url


@pytest.fixture(scope="session")
def spark_session(
    spark_cluster: Cluster, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[SparkSession]:
    """A session on the cluster, as a user makes one, with tables in a folder of its own."""
    from pyspark.sql import SparkSession

    folder = tmp_path_factory.mktemp("spark")
    settings: dict[str, Any] = {
        **SETTINGS,
        "spark.local.dir": str(folder / "local"),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
    }
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PySpark's, about the version of pandas
        for key in ("JAVA_HOME", "SPARK_HOME", "SPARK_LOCAL_IP"):
            patch.setenv(key, spark_cluster.environment[key])
        session = SparkSession.builder.master(spark_cluster.url).config(map=settings).getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


@contextlib.contextmanager
def local_session() -> Iterator[SparkSession]:
    """A session inside this process, without a cluster, and stopped at the end."""
    from pyspark.sql import SparkSession

    with tempfile.TemporaryDirectory(prefix="test-spark-") as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PySpark's, about the version of pandas
        os.environ.update(_environment(Path(folder)))
        settings: dict[str, Any] = {
            **SETTINGS,
            "spark.local.dir": f"{folder}/local",
            "spark.sql.warehouse.dir": f"{folder}/warehouse",
        }
        session = SparkSession.builder.master("local[2]").config(map=settings).getOrCreate()
        session.sparkContext.setLogLevel("OFF")
        try:
            yield session
        finally:
            session.stop()


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> Generator[None, None, None]:
    """Run all tests that need the cluster in one test process, so that they share one cluster.

    Those of PostgreSQL and MariaDB share one server of each in the same way.
    Tests of pages are two groups of files, by a rule that halves them, each with a server and a
    browser of its own; those of servers with several users are another group.
    pytest-xdist finds the group of a test at the end of its node id, where its own hook puts it.
    pytest 9.2 keeps node ids under another name than that hook sets, so we put it there ourselves.
    """
    groups = {item: group for item in items if (group := _group_of(item)) is not None}
    for item, group in groups.items():
        item.add_marker(pytest.mark.xdist_group(group))
    yield
    if config.getoption("loadgroup", False):
        for item, group in groups.items():
            if not item.nodeid.endswith(f"@{group}"):
                item._id = type(item._id).parse(f"{item.nodeid}@{group}")


def _group_of(item: pytest.Item) -> str | None:
    if needs_server(item, "spark"):
        return "spark"
    if needs_server(item, "postgres") or needs_server(item, "mariadb"):
        return "databases"
    fixtures = getattr(item, "fixturenames", ())
    if "mart_server" in fixtures or "team_server" in fixtures:
        return "servers"
    if "ui_server" in fixtures or "browser" in fixtures:
        return f"pages-{len(item.path.stem) % 2}"
    return None
