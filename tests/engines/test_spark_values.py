"""What Spark counts and recodes is what DuckDB does, for every type of value."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from shoal.engines.base import Generalization, Recoding, Source
from shoal.engines.frames.source import StagedTable
from shoal.engines.opening import open_source, recode_into
from shoal.engines.options import FileOptions, FileTarget, SparkOptions
from shoal.engines.spark import open_frame
from shoal.engines.spark.source import StagedSparkFrame
from shoal.errors import BadData

UTC = datetime.UTC
NOON = datetime.datetime(2026, 1, 31, 12, 30)
VALUES: dict[str, pa.Array] = {
    "a.b": pa.array(["x", "x ", "", "NA", None, "é", "e\u0301", "X"]),
    "`real`": pa.array([0.0, -0.0, float("nan"), 1e20, 0.1, None, float("inf"), 1.0]),
    "single": pa.array([0.1, 2.5, -0.0, 0.0, float("nan"), None, 1e10, 0.1], pa.float32()),
    "decimal": pa.array([Decimal(d) for d in "1.50 0.00 -0.01 1234567.89 1.5 2 0 3".split()]),
    "tiny": pa.array(
        [Decimal("0.00000001"), None, Decimal(0), *[Decimal("0.5")] * 5], pa.decimal128(8, 8)
    ),
    "big": pa.array([Decimal(10) ** 37, *[Decimal(-1)] * 7], pa.decimal128(38, 0)),
    "day": pa.array([datetime.date(1, 1, 1), None, *[datetime.date(2026, 1, 31)] * 6]),
    "instant": pa.array(
        [NOON.replace(microsecond=u, tzinfo=UTC) for u in (0, 500000, 1, 0, 0, 7, 0, 0)],
        pa.timestamp("us", "UTC"),
    ),
    "clock": pa.array([NOON.replace(second=s) for s in (0, 1, 2, 0, 0, 0, 0, 0)]),
    "yes": pa.array([True, False, None, True, True, True, False, False]),
    "whole": pa.array([1, -9, None, 2**62, 5, 5, 5, 5]),
    "bytes": pa.array([b"a\x00\xff", b"", None, b"b", b"b", b"b", b"b", b"b"]),
}
MISSING = ("NA", "-0.0", "1.50", "-9", "2026-01-31", "2026-01-31 12:30:00.5+00", "true")
"""Texts that mean missing, each of which some value has."""


@pytest.fixture(scope="module")
def table() -> pa.Table:
    """Each value with several others."""
    columns: dict[str, list[Any]] = {name: [] for name in VALUES}
    for shift in range(3):
        for i, name in enumerate(VALUES):
            values = VALUES[name].to_pylist()
            columns[name] += values[shift * i % 8 :] + values[: shift * i % 8]
    return pa.table({name: pa.array(columns[name], VALUES[name].type) for name in VALUES})


@pytest.fixture(scope="module")
def sources(
    table: pa.Table, spark_session: Any, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Source, Source]]:
    """The same file, read by DuckDB and by Spark."""
    path = tmp_path_factory.mktemp("values") / "values.parquet"
    pq.write_table(table, path)
    duck = open_source(FileOptions(str(path)))
    spark = open_source(SparkOptions(str(path)), spark=spark_session)
    yield duck, spark
    duck.close()
    spark.close()


def rows(table: pa.Table) -> list[str]:
    """The rows in an order of their own; nan equals nan, -0.0 does not equal 0.0."""
    return sorted(map(str, zip(*(column.to_pylist() for column in table.columns), strict=True)))


def released(source: Source, recoding: Recoding) -> pa.Table:
    staged = recode_into(source, recoding, None)
    assert isinstance(staged, StagedTable)
    return staged.frame()


@pytest.mark.parametrize("missing", [(), MISSING], ids=["nothing-missing", "texts-missing"])
def test_every_type_has_the_texts_it_has_in_duckdb(
    sources: tuple[Source, Source], missing: tuple[str, ...]
) -> None:
    duck, spark = sources
    names = list(VALUES)
    for some in (names[:3], names[3:6], names[6:9], names[9:]):
        expected = duck.count_by(some, missing)
        found = spark.count_by(some, missing)
        assert found.schema == expected.schema
        assert rows(found) == rows(expected)


def test_records_are_counted_without_columns(sources: tuple[Source, Source]) -> None:
    duck, spark = sources
    assert spark.count_by([]).to_pylist() == duck.count_by([]).to_pylist() == [{"#records": 24}]
    assert spark.count_by([], complete=["a.b"]) == duck.count_by([], complete=["a.b"])
    assert spark.count_distinct([]) == 1


@pytest.mark.parametrize("name", ["a.b", "`real`", "decimal", "instant"])
def test_labels_are_counted_as_in_duckdb(sources: tuple[Source, Source], name: str) -> None:
    duck, spark = sources
    values = tuple(duck.count_by([name], ("NA",)).column(0).drop_null().to_pylist())
    by_initial = Generalization((*values, "no value"), (*(v[:1] for v in values), "?"), "gone")
    unchanged = Generalization((), (), "gone")
    for generalization in (by_initial, unchanged):
        options: Any = {"generalized": {name: generalization}, "complete": ["whole"]}
        expected = duck.count_by([name, "yes"], ("NA",), **options)
        assert rows(spark.count_by([name, "yes"], ("NA",), **options)) == rows(expected)
        assert spark.count_distinct([name, "yes"], ("NA",), **options) == len(expected)


def test_no_more_combinations_are_counted_than_asked_for(sources: tuple[Source, Source]) -> None:
    _, spark = sources
    assert len(spark.count_by(["a.b"], at_most=2)) == 3
    assert spark.count_distinct(["a.b"], at_most=2) == 3
    assert spark.count_distinct(["a.b"], at_most=100) == 7


@pytest.mark.parametrize("name", ["a.b", "`real`", "big", "clock"])
@pytest.mark.parametrize("mark", [False, True], ids=["drop", "mark"])
def test_records_are_recoded_as_in_duckdb(
    sources: tuple[Source, Source], name: str, mark: bool
) -> None:
    duck, spark = sources
    values = tuple(duck.count_by([name], ("NA",)).column(0).drop_null().to_pylist())
    by_initial = Generalization(values, tuple(v[:1] for v in values))
    for generalization in (by_initial, Generalization((), (), "gone" if mark else None)):
        generalized = {name: generalization, "yes": Generalization((), ())}
        every = duck.count_by([name, "yes"], ("NA",), generalized=generalized)
        classes = every.select([0, 1]).slice(0, max(1, len(every) // 2))
        columns = (name, "yes", *(other for other in VALUES if other not in (name, "yes")))
        recoding = Recoding(columns, generalized, classes, (name, "yes"), ("NA",), mark=mark)
        expected, found = released(duck, recoding), released(spark, recoding)
        assert found.column_names == expected.column_names
        assert rows(found) == rows(expected)
        ordered = list(zip(*(found.column(i).to_pylist() for i in (0, 1)), strict=True))
        assert ordered == sorted(ordered, key=lambda row: [(v is None, v) for v in row])


def test_a_release_that_leaves_spark_has_the_same_bytes(
    sources: tuple[Source, Source], tmp_path: Path
) -> None:
    duck, spark = sources
    unchanged = {"a.b": Generalization((), ())}
    recoding = Recoding(tuple(VALUES), unchanged, duck.count_by(["a.b"]).select([0]), ())
    for source, name in ((duck, "duck.csv"), (spark, "spark.csv")):
        recode_into(source, recoding, FileTarget(tmp_path / name)).publish()
    assert (tmp_path / "spark.csv").read_bytes() == (tmp_path / "duck.csv").read_bytes()


@pytest.mark.parametrize("output", [None, "release.csv"])
def test_a_value_that_was_not_counted_stops_the_recoding(
    sources: tuple[Source, Source], output: str | None, tmp_path: Path
) -> None:
    _, spark = sources
    one = Generalization(("x",), ("letter",))
    recoding = Recoding(("a.b",), {"a.b": one}, pa.table({"a.b": ["letter"]}), ())
    target = None if output is None else FileTarget(tmp_path / output)
    with pytest.raises(BadData) as caught:
        recode_into(spark, recoding, target)
    assert caught.value.code == "source-changed"
    assert list(tmp_path.iterdir()) == []


def test_text_is_compared_byte_by_byte_whatever_the_collation(spark_session: Any) -> None:
    frame = spark_session.sql(
        "SELECT collate(word, 'UTF8_LCASE') AS word FROM VALUES ('a'), ('A'), ('a ') AS t(word)"
    )
    counted = open_frame(frame).count_by(["word"])
    assert sorted(counted.column(0).to_pylist()) == ["A", "a", "a "]


def test_names_that_differ_in_case_are_different_columns(spark_session: Any) -> None:
    frame = spark_session.sql("SELECT 1 AS name, 2 AS NAME, 3 AS `na.me`, 4 AS ```n```")
    source = open_frame(frame)
    assert [column.name for column in source.columns()] == ["name", "NAME", "na.me", "`n`"]
    assert source.count_by(["NAME", "`n`"]).to_pylist() == [
        {"NAME": "2", "`n`": "4", "#records": 1}
    ]


def test_lists_cannot_be_quasi_identifiers_but_are_kept(spark_session: Any) -> None:
    frame = spark_session.sql("SELECT array(1, 2) AS list, 'a' AS word, NULL AS nothing")
    source = open_frame(frame)
    with pytest.raises(BadData, match=r"'list' of the frame has the type array<int>"):
        source.count_by(["list"])
    unchanged = {"word": Generalization((), ())}
    recoding = Recoding(("list", "word", "nothing"), unchanged, pa.table({"word": ["a"]}), ())
    staged = recode_into(source, recoding, None)
    assert isinstance(staged, StagedSparkFrame)
    assert staged.frame().toArrow().to_pylist() == [{"list": [1, 2], "word": "a", "nothing": None}]
