"""Any text as a URL: it is used, or refused with a clear error, and soon."""

from __future__ import annotations

import contextlib
import socket
import time
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from servers import PASSWORD
from shoal.cli.app import app
from shoal.engines.database import open_table
from shoal.engines.database.address import address
from shoal.engines.options import DatabaseOptions, without_password
from shoal.errors import ShoalError

UNUSABLE = (
    "postgresql://h:notaport/x",
    "postgresql://127.0.0.1:99999/x",
    "postgresql://127.0.0.1:1,2/x",
    "postgresql://a..b/x",
    "postgresql://127.0.0.1:1/x?unknown=1",
    "postgresql://127.0.0.1:1/x?port=abc",
    "postgresql://127.0.0.1:1/%00",
    "mysql://[::1/x",
    "mysql://a..b/x",
    "mysql://127.0.0.1:1/x?unknown=1",
    "mysql://127.0.0.1:1/x?connect_timeout=soon",
    "mysql://127.0.0.1:1/x?ssl=1",
    "mysql://127.0.0.1:1/x?host=a&host=b",
    "sqlite://",
    "sqlite:///",
    "sqlite:///:memory:",
    "sqlite://host/file.db",
    "sqlite:///file.db?unknown=1",
    "sqlite:////etc/hosts?timeout=soon",
    "sqlite:///file.db?uri=true&mode=ro",
)

SYSTEMS = st.sampled_from(["postgresql", "postgres", "mysql", "mariadb", "sqlite", "x", ""])
REFUSALS = ("bad-url", "cannot-connect", "no-variable", "unsupported-database")
HOSTS = st.sampled_from(["127.0.0.1:1", "127.0.0.1:0", "127.0.0.1:x", "[::1]:1", "[", "]:1", ":1"])
RUBBISH = st.text(st.characters(codec=None), max_size=12)
NAMES = st.sampled_from(["charset", "connect_timeout", "sslmode", "ssl_ca", "port", "options", "a"])
QUERIES = st.lists(st.tuples(NAMES | RUBBISH, RUBBISH), max_size=3)


@st.composite
def urls(draw: st.DrawFn) -> str:
    """URLs of every shape; the hosts answer at once that nobody is there."""
    user = draw(st.sampled_from(["", "me@", f"me:{PASSWORD}@"]) | RUBBISH.map(lambda t: f"{t}@"))
    query = "&".join(f"{name}={value}" for name, value in draw(QUERIES))
    end = draw(RUBBISH) + (f"?{query}" if query else "")
    return f"{draw(SYSTEMS)}://{user}{draw(HOSTS)}/{end}"


def refusal(url: str) -> ShoalError:
    with pytest.raises(ShoalError) as caught:
        open_table(DatabaseOptions(url, "people"))
    return caught.value


@pytest.mark.parametrize("url", UNUSABLE)
def test_a_url_that_cannot_be_used_is_refused_with_a_remedy(url: str) -> None:
    error = refusal(url)
    assert error.code == "bad-url"
    assert error.hint


@pytest.mark.slow
@settings(max_examples=300)
@given(urls() | RUBBISH | st.builds("{}://{}".format, SYSTEMS, RUBBISH))
@example("postgresql://h:notaport/x")
@example("mysql://[")
def test_any_text_is_read_as_a_url_or_refused(url: str) -> None:
    with contextlib.suppress(ShoalError):
        assert address(url).drivername


@pytest.mark.slow
@settings(max_examples=100)
@given(urls())
def test_any_url_without_a_server_is_refused(url: str) -> None:
    assert refusal(url).code in REFUSALS


def test_a_port_that_is_no_number_may_be_a_password_and_is_not_shown() -> None:
    assert without_password("postgresql://me:1secret") == "postgresql://me:***"
    assert without_password("mysql://me:secret/db") == "mysql://me:***/db"
    assert (
        without_password("mysql://h:33/db?sslpassword=a&b=c")
        == "mysql://h:33/db?sslpassword=***&b=c"
    )
    assert without_password("postgresql://[::1]:5432/x") == "postgresql://[::1]:5432/x"


@pytest.mark.parametrize("system", ["postgresql", "mysql"])
def test_a_server_that_says_nothing_is_given_up(system: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        began = time.monotonic()
        error = refusal(f"{system}://127.0.0.1:{silent.getsockname()[1]}/x?connect_timeout=1")
    assert error.code in ("cannot-connect", "connection-lost")
    assert time.monotonic() - began < 20


@pytest.mark.slow
@pytest.mark.parametrize(
    "url", [f"postgresql://me:{PASSWORD}@h:notaport/x", "mysql://[", "sqlite://"]
)
def test_commands_refuse_such_urls(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("in.csv").write_text("a\n1\n")
    attributes = "k: 2\nattributes: {a: quasi-identifier}\n"
    table = f"{{url: '{url}', table: t}}"
    Path("source.yaml").write_text(f"source: {table}\noutput: out.csv\n{attributes}")
    Path("output.yaml").write_text(f"source: in.csv\noutput: {table}\n{attributes}")
    for command in (
        ("run", "source.yaml"),
        ("run", "output.yaml"),
        ("compare", "source.yaml"),
        ("clean", "output.yaml"),
        ("check", url, "--table", "t", "--qi", "a"),
        ("init", url, "--table", "t"),
        ("verify", url, "--definition", "output.yaml"),
    ):
        done = CliRunner().invoke(app, command)
        refused = isinstance(done.exception, ShoalError) or done.exit_code == 2
        assert refused, (command, done.exception)
        assert PASSWORD not in f"{done.exception} {done.output}"
