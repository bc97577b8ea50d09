"""Databases count and recode as DuckDB does: small tables, with everything that can be missing."""

from __future__ import annotations

import datetime
from collections import Counter
from contextlib import closing
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import shoal
from servers import load, run_sql
from shoal.engines.base import Generalization, Recoding
from shoal.engines.database import open_table
from shoal.engines.frames.source import open_frame
from shoal.engines.opening import recode_into
from shoal.engines.options import DatabaseOptions

SYSTEMS = ("postgres", "mariadb", "sqlite")
VALUES = ("a", "A", "b", "b ", "it's", "ä\u0308 %s", "ä", "\\N\t\n,", ":x")
cell = st.sampled_from([None, "", "NA", *VALUES])
number = st.none() | st.integers(-3, 3)
Row = tuple[str | None, int | None, str | None]


@pytest.fixture(params=SYSTEMS)
def url(request: pytest.FixtureRequest) -> str:
    return str(request.getfixturevalue(f"{request.param}_url"))


def table_of(rows: list[Row]) -> pa.Table:
    kinds = (pa.string(), pa.int64(), pa.string())
    columns = [pa.array([row[i] for row in rows], kind) for i, kind in enumerate(kinds)]
    return pa.table(columns, names=["x", "Y z", "%s"])


def bag(table: pa.Table) -> Counter[tuple[Any, ...]]:
    return Counter(zip(*(column.to_pylist() for column in table.columns), strict=True))


@st.composite
def labels(draw: st.DrawFn) -> Generalization:
    missing = draw(st.sampled_from([None, "*"]))
    if draw(st.booleans()):
        return Generalization((), (), missing)
    every = ("NA", *VALUES)
    return Generalization(every, tuple(draw(st.sampled_from("*?")) for _ in every), missing)


SLOWLY = settings(
    max_examples=12,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@pytest.mark.slow
@SLOWLY
@given(
    rows=st.lists(st.tuples(cell, number, cell), max_size=8),
    missing=st.sampled_from([(), ("NA", "-1")]),
    given_x=st.none() | labels(),
    complete=st.lists(st.sampled_from(["x", "Y z", "%s"]), max_size=2, unique=True),
)
def test_the_counts_are_those_of_duckdb(
    url: str,
    rows: list[Row],
    missing: tuple[str, ...],
    given_x: Generalization | None,
    complete: list[str],
) -> None:
    table = table_of(rows)
    load(url, "counted", table)
    asked: dict[str, Any] = {"complete": complete}
    if given_x is not None:
        asked["generalized"] = {"x": given_x}
    with open_frame(table) as frame, open_table(DatabaseOptions(url, "counted")) as source:
        for columns in (["%s", "x"], ["Y z"], []):
            wanted = frame.count_by(columns, missing, **asked)
            assert source.count_by(columns, missing, **asked).schema == wanted.schema
            assert bag(source.count_by(columns, missing, **asked)) == bag(wanted)
            few = source.count_by(columns, missing, at_most=1, **asked)
            assert few.num_rows == min(2, wanted.num_rows)
            assert bag(few) <= bag(wanted)
            assert source.count_distinct(columns, missing, **asked) == wanted.num_rows


@pytest.mark.slow
@SLOWLY
@given(
    rows=st.lists(st.tuples(cell, number, cell), max_size=8),
    missing=st.sampled_from([(), ("NA", "-1")]),
    given_x=labels(),
    passing=st.integers(0, 4),
    mark=st.booleans(),
    complete=st.booleans(),
)
def test_the_released_records_are_those_of_duckdb_in_the_same_order(
    url: str,
    rows: list[Row],
    missing: tuple[str, ...],
    given_x: Generalization,
    passing: int,
    mark: bool,
    complete: bool,
) -> None:
    table = table_of(rows)
    load(url, "recoded", table)
    generalized = {"x": given_x, "Y z": Generalization((), ())}
    with open_frame(table) as frame, open_table(DatabaseOptions(url, "recoded")) as source:
        counted = frame.count_by(list(generalized), missing, generalized=generalized)
        counted = counted.sort_by([(name, "ascending") for name in generalized])
        plan = Recoding(
            columns=("x", "Y z", "%s"),
            generalized=generalized,
            classes=counted.select([0, 1]).slice(0, passing),
            blanked=("x", "Y z"),
            missing=missing,
            mark=mark,
            complete=complete,
        )
        wanted, found = (recode_into(each, plan, None).source() for each in (frame, source))
        with closing(wanted), closing(found):
            assert bag(found.count_by(plan.columns)) == bag(wanted.count_by(plan.columns))
        with frame.recoded(plan) as one, source.recoded(plan) as other:
            assert other.read_all().to_pylist() == one.read_all().to_pylist()


MOMENT = datetime.datetime(2026, 1, 31, 12, 30)
TYPES: dict[str, tuple[pa.DataType, list[Any], set[str | None]]] = {
    "booleans": (pa.bool_(), [True, False, None], {"true", "false", None}),
    "integers": (pa.int64(), [-(2**63), 2**63 - 1], {str(-(2**63)), str(2**63 - 1)}),
    "decimals": (pa.decimal128(10, 2), [Decimal("1.50"), Decimal("-2.00")], {"1.50", "-2.00"}),
    "doubles": (
        pa.float64(),
        [0.1, 1.0, 1e20, 1e15, 1 / 3, 1e-5],
        {"0.1", "1.0", "1e+20", "1000000000000000.0", "0.3333333333333333", "1e-05"},
    ),
    "days": (pa.date32(), [datetime.date(2026, 1, 31)], {"2026-01-31"}),
    "moments": (
        pa.timestamp("us"),
        [MOMENT, MOMENT.replace(microsecond=500_000)],
        {"2026-01-31 12:30:00", "2026-01-31 12:30:00.5"},
    ),
}


@pytest.mark.parametrize("kind", TYPES)
def test_values_of_a_type_have_the_text_that_duckdb_gives_them(url: str, kind: str) -> None:
    arrow, values, texts = TYPES[kind]
    load(url, "typed", pa.table({"v": pa.array(values, arrow), "g": ["a"] * len(values)}))
    plan = Recoding(
        columns=("g", "v"),
        generalized={"g": Generalization(("a",), ("*",))},
        classes=pa.table({"g": ["*"]}),
        blanked=(),
    )
    with open_table(DatabaseOptions(url, "typed")) as source:
        assert set(source.count_by(["v"]).column(0).to_pylist()) == texts
        with source.recoded(plan) as rows:
            released = rows.read_all()
    assert released.schema.field("v").type == arrow
    key = str
    assert sorted(released.column("v").to_pylist(), key=key) == sorted(values, key=key)


def test_postgres_spells_zones_nan_and_singles_as_duckdb_does(postgres_url: str) -> None:
    run_sql(
        postgres_url,
        "DROP TABLE IF EXISTS zoned",
        "CREATE TABLE zoned AS SELECT"
        " '2026-01-31 12:30:00+02'::timestamptz AS t, 'NaN'::float8 AS f, 0.1::float4 AS s,"
        " 'NaN'::numeric AS n, 12345678901234567890123::numeric AS big",
    )
    with open_table(DatabaseOptions(postgres_url, "zoned")) as source:
        (row,) = source.count_by(["t", "f", "s", "n", "big"]).to_pylist()
    values = list(row.values())
    assert values == ["2026-01-31 10:30:00+00", None, "0.1", None, "12345678901234567890123", 1]


def test_a_collation_that_ignores_case_or_spaces_merges_nothing(
    mariadb_url: str, sqlite_url: str
) -> None:
    for url, text in ((mariadb_url, "VARCHAR(9)"), (sqlite_url, "TEXT COLLATE NOCASE")):
        run_sql(url, "DROP TABLE IF EXISTS loose", f"CREATE TABLE loose (v {text})")
        run_sql(url, "INSERT INTO loose VALUES ('a'), ('A'), ('a '), ('')")
        with open_table(DatabaseOptions(url, "loose")) as source:
            assert set(source.count_by(["v"]).column(0).to_pylist()) == {"a", "A", "a ", None}


def test_a_value_without_a_label_stops_the_count_and_the_release(url: str) -> None:
    load(url, "changing", pa.table({"x": ["a", "b"], "k": [1, 2]}))
    short = Generalization(("a",), ("*",))
    plan = Recoding(("x", "k"), {"x": short}, pa.table({"x": ["*"]}), ())
    with open_table(DatabaseOptions(url, "changing")) as source:
        for ask in (source.count_by, source.count_distinct):
            with pytest.raises(shoal.BadData) as caught:
                ask(["x"], generalized={"x": short})
            assert caught.value.code == "source-changed"
        with pytest.raises(shoal.BadData) as caught:
            recode_into(source, plan, None)
    assert caught.value.code == "source-changed"


def test_a_source_is_one_snapshot_from_the_first_count_on(postgres_url: str) -> None:
    load(postgres_url, "moving", pa.table({"x": ["a", "b"]}))
    with open_table(DatabaseOptions(postgres_url, "moving")) as source:
        source.count_by(["x"])
        run_sql(postgres_url, "INSERT INTO moving VALUES ('new')")
        assert source.count_by([]).column(0).to_pylist() == [2]
