"""A release never replaces a table that its source reads, whatever its name is."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import sqlalchemy as sa

import shoal
from servers import engine, load, rows_of, run_sql
from shoal.engines.database import check_table, session, stage_rows
from shoal.engines.options import DatabaseTarget

PATIENTS = pa.table({"zip": ["10115", "10117", "10119"] * 2, "ward": ["north"] * 6})
QUERIES = (
    "SELECT * FROM patients",
    "SELECT * FROM (SELECT p.* FROM patients p) AS inner_one -- all of them",
    "WITH few AS (SELECT * FROM patients) SELECT * FROM few",
    "SELECT zip, ward FROM wards UNION ALL SELECT zip, ward FROM patients",
    "SELECT zip, ward FROM wards WHERE zip IN (SELECT zip FROM patients)",
    "SELECT * FROM seen",
    "SELECT * FROM seen_again",
)


@pytest.fixture(params=["postgres", "mariadb", "sqlite"])
def url(request: pytest.FixtureRequest) -> Iterator[str]:
    """A database with two tables, a view over one of them and a view over that view."""
    url = str(request.getfixturevalue(f"{request.param}_url"))
    furnish(url)
    yield url
    clear(url)


@pytest.fixture
def postgres(postgres_url: str) -> Iterator[str]:
    furnish(postgres_url)
    yield postgres_url
    clear(postgres_url)


@pytest.fixture
def mariadb(mariadb_url: str) -> Iterator[str]:
    furnish(mariadb_url)
    yield mariadb_url
    clear(mariadb_url)


@pytest.fixture
def sqlite(tmp_path: Path) -> str:
    url = f"sqlite:///{tmp_path / 'clinic.db'}"
    furnish(url)
    return url


def clear(url: str) -> None:
    """Leave nothing to the tests after, which use the same server."""
    cascade = " CASCADE" if url.startswith("postgres") else ""
    for view in ("seen_again", "seen"):
        run_sql(url, f"DROP VIEW IF EXISTS {view}{cascade}")
    for table in ("patients", "wards"):
        run_sql(url, f"DROP TABLE IF EXISTS {table}{cascade}")


def furnish(url: str) -> None:
    clear(url)
    load(url, "patients", PATIENTS)
    load(url, "wards", PATIENTS)
    run_sql(url, "CREATE VIEW seen AS SELECT * FROM patients")
    run_sql(url, "CREATE VIEW seen_again AS SELECT zip, ward FROM seen")


def release(source: Any, output: Any) -> None:
    shoal.run(
        {
            "source": source,
            "output": output,
            "k": 2,
            "attributes": {
                "zip": {"role": "quasi-identifier", "hierarchy": {"mask": 5}},
                "ward": "keep",
            },
        }
    )


def refusal(url: str, source: Any, output: Any) -> str:
    """The code of the refusal; nothing is lost by it."""
    tables = [
        name for name in ("patients", "wards") if name in sa.inspect(engine(url)).get_table_names()
    ]
    before = [sorted(rows_of(url, name)) for name in tables]
    with pytest.raises(shoal.BadOutput) as caught:
        release(source, output)
    assert [sorted(rows_of(url, name)) for name in tables] == before
    return caught.value.code


def replaced(url: str, table: str) -> dict[str, Any]:
    return {"url": url, "table": table, "replace": True}


def changed(url: str, **parts: Any) -> str:
    return sa.make_url(url).set(**parts).render_as_string(hide_password=False)


def test_a_query_that_reads_the_output_is_refused(url: str) -> None:
    for query in QUERIES[2:5] if "mariadb" in url else QUERIES:
        source = {"url": url, "query": query}
        assert refusal(url, source, replaced(url, "patients")) == "output-is-source", query


def test_a_view_of_the_output_is_refused_however_deep(url: str) -> None:
    source = {"url": url, "table": "seen_again"}
    assert refusal(url, source, replaced(url, "patients")) == "output-is-source"


def test_one_of_several_sources_is_enough(url: str) -> None:
    sources = [{"url": url, "table": "wards"}, {"url": url, "table": "seen"}]
    code = "output-locked-by-source" if "sqlite" in url else "output-is-source"
    assert refusal(url, sources, replaced(url, "patients")) == code


@pytest.mark.slow
def test_a_table_that_the_source_does_not_read_is_replaced(url: str) -> None:
    load(url, "zip", pa.table({"x": ["old"]}))
    query = "SELECT zip, ward FROM patients AS wards WHERE zip LIKE '%1%' AND ward <> ':n' -- all"
    for source in ({"table": "seen"}, {"query": query}):
        release({"url": url, **source}, replaced(url, "zip"))
        release({"url": url, **source}, replaced(url, "wards"))
        assert len(rows_of(url, "zip")) == len(rows_of(url, "wards")) == 6


@pytest.mark.parametrize(
    ("source", "output"),
    [
        ("patients", "public.patients"),
        ("public.patients", "patients"),
        ("patients", '"patients"'),
        ('"public"."patients"', "patients"),
        ("patients", '"public".patients'),
    ],
)
def test_names_of_postgres_are_followed(postgres: str, source: str, output: str) -> None:
    place = {"url": postgres, "table": source}
    assert refusal(postgres, place, replaced(postgres, output)) == "output-is-source"


@pytest.mark.parametrize(
    ("source", "output"),
    [
        ("patients", "shoal.patients"),
        ("shoal.patients", "patients"),
        ("patients", "`patients`"),
        ("`shoal`.`patients`", "patients"),
    ],
)
def test_names_of_mariadb_are_followed(mariadb: str, source: str, output: str) -> None:
    place = {"url": mariadb, "table": source}
    assert refusal(mariadb, place, replaced(mariadb, output)) == "output-is-source"


@pytest.mark.parametrize("output", ["main.patients", "PATIENTS", '"Patients"', "[patients]"])
def test_names_of_sqlite_are_followed(sqlite: str, output: str) -> None:
    place = {"url": sqlite, "table": "patients"}
    assert refusal(sqlite, place, replaced(sqlite, output)) == "output-is-source"
    place = {"url": sqlite, "table": output}
    assert refusal(sqlite, place, replaced(sqlite, "patients")) == "output-is-source"


@pytest.mark.slow
def test_a_file_of_sqlite_is_recognised_by_any_path(sqlite: str, tmp_path: Path) -> None:
    file = tmp_path / "clinic.db"
    os.link(file, tmp_path / "hard.db")
    (tmp_path / "soft.db").symlink_to(file)
    (tmp_path / "folder").symlink_to(tmp_path)
    for other in (
        f"sqlite:///{tmp_path}/hard.db",
        f"sqlite:///{tmp_path}/soft.db",
        f"sqlite:///{tmp_path}/folder/./clinic.db",
        f"sqlite+pysqlite:///{file}?timeout=7",
        f"sqlite:///file:{file}?uri=true",
        f"sqlite:///file://{file}?uri=true&cache=private",
    ):
        assert refusal(sqlite, {"url": other, "table": "seen"}, replaced(sqlite, "patients"))
        assert refusal(sqlite, {"url": sqlite, "table": "seen"}, replaced(other, "patients"))
        release({"url": other, "table": "seen"}, replaced(sqlite, "wards"))


@pytest.mark.slow
def test_sources_that_would_lock_the_output_out_are_refused_before_the_run(sqlite: str) -> None:
    output = {"url": sqlite, "table": "new"}
    sources = [
        [{"url": sqlite, "table": "wards"}, {"url": sqlite, "table": "patients"}],
        {"url": sqlite, "table": "wards", "columns": ["zip", "ward"]},
    ]
    for source in sources:
        assert refusal(sqlite, source, output) == "output-locked-by-source"
    run_sql(sqlite, "PRAGMA journal_mode = wal")
    views = [{"url": sqlite, "table": "wards"}, {"url": sqlite, "table": "seen"}]
    assert refusal(sqlite, views, replaced(sqlite, "patients")) == "output-is-source"
    release(sources[0], output)
    assert len(rows_of(sqlite, "new")) == 12


def test_a_virtual_table_of_sqlite_may_read_any(sqlite: str) -> None:
    run_sql(
        sqlite,
        "CREATE VIRTUAL TABLE words USING fts5(zip, ward, content='patients')",
        "INSERT INTO words(words) VALUES ('rebuild')",
    )
    code = refusal(sqlite, {"url": sqlite, "table": "words"}, replaced(sqlite, "patients"))
    assert code == "output-may-be-source"


@pytest.mark.slow
def test_a_server_is_recognised_by_any_name(postgres: str, mariadb: str) -> None:
    ((folder,),) = run_sql(postgres, "SHOW unix_socket_directories")
    run_sql(
        postgres, "DROP ROLE IF EXISTS writer", "CREATE ROLE writer SUPERUSER LOGIN PASSWORD 'w'"
    )
    port = sa.make_url(postgres).port
    others = [
        changed(postgres, host="localhost"),
        changed(postgres, host=None, port=None, query={"host": folder, "port": str(port)}),
        changed(postgres, username="writer", password="w"),
    ]
    for other in others:
        for source in ({"table": "patients"}, {"query": QUERIES[1]}):
            began = time.monotonic()
            code = refusal(postgres, {"url": postgres, **source}, replaced(other, "patients"))
            assert code == "output-is-source"
            assert time.monotonic() - began < 10
        release({"url": postgres, "table": "patients"}, replaced(other, "wards"))
    source = {"url": mariadb, "table": "seen"}
    other = changed(mariadb, host="localhost", database="mysql")
    assert refusal(mariadb, source, replaced(other, "shoal.patients")) == "output-is-source"
    release(source, replaced(other, "shoal.wards"))


@pytest.mark.slow
def test_the_same_name_elsewhere_is_another_table(postgres: str, mariadb: str) -> None:
    for url in (postgres, mariadb):
        run_sql(url, "DROP SCHEMA IF EXISTS other" + " CASCADE" * ("postgres" in url))
        run_sql(url, "CREATE SCHEMA other", "CREATE TABLE other.patients (x INTEGER)")
        release({"url": url, "table": "patients"}, replaced(url, "other.patients"))
        assert len(run_sql(url, "SELECT zip FROM other.patients")) == 6
        assert len(rows_of(url, "patients")) == 6


def test_the_search_path_of_postgres_decides(postgres: str) -> None:
    run_sql(postgres, "DROP SCHEMA IF EXISTS app CASCADE", "CREATE SCHEMA app")
    there = changed(postgres, query={"options": "-csearch_path=app,public"})
    source = {"url": postgres, "table": "patients"}
    assert refusal(postgres, source, replaced(there, "patients")) == "output-is-source"
    release(source, replaced(there, "wards"))
    assert len(run_sql(postgres, "SELECT zip FROM public.wards")) == 6
    assert run_sql(postgres, "SELECT * FROM pg_tables WHERE schemaname = 'app'") == []
    run_sql(postgres, "CREATE TABLE app.patients (x INTEGER)")
    release(source, replaced(there, "patients"))
    assert len(run_sql(postgres, "SELECT zip FROM public.patients")) == 6


@pytest.mark.slow
def test_parts_and_parents_are_the_same_records(postgres: str) -> None:
    run_sql(
        postgres,
        "DROP TABLE IF EXISTS years, base CASCADE",
        "CREATE TABLE years (zip text, ward text, y int) PARTITION BY LIST (y)",
        "CREATE TABLE y1 PARTITION OF years FOR VALUES IN (1)",
        "CREATE TABLE y2 PARTITION OF years FOR VALUES IN (2)",
        "INSERT INTO years SELECT zip, ward, 1 FROM patients",
        "CREATE TABLE base (zip text, ward text)",
        "CREATE TABLE derived () INHERITS (base)",
        "INSERT INTO derived SELECT zip, ward FROM patients",
    )
    part = "SELECT zip, ward FROM {} WHERE y = 1"
    pairs = (
        ({"query": part.format("years")}, "y1"),
        ({"query": part.format("years")}, "y2"),
        ({"query": part.format("y1")}, "years"),
        ({"table": "base"}, "derived"),
        ({"table": "derived"}, "base"),
    )
    for source, output in pairs:
        code = refusal(postgres, {"url": postgres, **source}, replaced(postgres, output))
        assert code == "output-is-source", (source, output)
    assert len(rows_of(postgres, "years")) == len(rows_of(postgres, "base")) == 6


def test_a_materialized_view_of_the_output_is_refused(postgres: str) -> None:
    run_sql(postgres, "CREATE MATERIALIZED VIEW seen_before AS SELECT * FROM seen")
    source = {"url": postgres, "table": "seen_before"}
    assert refusal(postgres, source, replaced(postgres, "patients")) == "output-is-source"


def test_a_function_of_postgres_may_read_any_table(postgres: str, sqlite: str) -> None:
    """One that is declared immutable is accepted, until it is seen to have read the output."""
    made = (
        "CREATE OR REPLACE FUNCTION {}() RETURNS TABLE (zip text, ward text) LANGUAGE plpgsql {}"
        " AS 'BEGIN RETURN QUERY SELECT p.zip, p.ward FROM patients p; END'"
    )
    codes = []
    for name, kind in (("stable_one", "STABLE"), ("immutable_one", "IMMUTABLE")):
        run_sql(postgres, made.format(name, kind))
        source = {"url": postgres, "query": f"SELECT * FROM {name}()"}
        run_sql(postgres, f"CREATE OR REPLACE VIEW called AS {source['query']}")
        codes.append(refusal(postgres, source, replaced(postgres, "patients")))
        source = {"url": postgres, "table": "called"}
        codes.append(refusal(postgres, source, replaced(postgres, "patients")))
        release(source, replaced(sqlite, "wards"))
        run_sql(postgres, "DROP VIEW called")
    assert codes == ["output-may-be-source"] * 2 + ["output-is-source"] * 2
    release(
        {"url": postgres, "query": "SELECT upper(zip) AS zip, ward FROM patients"},
        replaced(postgres, "wards"),
    )


def test_a_function_of_mariadb_is_followed(mariadb: str) -> None:
    run_sql(
        mariadb,
        "CREATE OR REPLACE FUNCTION reading() RETURNS INT READS SQL DATA"
        " RETURN (SELECT count(*) FROM patients)",
    )
    source = {"url": mariadb, "query": "SELECT zip, ward FROM wards WHERE reading() > 0"}
    assert refusal(mariadb, source, replaced(mariadb, "patients")) == "output-is-source"


def test_a_table_of_mariadb_whose_records_are_elsewhere_may_be_the_output(mariadb: str) -> None:
    run_sql(mariadb, "INSTALL SONAME 'ha_federatedx'")
    try:
        own = mariadb.replace("mariadb://", "mysql://").partition("?")[0]
        columns = "zip LONGTEXT, ward LONGTEXT"
        run_sql(
            mariadb,
            f"CREATE OR REPLACE TABLE far ({columns}) ENGINE=FEDERATED CONNECTION='{own}/patients'"
            " CHARSET utf8mb4",
        )
        source = {"url": mariadb, "table": "far"}
        assert refusal(mariadb, source, replaced(mariadb, "patients")) == "output-may-be-source"
        release({"url": mariadb, "table": "patients"}, replaced(mariadb, "wards"))
    finally:
        run_sql(mariadb, "DROP TABLE IF EXISTS far", "UNINSTALL SONAME 'ha_federatedx'")


def test_a_user_of_mariadb_who_may_not_lock_learns_why_locks_are_needed(mariadb: str) -> None:
    rights = "SELECT, INSERT, CREATE, DROP, ALTER, CREATE TEMPORARY TABLES"
    run_sql(
        mariadb,
        "CREATE OR REPLACE USER little@'127.0.0.1' IDENTIFIED BY 'l'",
        f"GRANT {rights} ON shoal.* TO little@'127.0.0.1'",
    )
    url = changed(mariadb, username="little", password="l")
    source = {"url": url, "table": "seen"}
    with pytest.raises(shoal.BadOutput, match="LOCK TABLES") as caught:
        release(source, replaced(url, "patients"))
    assert caught.value.code == "output-may-be-source"
    run_sql(mariadb, "DROP TABLE wards")
    release(source, replaced(url, "wards"))


@pytest.mark.slow
def test_what_is_no_table_is_not_replaced(postgres: str, mariadb: str, sqlite: str) -> None:
    run_sql(postgres, "DROP SEQUENCE IF EXISTS numbers", "CREATE SEQUENCE numbers")
    run_sql(mariadb, "CREATE OR REPLACE SEQUENCE numbers")
    for url, name in ((mariadb, "numbers"), (sqlite, "SEEN"), (postgres, "seen")):
        with pytest.raises(shoal.BadOutput) as caught:
            check_table(DatabaseTarget(url, name, replace=True))
        assert caught.value.code == "output-not-a-table"
    run_sql(mariadb, "DROP SEQUENCE numbers")


@contextmanager
def locked(url: str, statement: str) -> Iterator[None]:
    """Another connection keeps the locks of a statement."""
    with engine(url).connect() as connection:
        connection.exec_driver_sql(statement)
        yield


@pytest.mark.slow
def test_a_lock_that_is_not_granted_names_its_holder(
    postgres: str, mariadb: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "LOCK_WAIT", 2)
    numbers = {postgres: "SELECT pg_backend_pid()", mariadb: "SELECT connection_id()"}
    for url, number in numbers.items():
        staged = stage_rows(DatabaseTarget(url, "wards", replace=True), PATIENTS.to_reader())
        with engine(url).connect() as other:
            holder = other.exec_driver_sql(number).scalar_one()
            other.exec_driver_sql("SELECT * FROM wards")
            began = time.monotonic()
            with pytest.raises(shoal.ShoalError) as caught:
                staged.publish()
            assert time.monotonic() - began < 10
        assert caught.value.code == "database-busy"
        assert f"connection {holder} of shoal" in str(caught.value)
        assert sorted(rows_of(url, "wards")) == sorted(rows_of(url, "patients"))
        assert [
            name for name in sa.inspect(engine(url)).get_table_names() if "shoal_" in name
        ] == []


@pytest.mark.slow
def test_a_locked_source_is_refused_in_time(
    postgres: str, mariadb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "LOCK_WAIT", 2)
    locking = {postgres: "LOCK TABLE patients", mariadb: "LOCK TABLES patients WRITE"}
    for url, statement in locking.items():
        with locked(url, statement), pytest.raises(shoal.ShoalError) as caught:
            release({"url": url, "table": "seen"}, str(tmp_path / "out.csv"))
        assert caught.value.code == "database-busy"
        assert "is held by" in str(caught.value)


def test_a_locked_file_of_sqlite_names_the_process(sqlite: str, tmp_path: Path) -> None:
    import sqlite3

    other = sqlite3.connect(tmp_path / "clinic.db", isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(shoal.ShoalError) as caught:
        check_table(DatabaseTarget(f"{sqlite}?timeout=0.1", "out"))
    other.close()
    assert caught.value.code == "database-busy"
    assert "held by this run" in str(caught.value)
