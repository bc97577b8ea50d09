"""Every type that a Parquet file holds, to every kind of output: released as it was counted.

Each column has three records of one value, one of a value that looks like it, and four of a third.
Whatever equals whatever, no class of fewer than four may be in an output. The judges read the
outputs with csv, json, sqlite3, pyarrow and openpyxl, and share no code with the package.
"""

from __future__ import annotations

import csv
import datetime
import decimal
import json
import re
import sqlite3
import uuid
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd  # type: ignore[import-untyped]
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import shoal

K = 4
D = decimal.Decimal
DAY = datetime.date
OUTPUTS = {"csv": "mark", "parquet": "mark", "json": "mark", "xlsx": "mark", "sqlite": "drop"}
"""What becomes of suppressed records there."""


DEFINITION: dict[str, Any] = {
    "k": K,
    "suppression": 4,
    "attributes": {"q": {"role": "quasi-identifier", "limit": 0}},
}


def spread(values: Sequence[Any]) -> list[Any]:
    """Three of the first value, one of the second, four of the third."""
    first, second, third = values
    return [first] * 3 + [second] + [third] * 4


CASES: list[tuple[pa.DataType, Sequence[Any]]] = [
    (pa.bool_(), [True, False, True]),
    (pa.int8(), [1, 2, 3]),
    (pa.uint32(), [2**32 - 1, 2**32 - 2, 0]),
    (pa.int64(), [2**53, 2**53 + 1, -1]),
    (pa.uint64(), [2**53, 2**53 + 1, 0]),
    (pa.float16(), [0.5, 0.50048828125, -2.0]),
    (pa.float32(), [0.1, 0.2, 16777216.0]),
    (pa.float64(), [0.3, 0.1 + 0.2, 1e22]),
    (pa.decimal32(5, 2), [D("1.50"), D("1.51"), D("2.00")]),
    (pa.decimal64(18, 2), [D("1234567890123456.78"), D("1234567890123456.79"), D("2.00")]),
    (pa.decimal128(38, 2), [D("1.50"), D("1.51"), D("2.00")]),
    (pa.decimal128(20, 0), [D(2**63), D(2**63 + 1), D(-1)]),
    (pa.decimal128(38, 0), [D(10**37), D(10**37 + 1), D(0)]),
    (pa.decimal256(20, 2), [D("1.50"), D("1.51"), D("2.00")]),
    *((kind, ["1", "1.0", "a\tb"]) for kind in (pa.string(), pa.large_string(), pa.string_view())),
    *((kind, [b"a", b"a\0", b"\\x00"]) for kind in (pa.binary(), pa.binary_view())),
    (pa.binary(3), [b"abc", b"ab\0", b"\0\0\0"]),
    (pa.date32(), [DAY(2020, 1, 1), DAY(2020, 1, 2), DAY(1900, 2, 28)]),
    *((kind, [0, 1, 3600]) for kind in (pa.time32("ms"), pa.time64("us"))),
    *((pa.timestamp(unit), [0, 1, -1]) for unit in ("s", "ms", "us")),
    *((pa.timestamp(unit, "Europe/Berlin"), [0, 1, -1]) for unit in ("s", "ms", "us")),
    *((pa.duration(unit), [86_400, 86_401, -1]) for unit in ("s", "us", "ns")),
    (pa.dictionary(pa.int8(), pa.string()), ["a", "a ", "A"]),
    (pa.uuid(), [uuid.UUID(int=1), uuid.UUID(int=2), uuid.UUID(int=3)]),
    (pa.json_(), ['{"a": 1}', '{"a":1}', "1"]),
]
TYPES = {str(kind): (kind, values) for kind, values in CASES}
NANOSECONDS = {
    str(kind): (kind, values)
    for kind, values in [
        (pa.time64("ns"), [0, 1, 3600]),
        (pa.timestamp("ns"), [0, 1, -1]),
        (pa.timestamp("ns", "UTC"), [0, 1, -1]),
    ]
}
"""Not every output can hold them."""


def column_of(kind: pa.DataType, values: Sequence[Any]) -> pa.Array:
    if isinstance(kind, pa.UuidType):
        stored = pa.array([each.bytes for each in values], kind.storage_type)
        return pa.ExtensionArray.from_storage(kind, stored)
    if isinstance(kind, pa.BaseExtensionType):
        return pa.ExtensionArray.from_storage(kind, pa.array(values, kind.storage_type))
    return pa.array(values, kind)


def write_source(folder: Path, columns: dict[str, pa.Array]) -> Path:
    pq.write_table(pa.table(columns), folder / "in.parquet")
    return folder / "in.parquet"


def release(source: Path, output: str, **definition: Any) -> Path:
    """The file of a release."""
    path = source.parent / f"out.{output}"
    path.unlink(missing_ok=True)
    is_table = output == "sqlite"
    place: Any = {"url": f"sqlite:///{path}", "table": "t"} if is_table else str(path)
    shoal.run({"source": str(source), "output": place, **definition})
    return path


def release_type(source: Path, output: str, suppressed: str = "drop") -> list[Any]:
    """The column q, which may be suppressed but not generalized, as it is stored in a release."""
    path = release(source, output, suppressed=suppressed, **DEFINITION)
    return READ[output](path, "q")


def read_csv(path: Path, column: str) -> list[Any]:
    with path.open(encoding="utf-8", newline="") as file:
        return [row[column] or None for row in csv.DictReader(file)]


def read_json(path: Path, column: str) -> list[Any]:
    text = path.read_text("utf-8")
    rows = json.loads(text) if text.startswith("[") else map(json.loads, text.splitlines())
    return [row[column] for row in rows]


def read_xml(path: Path, column: str) -> list[Any]:
    from lxml import etree

    rows = etree.parse(str(path)).getroot()
    return [row.findtext(column) or None for row in rows]


def read_excel(path: Path, column: str) -> list[Any]:
    import openpyxl

    names, *rows = openpyxl.load_workbook(path).worksheets[0].iter_rows(values_only=True)
    cells = [row[names.index(column)] for row in rows]
    return [None if cell == "" else cell for cell in cells]


def read_sqlite(path: Path, column: str) -> list[Any]:
    with closing(sqlite3.connect(path)) as connection:
        return [row[0] for row in connection.execute(f'SELECT "{column}" FROM t')]


READ: dict[str, Callable[[Path, str], list[Any]]] = {
    "csv": read_csv,
    "parquet": lambda path, column: pq.read_table(path)[column].to_pylist(),
    "json": read_json,
    "jsonl": read_json,
    "xml": read_xml,
    "xlsx": read_excel,
    "sqlite": read_sqlite,
}


def meaning(value: Any, kind: pa.DataType) -> Any:
    """What a stored value says, whatever spells it: the value of the type that was given."""
    of = pa.types
    if value is None:
        return None
    if of.is_duration(kind):
        return int(value.value if isinstance(value, pd.Timedelta) else value)
    if of.is_boolean(kind):
        return {"true": True, "false": False}.get(str(value).lower(), bool(value))
    if of.is_integer(kind):
        return int(value)
    if of.is_floating(kind):
        return float(np.dtype(kind.to_pandas_dtype()).type(value))
    if of.is_decimal(kind):
        return D(str(value))
    if of.is_date(kind):
        return value if isinstance(value, DAY) else DAY.fromisoformat(value)
    if of.is_time(kind):
        return re.sub(r"(\.\d*?)0+$", r"\1", str(value)).removesuffix(".")
    if of.is_timestamp(kind):
        return pd.Timestamp(value).tz_localize(None) if kind.tz is None else _instant(value)
    if of.is_binary(kind) or of.is_fixed_size_binary(kind) or of.is_binary_view(kind):
        return value if isinstance(value, bytes) else _bytes(value)
    return str(value)


def _instant(value: Any) -> pd.Timestamp:
    moment = pd.Timestamp(value)
    return moment.tz_localize("UTC") if moment.tzinfo is None else moment.tz_convert("UTC")


def _bytes(text: str) -> bytes:
    escapes = re.sub(r"\\x([0-9A-F]{2})", lambda found: chr(int(found[1], 16)), text)
    return escapes.encode("latin-1")


def meanings(values: Sequence[Any], kind: pa.DataType) -> Counter[Any]:
    return Counter(meaning(value, kind) for value in values)


def given_meanings(kind: pa.DataType, values: Sequence[Any]) -> Counter[Any]:
    if pa.types.is_duration(kind):
        return Counter(spread(values))
    as_they_are = column_of(kind, spread(values)).to_pylist()
    return meanings(as_they_are, kind)


@pytest.mark.slow
@pytest.mark.parametrize("name", TYPES)
def test_a_type_of_parquet_is_released_as_it_was_counted(tmp_path: Path, name: str) -> None:
    kind, values = TYPES[name]
    source = write_source(tmp_path, {"q": column_of(kind, spread(values))})
    expected = set(given_meanings(kind, values))
    for output, suppressed in OUTPUTS.items():
        found = release_type(source, output, suppressed)
        stored = Counter(f"{type(value).__name__} {value!r}" for value in found)
        stored.pop("NoneType None", None)
        assert min(stored.values()) >= K, output
        assert len(found) == 8 or suppressed == "drop", output
        assert set(meanings(found, kind)) - {None} <= expected, output


@pytest.mark.slow
@pytest.mark.parametrize("output", ["csv", "parquet", "json", "jsonl", "xml", "xlsx", "sqlite"])
def test_kept_columns_of_parquet_keep_their_values(tmp_path: Path, output: str) -> None:
    columns = {f"c{i}": column_of(kind, spread(v)) for i, (kind, v) in enumerate(TYPES.values())}
    source = write_source(tmp_path, {"all": pa.array(["x"] * 8), **columns})
    path = release(source, output, k=8, attributes={"all": "quasi-identifier"}, others="keep")
    for number, (kind, values) in enumerate(TYPES.values()):
        found = READ[output](path, f"c{number}")
        assert meanings(found, kind) == given_meanings(kind, values), kind


@pytest.mark.slow
@pytest.mark.parametrize("name", NANOSECONDS)
def test_nanoseconds_are_kept_or_refused_but_never_cut(tmp_path: Path, name: str) -> None:
    kind, values = NANOSECONDS[name]
    source = write_source(tmp_path, {"q": column_of(kind, spread(values))})
    for output in ("csv", "json", "xlsx"):
        (text,) = set(release_type(source, output))
        assert re.search(r"00:00:00\.0000036$|23:59:59\.999999999", text), text
    released = release(source, "parquet", **DEFINITION)
    assert set(pq.read_table(released)["q"].cast(pa.int64()).to_pylist()) == {values[2]}
    with pytest.raises(shoal.BadOutput) as caught:
        release_type(source, "sqlite")
    assert caught.value.code == "unstorable-value"


def test_nanoseconds_that_are_none_are_stored_as_microseconds(tmp_path: Path) -> None:
    column = pa.array([1_577_836_800_000_001_000] * 8, pa.timestamp("ns"))
    found = release_type(write_source(tmp_path, {"q": column}), "sqlite")
    assert set(found) == {"2020-01-01 00:00:00.000001"}


@pytest.mark.slow
def test_decimals_that_cannot_be_read_are_an_error_unless_they_are_dropped(tmp_path: Path) -> None:
    longest = pa.array([D("1.5")] * 8, pa.decimal256(50, 2))
    inside = pa.array([{"a": D("1.5")}] * 8, pa.struct([("a", pa.decimal256(50, 2))]))
    for column in (longest, inside):
        source = write_source(tmp_path, {"q": column, "all": pa.array(["x"] * 8)})
        for role in ("quasi-identifier", "keep"):
            attributes = {"q": role, "all": "quasi-identifier"}
            with pytest.raises(shoal.BadData) as caught:
                release(source, "parquet", k=8, attributes=attributes)
            assert caught.value.code == "unsupported-type"
        release(source, "csv", k=8, attributes={"q": "drop", "all": "quasi-identifier"})


@pytest.mark.slow
def test_nested_columns_can_be_kept_but_are_no_quasi_identifiers(tmp_path: Path) -> None:
    lists = pa.array(spread([["a, b"], ["a", "b"], []]))
    source = write_source(tmp_path, {"q": lists, "all": pa.array(["x"] * 8)})
    attributes = {"q": "keep", "all": "quasi-identifier"}
    for output in ("parquet", "json"):
        path = release(source, output, k=8, attributes=attributes)
        assert Counter(map(str, READ[output](path, "q"))) == Counter(map(str, lists.to_pylist()))
    with pytest.raises(shoal.BadData) as caught:
        release(
            source, "csv", k=4, suppression=4, attributes={"q": "quasi-identifier"}, others="drop"
        )
    assert caught.value.code == "unsupported-type"


def test_a_column_of_lists_that_cannot_be_examined_has_a_warning(tmp_path: Path) -> None:
    lists = pa.array([["a"]] * 8)
    source = write_source(tmp_path, {"q": lists, "n": lists, "all": pa.array(["x"] * 8)})
    result = shoal.run(
        {
            "source": str(source),
            "output": str(tmp_path / "out.parquet"),
            "k": 8,
            "attributes": {"q": "keep", "n": "identifier", "all": "quasi-identifier"},
        }
    )
    assert [(each.code, each.attribute) for each in result.warnings] == [("kept-unseen", "q")]
    assert shoal.check(source, ["all"]).k == 8


@pytest.mark.slow
def test_infinite_numbers_are_no_json(tmp_path: Path) -> None:
    source = write_source(tmp_path, {"q": pa.array([float("inf")] * 8)})
    assert set(release_type(source, "csv")) == {"inf"}
    assert set(release_type(source, "parquet")) == {float("inf")}
    with pytest.raises(shoal.BadOutput) as caught:
        release_type(source, "json")
    assert caught.value.code == "infinite-number"


@pytest.mark.slow
def test_times_that_parquet_calls_utc_and_intervals_are_released_as_text(tmp_path: Path) -> None:
    table = pa.table({"q": pa.array([1] * 8, pa.time64("us"))})
    pq.write_table(table, tmp_path / "in.parquet", write_time_adjusted_to_utc=True)
    for output in ("csv", "parquet", "json", "sqlite"):
        assert set(release_type(tmp_path / "in.parquet", output)) == {"00:00:00.000001+00"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("types", "values"),
    [
        ((pa.int32(), pa.int64()), {1, 2}),
        ((pa.int64(), pa.uint64()), {D(1), D(2)}),
        ((pa.int64(), pa.float64()), {1.0, 2.0}),
        ((pa.int64(), pa.string()), {"1", "2"}),
        ((pa.decimal128(21, 2), pa.float64()), {"1.00", "2.0"}),
    ],
)
def test_files_of_different_types_keep_their_values(
    tmp_path: Path, types: tuple[pa.DataType, pa.DataType], values: set[Any]
) -> None:
    for number, kind in enumerate(types, start=1):
        column = pa.array([number] * 4, pa.int64()).cast(kind)
        pq.write_table(pa.table({"q": column}), tmp_path / f"in-{number}.parquet")
    found = release_type(tmp_path / "in-*.parquet", "parquet")
    assert set(found) == values


def test_integers_that_are_no_doubles_are_not_made_doubles(tmp_path: Path) -> None:
    pq.write_table(pa.table({"q": [2**53 + 1] * 4}), tmp_path / "in-1.parquet")
    pq.write_table(pa.table({"q": [0.5] * 4}), tmp_path / "in-2.parquet")
    with pytest.raises(shoal.BadData) as caught:
        release_type(tmp_path / "in-*.parquet", "csv")
    assert caught.value.code == "mixed-types"


@pytest.mark.slow
@pytest.mark.parametrize(
    "spelled", [["1", '"1"'], ["1", "1.0"], ["true", '"true"'], ["1e2", "100"]]
)
def test_two_spellings_of_json_are_one_value_and_written_alike(
    tmp_path: Path, spelled: list[str]
) -> None:
    one, other = spelled
    rows = [f'{{"q": {value}}}' for value in [one] * 3 + [other]]
    (tmp_path / "in.json").write_text(f"[{', '.join(rows)}]")
    for output in ("csv", "json", "parquet", "sqlite"):
        found = release_type(tmp_path / "in.json", output)
        assert list(Counter(map(repr, found)).values()) == [4]


@pytest.mark.slow
@pytest.mark.parametrize("spelled", [["1", "1.0"], ["a", "a "], ["0.5", ".5"], ["é", "e\u0301"]])
def test_texts_of_csv_that_look_alike_are_different_values(
    tmp_path: Path, spelled: list[str]
) -> None:
    one, other = spelled
    lines = ["q", *[f'"{one}"'] * 3, f'"{other}"', *["z"] * 4]
    (tmp_path / "in.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    for output in ("csv", "json", "parquet", "sqlite"):
        assert release_type(tmp_path / "in.csv", output) == ["z"] * 4


@pytest.mark.parametrize("values", [[1, "1"], [True, "true"], [None, ""], [1, 1.5]])
def test_a_release_that_was_changed_is_counted_by_what_is_stored(
    tmp_path: Path, values: list[Any]
) -> None:
    rows = [{"q": value} for value in spread([*values, "z"])]
    (tmp_path / "in.json").write_text(json.dumps(rows))
    definition = {**DEFINITION, "source": str(tmp_path / "in.json"), "output": "out.json"}
    verdict = shoal.verify(tmp_path / "in.json", definition, records=8)
    assert (verdict.safe, verdict.smallest_class) == (False, 1)


def test_empty_text_in_a_changed_release_of_parquet_is_not_missing(tmp_path: Path) -> None:
    source = write_source(tmp_path, {"q": pa.array(spread([None, "", "z"]))})
    definition = {**DEFINITION, "source": str(source), "output": "out.parquet"}
    verdict = shoal.verify(source, definition, records=8)
    assert (verdict.safe, verdict.smallest_class) == (False, 1)


def test_not_a_number_in_a_changed_release_of_parquet_is_not_missing(tmp_path: Path) -> None:
    source = write_source(tmp_path, {"q": pa.array(spread([None, float("nan"), 1.0]))})
    definition = {**DEFINITION, "source": str(source), "output": "out.parquet"}
    verdict = shoal.verify(source, definition, records=8)
    assert (verdict.safe, verdict.smallest_class) == (False, 1)


def test_parts_of_a_changed_release_with_other_types_are_not_merged(tmp_path: Path) -> None:
    pq.write_table(pa.table({"q": [1, 1, 1]}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"q": ["1"]}), tmp_path / "b.parquet")
    definition = {**DEFINITION, "source": str(tmp_path / "*.parquet"), "output": "out.parquet"}
    verdict = shoal.verify(tmp_path / "*.parquet", definition, records=4)
    assert (verdict.safe, verdict.smallest_class) == (False, 1)


def test_cells_of_a_changed_workbook_are_distinguished_by_their_kind(tmp_path: Path) -> None:
    import openpyxl

    book = openpyxl.Workbook()
    sheet = book.create_sheet("release", 0)
    for value in ("q", *spread([1, "1", "z"])):
        sheet.append([value])
    book.save(tmp_path / "in.xlsx")
    definition = {**DEFINITION, "source": str(tmp_path / "in.xlsx"), "output": "out.xlsx"}
    verdict = shoal.verify(tmp_path / "in.xlsx", definition, records=8)
    assert (verdict.safe, verdict.smallest_class) == (False, 1)


def test_nanoseconds_in_the_old_type_of_parquet_are_not_cut(tmp_path: Path) -> None:
    for number, is_whole in ((1, False), (1000, True)):
        table = pa.table({"q": pa.array([number] * 8, pa.timestamp("ns"))})
        pq.write_table(table, tmp_path / "in.parquet", use_deprecated_int96_timestamps=True)
        if is_whole:
            found = release_type(tmp_path / "in.parquet", "csv")
            assert set(found) == {"1970-01-01 00:00:00.000001"}
        else:
            with pytest.raises(shoal.BadData) as caught:
                release_type(tmp_path / "in.parquet", "csv")
            assert caught.value.code == "unsupported-type"
