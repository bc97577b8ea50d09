"""Counting: distinct combinations as text, missing as null, typed columns as they look."""

from __future__ import annotations

import hashlib
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.engines.base import COUNT
from shoal.engines.duckdb.files import open_files
from shoal.engines.frames.source import open_frame
from shoal.engines.options import FileOptions

cell = st.sampled_from([None, "", "NA", "?", "a", "A", "0", "00", "é\n"])


@pytest.mark.slow
@settings(max_examples=40)
@given(
    rows=st.lists(st.tuples(cell, cell), max_size=8),
    missing=st.lists(st.sampled_from(["NA", "?", "", "it's"]), max_size=2),
)
def test_counts_are_those_of_a_counter(
    rows: list[tuple[str | None, str | None]], missing: list[str]
) -> None:
    columns = [pa.array([row[i] for row in rows], pa.string()) for i in range(2)]
    with open_frame(pa.table(columns, names=["x", "y"])) as source:
        table = source.count_by(["y", "x"], missing)
    assert table.schema.types == [pa.string(), pa.string(), pa.int64()]
    assert table.column_names == ["y", "x", COUNT]
    clean = [tuple(None if v in ("", *missing) else v for v in row) for row in rows]
    found = {
        (x, y): n for y, x, n in zip(*map(pa.ChunkedArray.to_pylist, table.columns), strict=True)
    }
    assert found == Counter(clean)


def test_no_columns_count_the_records() -> None:
    with open_frame(pa.table({"a": [1, 2, 2]})) as source:
        assert source.count_by([]).to_pydict() == {COUNT: [3]}


def test_a_data_column_named_like_the_counts_does_not_collide() -> None:
    with open_frame(pa.table({COUNT: ["x", "x"]})) as source:
        assert source.count_by([COUNT]).to_pydict() == {COUNT: ["x"], COUNT + "_": [2]}


def test_typed_columns_are_counted_as_text_and_nan_is_missing(tmp_path: Path) -> None:
    table = pa.table({"n": [1, None], "x": [float("nan"), 1.5], "b": [True, False]})
    pq.write_table(table, tmp_path / "t.parquet")
    with open_files(FileOptions(str(tmp_path / "t.parquet"))) as source:
        assert [column.is_text for column in source.columns()] == [False, False, False]
        found = source.count_by(["n", "x", "b"]).to_pylist()
    assert {(row["n"], row["x"], row["b"]) for row in found} == {
        ("1", None, "true"),
        (None, "1.5", "false"),
    }


def test_text_of_json_stays_text_and_late_keys_are_columns(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    path.write_text(
        '[{"zip": "007", "day": "2020-01-02", "n": 1, "mixed": 1, "A": 1, "a": 2},'
        ' {"zip": null, "mixed": "x", "late \\"key\\"": {"deep": 1}}]'
    )
    with open_files(FileOptions(str(path))) as source:
        kinds = {column.name: column.is_text for column in source.columns()}
        rows = source.count_by(list(kinds)).to_pylist()
    assert {name for name, is_text in kinds.items() if not is_text} == {"n", "A", "a"}
    first, second = sorted(rows, key=lambda row: row["zip"] is None)
    assert (first["zip"], first["day"], first["n"], first["mixed"]) == (
        "007",
        "2020-01-02",
        "1",
        "1",
    )
    assert (first["A"], first["a"]) == ("1", "2")
    assert (second["zip"], second["mixed"], second['late "key"']) == (None, "x", '{"deep":1}')


def test_the_fingerprint_is_the_hash_of_the_bytes_of_all_files(tmp_path: Path) -> None:
    (tmp_path / "b.csv").write_bytes(b"a\nx\n")
    (tmp_path / "a.csv").write_bytes(b"a\ny\n")
    with open_files(FileOptions(str(tmp_path / "*.csv"))) as source:
        assert source.fingerprint() == hashlib.sha256(b"a\ny\na\nx\n").hexdigest()
    with open_frame(pa.table({"a": [1]})) as source:
        assert source.fingerprint() is None
