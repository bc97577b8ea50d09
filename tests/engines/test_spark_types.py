"""Types of Spark: a release is counted by what is stored, and holds what was given."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import shoal
from adapters import rows_of
from shoal.engines.spark.relation import relation_of
from shoal.engines.spark.session import open_session
from shoal.engines.spark.source import SparkSource

K = 4
LIMITED = {"q": {"role": "quasi-identifier", "limit": 0}}


def spread(values: Sequence[Any]) -> list[Any]:
    """Three of the first value, one of the second, four of the third."""
    first, second, third = values
    return [first] * 3 + [second] + [third] * 4


def test_what_spark_stores_is_told_apart(spark_session: Any) -> None:
    table = pa.table(
        {
            "text": ["", None, "a", "a"],
            "real": [float("nan"), None, -0.0, 0.0],
            "single": pa.array([float("inf"), 1e10, 0.1, None], pa.float32()),
        }
    )
    frame = spark_session.createDataFrame(table)
    relation = relation_of(frame, "the release", stored=True)
    found = rows_of(SparkSource(open_session(spark_session), relation))
    assert found == Counter(
        [
            ("", "nan", "inf"),
            (None, None, "10000000000.0"),
            ("a", "-0.0", "0.1"),
            ("a", "0.0", None),
        ]
    )


TYPES: dict[str, tuple[pa.DataType, Sequence[Any]]] = {
    "double": (pa.float64(), [0.3, 0.1 + 0.2, 1e22]),
    "zeros": (pa.float64(), [0.0, -0.0, 0.5]),
    "text": (pa.string(), ["a", "a ", "A"]),
    "decimal": (pa.decimal128(38, 2), [Decimal("1.50"), Decimal("1.51"), Decimal("2.00")]),
    "instant": (pa.timestamp("us", "UTC"), [0, 1, -1]),
    "bytes": (pa.binary(), [b"a", b"a\0", b"\\x00"]),
    "boolean": (pa.bool_(), [True, False, True]),
}


@pytest.mark.parametrize("name", TYPES)
def test_a_frame_of_spark_is_released_as_it_was_counted(name: str, spark_session: Any) -> None:
    kind, values = TYPES[name]
    given = pa.table({"q": pa.array(spread(values), kind)})
    frame = spark_session.createDataFrame(given)
    released = shoal.anonymize(frame, {"q": {"limit": 0}}, k=K, suppression=4, suppressed="mark")
    assert released.schema == frame.schema
    column = released.toArrow()["q"].to_pylist()
    counts = Counter(map(repr, column))
    counts.pop("None", None)
    assert (len(column), min(counts.values()) >= K) == (8, True)
    assert set(counts) <= set(map(repr, frame.toArrow()["q"].to_pylist()))


KEPT: dict[str, tuple[pa.Array, pa.Array]] = {
    "uint64": (pa.array([2**64 - 1] * 8, pa.uint64()), pa.array([Decimal(2**64 - 1)] * 8)),
    "float16": (pa.array([0.5] * 8, pa.float16()), pa.array([0.5] * 8)),
    "float32": (pa.array([0.1] * 8, pa.float32()), pa.array([0.1] * 8, pa.float32())),
    "duration": (pa.array([1] * 8, pa.duration("ns")), pa.array([1] * 8)),
    "time": (pa.array([1] * 8, pa.time64("us")), pa.array(["00:00:00.000001"] * 8)),
    "nanoseconds": (
        pa.array([1000] * 8, pa.timestamp("ns")),
        pa.array([1] * 8, pa.timestamp("us")),
    ),
    "decimal": (
        pa.array([Decimal("1.50")] * 8, pa.decimal256(38, 2)),
        pa.array([Decimal("1.50")] * 8),
    ),
}


def test_columns_that_spark_has_no_type_for_keep_their_values(
    spark_session: Any, tmp_path: Path
) -> None:
    columns = {name: given for name, (given, _) in KEPT.items()}
    pq.write_table(pa.table({"all": ["x"] * 8, **columns}), tmp_path / "in.parquet")
    shoal.run(
        {
            "source": str(tmp_path / "in.parquet"),
            "output": {"spark": str(tmp_path / "out"), "format": "parquet"},
            "k": 8,
            "attributes": {"all": "quasi-identifier"},
            "others": "keep",
        },
        spark=spark_session,
    )
    (file,) = (tmp_path / "out").glob("part-*")
    released = pq.read_table(file)
    for name, (_, expected) in KEPT.items():
        assert released[name].to_pylist() == expected.to_pylist(), name


def test_nanoseconds_that_spark_cannot_hold_are_refused_before_the_search(
    spark_session: Any, tmp_path: Path
) -> None:
    column = pa.array([1] * 8, pa.timestamp("ns"))
    pq.write_table(pa.table({"q": column}), tmp_path / "in.parquet")
    output = {"spark": str(tmp_path / "out"), "format": "parquet"}
    definition = {"source": str(tmp_path / "in.parquet"), "output": output, "k": 8}
    with pytest.raises(shoal.BadOutput) as caught:
        shoal.run({**definition, "attributes": LIMITED}, spark=spark_session)
    assert caught.value.code == "unstorable-value"


def test_a_time_of_day_is_stored_as_the_text_that_was_counted(
    spark_session: Any, tmp_path: Path
) -> None:
    times = pa.array(spread([0, 1, 43_200_000_000]), pa.time64("us"))
    pq.write_table(pa.table({"q": times}), tmp_path / "in.parquet")
    output = {"spark": str(tmp_path / "out"), "format": "parquet"}
    definition = {"source": str(tmp_path / "in.parquet"), "output": output, "k": K}
    shoal.run({**definition, "suppression": 4, "attributes": LIMITED}, spark=spark_session)
    (file,) = (tmp_path / "out").glob("part-*")
    assert pq.read_table(file)["q"].to_pylist() == ["12:00:00"] * 4


UNREADABLE: dict[str, pa.Array] = {
    "nanoseconds": pa.array([1] * 8, pa.timestamp("ns")),
    "time": pa.array([1] * 8, pa.time64("us")),
    "decimal256": pa.array([Decimal("1.5")] * 8, pa.decimal256(40, 2)),
    "float16": pa.array([0.5] * 8, pa.float16()),
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_parquet_types_that_spark_does_not_read_are_named_as_such(
    name: str, spark_session: Any, tmp_path: Path
) -> None:
    pq.write_table(pa.table({"q": UNREADABLE[name]}), tmp_path / "in.parquet")
    source = {"spark": str(tmp_path / "in.parquet")}
    definition = {"source": source, "output": str(tmp_path / "out.csv"), "k": 8}
    with pytest.raises(shoal.BadData) as caught:
        shoal.run({**definition, "attributes": LIMITED}, spark=spark_session)
    assert caught.value.code == "unsupported-type"
    assert str(tmp_path / "in.parquet") in caught.value.what


SQL_TYPES: dict[str, tuple[str, str, str]] = {
    "byte": ("CAST(1 AS BYTE)", "CAST(2 AS BYTE)", "CAST(-128 AS BYTE)"),
    "short": ("CAST(1 AS SHORT)", "CAST(2 AS SHORT)", "CAST(-32768 AS SHORT)"),
    "float": ("CAST(0.1 AS FLOAT)", "CAST(0.2 AS FLOAT)", "CAST(16777216 AS FLOAT)"),
    "decimal(38,0)": (
        "1e37BD",
        "CAST('10000000000000000000000000000000000001' AS DECIMAL(38))",
        "0BD",
    ),
    "decimal(38,38)": (
        "CAST('0.1' AS DECIMAL(38,38))",
        "CAST('0.10000000000000000000000000000000000001' AS DECIMAL(38,38))",
        "CAST('0.5' AS DECIMAL(38,38))",
    ),
    "binary": ("X'61'", "X'6100'", "X'FF'"),
    "timestamp_ntz": (
        "TIMESTAMP_NTZ'2020-01-01 00:00:00'",
        "TIMESTAMP_NTZ'2020-01-01 00:00:00.000001'",
        "TIMESTAMP_NTZ'1969-12-31 23:59:59'",
    ),
    "char": ("CAST('a' AS CHAR(3))", "CAST('b' AS CHAR(3))", "CAST('abc' AS CHAR(3))"),
    "varchar": ("CAST('a' AS VARCHAR(3))", "CAST('a ' AS VARCHAR(3))", "CAST('A' AS VARCHAR(3))"),
}


def frame_of(session: Any, values: Sequence[str]) -> Any:
    rows = ", ".join(f"({value}, 'x')" for value in spread(values))
    return session.sql(f"SELECT * FROM VALUES {rows} AS rows(q, all)")


def wide_frame_of(session: Any, columns: Mapping[str, Sequence[str]]) -> Any:
    """One column for each list of values, beside one with the same text everywhere."""
    rows = zip(*(spread(values) for values in columns.values()), strict=True)
    texts = ", ".join(f"({', '.join(row)}, 'x')" for row in rows)
    names = ", ".join(f"`{name}`" for name in columns)
    return session.sql(f"SELECT * FROM VALUES {texts} AS rows({names}, all)")


@pytest.mark.parametrize("name", SQL_TYPES)
def test_types_of_spark_are_released_as_they_were_counted(name: str, spark_session: Any) -> None:
    frame = frame_of(spark_session, SQL_TYPES[name])
    given = Counter(map(repr, frame.toArrow()["q"].to_pylist()))
    quasi = shoal.anonymize(
        frame, {"q": {"limit": 0}}, k=K, suppression=4, suppressed="mark", others="drop"
    )
    stored = Counter(map(repr, quasi.toArrow()["q"].to_pylist()))
    assert stored == {repr(None): 4, **{value: n for value, n in given.items() if n >= K}}


def test_types_of_spark_keep_their_values(spark_session: Any) -> None:
    frame = wide_frame_of(spark_session, SQL_TYPES)
    kept = shoal.anonymize(frame, ["all"], k=8, others="keep")
    given, released = frame.toArrow(), kept.toArrow()
    for name in SQL_TYPES:
        expected = Counter(map(repr, given[name].to_pylist()))
        assert Counter(map(repr, released[name].to_pylist())) == expected, name


NOT_COMPARED: dict[str, str] = {
    "interval": "INTERVAL '1' DAY",
    "months": "INTERVAL '1' MONTH",
    "array": "array(1, 2)",
    "struct": "named_struct('a', 1)",
    "map": "map('a', 1)",
    "variant": "parse_json('{\"a\": 1}')",
}
NOT_KEPT = ("map", "variant")


@pytest.mark.parametrize("name", NOT_COMPARED)
def test_types_of_spark_without_a_text_are_refused_before_the_search(
    name: str, spark_session: Any
) -> None:
    frame = frame_of(spark_session, [NOT_COMPARED[name]] * 3)
    with pytest.raises(shoal.BadData) as caught:
        shoal.anonymize(frame, ["q"], k=K, others="drop")
    assert caught.value.code in ("unsupported-type", "column-not-comparable")
    if name in NOT_KEPT:
        with pytest.raises(shoal.BadData) as caught:
            shoal.anonymize(frame, ["all"], k=K, others="keep")
        assert caught.value.code == "column-not-comparable"


def test_types_of_spark_without_a_text_are_kept(spark_session: Any) -> None:
    columns = {name: [NOT_COMPARED[name]] * 3 for name in NOT_COMPARED if name not in NOT_KEPT}
    frame = wide_frame_of(spark_session, columns)
    kept = shoal.anonymize(frame, ["all"], k=K, others="keep")
    texts = [f"CAST({name} AS STRING)" for name in columns]
    given, released = (each.selectExpr(*texts).collect() for each in (frame, kept))
    assert released == given
