"""Records that are fetched to be linked: those with listed values, each value as it is."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import servers
from adapters import InDatabase, InFile, InMemory, InSpark, Place, as_texts
from shoal.engines.base import Source
from shoal.engines.database.fetching import MOST_INLINE
from shoal.engines.opening import open_source
from shoal.engines.options import DatabaseOptions, FileOptions, Member, UnitedOptions
from shoal.errors import BadData

pytestmark = pytest.mark.slow

FILES = ("csv", "parquet")
FRAMES = ("pandas", "polars", "arrow")
DATABASES = ("sqlite", "postgres", "mariadb")
ENGINES = (*FILES, *FRAMES, *DATABASES, "spark")

TABLE = pa.table(
    {
        "number": pa.array([1, 2, None, 4, 5, 1], pa.int64()),
        "text": ["a", "A", "", "NA", None, "a "],
        "born": [datetime.date(1990, 1, day) for day in range(1, 7)],
        "real": pa.array([0.1, 1e22, None, None, -1.5, 2.0]),
        "money": pa.array([Decimal(i).scaleb(-2) for i in (0, 150, 151, -1, 99, 7)]),
        "seen": pa.array([datetime.datetime(2020, 5, i, 12, 30) for i in range(1, 7)]),
        "alive": pa.array([True, False, None, True, False, True]),
    }
)
MISSING = ("NA",)


@pytest.fixture(params=ENGINES)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    kind = request.param
    if kind in FILES:
        return InFile(tmp_path, f".{kind}")
    if kind in FRAMES:
        return InMemory(kind)
    if kind in DATABASES:
        return InDatabase(request.getfixturevalue(f"{kind}_url"))
    return InSpark(tmp_path, request.getfixturevalue("spark_session"))


def texts(table: pa.Table, *, without: Sequence[str] = ("",)) -> list[tuple[str | None, ...]]:
    """The rows as the texts that every engine counts by; those of `without` are missing."""
    columns = (column.to_pylist() for column in as_texts(table).columns)
    rows = zip(*columns, strict=True)
    return [tuple(None if text in without else text for text in row) for row in rows]


def fetch(
    source: Source, columns: Sequence[str], only: Mapping[str, Any], missing: Sequence[str] = ()
) -> pa.Table:
    """The records, read to the end."""
    with source.fetched(columns, only, missing) as rows:
        assert isinstance(rows, pa.RecordBatchReader)
        return rows.read_all()


def test_all_records_come_with_their_values(place: Place) -> None:
    place.load(TABLE)
    with closing(place.open()) as source:
        found = fetch(source, ["text", "number", "born", "real", "money", "seen", "alive"], {})
        counted = source.count_by(found.column_names)
    assert found.column_names == ["text", "number", "born", "real", "money", "seen", "alive"]
    assert Counter(texts(found)) == Counter(texts(counted.drop_columns(["#records"])))
    assert found.num_rows == 6


QUESTIONS: tuple[dict[str, list[Any]], ...] = (
    {"number": ["1"]},
    {"number": ["1", "4", "no number"], "text": ["a", "NA"]},
    {"number": [None]},
    {"text": [None]},
    {"text": ["a", None, ""]},
    {"text": ["NA", ""]},
    {"text": ["A", "a "]},
    {"born": ["1990-01-02", "1990-01-03"], "real": ["1e+22", None]},
    {"real": ["-1.5", "0.1"]},
    {"money": ["1.50", "1.5", "0.07"]},
    {"seen": ["2020-05-01 12:30:00"]},
    {"alive": ["true", None]},
    {"number": []},
)


def test_listed_texts_are_those_that_are_counted(place: Place) -> None:
    """What passes is what `count_by` would count under one of the listed texts."""
    place.load(TABLE)
    absent = {"", *MISSING}
    with closing(place.open()) as source:
        counted = source.count_by(TABLE.column_names, MISSING).to_pylist()
        for only in QUESTIONS:
            found = sorted(str(text) for (text,) in texts(fetch(source, ["born"], only, MISSING)))
            listed = {name: {t for t in only[name] if t not in absent} for name in only}
            passing = [row for row in counted if all(row[n] in listed[n] for n in listed)]
            assert found == sorted(str(row["born"]) for row in passing), only


def test_many_texts_can_be_listed(place: Place) -> None:
    number = 3 * MOST_INLINE
    table = pa.table({"key": [f"k{i}" for i in range(number)], "n": list(range(number))})
    place.load(table)
    with closing(place.open()) as source:
        keys = [f"k{i}" for i in range(0, number, 2)]
        found = fetch(source, ["key"], {"key": keys, "n": [str(i) for i in range(number)]})
        again = fetch(source, ["n"], {"key": ["k1"]})
    assert sorted(found.column("key").to_pylist()) == sorted(keys)
    assert texts(again) == [("1",)]


def test_a_stream_may_be_left_before_its_end(place: Place) -> None:
    place.load(pa.table({"n": list(range(60_000))}))
    with closing(place.open()) as source:
        with source.fetched(["n"], {}) as rows:
            assert next(iter(rows)).num_rows > 0
        assert source.count_by([]).to_pylist() == [{"#records": 60_000}]


def test_an_unknown_column_is_named(place: Place) -> None:
    place.load(TABLE)
    with closing(place.open()) as source:
        for columns, only in ((["nothing"], {}), (["text"], {"nothing": ["1"]})):
            with pytest.raises(BadData) as caught:
                fetch(source, columns, only)
            assert caught.value.code == "unknown-column"


def test_numbers_dates_and_lists_keep_their_types(tmp_path: Path) -> None:
    kinds = {"n": pa.int16(), "x": pa.float32(), "d": pa.date32(), "vector": pa.list_(pa.float64())}
    nested = pa.struct([("a", pa.int32()), ("b", pa.list_(pa.string()))])
    table = pa.table(
        {
            "n": pa.array([1, 2, None], kinds["n"]),
            "x": pa.array([0.5, None, float("nan")], kinds["x"]),
            "d": pa.array([0, 1, 2], kinds["d"]),
            "vector": pa.array([[1.0, float("nan")], [], None], kinds["vector"]),
            "nested": pa.array([{"a": 1, "b": ["x"]}, None, {"a": None, "b": []}], nested),
        }
    )
    pq.write_table(table, tmp_path / "t.parquet")
    with open_source(FileOptions(str(tmp_path / "t.parquet"))) as source:
        found = fetch(source, ["n", "x", "d", "vector", "nested"], {"n": ["1", None]})
    assert [str(kind) for kind in found.schema.types[:3]] == ["int16", "float", "date32[day]"]
    assert str(found.sort_by("d").slice(0, 1).to_pylist()) == str(table.slice(0, 1).to_pylist())
    assert found.sort_by("d").to_pylist()[1:] == [{**table.to_pylist()[2], "x": None}]


def test_texts_are_compared_byte_by_byte(request: pytest.FixtureRequest) -> None:
    """Collations that ignore case, and texts that are padded, change nothing."""
    declared = {"mariadb": "VARCHAR(5)", "postgres": "char(5)", "sqlite": "TEXT COLLATE NOCASE"}
    for engine, kind in declared.items():
        url = request.getfixturevalue(f"{engine}_url")
        servers.run_sql(
            url,
            "DROP TABLE IF EXISTS fetched_texts",
            f"CREATE TABLE fetched_texts (t {kind})",
            "INSERT INTO fetched_texts VALUES ('ab'), ('AB'), ('b')",
        )
        with open_source(DatabaseOptions(url, table="fetched_texts")) as source:
            assert fetch(source, ["t"], {"t": ["ab"]}).to_pydict() == {"t": ["ab"]}


def test_tables_of_different_kinds_are_fetched_as_one(tmp_path: Path, sqlite_url: str) -> None:
    (tmp_path / "north.csv").write_text("id,age\na,1\nb,2\n")
    servers.load(sqlite_url, "fetched south", pa.table({"key": ["c", "d"], "age": [1, 3]}))
    south = Member(DatabaseOptions(sqlite_url, table="fetched south"), {"key": "id"})
    united = UnitedOptions((Member(FileOptions(str(tmp_path / "north.csv"))), south))
    with open_source(united) as source:
        found = fetch(source, ["age", "id"], {"age": ["1"]})
    assert sorted(texts(found)) == [("1", "a"), ("1", "c")]


def test_a_column_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    table = pa.table({"a": [1], "half": pa.array([b"\0\0"], pa.binary(2)).view(pa.float16())})
    pq.write_table(table, tmp_path / "t.parquet")
    with open_source(FileOptions(str(tmp_path / "t.parquet"))) as source:
        assert fetch(source, ["a"], {}).to_pydict() == {"a": [1]}
        if any(column.fault for column in source.columns()):
            with pytest.raises(BadData):
                fetch(source, ["half"], {})
