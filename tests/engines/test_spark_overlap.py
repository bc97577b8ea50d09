"""A release never takes the place of what Spark reads for it: tables, views, folders, files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import shoal
from servers import load, rows_of
from shoal.engines.opening import open_source
from shoal.engines.options import FileOptions

PATIENTS = pa.table({"zip": ["10115", "10117", "10119"] * 2, "ward": ["north"] * 6})


@pytest.fixture(scope="module")
def furnished(spark_session: Any) -> Iterator[Any]:
    """Two tables, views over one of them, and frames that hide what they read."""
    frame = spark_session.createDataFrame(PATIENTS)
    for table in ("patients", "wards"):
        frame.write.mode("overwrite").saveAsTable(table)
    spark_session.sql("CREATE OR REPLACE VIEW seen AS SELECT * FROM patients")
    spark_session.sql("CREATE OR REPLACE VIEW seen_again AS SELECT zip, ward FROM seen")
    spark_session.table("seen").createOrReplaceTempView("passing")
    queries = {
        "subquery": "SELECT * FROM wards WHERE zip IN (SELECT zip FROM patients)",
        "common": "WITH few AS (SELECT * FROM patients) SELECT a.* FROM few a, few b",
    }
    for name, query in queries.items():
        spark_session.sql(f"CREATE OR REPLACE TEMP VIEW {name} AS {query}")
    table = spark_session.table("patients")
    spark_session.createDataFrame(table.rdd, table.schema).createOrReplaceTempView("hidden")
    spark_session.createDataFrame(PATIENTS.to_pylist()).createOrReplaceTempView("of_rows")
    yield spark_session
    for view in ("passing", "subquery", "common", "hidden", "of_rows", "newer"):
        spark_session.catalog.dropTempView(view)
    for view in ("seen_again", "seen"):
        spark_session.sql(f"DROP VIEW {view}")
    for table in ("patients", "wards"):
        spark_session.sql(f"DROP TABLE {table}")


@pytest.fixture
def spark(furnished: Any) -> Iterator[Any]:
    """The session; whatever a test tries, the patients stay as they are."""
    yield furnished
    assert sorted(row.zip for row in furnished.table("patients").collect()) == sorted(
        PATIENTS["zip"].to_pylist()
    )


def release(spark: Any, source: Any, output: Any) -> None:
    shoal.run(
        {
            "source": source,
            "output": output,
            "k": 2,
            "attributes": {
                "zip": {"role": "quasi-identifier", "hierarchy": {"mask": 5}},
                "ward": "keep",
            },
        },
        spark=spark,
    )


def refusal(spark: Any, source: Any, output: Any) -> str:
    with pytest.raises(shoal.BadOutput) as caught:
        release(spark, source, output)
    return caught.value.code


def folder_of(spark: Any, table: str) -> str:
    place = spark.sql(f"DESCRIBE EXTENDED {table}").where("col_name = 'Location'").first()
    return str(place.data_type).removeprefix("file:")


def test_a_table_is_recognised_by_any_name_and_through_views(spark: Any) -> None:
    replaced = {"spark": "patients", "replace": True}
    for name in ("PATIENTS", "default.patients", "spark_catalog.default.patients", "`patients`"):
        assert refusal(spark, {"spark": name}, replaced) == "output-is-source"
        output = {"spark": name, "replace": True}
        if name != "`patients`":
            assert refusal(spark, {"spark": "seen"}, output) == "output-is-source"
    for name in ("seen", "seen_again", "passing", "subquery", "common"):
        assert refusal(spark, {"spark": name}, replaced) == "output-is-source"
    sources = [{"spark": "wards"}, {"spark": "seen"}]
    assert refusal(spark, sources, replaced) == "output-is-source"


def test_the_folder_of_a_table_is_the_table(spark: Any, tmp_path: Path) -> None:
    folder = folder_of(spark, "patients")
    (tmp_path / "link").symlink_to(folder)
    table = {"spark": "patients", "replace": True}
    for place in (folder, f"file://{folder}", str(tmp_path / "link")):
        assert refusal(spark, {"spark": place, "format": "parquet"}, table) == "output-is-source"
        output = {"spark": place, "format": "parquet", "replace": True}
        assert refusal(spark, {"spark": "seen"}, output) == "output-is-source"
    for path in (f"{folder}/*.parquet", str(tmp_path / "link")):
        assert refusal(spark, path, table) == "output-is-source"
    assert refusal(spark, {"spark": "seen"}, f"{folder}/new.csv") == "output-is-source"


def test_files_that_are_read_by_the_newer_interface_are_recognised(spark: Any) -> None:
    folder = folder_of(spark, "patients")
    spark.conf.set("spark.sql.sources.useV1SourceList", "")
    try:
        spark.read.parquet(folder).createOrReplaceTempView("newer")
        output = {"spark": "patients", "replace": True}
        assert refusal(spark, {"spark": "newer"}, output) == "output-is-source"
        release(spark, {"spark": "newer"}, {"spark": "wards", "replace": True})
    finally:
        spark.conf.unset("spark.sql.sources.useV1SourceList")


def test_what_hides_its_tables_replaces_nothing(spark: Any, sqlite_url: str) -> None:
    output = {"spark": "patients", "replace": True}
    assert refusal(spark, {"spark": "hidden"}, output) == "output-may-be-source"
    load(sqlite_url, "old", PATIENTS)
    table = {"url": sqlite_url, "table": "old", "replace": True}
    assert refusal(spark, {"spark": "hidden"}, table) == "output-may-be-source"
    release(spark, {"spark": "patients"}, table)
    assert len(rows_of(sqlite_url, "old")) == 6


def test_other_tables_are_replaced(spark: Any, tmp_path: Path) -> None:
    wards = {"spark": "wards", "replace": True}
    for name in ("seen", "of_rows"):
        release(spark, {"spark": name}, wards)
        assert spark.table("wards").count() == 6
    release(spark, {"spark": "hidden"}, str(tmp_path / "fresh.csv"))
    release(spark, {"spark": "hidden"}, str(tmp_path / "fresh.csv"))
    source = open_source(FileOptions(str(tmp_path / "fresh.csv")))
    assert source.count_by([]).column(0).to_pylist() == [6]
    source.close()
