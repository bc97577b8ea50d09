"""Every type of pandas, polars and Arrow: what a frame gets back is counted as it is there.

Each column has three records of one value, one of a value that looks like it, and four of a third.
Whatever equals whatever, a class of fewer than four must not come back. The judge counts the
frames by themselves, and shares no code with the package.
"""

from __future__ import annotations

import datetime
import decimal
import uuid
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd  # type: ignore[import-untyped]
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import shoal

K = 4
D = decimal.Decimal
DAY, SECOND = datetime.date, datetime.datetime
MOMENT = [SECOND(2020, 1, 1), SECOND(2020, 1, 1, 0, 0, 1), SECOND(1969, 12, 31)]
DAYS = [DAY(2020, 1, 1), DAY(2020, 1, 2), DAY(1900, 2, 28)]
TIMES = [datetime.time(12), datetime.time(12, 0, 0, 1), datetime.time(0)]
NANOSECONDS = [1_577_836_800_000_000_000, 1_577_836_800_000_000_001, -1]
LONG = [2**100, 2**100 + 1, -1]
DIGITS = [D("0." + "1" * 49 + "1"), D("0." + "1" * 49 + "2"), D("-2." + "0" * 50)]


def spread(values: Sequence[Any]) -> list[Any]:
    """Three of the first value, one of the second, four of the third."""
    first, second, third = values
    return [first] * 3 + [second] + [third] * 4


def key(value: Any) -> Any:
    """A value by which to count: of its own type, with its digits, None for missing."""
    if value is None or value is pd.NaT or value is pd.NA:
        return None
    if isinstance(value, float | np.floating) and value != value:
        return None
    value = value.item() if isinstance(value, np.generic) else value
    return f"{type(value).__name__} {value!r}"


def judge(released: Sequence[Any], given: Sequence[Any], *, marked: bool = False) -> None:
    """No class below k and no value that was not given; blanks only where records are marked."""
    counts = Counter(map(key, released))
    missing = counts.pop(None, 0)
    assert min(counts.values()) >= K
    assert set(counts) <= set(map(key, given))
    assert (len(released) == len(given)) if marked else (missing == 0)


def release(frame: Any, **options: Any) -> Any:
    return shoal.anonymize(frame, {"q": {"limit": 0}}, k=K, suppression=4, **options)


def kept(frame: Any) -> Any:
    """The frame with its column kept beside a quasi-identifier that all records share."""
    return shoal.anonymize(frame, ["all"], k=8, others="keep")


PANDAS: dict[str, tuple[Any, Sequence[Any]]] = {
    "bool": ("bool", [True, False, True]),
    "boolean": ("boolean", [True, False, True]),
    **{kind: (kind, [1, 2, 3]) for kind in ("int8", "int16", "int32", "UInt8", "Int16", "Int32")},
    "int64": ("int64", [2**53, 2**53 + 1, -1]),
    "Int64": ("Int64", [2**53, 2**53 + 1, -1]),
    "uint64": ("uint64", [2**64 - 1, 2**64 - 2, 0]),
    "UInt64": ("UInt64", [2**64 - 1, 2**64 - 2, 0]),
    "float16": ("float16", [0.5, 0.50048828125, -2.0]),
    "float32": ("float32", [0.1, 0.10000000149011612, 16777216.0]),
    "float64": ("float64", [0.3, 0.1 + 0.2, 1e22]),
    "infinite": ("float64", [float("inf"), float("-inf"), 0.5]),
    "zeros": ("float64", [0.0, -0.0, 0.5]),
    "Float32": ("Float32", [0.5, 0.25, -2.0]),
    "Float64": ("Float64", [0.3, 0.1 + 0.2, 1e22]),
    "object texts": ("object", ["a", "a ", "A"]),
    "object integers": ("object", [1, 2, 3]),
    "object long integers": ("object", LONG),
    "object numbers": ("object", [1.0, 1.5, 3.0]),
    "object decimals": ("object", [D("1.50"), D("1.51"), D("2.00")]),
    "object long decimals": ("object", DIGITS),
    "object booleans": ("object", [True, False, True]),
    "object days": ("object", DAYS),
    "object times": ("object", TIMES),
    "object bytes": ("object", [b"a", b"a\0", b"\\x00"]),
    "str": ("str", ["1", "1.0", "01"]),
    "string[python]": ("string[python]", ["é", "e\u0301", "E"]),
    "string[pyarrow]": ("string[pyarrow]", ["a", "a\0", "a\n"]),
    "category": ("category", ["a", "b", "c"]),
    "category of integers": (pd.CategoricalDtype([3, 1, 2]), [1, 2, 3]),
    "category of numbers": (pd.CategoricalDtype([0.3, 0.1 + 0.2, 1e22]), [0.3, 0.1 + 0.2, 1e22]),
    "ordered category": (pd.CategoricalDtype(["c", "b", "a"], ordered=True), ["a", "b", "c"]),
    **{f"datetime64[{unit}]": (f"datetime64[{unit}]", MOMENT) for unit in ("s", "ms", "us")},
    "datetime64[ns]": ("datetime64[ns]", NANOSECONDS),
    "datetime64[us, Berlin]": ("datetime64[us, Europe/Berlin]", MOMENT),
    "datetime64[ns, UTC]": ("datetime64[ns, UTC]", NANOSECONDS),
    **{
        f"timedelta64[{unit}]": (f"timedelta64[{unit}]", [86_400, 86_401, -1])
        for unit in ("s", "ms", "us", "ns")
    },
    "period[M]": ("period[M]", ["2020-01", "2020-02", "1999-12"]),
    "period[D]": ("period[D]", ["2020-01-01", "2020-01-02", "1999-12-31"]),
    "period[W]": ("period[W-SUN]", ["2020-01-01", "2020-01-09", "1999-12-31"]),
    "sparse floats": (pd.SparseDtype("float64", 0.0), [0.0, 0.5, 1.5]),
    "sparse integers": (pd.SparseDtype("int64", 0), [0, 1, 2]),
    "sparse booleans": (pd.SparseDtype("bool", False), [True, False, True]),
    "arrow decimals": (pd.ArrowDtype(pa.decimal128(38, 2)), [D("1.50"), D("1.51"), D("2.00")]),
    "arrow long decimals": (pd.ArrowDtype(pa.decimal256(60, 50)), DIGITS),
    "arrow times": (pd.ArrowDtype(pa.time64("ns")), TIMES),
    "arrow durations": (pd.ArrowDtype(pa.duration("ns")), [1, 2, 3]),
    "arrow bytes": (pd.ArrowDtype(pa.binary()), [b"a", b"a\0", b"\\x00"]),
    "arrow views": (pd.ArrowDtype(pa.string_view()), ["a", "a ", "A"]),
    "arrow dictionaries": (pd.ArrowDtype(pa.dictionary(pa.int8(), pa.string())), ["a", "b", "c"]),
}


def pandas_frame(name: str) -> Any:
    kind, values = PANDAS[name]
    return pd.DataFrame({"q": pd.Series(spread(values), dtype=kind)})


@pytest.mark.slow
@pytest.mark.parametrize("name", PANDAS)
def test_a_type_of_pandas_is_released_as_it_was_counted(name: str) -> None:
    frame = pandas_frame(name)
    released = release(frame)
    judge(list(released["q"]), list(frame["q"]))
    if not isinstance(frame["q"].dtype, pd.CategoricalDtype):
        assert released["q"].dtype == frame["q"].dtype


@pytest.mark.slow
@pytest.mark.parametrize("name", PANDAS)
def test_a_type_of_pandas_can_be_blank(name: str) -> None:
    frame = pandas_frame(name)
    marked = release(frame, suppressed="mark")
    judge(list(marked["q"]), list(frame["q"]), marked=True)


@pytest.mark.slow
@pytest.mark.parametrize("name", PANDAS)
def test_a_kept_column_of_pandas_keeps_its_values(name: str) -> None:
    frame = pandas_frame(name).assign(all="x")
    released = kept(frame)
    assert Counter(map(key, released["q"])) == Counter(map(key, frame["q"]))
    if not isinstance(frame["q"].dtype, pd.CategoricalDtype):
        assert released["q"].dtype == frame["q"].dtype


POLARS: dict[str, tuple[Any, Sequence[Any]]] = {
    "Boolean": (pl.Boolean, [True, False, True]),
    **{str(kind): (kind, [1, 2, 3]) for kind in (pl.Int8, pl.Int16, pl.Int32, pl.UInt8, pl.UInt16)},
    "UInt32": (pl.UInt32, [2**32 - 1, 2**32 - 2, 0]),
    "Int64": (pl.Int64, [2**53, 2**53 + 1, -1]),
    "UInt64": (pl.UInt64, [2**64 - 1, 2**64 - 2, 0]),
    "Int128": (pl.Int128, LONG),
    "UInt128": (pl.UInt128, [2**127, 2**127 + 1, 0]),
    "Float16": (pl.Float16, [0.5, 0.50048828125, -2.0]),
    "Float32": (pl.Float32, [0.1, 0.10000000149011612, 16777216.0]),
    "Float64": (pl.Float64, [0.3, 0.1 + 0.2, 1e22]),
    "Decimal": (pl.Decimal(38, 10), [D("1.5"), D("1.5000000001"), D(2)]),
    "String": (pl.String, ["1", "1.0", "01"]),
    "Categorical": (pl.Categorical, ["a", "b", "c"]),
    "Enum": (pl.Enum(["c", "b", "a"]), ["a", "b", "c"]),
    "Binary": (pl.Binary, [b"a", b"a\0", b"\\x00"]),
    "Date": (pl.Date, DAYS),
    "Time": (pl.Time, TIMES),
    **{f"Datetime {unit}": (pl.Datetime(unit), MOMENT) for unit in ("ms", "us")},
    "Datetime ns": (pl.Datetime("ns"), NANOSECONDS),
    "Datetime in Berlin": (pl.Datetime("us", "Europe/Berlin"), MOMENT),
    **{
        f"Duration {unit}": (pl.Duration(unit), [86_400, 86_401, -1]) for unit in ("ms", "us", "ns")
    },
}


def polars_frame(name: str) -> pl.DataFrame:
    kind, values = POLARS[name]
    given = spread(values)
    if isinstance(values[0], int) and kind.is_temporal():
        return pl.DataFrame({"q": pl.Series(given, dtype=pl.Int64).cast(kind)})
    if getattr(kind, "time_zone", None):
        return pl.DataFrame({"q": pl.Series(given).dt.replace_time_zone(kind.time_zone)})
    return pl.DataFrame({"q": pl.Series(given, dtype=kind, strict=False)})


def raw(series: pl.Series) -> list[Any]:
    """The values of a series; times by their number, since Python's have microseconds."""
    return (series.to_physical() if series.dtype.is_temporal() else series).to_list()


@pytest.mark.slow
@pytest.mark.parametrize("name", POLARS)
def test_a_type_of_polars_is_released_as_it_was_counted(name: str) -> None:
    frame = polars_frame(name)
    for options in ({}, {"suppressed": "mark"}):
        released = release(frame, **options)
        judge(raw(released["q"]), raw(frame["q"]), marked=bool(options))
        assert released["q"].dtype == frame["q"].dtype or isinstance(frame["q"].dtype, pl.Enum)


@pytest.mark.slow
@pytest.mark.parametrize("name", POLARS)
def test_a_kept_column_of_polars_keeps_its_values(name: str) -> None:
    frame = polars_frame(name).with_columns(pl.lit("x").alias("all"))
    released = kept(frame)
    assert Counter(map(key, raw(released["q"]))) == Counter(map(key, raw(frame["q"])))
    assert released["q"].dtype == frame["q"].dtype


WORDS = ["a", "a ", "A"]
CASES: list[tuple[pa.DataType, Sequence[Any]]] = [
    (pa.bool_(), [True, False, True]),
    *((kind, [1, 2, 3]) for kind in (pa.int8(), pa.int16(), pa.int32(), pa.uint8(), pa.uint16())),
    (pa.uint32(), [2**32 - 1, 2**32 - 2, 0]),
    (pa.int64(), [2**53, 2**53 + 1, -1]),
    (pa.uint64(), [2**64 - 1, 2**64 - 2, 0]),
    (pa.float16(), [0.5, 0.50048828125, -2.0]),
    (pa.float32(), [0.1, 0.10000000149011612, 16777216.0]),
    (pa.float64(), [0.3, 0.1 + 0.2, 1e22]),
    (pa.decimal32(5, 2), [D("1.50"), D("1.51"), D("2.00")]),
    (pa.decimal64(15, 2), [D("1.50"), D("1.51"), D("2.00")]),
    (pa.decimal128(38, 2), [D("1.50"), D("1.51"), D("2.00")]),
    (pa.decimal128(9, -2), [D("1500"), D("1600"), D("200")]),
    (pa.decimal256(20, 2), [D("1.50"), D("1.51"), D("2.00")]),
    (pa.decimal256(60, 50), DIGITS),
    *((kind, WORDS) for kind in (pa.string(), pa.large_string(), pa.string_view())),
    *(
        (kind, [b"a", b"a\0", b"\\x00"])
        for kind in (pa.binary(), pa.large_binary(), pa.binary_view())
    ),
    (pa.binary(3), [b"abc", b"ab\0", b"\0\0\0"]),
    (pa.date32(), DAYS),
    (pa.date64(), DAYS),
    *((kind, [0, 1, 3600]) for kind in (pa.time32("s"), pa.time32("ms"), pa.time64("us"))),
    (pa.time64("ns"), [0, 1, 3600]),
    *((pa.timestamp(unit), [0, 1, -1]) for unit in ("s", "ms", "us", "ns")),
    *((pa.timestamp(unit, "Europe/Berlin"), [0, 1, -1]) for unit in ("s", "ms", "us", "ns")),
    *((pa.duration(unit), [86_400, 86_401, -1]) for unit in ("s", "ms", "us", "ns")),
    (pa.month_day_nano_interval(), [(1, 0, 0), (0, 30, 0), (0, 0, 1)]),
    (pa.dictionary(pa.int8(), pa.string()), WORDS),
    (pa.dictionary(pa.uint32(), pa.large_string(), ordered=True), WORDS),
    (pa.dictionary(pa.int8(), pa.int64()), [2**53, 2**53 + 1, -1]),
    (pa.dictionary(pa.int8(), pa.decimal256(60, 50)), DIGITS),
    (pa.run_end_encoded(pa.int32(), pa.string()), WORDS),
    (pa.run_end_encoded(pa.int16(), pa.float64()), [0.3, 0.1 + 0.2, 1e22]),
    (pa.uuid(), [uuid.UUID(int=1), uuid.UUID(int=2), uuid.UUID(int=3)]),
    (pa.json_(), ['{"a": 1}', '{"a":1}', "1"]),
    (pa.bool8(), [1, 0, 1]),
    (pa.opaque(pa.int32(), "thing", "somebody"), [1, 2, 3]),
]
ARROW = {str(kind): (kind, values) for kind, values in CASES}


def arrow_column(name: str) -> pa.Array:
    kind, values = ARROW[name]
    given = spread(values)
    if pa.types.is_run_end_encoded(kind):
        return pc.run_end_encode(pa.array(given, kind.value_type), run_end_type=kind.run_end_type)
    if pa.types.is_dictionary(kind):
        indices = pa.array(spread(range(3)), kind.index_type)
        distinct = pa.array(values, kind.value_type)
        return pa.DictionaryArray.from_arrays(indices, distinct, ordered=kind.ordered)
    if isinstance(kind, pa.UuidType):
        stored = pa.array([value.bytes for value in given], kind.storage_type)
        return pa.ExtensionArray.from_storage(kind, stored)
    if isinstance(kind, pa.BaseExtensionType):
        return pa.ExtensionArray.from_storage(kind, pa.array(given, kind.storage_type))
    return pa.array(given, kind)


def scalars(column: pa.ChunkedArray) -> list[Any]:
    """The values of a column; times by their number, since Python's have microseconds."""
    kind = column.type
    if isinstance(kind, pa.BaseExtensionType):
        return [
            None if s.value is None or s.value.as_py() is None else s.value.as_py() for s in column
        ]
    if pa.types.is_temporal(kind) and not pa.types.is_interval(kind):
        column = column.cast(pa.int32() if kind.bit_width == 32 else pa.int64())
    return list(column.to_pylist())


@pytest.mark.slow
@pytest.mark.parametrize("name", ARROW)
def test_a_type_of_arrow_is_released_as_it_was_counted(name: str) -> None:
    frame = pa.table({"q": arrow_column(name)})
    for options in ({}, {"suppressed": "mark"}):
        released = release(frame, **options)
        judge(scalars(released["q"]), scalars(frame["q"]), marked=bool(options))
        assert released["q"].type == frame["q"].type


@pytest.mark.slow
@pytest.mark.parametrize("name", ARROW)
def test_a_kept_column_of_arrow_keeps_its_values(name: str) -> None:
    frame = pa.table({"q": arrow_column(name), "all": ["x"] * 8})
    released = kept(frame)
    assert Counter(map(key, scalars(released["q"]))) == Counter(map(key, scalars(frame["q"])))
    assert released["q"].type == frame["q"].type


NESTED: dict[str, Any] = {
    "pandas lists": lambda: pd.DataFrame({"q": spread([[1], [2], [3]])}),
    "pandas records": lambda: pd.DataFrame({"q": spread([{"a": 1}, {"a": 2}, {"a": None}])}),
    "pandas intervals": lambda: pd.DataFrame({"q": spread(list(pd.interval_range(0, 3)))}),
    "polars lists": lambda: pl.DataFrame({"q": spread([[1], [2], []])}),
    "polars arrays": lambda: pl.DataFrame(
        {"q": pl.Series(spread([[1], [2], [3]]), dtype=pl.Array(pl.Int8, 1))}
    ),
    "polars records": lambda: pl.DataFrame({"q": spread([{"a": 1}, {"a": 2}, {"a": None}])}),
    "lists": lambda: pa.table({"q": spread([[1], [2], [3]])}),
    "large lists": lambda: pa.table(
        {"q": pa.array(spread([[1], [2], [3]]), pa.large_list(pa.int8()))}
    ),
    "list views": lambda: pa.table(
        {"q": pa.array(spread([[1], [2], [3]]), pa.list_view(pa.int8()))}
    ),
    "records": lambda: pa.table({"q": spread([{"a": 1}, {"a": 2}, {"a": None}])}),
    "maps": lambda: pa.table(
        {"q": pa.array(spread([[("a", 1)], [("b", 1)], []]), pa.map_(pa.string(), pa.int8()))}
    ),
}
NOT_HELD: dict[str, Any] = {
    "complex numbers": lambda: pd.DataFrame({"q": spread([1j, 2j, 3j])}),
    "objects": lambda: pl.DataFrame({"q": pl.Series(spread([{1}, {2}, {3}]), dtype=pl.Object)}),
    "unions": lambda: pa.table(
        {"q": pa.UnionArray.from_sparse(pa.array([0] * 8, pa.int8()), [pa.array([1] * 8)])}
    ),
    "durations in records": lambda: pa.table(
        {"q": pa.array([{"a": 1}] * 8, pa.struct([("a", pa.duration("ns"))]))}
    ),
    "decimals in lists": lambda: pa.table(
        {"q": pa.array([[D(1)]] * 8, pa.list_(pa.decimal256(60, 2)))}
    ),
    "days that are none": lambda: pa.table({"q": pa.array([1] * 8, pa.date64())}),
}


def with_all(frame: Any) -> Any:
    """The frame with a column that is the same everywhere."""
    if isinstance(frame, pa.Table):
        return frame.append_column("all", pa.array(["x"] * len(frame)))
    if isinstance(frame, pl.DataFrame):
        return frame.with_columns(pl.lit("x").alias("all"))
    return frame.assign(all="x")


def plainly(value: Any) -> str:
    return repr(value.as_py() if isinstance(value, pa.Scalar) else value)


@pytest.mark.slow
@pytest.mark.parametrize("name", NESTED)
def test_a_nested_column_can_be_kept_but_is_no_quasi_identifier(name: str) -> None:
    frame = with_all(NESTED[name]())
    released = kept(frame)
    assert Counter(map(plainly, released["q"])) == Counter(map(plainly, frame["q"]))
    with pytest.raises(shoal.BadData) as caught:
        release(NESTED[name]())
    assert caught.value.code == "unsupported-type"


@pytest.mark.slow
@pytest.mark.parametrize("name", NOT_HELD)
def test_a_type_that_cannot_be_held_is_an_error_unless_it_is_dropped(name: str) -> None:
    frame = with_all(NOT_HELD[name]())
    for attempt in (release, kept):
        with pytest.raises(shoal.BadData) as caught:
            attempt(frame if attempt is kept else NOT_HELD[name]())
        assert caught.value.code == "unsupported-type"
    assert len(shoal.anonymize(frame, ["all"], k=8, others="drop")) == 8


@pytest.mark.slow
def test_a_column_without_any_value_is_released() -> None:
    for frame in (
        pd.DataFrame({"q": [None] * 8}),
        pl.DataFrame({"q": [None] * 8}),
        pa.table({"q": pa.nulls(8)}),
    ):
        assert len(shoal.anonymize(frame, ["q"], k=8)) == 8


@pytest.mark.slow
@pytest.mark.parametrize("values", [["a", None, "a"], [1, None, 2], [0.5, None, float("nan")]])
def test_missing_values_stay_missing_in_every_kind_of_frame(values: list[Any]) -> None:
    given = spread(values)
    nulls = sum(key(value) is None for value in given)
    for frame in (pd.DataFrame({"q": given}), pl.DataFrame({"q": given}), pa.table({"q": given})):
        released = shoal.anonymize(frame, {"q": {"limit": 0}}, k=1 + 1, suppression=6)
        found = list(pa.table(released)["q"].to_pylist())
        assert sum(key(value) is None for value in found) in (0, nulls)


def test_a_sparse_column_with_missing_values_is_released() -> None:
    frame = pd.DataFrame({"q": pd.arrays.SparseArray([np.nan] * 4 + [1.0] * 4)})
    released = release(frame)
    assert released["q"].dtype == frame["q"].dtype
    assert (released["q"].isna().sum(), (released["q"] == 1.0).sum()) == (4, 4)


def test_a_release_of_polars_has_no_category_of_a_suppressed_record() -> None:
    kind = pl.Enum(["rome", "secret"])
    frame = pl.DataFrame({"q": pl.Series(["rome"] * 4 + ["secret"], dtype=kind)})
    released = release(frame)
    assert released["q"].dtype == pl.Enum(["rome"])
