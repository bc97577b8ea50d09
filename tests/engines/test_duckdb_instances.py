"""A session takes over an idle DuckDB of its process, and finds nothing of the one before."""

from __future__ import annotations

import os
import threading
from contextlib import closing
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

from shoal.engines.duckdb import session as sessions
from shoal.engines.duckdb.instances import MOST, OF_PROCESS, Instance
from shoal.engines.duckdb.session import Session
from shoal.engines.options import Resources


def instance_of(session: Session) -> Instance:
    assert session._used is not None
    return session._used.instance


def setting(session: Session, name: str) -> str:
    found = session.connection.execute(f"SELECT current_setting('{name}')").fetchone()
    assert found is not None
    return str(found[0])


def used_before() -> Instance:
    """The only idle instance, in which a session made all that a session can make."""
    OF_PROCESS.close_idle()
    with closing(Session()) as session:
        session.register("frame", pa.table({"a": [1, 2]}))
        session.execute("CREATE TABLE kept AS SELECT * FROM frame")
        session.execute("CREATE VIEW seen AS SELECT * FROM kept")
        session.execute("CREATE TEMP TABLE passing AS SELECT 1 AS one")
        session.execute("CREATE MACRO twice(x) AS 2 * x")
        session.distrust_statistics()
        session.execute("SET TimeZone = 'Asia/Tokyo'")
        session.execute(f"ATTACH '{session.folder / 'linked.duckdb'}' AS linked")
        session.execute("USE linked")
        session.execute("CREATE TABLE joined AS SELECT 1 AS one")
        return instance_of(session)


def test_the_next_session_takes_the_instance_and_nothing_else() -> None:
    before = used_before()
    with closing(Session()) as session:
        assert instance_of(session) is before
        for name in ("frame", "kept", "seen", "passing"):
            with pytest.raises(duckdb.CatalogException):
                session.connection.sql(f"SELECT * FROM {name}")
        with pytest.raises(duckdb.CatalogException):
            session.connection.sql("SELECT twice(1)")
        assert session.table("SELECT * FROM duckdb_tables()").num_rows == 0
        found = session.table("SELECT * FROM duckdb_databases() WHERE NOT internal")
        assert set(found.column("database_name").to_pylist()) == {"memory", "of_session"}
        assert setting(session, "disabled_optimizers") == ""
        assert setting(session, "TimeZone") == "UTC"
        assert setting(session, "temp_directory") == str(session.folder / "spill")


def test_sessions_that_are_open_together_have_instances_of_their_own() -> None:
    with closing(Session()) as one, closing(Session()) as other:
        assert instance_of(one) is not instance_of(other)


def test_another_configuration_is_another_instance() -> None:
    before = used_before()
    with closing(Session(Resources(threads=1))) as session:
        assert instance_of(session) is not before
        assert setting(session, "threads") == "1"
    with closing(Session(Resources(in_order=True))) as session:
        assert setting(session, "preserve_insertion_order").lower() == "true"


def test_an_instance_is_not_kept_after_an_error() -> None:
    session = Session()
    with pytest.raises(duckdb.Error):
        session.table("SELECT * FROM nowhere")
    failed = instance_of(session)
    session.close()
    assert failed not in OF_PROCESS.idle


def test_an_instance_is_not_kept_after_a_long_query(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "LONG", -1.0)
    session = Session()
    session.table("SELECT count(*) FROM range(30_000_000) t(i) WHERE hash(i) % 7 = 1")
    long = instance_of(session)
    session.close()
    assert long not in OF_PROCESS.idle


def test_a_replaced_file_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "data.parquet"

    def read() -> list[int]:
        with closing(Session()) as session:
            rows = session.table(f"SELECT a FROM read_parquet('{path}')")
            return [int(value) for value in rows.column("a").to_pylist()]

    times = (1_700_000_000, 1_700_000_000)
    for values in ([1, 2], [3, 4]):
        duckdb.sql(f"COPY (SELECT unnest({values}) AS a) TO '{path}' (FORMAT parquet)")
        os.utime(path, times)
        assert read() == values


def test_a_session_that_spilled_is_followed_by_one_that_spills_elsewhere(tmp_path: Path) -> None:
    small = Resources(memory_limit=60_000_000, spill_folder=tmp_path)
    for _ in range(2):
        with closing(Session(small)) as session:
            session.execute("CREATE TABLE t AS SELECT md5(i::VARCHAR) h FROM range(2000000) r(i)")
            assert list((session.folder / "spill").iterdir())
        assert list(tmp_path.iterdir()) == []


def test_few_idle_instances_are_kept() -> None:
    opened = [Session() for _ in range(MOST + 3)]
    for session in opened:
        session.close()
        session.close()
    assert len(OF_PROCESS.idle) <= MOST


def test_idle_instances_are_closed_before_a_fork() -> None:
    used_before()
    child = os.fork()
    if child == 0:
        with closing(Session()) as session:
            os._exit(0 if session.table("SELECT 42").num_rows == 1 else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert OF_PROCESS.idle == []


def test_threads_never_share_an_instance() -> None:
    wrong: list[object] = []

    def work() -> None:
        for number in range(20):
            with closing(Session()) as session:
                try:
                    session.execute(f"CREATE TABLE mine AS SELECT {number} AS n")
                    if session.table("SELECT n FROM mine").column("n").to_pylist() != [number]:
                        wrong.append(number)
                except duckdb.Error as error:
                    wrong.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
