"""The table of a project is kept in the order of the uploaded file."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from shoal.engines.duckdb.files import open_files
from shoal.engines.options import FileOptions, Resources
from shoal.web.cached_table import copy_table


def test_a_long_file_is_copied_in_its_order(tmp_path: Path) -> None:
    rows, file, copied = 400_000, tmp_path / "long.csv", tmp_path / "copied.parquet"
    file.write_text(
        "number,filled\n" + "".join(f"{i},{i:0>60}\n" for i in range(rows)), encoding="utf-8"
    )
    resources = Resources(threads=8, in_order=True)
    with open_files(FileOptions(str(file)), name="long.csv", resources=resources) as source:
        assert copy_table(source, copied, rows) == rows
    numbers = pq.read_table(copied)["number"].cast(pa.int64())
    assert numbers.combine_chunks().equals(pa.array(range(rows)))
