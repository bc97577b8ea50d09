"""Requests to a mart with tables in Spark: released as from files, and joined where they are."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import yaml

from cluster import write_defaults
from commands import leftovers, shoal
from mart import hospital
from mart.hospital import REQUEST, TABLES, in_order, texts
from shoal import mart
from shoal.errors import BadOutput
from shoal.mart.linking.units import units_of

IN_SPARK = ("patient", "findings")
TIMES = ("seconds", "output", "output_sha256", "digest")
"""What differs between two requests that release the same."""


@pytest.fixture(scope="module")
def spark(spark_session: Any) -> Iterator[Any]:
    """The session, with two tables of the mart in its catalog."""
    for name in IN_SPARK:
        frame = spark_session.createDataFrame(TABLES[name])
        frame.write.mode("overwrite").saveAsTable(f"mart_{name}")
    yield spark_session
    for name in (*IN_SPARK, "release"):
        spark_session.sql(f"DROP TABLE IF EXISTS mart_{name}")


@pytest.fixture(scope="module")
def from_files(tmp_path_factory: pytest.TempPathFactory) -> tuple[mart.MartResult, list[Any]]:
    """What the same mart releases where all its tables are CSV files."""
    folder = tmp_path_factory.mktemp("files")
    output = folder / "release.csv"
    result = mart.request(hospital.catalog(folder, {}), REQUEST, output=output)
    rows = hospital.read_csv(output)
    hospital.recount(rows, result.rows_suppressed)
    return result, in_order(rows)


def said(result: mart.MartResult) -> dict[str, Any]:
    """What a result says, but for places and times."""
    return {key: value for key, value in result.to_dict().items() if key not in TIMES}


def test_tables_that_spark_joins_are_released_as_files_are(
    spark: Any,
    from_files: tuple[mart.MartResult, list[Any]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """To a file, then to a table, which is compared with the first release."""
    fetched: set[tuple[str, ...]] = set()

    def watched(*arguments: Any, **options: Any) -> Any:
        units = units_of(*arguments, **options)
        if not options["apart"]:
            fetched.update(unit.sources for unit in units)
        return units

    monkeypatch.setattr("shoal.mart.linking.joining.units_of", watched)
    places = {name: {"spark": f"mart_{name}"} for name in IN_SPARK}
    catalog = hospital.catalog(tmp_path, places)
    output = tmp_path / "release.csv"
    result = mart.request(catalog, REQUEST, output=output, spark=spark)
    rows = hospital.read_csv(output)
    hospital.recount(rows, result.rows_suppressed)
    expected, expected_rows = from_files
    assert in_order(rows) == expected_rows
    assert said(result) == said(expected)
    assert ("patient", "findings") in fetched

    target = {"spark": "mart_release"}
    again = mart.request(catalog, REQUEST, output=target, spark=spark)
    written = [row.asDict() for row in spark.table("mart_release").collect()]
    hospital.recount(written, again.rows_suppressed)
    assert [texts(row) for row in in_order(written)] == expected_rows
    assert said(again) == said(expected)

    overwriting = {"spark": "mart_patient", "replace": True}
    with pytest.raises(BadOutput) as refusal:
        mart.request(catalog, REQUEST, output=overwriting, spark=spark)
    assert refusal.value.code == "output-is-source"
    assert spark.table("mart_patient").count() == TABLES["patient"].num_rows
    kinds = [entry.kind for entry in mart.Log(tmp_path / "log.jsonl").entries()]
    assert kinds == ["released", "released", "refused"]


def folders(folder: Path, master: str) -> dict[str, dict[str, str]]:
    """The tables as folders that Spark reads; one of them names the master."""
    for name in IN_SPARK:
        (folder / name).mkdir()
        pq.write_table(TABLES[name], folder / name / "part.parquet")
    places = {name: {"spark": str(folder / name), "format": "parquet"} for name in IN_SPARK}
    places["patient"]["master"] = master
    return places


def test_the_command_uses_the_one_master_that_the_catalog_names(
    spark_master: str,
    from_files: tuple[mart.MartResult, list[Any]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A single source names it: the other, which comes first, and the output do not."""
    write_defaults(tmp_path)
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    places = folders(tmp_path, spark_master)
    output = {"spark": str(tmp_path / "release"), "format": "parquet"}
    files = {
        "catalog.yaml": hospital.catalog(tmp_path, places),
        "request.yaml": {**REQUEST, "output": output},
    }
    for name, content in files.items():
        (tmp_path / name).write_text(yaml.safe_dump(content), encoding="utf-8")
    done = shoal("mart", "request", *files, "--json", "result.json", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    result = json.loads((tmp_path / "result.json").read_text(encoding="utf-8"))
    assert result["verified"]
    written = pq.read_table(tmp_path / "release").to_pylist()
    hospital.recount(written, result["rows_suppressed"])
    assert [texts(row) for row in in_order(written)] == from_files[1]
    assert leftovers(tmp_path) == []
    assert not (tmp_path / "spark-warehouse").exists()


@pytest.mark.slow
def test_a_check_uses_the_one_master_that_the_catalog_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is not the default master, `local[*]`; no cluster is needed."""
    write_defaults(tmp_path)
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    catalog = hospital.catalog(tmp_path, folders(tmp_path, "local[1]"))
    (tmp_path / "catalog.yaml").write_text(yaml.safe_dump(catalog), encoding="utf-8")
    done = shoal("mart", "check", "catalog.yaml", folder=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
