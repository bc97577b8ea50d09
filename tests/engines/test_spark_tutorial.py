"""The tutorial of Spark does what it says, on a cluster."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

import shoal
from shoal.demo.files import write_demo

PAGE = Path(__file__).parents[2] / "docs" / "tutorials" / "spark.md"


def block(language: str) -> str:
    """The one block of the page in a language."""
    found = re.findall(rf"^```{language}\n(.*?)^```$", PAGE.read_text("utf-8"), re.M | re.S)
    assert len(found) == 1
    return str(found[0])


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("demo")
    write_demo(folder, records=2000)
    return folder


def test_the_definition_of_the_tutorial_is_released_and_verified(
    demo: Path, spark_session: Any
) -> None:
    definition = yaml.safe_load(block("yaml"))
    assert definition["source"].pop("master") == "local[2]"  # here it is the cluster of the tests
    for place in ("source", "output"):
        definition[place]["spark"] = str(demo / definition[place]["spark"])
    result = shoal.run(definition, spark=spark_session)
    assert result.verified
    released = spark_session.read.parquet(str(demo / "release.parquet"))
    assert released.count() == result.records - result.removed - result.suppressed


def test_the_code_of_the_tutorial_releases_a_table_of_the_catalog(
    demo: Path, spark_session: Any
) -> None:
    spark_session.sql("CREATE DATABASE hospital")
    try:
        patients = spark_session.read.csv(str(demo / "patients.csv"), header=True)
        patients.write.saveAsTable("hospital.patients")
        exec(block("py"), {"spark": spark_session, "shoal": shoal})
        classes = spark_session.table("hospital.patients_release").groupBy("birth", "sex", "zip")
        assert classes.count().agg({"count": "min"}).first()[0] >= 5
    finally:
        spark_session.sql("DROP DATABASE hospital CASCADE")
