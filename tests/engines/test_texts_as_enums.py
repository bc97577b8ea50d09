"""Kept texts that are sorted as numbers, and what a Parquet file says of them."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from shoal.engines.base import Generalization, Recoding
from shoal.engines.duckdb import enums
from shoal.engines.duckdb.files import open_files
from shoal.engines.duckdb.session import Session, explained
from shoal.engines.duckdb.staged import StagedFile
from shoal.engines.opening import recode_into
from shoal.engines.options import FileOptions, FileTarget, Resources

UNCHANGED = Generalization((), ())
ROWS: list[dict[str, Any]] = [
    *({"town": "ulm", "ill": each, "note": None} for each in ("flu", None, "cold", "flu")),
    *({"town": "bonn", "ill": "gout", "note": None} for _ in range(2)),
]


def plan(*towns: str | None) -> Recoding:
    classes = pa.table({"town": pa.array(towns, pa.string())})
    return Recoding(("town", "ill", "note"), {"town": UNCHANGED}, classes, ("town",))


def released(folder: Path, rows: list[dict[str, Any]], recoding: Recoding) -> Path:
    schema = pa.schema([(name, pa.string()) for name in ("town", "ill", "note")])
    pq.write_table(pa.Table.from_pylist(rows, schema), folder / "data.parquet")
    with open_files(FileOptions(str(folder / "data.parquet"))) as source:
        staged = recode_into(source, recoding, FileTarget(folder / "out.parquet"))
    assert isinstance(staged, StagedFile)
    staged.publish()
    return folder / "out.parquet"


def test_a_column_without_any_value_stays_one(tmp_path: Path) -> None:
    found = pq.read_table(released(tmp_path, ROWS, plan("ulm", "bonn")))
    assert found.schema.types == [pa.string()] * 3
    assert found.column("ill").to_pylist() == ["gout", "gout", "cold", "flu", "flu", None]
    assert found.column("note").null_count == len(ROWS)


def test_no_dictionary_has_a_value_that_is_not_released(tmp_path: Path) -> None:
    out = released(tmp_path, ROWS, plan("ulm"))
    found = pq.read_table(out, read_dictionary=["town", "ill"])
    texts = [set(found.column(name).chunk(0).dictionary.to_pylist()) for name in ("town", "ill")]
    assert texts == [{"ulm"}, {"flu", "cold"}]
    assert not any(text in out.read_bytes() for text in (b"bonn", b"gout"))


@pytest.mark.parametrize("most", [1, 2, 3])
def test_the_release_is_the_same_with_any_number_of_texts(
    tmp_path: Path, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = pq.read_table(released(tmp_path, ROWS, plan("ulm", "bonn", None)))
    monkeypatch.setattr(enums, "MOST_TEXTS", most)
    assert pq.read_table(released(tmp_path, ROWS, plan("ulm", "bonn", None))) == expected


@pytest.mark.slow
def test_a_file_of_many_parts_has_the_same_bytes_every_time(tmp_path: Path) -> None:
    count = 300_000
    towns = [f"town {i * i % 97 % 5}" for i in range(count)]
    data = pa.table({"town": towns, "ill": [f"D{i * 7919 % 1009}" for i in range(count)]})
    pq.write_table(data, tmp_path / "data.parquet")
    classes = pa.table({"town": sorted(set(towns))})
    recoding = Recoding(("town", "ill"), {"town": UNCHANGED}, classes, ("town",))
    found = set()
    for threads in (1, 2, 2, 3):
        resources = Resources(threads=threads)
        with open_files(FileOptions(str(tmp_path / "data.parquet")), resources=resources) as source:
            staged = recode_into(source, recoding, FileTarget(tmp_path / "out.parquet"))
        with staged:
            assert isinstance(staged, StagedFile)
            found.add(staged.path.read_bytes())
    assert len(found) == 1


def test_a_value_that_came_later_stops_the_query(tmp_path: Path) -> None:
    rows = pa.table({"c": ["a", "b"]})
    pq.write_table(rows, tmp_path / "data.parquet")
    with closing(Session()) as session:
        session.execute("CREATE TEMP TYPE shoal_values_0 AS ENUM ('a')")
        session.register("data", rows)
        with pytest.raises(duckdb.Error) as caught:
            session.table(f"SELECT {enums.as_enum('c', 0)} FROM data")
    assert explained(caught.value, "data").code == "source-changed"
