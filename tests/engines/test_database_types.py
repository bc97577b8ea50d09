"""Every type of the databases: what is released is what was counted, wherever it goes.

Each case has values of one type, each in one or several spellings. The release keeps the values of
at least k records. What it holds is read and grouped by the tools of the output alone: sqlite3 by
storage class, psycopg, pymysql, csv and pyarrow.
"""

from __future__ import annotations

import csv
import datetime
import json
import re
import secrets
import sqlite3
from collections import Counter
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import sqlalchemy as sa

import shoal
from servers import run_sql
from shoal.engines.database import stage_rows
from shoal.engines.database.connection import TableName
from shoal.engines.database.session import Session
from shoal.engines.database.staged import StagedInDatabase
from shoal.engines.options import DatabaseTarget
from shoal.errors import UserError

K = 4


@dataclass(frozen=True)
class Case:
    """A type and its values, as literals of the system.

    Those of a row of `values` are one value in several spellings: the first stands in one record,
    the last in three. `apart` are literals that look like others but are other values: each stands
    in one record, and is not released. The values go to the same database, to another output in
    turn, and to those of `also`.
    """

    type: str
    values: tuple[tuple[str, ...], ...]
    apart: tuple[str, ...] = ()
    before: str = ""
    also: tuple[str, ...] = ()


def one(*values: str) -> tuple[tuple[str, ...], ...]:
    return tuple((value,) for value in values)


SQLITE = {
    "text": Case("TEXT", one("'a'", "'A'", "'b'"), ("'a '", "CAST('a' AS BLOB)")),
    "text no case": Case("TEXT COLLATE NOCASE", one("'a'", "'A'")),
    "text with nul": Case(
        "TEXT", one("'a' || char(0) || 'b'"), ("'a' || char(0) || 'c'",), also=("postgres",)
    ),
    "text like a mark": Case("TEXT", one("char(1) || 'i1'", "'b'"), ("'1'",)),
    "text like a blob": Case("TEXT", ((r"'\x61'", "CAST('a' AS BLOB)"), ("'b'",))),
    "integer": Case("INTEGER", (("1", "1.0"), ("2",)), ("1.5",)),
    "big integer": Case("BIGINT", one("9223372036854775807"), ("9223372036854775806",)),
    "integer with text": Case("INTEGER", (("1", "'1'"), ("'abc'",)), ("'1x'",)),
    "integer with reals": Case("INTEGER", one("0.3", "7"), ("0.1 + 0.2",)),
    "integer with blob": Case("INTEGER", one("1", "2"), ("CAST('1' AS BLOB)",)),
    "boolean": Case("BOOLEAN", (("1", "'true'"), ("0", "'false'")), ("2",)),
    "real": Case("REAL", (("1", "1.0"), ("0.3",), ("9e999",)), ("0.1 + 0.2",), also=("mariadb",)),
    "real with text": Case("REAL", (("'0.5'", "0.5"), ("'abc'",)), ("X'31'",)),
    "large real": Case("REAL", one("1e300", "1.5e15"), ("1e299",)),
    "numeric": Case(
        "NUMERIC", (("1", "'1.0'"), ("0.3",), ("1e20",)), ("0.1 + 0.2",), also=("csv", "json")
    ),
    "decimal": Case("DECIMAL(5,2)", (("1", "1.0"), ("0.3", "'0.30'")), ("0.1 + 0.2",)),
    "plain decimal": Case("DECIMAL", (("0.5", "'0.50'"), ("3",)), ("0.1 + 0.2",)),
    "long decimal": Case("DECIMAL(20,2)", one("0.3", "12345678901234567"), ("0.1 + 0.2",)),
    "date": Case("DATE", one("'2020-01-01'", "'2020-01-02'"), ("'2020-1-1'",)),
    "only dates": Case("DATE", one("'2020-01-01'", "'2020-01-02'")),
    "not only dates": Case("DATE", one("'2020-01-01'", "20200101"), ("'2020-02-30'",)),
    "datetime": Case(
        "DATETIME",
        (
            ("'2020-01-01 00:00:00.5'", "'2020-01-01 00:00:00.500'"),
            ("'2020-01-01 00:00:00'", "'2020-01-01 00:00:00.000'"),
        ),
        ("'2020-01-01 00:00:00.05'",),
    ),
    "datetime with zones": Case(
        "DATETIME", one("'2020-01-01T00:00:00Z'", "1577836800"), ("'2020-01-01T00:00:00'",)
    ),
    "nanoseconds": Case("DATETIME", one("'2020-01-01 00:00:00.123456789'"), ("NULL",)),
    "time": Case("TIME", (("'12:00:00'", "'12:00:00.000'"), ("'12:30'",))),
    "untyped": Case("", (("1", "'1'"), ("'a'",)), ("1.0", "X'31'")),
    "untyped reals": Case("", one("0.3", "1.0"), ("0.1 + 0.2", "1")),
    "blob": Case("BLOB", one("X'00ff'", "X'61'"), ("'a'", "X'00fe'")),
    "empty": Case("INTEGER", (("''", "NULL"), ("1",))),
}

POSTGRES = {
    "smallint": Case("smallint", one("1", "-2")),
    "integer": Case("integer", one("1", "2147483647")),
    "bigint": Case("bigint", one("9007199254740993", "9223372036854775807"), ("9007199254740992",)),
    "numeric": Case("numeric", (("1.0", "1.00"), ("0.3",)), ("0.30000000000000004",)),
    "long numeric": Case("numeric", one("12345678901234567890123456789012345678901234.5")),
    "numeric(6,2)": Case("numeric(6,2)", (("1", "1.00"), ("0.3",)), ("0.31",)),
    "numeric(30,10)": Case(
        "numeric(30,10)",
        one("12345678901234567890.0000000001"),
        ("12345678901234567890",),
        also=("sqlite", "json"),
    ),
    "numeric(60,10)": Case("numeric(60,10)", one("1.5", "1e45"), ("1e45 + 1",)),
    "numeric nan": Case("numeric", (("'NaN'", "NULL"), ("1",)), ("'Infinity'",)),
    "real": Case(
        "real",
        (("0.1", "0.10000000149"), ("1e10",)),
        ("0.10000001",),
        also=("sqlite", "mariadb", "json"),
    ),
    "double": Case("double precision", (("1", "1.0"), ("0.3",)), ("0.30000000000000004",)),
    "double nan": Case("double precision", (("'NaN'", "NULL"), ("1e22",)), ("1e21",)),
    "infinity": Case("double precision", one("'Infinity'", "1.5"), also=("mariadb", "json")),
    "text": Case("text", one("'a'", "'A'"), ("'a '",)),
    "empty text": Case("text", (("''", "NULL"), ("'a'",))),
    "char(5)": Case("char(5)", (("'ab'", "'ab  '"), ("'abcde'",)), ("'AB'",), also=("csv",)),
    "bpchar": Case("bpchar", (("'ab'", "'ab  '"), ("'abcde'",)), ("'AB'",)),
    "varchar(5)": Case("varchar(5)", one("'ab'", "'AB'"), ("'ab '",)),
    "boolean": Case("boolean", (("true", "'yes'"), ("false", "'0'"))),
    "date": Case("date", (("'2020-01-01'", "'1 Jan 2020'"), ("'2020-01-02'",))),
    "endless date": Case("date", one("'infinity'", "'2020-01-01'"), ("'0044-03-15 BC'",)),
    "time": Case("time", (("'12:00'", "'12:00:00.000'"), ("'24:00'",)), ("'12:00:00.000001'",)),
    "timetz": Case("timetz", (("'12:00+00'", "'12:00:00+00:00'"),), ("'13:00+01'",)),
    "timestamp": Case(
        "timestamp",
        (("'2020-01-01 00:00:00.5'", "'2020-01-01T00:00:00.500'"), ("'2020-01-01'",)),
        ("'2020-01-01 00:00:00.000001'",),
    ),
    "endless timestamp": Case("timestamp", one("'-infinity'", "'2020-01-01'")),
    "timestamptz": Case(
        "timestamptz",
        (("'2020-01-01 00:00+00'", "'2020-01-01 02:00+02'"), ("'2020-06-01 12:00:00.25+00'",)),
        ("'2020-01-01 00:00+02'",),
        also=("sqlite", "mariadb"),
    ),
    "interval": Case("interval", (("'90 min'", "'1:30'"), ("'1 mon'",)), ("'30 days'",)),
    "uuid": Case(
        "uuid",
        (
            (
                "'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'",
                "'{A0EEBC999C0B4EF8BB6D6BB9BD380A11}'",
            ),
        ),
        ("'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a12'",),
    ),
    "inet": Case(
        "inet",
        (("'10.0.0.1'", "'10.0.0.1/32'"), ("'10.0.0.0/8'",)),
        ("'10.0.0.1/8'",),
        also=("csv",),
    ),
    "cidr": Case("cidr", (("'10.0.0.0/8'", "'10'"), ("'::1'",))),
    "macaddr": Case("macaddr", (("'08:00:2b:01:02:03'", "'08-00-2B-01-02-03'"),)),
    "bytea": Case("bytea", ((r"'\x61ff'", r"'a\377'"), (r"'\x00'",)), (r"'\x6100'",)),
    "json": Case("json", one("""'{"a": 1}'""", "'1'"), ("""'{"a":1}'""", "'1.0'")),
    "jsonb": Case("jsonb", (("""'{"a": 1}'""", """'{"a":1}'"""), ("'1'",)), ("'1.0'",)),
    "enum": Case(
        "mood",
        one("'glad'", "'sad'"),
        ("'Glad'",),
        "CREATE TYPE mood AS ENUM ('glad', 'sad', 'Glad')",
    ),
    "domain": Case(
        "grade", (("1.0", "1"), ("2",)), (), "CREATE DOMAIN grade AS numeric CHECK (VALUE > 0)"
    ),
    "integers": Case("integer[]", (("'{1,2}'", "'{1, 2}'"), ("'{}'",)), ("'{1,2,NULL}'",)),
    "texts": Case("text[]", one("'{a}'", "'{NULL}'"), ("""'{"NULL"}'""", """'{"a "}'""")),
    "range": Case("int4range", (("'[1,3]'", "'[1,4)'"), ("'empty'",)), ("'(1,4)'",)),
    "numrange": Case("numrange", one("'[1.0,2.0]'"), ("'[1,2]'",)),
    "money": Case("money", (("'1.5'", "'$1.50'"), ("'-2'",)), ("'1.51'",)),
    "bit": Case("bit(4)", one("B'0101'", "B'0000'"), ("B'1010'",)),
    "varbit": Case("bit varying", one("B'01'", "B'1'"), ("B'001'",)),
    "char": Case('"char"', one("'a'", "'A'"), ("'b'",)),
    "name": Case("name", one("'a'", "'A'"), ("'a '",)),
    "composite": Case(
        "pair", (("'(1,a)'", "ROW(1, 'a')"), ("ROW(NULL, NULL)",)), ("ROW(1, 'a ')",),
        "CREATE TYPE pair AS (n integer, t text)",
    ),
    "point": Case("point", (("'(1,2)'", "'1,2'"), ("'(0,0)'",)), ("'(1,2.0000001)'",)),
    "oid": Case("oid", one("1", "4294967295")),
    "tsvector": Case("tsvector", (("'a b'", "'b a'"), ("''",))),
}  # fmt: skip

MARIADB = {
    "bool": Case("BOOLEAN", (("1", "true"), ("0", "false"))),
    "tinyint(1)": Case("TINYINT(1)", one("1", "2", "0"), ("3",)),
    "tinyint": Case("TINYINT", one("1", "-128")),
    "smallint": Case("SMALLINT UNSIGNED", one("1", "65535")),
    "mediumint": Case("MEDIUMINT", one("1", "-8388608")),
    "int zerofill": Case("INT(6) ZEROFILL", (("42", "'000042'"), ("1234567",)), ("43",)),
    "bigint": Case("BIGINT", one("9007199254740993"), ("9007199254740992",)),
    "bigint unsigned": Case(
        "BIGINT UNSIGNED",
        one("18446744073709551615", "1"),
        ("18446744073709551614",),
        also=("sqlite",),
    ),
    "decimal": Case("DECIMAL(6,2)", (("1", "1.00"), ("0.3",)), ("0.31",)),
    "decimal zerofill": Case("DECIMAL(6,2) ZEROFILL", (("1", "1.00"), ("0.3",)), ("0.31",)),
    "decimal(30,10)": Case(
        "DECIMAL(30,10)", one("12345678901234567890.0000000001"), ("12345678901234567890",)
    ),
    "decimal(65,30)": Case("DECIMAL(65,30)", one("1.5"), ("1.500000000000000000000000000001",)),
    "float": Case("FLOAT", (("0.1", "0.10000000149"), ("1e10",)), ("0.10000001",)),
    "double": Case("DOUBLE", (("1", "1.0"), ("0.3",), ("1e22",)), ("0.30000000000000004",)),
    "bit": Case("BIT(12)", (("b'101'", "5"), ("b'111111111111'",)), ("b'1010'", "255")),
    "bit(1)": Case("BIT(1)", one("b'0'", "b'1'")),
    "date": Case("DATE", (("'2020-01-01'", "'20200101'"), ("'2020-01-02'",))),
    "zero date": Case("DATE", one("'0000-00-00'", "'2020-01-01'"), (), "SET sql_mode = ''"),
    "time": Case("TIME", (("'12:00'", "'12:00:00'"), ("'-838:59:59'",)), ("'12:00:01'",)),
    "time(6)": Case("TIME(6)", (("'12:00:00.5'", "'12:00:00.500'"),), ("'12:00:00.000005'",)),
    "datetime": Case("DATETIME", (("'2020-01-01'", "'2020-01-01 00:00:00'"),)),
    "datetime(6)": Case(
        "DATETIME(6)",
        (("'2020-01-01 00:00:00.5'", "'2020-01-01T00:00:00.500'"), ("'2020-01-01'",)),
        ("'2020-01-01 00:00:00.000005'",),
    ),
    "timestamp": Case("TIMESTAMP NULL", (("'2020-01-01'", "'2020-01-01 00:00:00'"),)),
    "year": Case("YEAR", (("2020", "'20'"), ("'0000'",)), ("2000",)),
    "char": Case("CHAR(5)", (("'ab'", "'ab  '"), ("'abcde'",)), ("'AB'",)),
    "varchar": Case("VARCHAR(5)", one("'ab'", "'AB'", "'ab '"), ("'Ab'",)),
    "varchar binary": Case("VARCHAR(5) COLLATE utf8mb4_bin", one("'ab'", "'ab '"), ("'AB'",)),
    "varchar latin": Case("VARCHAR(5) CHARACTER SET latin1", one("'ä'", "'a'"), ("'Ä'",)),
    "varchar german": Case(
        "VARCHAR(5) COLLATE utf8mb4_german2_ci", one("'ß'", "'ss'", "'😀'"), ("'SS'",)
    ),
    "empty varchar": Case("VARCHAR(5)", (("''", "NULL"), ("'a'",)), ("' '",)),
    "text": Case("TEXT", one("'a'", "'A'"), ("'a '",)),
    "text with nul": Case("TEXT", one("CONCAT('a', CHAR(0))"), ("'a'",), also=("postgres",)),
    "binary": Case("BINARY(3)", (("'a'", r"X'610000'"), ("X'00ff00'",)), ("X'61ff00'",)),
    "varbinary": Case("VARBINARY(3)", one("X'61'", "X'00ff'"), ("X'00fe'", "X'6100'")),
    "blob": Case("BLOB", one("X'61'", "X'ff'"), ("X'fe'", "X'41'")),
    "enum": Case("ENUM('a', 'B')", (("'a'", "1"), ("'b'", "'B'"))),
    "set": Case("SET('a', 'b')", (("'b,a'", "'a,b'"), ("'a'",)), ("'b'",)),
    "json": Case("JSON", one("""'{"a": 1}'""", "'1'"), ("""'{"a":1}'""", "'1.0'")),
    "uuid": Case(
        "UUID",
        (("'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'", "'A0EEBC999C0B4EF8BB6D6BB9BD380A11'"),),
        ("'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a12'",),
    ),
    "inet6": Case("INET6", (("'::1'", "'0:0:0:0:0:0:0:1'"), ("'::ffff:10.0.0.1'",)), ("'::2'",)),
    "point": Case("POINT", one("POINT(1, 2)", "POINT(0, 0)"), ("POINT(1, 3)",)),
}

CASES = [
    *(("sqlite", name) for name in SQLITE),
    *(("postgres", name) for name in POSTGRES),
    *(("mariadb", name) for name in MARIADB),
]
OF_SYSTEM: Mapping[str, Mapping[str, Case]] = {
    "sqlite": SQLITE,
    "postgres": POSTGRES,
    "mariadb": MARIADB,
}
OUTPUTS = ("sqlite", "postgres", "mariadb", "csv", "parquet", "json")
UNSTORABLE = {
    ("sqlite", "text with nul", "postgres"): "unstorable-text",
    ("sqlite", "real", "mariadb"): "unstorable-value",
    ("postgres", "infinity", "mariadb"): "unstorable-value",
    ("mariadb", "text with nul", "postgres"): "unstorable-text",
    ("sqlite", "real", "json"): "infinite-number",
    ("postgres", "infinity", "json"): "infinite-number",
}
"""What an output cannot hold, and the code of the error that says so before the search."""


@pytest.fixture(scope="module")
def urls(sqlite_url: str, postgres_url: str, mariadb_url: str) -> dict[str, str]:
    return {"sqlite": sqlite_url, "postgres": postgres_url, "mariadb": mariadb_url}


@pytest.mark.slow
@pytest.mark.parametrize(("system", "name"), CASES)
def test_a_value_is_released_as_one_value_and_as_what_it_is(
    system: str, name: str, urls: dict[str, str], tmp_path: Path
) -> None:
    case = OF_SYSTEM[system][name]
    table = load(urls[system], system, case)
    meant: dict[int, set[Any]] = {}
    for value, row in read_table(urls[system], system, table):
        meant.setdefault(row, set()).add(meaning(value))
    turn = CASES.index((system, name))
    for output in dict.fromkeys((system, OUTPUTS[turn % len(OUTPUTS)], *case.also)):
        released = release(urls, system, table, output, tmp_path, len(case.apart))
        expected = UNSTORABLE.get((system, name, output))
        if expected is not None:
            assert released == expected, output
            continue
        assert isinstance(released, list), (output, released)
        classes = Counter(value for value, _ in released)
        assert list(classes.values()) == [K] * len(case.values), (output, classes)
        for value, row in released:
            assert meaning(value) in meant[row], (output, value, meant[row])


@pytest.mark.parametrize("system", ["sqlite", "mariadb"])
@pytest.mark.parametrize("kind", [pa.float64(), pa.float32()])
def test_no_database_is_given_negative_zeros_that_it_would_make_zeros(
    kind: pa.DataType, system: str, urls: dict[str, str], tmp_path: Path
) -> None:
    path, table = tmp_path / "in.parquet", f"zeros_{secrets.token_hex(4)}"
    pq.write_table(pa.table({"c": pa.array([-0.0] * K + [0.5] * K, kind)}), path)
    definition = {"source": str(path), "output": {"url": urls[system], "table": table}, "k": K}
    c = {"role": "quasi-identifier", "hierarchy": "suppress"}
    with pytest.raises(shoal.BadOutput, match="'c' has negative zeros") as caught:
        shoal.run({**definition, "attributes": {"c": c}})
    assert caught.value.code == "unstorable-value"
    pq.write_table(pa.table({"c": pa.array([0.0] * K + [0.5] * K, kind)}), path)
    assert shoal.run({**definition, "attributes": {"c": c}}).levels == {"c": 0}


def load(url: str, system: str, case: Case) -> str:
    """Make a table of the case: its values, and the row of `values` that they are from."""
    table = f"types_{secrets.token_hex(4)}"
    rows = [(literal, -1) for literal in case.apart]
    for number, spellings in enumerate(case.values):
        rows += [(spellings[0], number), *([(spellings[-1], number)] * (K - 1))]
    before = [case.before] if case.before else []
    if case.before.startswith("CREATE"):
        _, kind, made, *_ = case.before.split()
        before.insert(0, f"DROP {kind} IF EXISTS {made} CASCADE")
    cast = f"::{case.type}" if system == "postgres" else ""
    selected = " UNION ALL ".join(f"SELECT {value}{cast}, {number}" for value, number in rows)
    values = ", ".join(f"({value}, {number})" for value, number in rows)
    filled = selected if system == "postgres" else f"VALUES {values}"
    made_of = f"CREATE TABLE {table} (c {case.type}, n INTEGER)"
    run_sql(url, *before, made_of, f"INSERT INTO {table} {filled}")
    return table


def release(
    urls: Mapping[str, str], system: str, table: str, output: str, folder: Path, spare: int
) -> list[tuple[Any, int]] | str:
    """The released records, or the code of an error that came before the search."""
    if output in urls:
        place: Any = {"url": urls[output], "table": f"{table}_{system}"}
    else:
        place = str(folder / f"out.{output}")
    definition = {
        "source": {"url": urls[system], "table": table},
        "output": place,
        "k": K,
        "suppression": spare,
        "attributes": {
            "c": {"role": "quasi-identifier", "hierarchy": "suppress", "limit": 0},
            "n": "keep",
        },
    }
    phases: list[str] = []
    try:
        shoal.run(definition, observe=lambda event: phases.append(getattr(event, "name", "")))
    except UserError as error:
        late = [phase for phase in phases if phase not in ("", "read")]
        return f"{error.code} after {late[-1]}" if late else error.code
    if output in urls:
        return read_table(urls[output], output, f"{table}_{system}")
    return {"csv": read_csv, "json": read_json, "parquet": read_parquet}[output](Path(place))


def read_table(url: str, system: str, table: str) -> list[tuple[Any, int]]:
    """What is stored: storage class and value in SQLite, the text in PostgreSQL."""
    if system == "sqlite":
        with sqlite3.connect(sa.make_url(url).database or "") as connection:
            connection.text_factory = bytes
            found = connection.execute(f"SELECT typeof(c), c, n FROM {table}").fetchall()
        connection.close()
        return [((kind.decode(), value), row) for kind, value, row in found]
    if system == "postgres":
        # format() gives what a client sees, spaces at the end of char(n) included.
        shown = "CASE WHEN c IS NULL AND c::text IS NULL THEN NULL ELSE format('%%s', c) END"
        return [(value, row) for value, row in run_sql(url, f"SELECT {shown}, n FROM {table}")]
    (kind,) = run_sql(url, f"SHOW COLUMNS FROM {table} LIKE 'c'")
    shown = "c + 0" if kind[1].startswith("bit") else "c"
    return [(value, row) for value, row in run_sql(url, f"SELECT {shown}, n FROM {table}")]


def read_csv(path: Path) -> list[tuple[Any, int]]:
    with path.open(encoding="utf-8", newline="") as file:
        return [(value or None, int(row)) for value, row in list(csv.reader(file))[1:]]


def read_json(path: Path) -> list[tuple[Any, int]]:
    rows = json.loads(path.read_text(encoding="utf-8"), parse_float=str)
    return [(row["c"], row["n"]) for row in rows]


def read_parquet(path: Path) -> list[tuple[Any, int]]:
    table = pq.read_table(path)
    if pa.types.is_float32(table.schema.field("c").type):
        table = table.set_column(0, "c", table.column("c").cast(pa.string()))
    return [(row["c"], row["n"]) for row in table.to_pylist()]


def meaning(value: Any) -> Any:
    """A value as people mean it, whatever type it is stored in."""
    if isinstance(value, tuple):
        kind, value = value
        value = value.decode() if kind == "text" else value
    if isinstance(value, bytes | bytearray):
        return f"\\x{bytes(value).hex()}"
    if isinstance(value, bool):
        return Decimal(int(value))
    if isinstance(value, datetime.timedelta):
        seconds = value // datetime.timedelta(seconds=1)
        sign, seconds = "-" * (seconds < 0), abs(seconds)
        whole = f"{sign}{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
        return whole if not value.microseconds else f"{whole}.{value.microseconds:06}".rstrip("0")
    if isinstance(value, str) and value.endswith("/32"):
        value = value.removesuffix("/32")  # a cast of an address to text says that it is one
    text = {"true": "1", "false": "0", "t": "1", "f": "0"}.get(str(value), str(value)).rstrip(" ")
    try:
        return None if value in (None, "") or text == "NaN" else Decimal(text)
    except InvalidOperation:
        moment = re.fullmatch(r"(\d+-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)(\.\d+)?(\+00.*|Z)?", text)
        if moment is None:
            return re.sub(r"^(-?\d+:\d\d:\d\d)(?:\.0*|(\.\d*[1-9])0*)$", r"\1\2", text)
        day, time, fraction, zone = moment.groups("")
        return day, time, fraction.rstrip("0").rstrip("."), bool(zone)


STORED = {
    "sqlite": (
        "",
        ("NULL", "''", "1", "'1'", "1.0", "X'31'", "0.3", "0.1 + 0.2", "'a' || char(0)", "'a'"),
    ),
    "postgres": ("bpchar", ("NULL", "''", "'a'", "'a  '", "'A'")),
    "mariadb": ("VARCHAR(9)", ("NULL", "''", "'a'", "'a '", "'A'", "' '")),
}


@pytest.mark.parametrize("system", STORED)
def test_the_verifier_distinguishes_what_is_stored_differently(
    system: str, urls: dict[str, str]
) -> None:
    kind, literals = STORED[system]
    run_sql(
        urls[system],
        "DROP TABLE IF EXISTS apart",
        f"CREATE TABLE apart (c {kind}, n INTEGER)",
        f"INSERT INTO apart VALUES {', '.join(f'({each}, 1)' for each in literals)}",
    )
    session = Session(urls[system], "apart")
    target = DatabaseTarget(urls[system], "apart", replace=True)
    with closing(session), StagedInDatabase(session, target, TableName("apart"), owns=False) as it:
        counted = it.source().count_by(["c"])
    assert counted.column(1).to_pylist() == [1] * len(literals)
    assert len(set(counted.column(0).to_pylist())) == len(literals)


def test_the_verifier_takes_nan_for_a_value(urls: dict[str, str]) -> None:
    url = urls["postgres"]
    rows = pa.table({"c": pa.array([1.0, float("nan"), None], pa.float64())}).to_reader()
    with stage_rows(DatabaseTarget(url, "with_nan", replace=True), rows) as staged:
        labels = staged.source().count_by(["c"]).column(0).to_pylist()
    assert sorted(labels, key=str) == ["1.0", None, "nan"]


@pytest.mark.slow
def test_sensitive_values_and_the_order_disclose_no_spelling(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'it.db'}"
    rows = "('a', 1, 3), ('a', '1', 1), ('a', 'x', 2), ('b', 'x', 5), ('b', '1', 4), ('b', 1, 6)"
    run_sql(url, "CREATE TABLE t (q TEXT, s, n INTEGER)", f"INSERT INTO t VALUES {rows}")
    attributes: dict[str, Any] = {
        "q": {"role": "quasi-identifier", "hierarchy": "suppress"},
        "s": {"role": "sensitive", "diversity": {"distinct": 2}},
        "n": "keep",
    }
    asked = {"source": {"url": url, "table": "t"}, "k": 3, "attributes": attributes}
    shoal.run({**asked, "output": {"url": url, "table": "out"}})
    shoal.run({**asked, "output": str(tmp_path / "out.csv")})
    shoal.run(
        {**asked, "attributes": {**attributes, "s": "keep"}, "output": str(tmp_path / "k.csv")}
    )
    wanted = ["a11", "a13", "ax2", "b14", "b16", "bx5"]
    for path in (tmp_path / "out.csv", tmp_path / "k.csv"):
        with path.open(encoding="utf-8", newline="") as file:
            assert ["".join(row) for row in list(csv.reader(file))[1:]] == wanted
    stored = run_sql(url, "SELECT DISTINCT typeof(s), s FROM out ORDER BY 1")
    assert len(stored) == 2


def test_a_text_of_sqlite_that_is_not_utf_8_is_named_as_such(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'it.db'}"
    run_sql(url, "CREATE TABLE t (q TEXT)", "INSERT INTO t VALUES (CAST(X'ff' AS TEXT)), ('a')")
    attributes = {"q": {"role": "quasi-identifier", "hierarchy": "suppress"}}
    asked = {"source": {"url": url, "table": "t"}, "k": 2, "attributes": attributes}
    with pytest.raises(shoal.BadData) as caught:
        shoal.run({**asked, "output": str(tmp_path / "out.csv")})
    assert caught.value.code == "bad-encoding"
    query = {"url": url, "query": "SELECT CAST(q AS BLOB) AS q FROM t"}
    assert shoal.run({**asked, "source": query, "output": str(tmp_path / "out.csv")}).classes == 1


def test_a_broken_name_in_the_schema_of_sqlite_is_a_clear_error(tmp_path: Path) -> None:
    """The driver cannot even read its message about it."""
    path = tmp_path / "it.db"
    run_sql(f"sqlite:///{path}", "CREATE TABLE t (q TEXT)", "INSERT INTO t VALUES ('a'), ('a')")
    path.write_bytes(path.read_bytes().replace(b"(q TEXT)", b"\xffq TEXT)"))
    attributes = {"q": {"role": "quasi-identifier", "hierarchy": "suppress"}}
    source = {"url": f"sqlite:///{path}", "table": "t"}
    with pytest.raises(UserError):
        shoal.run({"source": source, "output": "out.csv", "k": 2, "attributes": attributes})
