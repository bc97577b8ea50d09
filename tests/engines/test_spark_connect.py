"""Spark Connect: a real server in a process of its own, and clients that have no Java."""

from __future__ import annotations

from pathlib import Path

import pytest

from commands import python

CODE = """
import csv
import warnings
warnings.simplefilter("ignore")
import pyarrow as pa
import shoal
from shoal.errors import ShoalError

master = {master!r}
asked = dict(
    k=12,
    suppression="10%",
    attributes=dict(
        age=dict(role="quasi-identifier", hierarchy=dict(intervals=[5, 10, 20])),
        sex="quasi-identifier",
        ill="keep",
    ),
)
table = dict(spark="release", master=master)
there = dict(spark="patients.csv", format="csv", master=master)
there["spark"] = {folder!r} + "/patients.csv"

def code_of(source, output):
    try:
        shoal.run(dict(source=source, output=output, **asked))
    except ShoalError as error:
        assert "secret" not in str(error)
        return error.code

local = shoal.run(dict(source="patients.csv", output="expected.csv", **asked))
made = shoal.run(dict(source=there, output=table, **asked))
assert made.verified and made.levels == local.levels and made.loss == local.loss
same = dict(age="quasi-identifier", sex="quasi-identifier", ill="keep")
shoal.run(dict(source=table, output="fetched.csv", k=12, attributes=same))
assert open("fetched.csv").read() == open("expected.csv").read()

assert code_of(there, table) == "table-exists"
assert code_of(there, dict(table, replace=True)) == "output-may-be-source"
assert code_of(there, "fetched.csv") == "output-may-be-source"
assert code_of(there, dict(spark={folder!r} + "/out", format="parquet")) == "spark-connect-files"
assert code_of(dict(there, master="sc://127.0.0.1:9/;token=secret"), "x.csv") == "cannot-connect"
elsewhere = dict(spark="elsewhere", master="sc://127.0.0.1:9/;token=secret")
assert code_of(there, elsewhere) == "no-spark-session"

from pyspark.sql import SparkSession
session = SparkSession.builder.remote(master).create()
frame = session.read.csv(there["spark"], header=True)
columns = dict(age=dict(intervals=[5, 10, 20]), sex=None)
released = shoal.anonymize(frame, columns, others="keep", k=12, suppression="10%")
found = sorted(tuple(row.values()) for row in released.toArrow().to_pylist())
expected = sorted(map(tuple, list(csv.reader(open("expected.csv")))[1:]))
assert found == expected, (found[:2], expected[:2])
names = [each.name for each in session.catalog.listTables()]
assert names == ["release"], names
session.stop()
"""


@pytest.mark.slow
def test_tables_are_counted_recoded_and_released_at_a_server(
    connect_server: str, tmp_path: Path
) -> None:
    rows = "".join(f"{20 + i % 40},{'fm'[i % 2]},{i % 5}\n" for i in range(400))
    (tmp_path / "patients.csv").write_text(f"age,sex,ill\n{rows}")
    done = python(CODE.format(master=connect_server, folder=str(tmp_path)), folder=tmp_path)
    assert done.returncode == 0, done.stderr
