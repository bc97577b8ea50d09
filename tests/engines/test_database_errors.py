"""What goes wrong with databases, in our words and without passwords."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import sqlalchemy as sa

import shoal
from servers import PASSWORD, load, run_sql
from shoal.engines.database import check_table, open_table, stage_rows
from shoal.engines.database.dialects.postgres import Postgres
from shoal.engines.options import DatabaseOptions, DatabaseTarget
from shoal.errors import MissingExtra


def refusal(url: str, table: str = "people", query: str | None = None) -> shoal.ShoalError:
    with pytest.raises(shoal.ShoalError) as caught:
        open_table(DatabaseOptions(url, None if query else table, query))
    assert PASSWORD not in f"{caught.value} {caught.value!r} {caught.value.__context__}"
    return caught.value


def changed(url: str, **parts: object) -> str:
    return sa.make_url(url).set(**parts).render_as_string(hide_password=False)  # type: ignore[arg-type]


def test_a_wrong_password_is_refused_without_showing_it(
    postgres_url: str, mariadb_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for url in (postgres_url, mariadb_url):
        error = refusal(changed(url, password="not-this-one"))
        assert error.code == "login-refused"
        assert "not-this-one" not in str(error)


def test_a_server_that_is_not_there_is_named(postgres_url: str, mariadb_url: str) -> None:
    for url in (postgres_url, mariadb_url):
        assert refusal(changed(url, port=1)).code == "cannot-connect"
        assert refusal(changed(url, database="nowhere")).code == "no-database"


def test_the_password_comes_from_the_environment(
    postgres_url: str, mariadb_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET", PASSWORD)
    monkeypatch.setenv("WHOLE", postgres_url)
    for url in (postgres_url, mariadb_url, "${WHOLE}"):
        load(postgres_url if url == "${WHOLE}" else url, "people", pa.table({"x": ["a"]}))
        with open_table(DatabaseOptions(url.replace(PASSWORD, "${SECRET}"), "people")) as source:
            assert source.count_by([]).num_rows == 1
            assert PASSWORD not in source.name
    for url, variable in ((postgres_url, "PGPASSWORD"), (mariadb_url, "MYSQL_PWD")):
        monkeypatch.setenv(variable, PASSWORD)
        with open_table(DatabaseOptions(url.replace(f":{PASSWORD}", ""), "people")) as source:
            assert source.count_by([]).num_rows == 1


def test_the_password_comes_from_the_files_of_the_usual_clients(
    postgres_url: str, mariadb_url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / ".my.cnf").write_text(f"[client]\npassword={PASSWORD}\n")
    (tmp_path / "pgpass").write_text(f"*:*:*:*:{PASSWORD}\n")
    (tmp_path / "pgpass").chmod(0o600)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PGPASSFILE", str(tmp_path / "pgpass"))
    for url in (postgres_url, mariadb_url):
        load(url, "people", pa.table({"x": ["a"]}))
        with open_table(DatabaseOptions(url.replace(f":{PASSWORD}", ""), "people")) as source:
            assert source.count_by([]).num_rows == 1


def test_a_variable_that_is_not_set_is_named() -> None:
    error = refusal("postgresql://me:${NOT_SET_ANYWHERE}@host/db")
    assert error.code == "no-variable"
    assert "NOT_SET_ANYWHERE" in str(error)


def test_what_is_no_url_of_a_database_is_refused() -> None:
    assert refusal("nonsense").code == "bad-url"


@pytest.mark.parametrize("scheme", ["oracle", "mssql+pyodbc", "postgre", "http"])
def test_a_database_that_is_not_supported_is_refused_with_those_that_are(scheme: str) -> None:
    error = refusal(f"{scheme}://me:{PASSWORD}@host/db")
    assert error.code == "unsupported-database"
    for title in ("PostgreSQL", "MySQL", "MariaDB", "SQLite", "file"):
        assert title in error.hint
    assert PASSWORD not in str(error)


def test_a_misspelled_kind_of_database_is_recognised() -> None:
    assert "did you mean 'postgres'" in str(refusal("postgre://host/db"))


@pytest.mark.parametrize("side", ["source", "output"])
def test_nothing_is_read_where_a_database_is_not_supported(side: str, tmp_path: Path) -> None:
    file, table = str(tmp_path / "missing.csv"), {"url": "oracle://host/db", "table": "people"}
    definition = {"k": 2, "attributes": {"zip": "quasi-identifier"}}
    places: dict[str, Any]
    if side == "source":
        places = {"source": [{"path": file}, table], "output": str(tmp_path / "out.csv")}
    else:
        places = {"source": file, "output": table}
    with pytest.raises(shoal.ShoalError) as caught:
        shoal.run({**definition, **places})
    assert caught.value.code == "unsupported-database"


def test_a_driver_that_is_not_installed_is_named_with_its_command(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Postgres, "module", "no_such_driver")
    error = refusal("postgresql://host/db")
    assert isinstance(error, MissingExtra)
    assert error.hint == "install it: pip install 'shoal[databases]'"


def test_a_table_that_is_not_there_is_refused_with_the_nearest_name(
    postgres_url: str, mariadb_url: str, sqlite_url: str
) -> None:
    for url in (postgres_url, mariadb_url, sqlite_url):
        load(url, "patients", pa.table({"x": ["a"]}))
        error = refusal(url, "Patient")
        assert error.code == "no-table"
        assert "did you mean 'patients'?" in str(error)
        assert refusal(url, query="SELECT * FROM nothing_here").code == "no-table"
        assert refusal(url, query="SELECT (").code == "database-error"
        if url != sqlite_url:
            assert refusal(url, "nowhere.patients").code == "no-schema"


def test_a_sqlite_file_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    path = tmp_path / "none.db"
    assert refusal(f"sqlite:///{path}").code == "no-file"
    assert not path.exists()
    path.write_text("this is no database, whatever its name says" * 50)
    assert refusal(f"sqlite:///{path}").code == "cannot-connect"


def test_a_user_without_permission_gets_an_error_that_says_so(postgres_url: str) -> None:
    load(postgres_url, "secret", pa.table({"x": ["a"]}))
    run_sql(postgres_url, "DROP ROLE IF EXISTS reader", "CREATE ROLE reader LOGIN PASSWORD 'r'")
    url = changed(postgres_url, username="reader", password="r")
    assert refusal(url, "secret").code == "no-permission"
    with pytest.raises(shoal.ShoalError) as caught:
        check_table(DatabaseTarget(url, "mine"))
    assert caught.value.code == "no-permission"
    run_sql(postgres_url, "DROP ROLE reader")


def test_a_locked_sqlite_file_is_busy(tmp_path: Path) -> None:
    import sqlite3

    url = f"sqlite:///{tmp_path / 'locked.db'}?timeout=0.1"
    load(url, "people", pa.table({"x": ["a"]}))
    other = sqlite3.connect(tmp_path / "locked.db", isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(shoal.ShoalError) as caught:
        check_table(DatabaseTarget(url, "out"))
    other.close()
    assert caught.value.code == "database-busy"


def test_a_text_that_a_database_cannot_hold_is_refused(postgres_url: str) -> None:
    rows = pa.table({"x": ["a\0b"]})
    with pytest.raises(shoal.ShoalError) as caught:
        stage_rows(DatabaseTarget(postgres_url, "nul"), rows.to_reader())
    assert caught.value.code == "unstorable-text"


def test_an_unknown_column_lists_the_others(sqlite_url: str) -> None:
    load(sqlite_url, "people", pa.table({"zip": ["a"]}))
    source = open_table(DatabaseOptions(sqlite_url, "people"))
    with source, pytest.raises(shoal.BadData) as caught:
        source.count_by(["zpi"])
    assert caught.value.code == "unknown-column"


def test_a_view_that_needs_the_old_table_stops_the_replacement(postgres_url: str) -> None:
    url = postgres_url
    run_sql(url, "DROP VIEW IF EXISTS needing", "DROP TABLE IF EXISTS needed")
    run_sql(url, "CREATE TABLE needed AS SELECT 1 AS x", "CREATE VIEW needing AS TABLE needed")
    rows = pa.table({"x": ["a"]})
    staged = stage_rows(DatabaseTarget(url, "needed", replace=True), rows.to_reader())
    with pytest.raises(shoal.BadOutput) as caught:
        staged.publish()
    assert caught.value.code == "table-in-use"
    assert run_sql(url, "SELECT x FROM needing") == [(1,)]


@pytest.mark.slow
def test_without_sqlalchemy_a_database_is_refused_with_the_command_that_installs_it() -> None:
    """In a process of its own, in which the import finds no such package."""
    program = (
        "import importlib.util as u, sys; find = u.find_spec\n"
        "u.find_spec = lambda name, *more: None if name == 'sqlalchemy' else find(name, *more)\n"
        "sys.modules['sqlalchemy'] = None\n"
        "from shoal.engines.options import DatabaseOptions\n"
        "from shoal.engines.opening import open_source\n"
        "from shoal.errors import MissingExtra\n"
        "try:\n    open_source(DatabaseOptions('sqlite:///x.db', 't'))\n"
        "except MissingExtra as error:\n    print(error.code, error.hint)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == "missing-driver install it: pip install 'shoal[databases]'\n", done.stderr
