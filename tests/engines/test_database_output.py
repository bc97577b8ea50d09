"""A release in a database: whole or not at all, and from anywhere to anywhere."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow.csv import write_csv

import shoal
from commands import TIME_LIMIT
from servers import PASSWORD, load, rows_of, run_sql
from shoal.engines.base import Generalization, Recoding
from shoal.engines.database import (
    check_table,
    leftover_tables,
    open_table,
    remove_leftovers,
    stage_rows,
)
from shoal.engines.opening import recode_into
from shoal.engines.options import DatabaseOptions, DatabaseTarget

PEOPLE = pa.table(
    {
        "name": [f"person {i}" for i in range(12)],
        "zip": ["10115", "10117", "10119", "10243", "10245", "10247"] * 2,
        "age": [31, 32, 33, 41, 42, 43] * 2,
        "ward": ["north", "south", "east", "north", "south", "east"] * 2,
    }
)
ATTRIBUTES: dict[str, Any] = {
    "name": "identifier",
    "zip": {"role": "quasi-identifier", "hierarchy": {"mask": 5}},
    "age": {"role": "quasi-identifier", "hierarchy": {"intervals": [10, 100]}},
    "ward": "keep",
}
PLAN = Recoding(
    columns=("zip", "age"),
    generalized={"zip": Generalization(("10115", "10117", "10119"), ("1", "1", "1"))},
    classes=pa.table({"zip": ["1"]}),
    blanked=(),
)


@pytest.fixture(params=["postgres", "mariadb", "sqlite"])
def url(request: pytest.FixtureRequest) -> str:
    return str(request.getfixturevalue(f"{request.param}_url"))


def definition(source: Any, output: Any) -> dict[str, Any]:
    return {"source": source, "output": output, "k": 3, "attributes": ATTRIBUTES}


def released(path: Path) -> Counter[tuple[str, ...]]:
    with path.open(encoding="utf-8", newline="") as file:
        return Counter(tuple(row) for row in list(csv.reader(file))[1:])


def texts(rows: list[tuple[Any, ...]]) -> Counter[tuple[str, ...]]:
    return Counter(tuple(str(value) for value in row) for row in rows)


@pytest.mark.slow
def test_a_run_reads_and_writes_files_and_tables_alike(url: str, tmp_path: Path) -> None:
    load(url, "people", PEOPLE)
    write_csv(PEOPLE, tmp_path / "people.csv")
    table = {"url": url, "table": "people"}
    shoal.run(definition(str(tmp_path / "people.csv"), str(tmp_path / "a.csv")))
    shoal.run(definition(table, str(tmp_path / "b.csv")))
    inside = shoal.run(definition(table, {"url": url, "table": "inside", "replace": True}))
    shoal.run(
        definition(str(tmp_path / "people.csv"), {"url": url, "table": "in", "replace": True})
    )
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
    wanted = released(tmp_path / "a.csv")
    assert texts(rows_of(url, "inside")) == wanted == texts(rows_of(url, "in"))
    assert inside.verified
    assert PASSWORD not in repr(inside)
    assert leftover_tables(url) == []


def test_no_order_of_the_input_is_left_in_the_table(url: str) -> None:
    load(url, "ordered", pa.table({"g": ["a"] * 50, "n": list(range(50))}))
    plan = Recoding(("g", "n"), {"g": Generalization(("a",), ("*",))}, pa.table({"g": ["*"]}), ())
    orders = []
    for rows in (list(range(50)), list(reversed(range(50)))):
        load(url, "ordered", pa.table({"g": ["a"] * 50, "n": rows}))
        with open_table(DatabaseOptions(url, "ordered")) as source:
            staged = recode_into(source, plan, DatabaseTarget(url, "unordered", replace=True))
            staged.publish()
        orders.append(rows_of(url, "unordered"))
    assert orders[0] == orders[1]


def test_a_run_that_releases_nothing_makes_no_database(tmp_path: Path) -> None:
    write_csv(PEOPLE, tmp_path / "people.csv")
    output = {"url": f"sqlite:///{tmp_path / 'new.db'}", "table": "people"}
    impossible = definition(str(tmp_path / "people.csv"), output) | {"k": 13}
    with pytest.raises(shoal.Infeasible):
        shoal.run(impossible)
    assert [path.name for path in tmp_path.iterdir()] == ["people.csv"]
    shoal.run(impossible | {"k": 3})
    assert len(rows_of(output["url"], "people")) == 12


def test_a_table_that_exists_is_replaced_only_when_that_is_said(url: str) -> None:
    load(url, "old", pa.table({"x": ["old"]}))
    with pytest.raises(shoal.BadOutput) as caught:
        check_table(DatabaseTarget(url, "old"))
    assert caught.value.code == "table-exists"
    check_table(DatabaseTarget(url, "old", replace=True))
    with stage_rows(DatabaseTarget(url, "old", replace=True), PEOPLE.to_reader()) as staged:
        with staged.source() as source:
            assert source.count_by([]).column(0).to_pylist() == [12]
        assert rows_of(url, "old") == [("old",)] if "sqlite" not in url else True
        staged.publish()
    assert len(rows_of(url, "old")) == 12


def test_a_table_that_appears_before_publishing_is_not_replaced(
    postgres_url: str, mariadb_url: str
) -> None:
    for url in (postgres_url, mariadb_url):
        run_sql(url, "DROP TABLE IF EXISTS appeared")
        staged = stage_rows(DatabaseTarget(url, "appeared"), PEOPLE.to_reader())
        load(url, "appeared", pa.table({"x": ["theirs"]}))
        with pytest.raises(shoal.BadOutput) as caught:
            staged.publish()
        assert caught.value.code == "table-exists"
        assert rows_of(url, "appeared") == [("theirs",)]
        assert _staged_tables(url) == []


def test_a_discarded_release_leaves_nothing(url: str) -> None:
    load(url, "people", PEOPLE.slice(0, 3))
    load(url, "kept", pa.table({"x": ["old"]}))
    target = DatabaseTarget(url, "kept", replace=True)
    with open_table(DatabaseOptions(url, "people")) as source:
        staged = recode_into(source, PLAN, target)
        staged.discard()
        staged.discard()
    assert rows_of(url, "kept") == [("old",)]
    assert _staged_tables(url) == []


def test_kept_columns_keep_their_types(postgres_url: str, mariadb_url: str) -> None:
    columns = "g VARCHAR(5), a VARCHAR(7), d DECIMAL(9,3), t DATE, s SMALLINT, n CHAR(4)"
    catalog = (
        "SELECT column_name, data_type, character_maximum_length, numeric_scale"
        " FROM information_schema.columns WHERE table_name = '{}' AND column_name <> 'g'"
        " ORDER BY ordinal_position"
    )
    plan = Recoding(
        columns=("g", "a", "d", "t", "s", "n"),
        generalized={"g": Generalization(("x",), ("*",)), "a": Generalization((), ())},
        classes=pa.table({"g": ["*"], "a": ["y"]}),
        blanked=("a",),
        missing=("NA",),
    )
    for url in (postgres_url, mariadb_url):
        run_sql(url, "DROP TABLE IF EXISTS sized", f"CREATE TABLE sized ({columns})")
        run_sql(url, "INSERT INTO sized VALUES ('x', 'y', 1.5, '2026-01-31', 3, 'ab')")
        with open_table(DatabaseOptions(url, "sized")) as source:
            recode_into(source, plan, DatabaseTarget(url, "sized_too", replace=True)).publish()
        assert run_sql(url, catalog.format("sized_too")) == run_sql(url, catalog.format("sized"))


def test_postgres_keeps_what_else_belongs_to_a_text(postgres_url: str) -> None:
    """A domain is released as what it is made of: a missing value may be none of its values."""
    run_sql(
        postgres_url,
        "DROP TABLE IF EXISTS texts, texts_too",
        "DROP DOMAIN IF EXISTS word",
        "CREATE DOMAIN word AS varchar(9) NOT NULL CHECK (value <> '')",
        'CREATE TABLE texts (a word, b text COLLATE "POSIX", c varchar(9), d char(5), e "char")',
        "INSERT INTO texts VALUES ('NA', 'y', 'z ', 'q ', 'e'), ('x', '', 'z ', 'q', 'e')",
    )
    keys = ("a", "b", "c", "d", "e")
    rows = pa.table(
        {"a": [None, "x"], "b": ["y", None], "c": ["z "] * 2, "d": ["q"] * 2} | {"e": ["e"] * 2}
    )
    plan = Recoding(keys, dict.fromkeys(keys, Generalization((), ())), rows, (), ("NA",))
    with open_table(DatabaseOptions(postgres_url, "texts")) as source:
        recode_into(source, plan, DatabaseTarget(postgres_url, "texts_too", replace=True)).publish()
    types = run_sql(
        postgres_url,
        "SELECT format_type(atttypid, atttypmod), collname FROM pg_attribute"
        " LEFT JOIN pg_collation c ON c.oid = attcollation"
        " WHERE attrelid = 'texts_too'::regclass AND attnum > 0 ORDER BY attnum",
    )
    assert types == [
        ("character varying(9)", "default"),
        ("text", "POSIX"),
        ("character varying(9)", "default"),
        ("character(5)", "default"),
        ('"char"', None),
    ]
    assert rows_of(postgres_url, "texts_too") == [
        ("x", None, "z ", "q    ", "e"),
        (None, "y", "z ", "q    ", "e"),
    ]


def test_a_key_that_is_not_released_does_not_order_the_table(postgres_url: str) -> None:
    made = []
    for hidden in (["1", "2"], ["2", "1"]):
        load(postgres_url, "hiding", pa.table({"g": hidden, "n": ["a", "b"]}))
        keys = {"g": Generalization(("1", "2"), ("1", "2"))}
        plan = Recoding(("n",), keys, pa.table({"g": ["1", "2"]}), ())
        with open_table(DatabaseOptions(postgres_url, "hiding")) as source:
            target = DatabaseTarget(postgres_url, "hidden", replace=True)
            recode_into(source, plan, target).publish()
        made.append(rows_of(postgres_url, "hidden"))
    assert made[0] == made[1]


@pytest.mark.parametrize("mark", [False, True])
def test_codes_too_many_for_one_number(url: str, mark: bool) -> None:
    """Eight keys of 300 values, of which 302 ** 8 codes could be made."""
    keys = [f"k{i}" for i in range(8)]
    people = pa.table(
        {key: [f"{key} {(n + i) % 300}" for n in range(300)] for i, key in enumerate(keys)}
    )
    load(url, "wide", people)
    unchanged = dict.fromkeys(keys, Generalization((), ()))
    plan = Recoding(tuple(keys), unchanged, people.slice(0, 200), tuple(keys), mark=mark)
    with open_table(DatabaseOptions(url, "wide")) as source:
        recode_into(source, plan, DatabaseTarget(url, "wide_too", replace=True)).publish()
    passing = [tuple(row.values()) for row in people.slice(0, 200).to_pylist()]
    marked = [(None,) * 8] * 100 if mark else []
    assert rows_of(url, "wide_too") == sorted(passing) + marked


def test_nobody_sees_a_staged_table_in_postgres(postgres_url: str) -> None:
    with stage_rows(DatabaseTarget(postgres_url, "unseen"), PEOPLE.to_reader()):
        assert _staged_tables(postgres_url) == []


@pytest.mark.slow
def test_a_killed_connection_leaves_the_old_table(postgres_url: str, mariadb_url: str) -> None:
    """Kills the connection while the release is written: the query is held up by a sleep."""
    slow = {
        postgres_url: ("SELECT zip, age, pg_sleep(3)::text AS s FROM people", "pg_sleep"),
        mariadb_url: ("SELECT zip, age, SLEEP(3) AS s FROM people", "SLEEP"),
    }
    for url, (query, word) in slow.items():
        load(url, "people", PEOPLE.slice(0, 3))
        load(url, "safe", pa.table({"x": ["old"]}))
        plan = Recoding(("zip", "s"), PLAN.generalized, PLAN.classes, ())
        killer = threading.Thread(target=_kill, args=(url, word))
        killer.start()
        with open_table(DatabaseOptions(url, query=query)) as source:
            with pytest.raises(shoal.BadData) as caught:
                recode_into(source, plan, DatabaseTarget(url, "safe", replace=True))
            assert caught.value.code == "connection-lost"
        killer.join()
        assert rows_of(url, "safe") == [("old",)]
        assert _staged_tables(url) == []


@pytest.mark.slow
def test_tables_of_a_killed_process_are_found_and_removed(url: str) -> None:
    code = (
        "import sys, os, pyarrow as pa, sqlalchemy as sa\n"
        "sys.path.insert(0, sys.argv[2])\n"
        "from servers import load\n"
        "from shoal.engines.database.connection import TableName\n"
        "from shoal.engines.database.names import STAGED, staged_name\n"
        "load(sys.argv[1], staged_name(TableName('x')).table, pa.table({'x': ['a']}))\n"
        "os._exit(9)\n"
    )
    tests = str(Path(__file__).parent.parent)
    environment = {**os.environ}
    subprocess.run([sys.executable, "-c", code, url, tests], env=environment, check=False)
    (left,) = leftover_tables(url)
    assert "shoal_staged_" in left
    assert remove_leftovers(url) == [left]
    assert leftover_tables(url) == []


def test_tables_of_a_running_process_are_left_alone(mariadb_url: str) -> None:
    run_sql(mariadb_url, "DROP TABLE IF EXISTS alive")
    with stage_rows(DatabaseTarget(mariadb_url, "alive"), PEOPLE.to_reader()):
        assert remove_leftovers(mariadb_url) == []
        assert len(_staged_tables(mariadb_url)) == 1
    assert _staged_tables(mariadb_url) == []


@pytest.mark.slow
def test_an_interrupt_stops_the_query(postgres_url: str, mariadb_url: str) -> None:
    slow = {
        postgres_url: "SELECT pg_sleep(3600)::text AS s FROM people",
        mariadb_url: "SELECT SLEEP(3600) AS s FROM people",
    }
    for url, query in slow.items():
        load(url, "people", PEOPLE.slice(0, 3))
        code = (
            "from shoal.engines.options import DatabaseOptions\n"
            "from shoal.engines.database import open_table\n"
            "import sys\n"
            "source = open_table(DatabaseOptions(sys.argv[1], query=sys.argv[2]))\n"
            "print('ready', flush=True)\n"
            "source.count_by(['s'])\n"
        )
        child = subprocess.Popen(
            [sys.executable, "-c", code, url, query], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        assert child.stdout is not None
        assert child.stdout.readline() == b"ready\n"
        word = "pg_sleep" if "postgres" in url else "SLEEP"
        _wait_for(url, word)
        child.send_signal(2)
        _, errors = child.communicate(timeout=TIME_LIMIT)
        assert b"KeyboardInterrupt" in errors
        assert _running(url, word) == []


def test_the_report_and_the_result_hold_no_password(url: str, tmp_path: Path) -> None:
    load(url, "people", PEOPLE)
    table = {"url": url, "table": "people"}
    made = definition(table, {"url": url, "table": "shown", "replace": True})
    result = shoal.run({**made, "report": str(tmp_path / "report.html")})
    from shoal.report.result import to_json

    assert PASSWORD not in json.dumps(to_json(result))
    for written in tmp_path.iterdir():
        assert PASSWORD not in written.read_text(encoding="utf-8")


def _staged_tables(url: str) -> list[str]:
    if "sqlite" in url:
        found = run_sql(url, "SELECT name FROM sqlite_master")
    else:
        found = run_sql(url, "SELECT table_name FROM information_schema.tables")
    return [name for (name,) in found if str(name).startswith("shoal_")]


def _running(url: str, word: str) -> list[int]:
    """The connections whose query has a word, other than the one that asks."""
    if "postgres" in url:
        asked = (
            "SELECT pid FROM pg_stat_activity WHERE state = 'active'"
            f" AND query LIKE '%%{word}%%' AND pid <> pg_backend_pid()"
        )
    else:
        asked = (
            "SELECT id FROM information_schema.processlist WHERE command = 'Query'"
            f" AND info LIKE '%%{word}(%%' AND id <> connection_id()"
        )
    return [int(number) for (number,) in run_sql(url, asked)]


def _wait_for(url: str, word: str) -> list[int]:
    end = time.monotonic() + TIME_LIMIT
    while time.monotonic() < end:
        if found := _running(url, word):
            return found
        time.sleep(0.05)
    raise AssertionError(f"no query with {word} was seen")


def _kill(url: str, word: str) -> None:
    for number in _wait_for(url, word):
        end = "SELECT pg_terminate_backend({})" if "postgres" in url else "KILL {}"
        run_sql(url, end.format(number))
