"""Tables with thousands of columns: planning and bookkeeping stay in proportion to the columns."""

from __future__ import annotations

import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import shoal
from shoal.engines.duckdb import source as table
from shoal.engines.duckdb.files import open_files
from shoal.engines.duckdb.session import SLOW_WITH_MANY_COLUMNS
from shoal.engines.options import FileOptions

COLUMNS = 2500


def wide(folder: Path, columns: int = COLUMNS) -> Path:
    """Ten records: `c0` has two values, all other columns have the same value."""
    path = folder / "wide.parquet"
    cells = {f"c{i}": ["x"] * 10 for i in range(columns)}
    pq.write_table(pa.table(cells | {"c0": ["a", "b"] * 5}), path)
    return path


@pytest.mark.slow
def test_thousands_of_columns_are_released_in_seconds(tmp_path: Path) -> None:
    definition = {
        "source": str(wide(tmp_path)),
        "output": str(tmp_path / "out.csv"),
        "k": 5,
        "others": "keep",
        "attributes": {"c0": {"role": "quasi-identifier", "hierarchy": "suppress"}},
    }
    began = time.process_time()
    assert shoal.run(definition).smallest_class == 5
    assert time.process_time() - began < 15
    header, *rows = (tmp_path / "out.csv").read_text().splitlines()
    assert header.split(",") == [f"c{i}" for i in range(COLUMNS)]
    assert rows == [f"a{',x' * (COLUMNS - 1)}"] * 5 + [f"b{',x' * (COLUMNS - 1)}"] * 5


def test_optimizers_that_are_slow_with_many_columns_are_left_out(tmp_path: Path) -> None:
    with open_files(FileOptions(str(wide(tmp_path, columns=501)))) as source:
        setting = source._session.connection.sql("SELECT current_setting('disabled_optimizers')")
        assert set(SLOW_WITH_MANY_COLUMNS) == set(str(setting.fetchall()[0][0]).split(","))
    with open_files(FileOptions(str(wide(tmp_path, columns=500)))) as source:
        setting = source._session.connection.sql("SELECT current_setting('disabled_optimizers')")
        assert setting.fetchall() == [("",)]


def test_the_values_of_all_columns_are_counted_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table, "COLUMNS_AT_ONCE", 2)
    path = tmp_path / "in.csv"
    path.write_text("a,A,b\n1,x,\n1,y,\n2,,\n")
    with open_files(FileOptions(str(path))) as source:
        counted = dict(source.count_each())
    assert counted == {"a": {"1": 2, "2": 1}, "A": {"x": 1, "y": 1, None: 1}, "b": {None: 3}}
