"""Attacks: SQL in texts, names and maps; expressions as large as allowed; odd numbers and names."""

from __future__ import annotations

import time
from collections.abc import Iterator

import duckdb
import pytest

from mart.expressions.deriving import derived, values
from shoal.errors import UserError
from shoal.mart.expressions import parse

INJECTIONS = [
    "'; DROP TABLE t; --",
    "' || (SELECT secret FROM t) || '",
    "\\'; SELECT 1; --",
    "/* */ -- ",
    '" FROM t; DROP TABLE t; --',
    "$$; DROP TABLE t; $$",
    "{x} %s ? $1 :name",
    "\u2019 OR 1=1",
    "' UNION SELECT * FROM read_csv('/etc/passwd') --",
    "` `` '' \"\"",
    "\U0001f41f\u200d\ufeff",
]


@pytest.fixture
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as opened:
        opened.execute("CREATE TABLE t AS SELECT 1 AS x, 'secret' AS secret")
        yield opened


def in_quotes(text: str, quote: str = "'") -> str:
    return quote + text.replace(quote, quote * 2) + quote


@pytest.mark.parametrize("text", INJECTIONS)
def test_sql_in_a_text_is_only_a_text(connection: duckdb.DuckDBPyConnection, text: str) -> None:
    quoted = in_quotes(text)
    assert values(connection, quoted, "t") == [text]
    assert values(connection, f"replace({quoted}, {quoted}, {quoted})", "t") == [text]
    assert values(connection, f"band(x, [1], ['', {quoted}])", "t") == [text]
    assert values(connection, f"{quoted} in ('a', {quoted})", "t") == [True]
    assert connection.sql("SELECT secret FROM t").fetchall() == [("secret",)]


@pytest.mark.parametrize("text", INJECTIONS)
def test_sql_in_a_map_is_only_a_text(connection: duckdb.DuckDBPyConnection, text: str) -> None:
    maps = {text: {text: text, "\x01\x02": "\x1f"}}
    expression = f"lookup({in_quotes(text)}, {in_quotes(text, '`')})"
    assert values(connection, expression, "t", maps) == [text]
    assert connection.sql("SELECT secret FROM t").fetchall() == [("secret",)]


@pytest.mark.parametrize("text", INJECTIONS)
def test_sql_in_a_name_is_only_a_name(connection: duckdb.DuckDBPyConnection, text: str) -> None:
    name = text.strip()
    quoted = '"' + name.replace('"', '""') + '"'
    relation = f"(SELECT 7 AS {quoted})"
    assert values(connection, f"{in_quotes(name, '`')} + 1", relation) == [8]


def test_an_expression_reaches_no_other_column_and_no_function_of_the_engine() -> None:
    for text in ("read_csv('/etc/passwd')", "(select 1)", "x::int", "getenv('HOME')", "x -> 1"):
        with pytest.raises(UserError) as raised:
            parse(text, "derive")
        assert raised.value.code == "bad-expression"


def test_a_map_that_uses_every_usual_separator_is_read_right(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    entries = {chr(code): chr(code + 1) for code in range(1, 2_000)}
    for key in ("\x01", "a", "\x1f", "߀"):
        found = values(connection, "lookup(x, m)", f"(SELECT chr({ord(key)}) AS x)", {"m": entries})
        assert found == [chr(ord(key) + 1)]
    assert values(connection, "lookup(x, m, 'none')", "t", {"m": {"": "", "b": ""}}) == ["none"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "abs(" * 59 + "x" + ")" * 59,
        "x" + " / (x" * 59 + ")" * 59,
        "x" + " ^ x" * 59,
        "x" + " - x + x" * 29,
        "round(" * 58 + "x / 1" + ")" * 58,
        "coalesce(1 / x, " * 58 + "x / 1" + ")" * 58,
        "case when x = 1 / x then " * 29 + "x" + " end" * 29,
        "lookup(" * 50 + "x" + ", m, '1')" * 50,
        "case " + " ".join(f"when x = {i} then {i} / x" for i in range(2, 340)) + " else 1 / x end",
        "x in (" + ", ".join(f"{i} / x" for i in range(1, 450)) + ")",
    ],
)
def test_the_largest_expressions_are_computed_in_seconds(
    connection: duckdb.DuckDBPyConnection, text: str
) -> None:
    started = time.process_time()
    column = derived(connection, text, "t", {"m": {"1": "1"}})
    assert len(column.query("t")) < 250_000
    assert connection.sql(column.failures("t")).fetchall() == []
    assert connection.sql(column.query("t")).fetchall()[0][-1] in (1, "1", True)
    assert time.process_time() - started < 20


def test_an_expression_with_too_many_steps_is_refused(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    text = "x in (" + ", ".join(f"{number} / x" for number in range(1, 900)) + ")"
    with pytest.raises(UserError, match="more than 1,500 steps"):
        derived(connection, text, "t")
