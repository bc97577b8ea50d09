"""Tables, views and paths that Spark reads, and what is said when it cannot."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from shoal.engines.base import Source
from shoal.engines.opening import open_source
from shoal.engines.options import SparkOptions
from shoal.errors import BadData, ShoalError


def opened(spark_session: Any, name: str | Path, kind: str | None = None) -> Source:
    return open_source(SparkOptions(str(name), kind), spark=spark_session)


def values(source: Source, column: str) -> list[str | None]:
    found: list[str | None] = source.count_by([column]).column(0).to_pylist()
    return sorted(found, key=str)


def refused(spark_session: Any, name: str | Path, kind: str | None = None) -> ShoalError:
    with pytest.raises(ShoalError) as caught:
        count_first(lambda: opened(spark_session, name, kind))
    return caught.value


def count_first(opening: Callable[[], Source]) -> None:
    source = opening()
    source.count_by([source.columns()[0].name])


def test_csv_is_read_as_text_with_doubled_quotes_and_broken_lines(
    spark_session: Any, tmp_path: Path
) -> None:
    path = tmp_path / "words.csv"
    path.write_text('n,word\n01,"say ""hi"""\n2,"two\nlines"\n3, b \n4,\n')
    source = opened(spark_session, path)
    assert values(source, "n") == ["01", "2", "3", "4"]
    assert values(source, "word") == [" b ", None, 'say "hi"', "two\nlines"]


def test_a_ragged_row_and_a_repeated_column_are_refused(spark_session: Any, tmp_path: Path) -> None:
    (tmp_path / "ragged.csv").write_text("a,b\n1,2\n3\n")
    error = refused(spark_session, tmp_path / "ragged.csv")
    assert error.code == "unreadable-data"
    assert "3" not in error.what.replace(str(tmp_path), "")
    (tmp_path / "twice.csv").write_text("a,b,a\n1,2,3\n")
    assert refused(spark_session, tmp_path / "twice.csv").code == "repeated-column"


@pytest.mark.parametrize("is_array", [True, False], ids=["array", "lines"])
def test_json_is_read_as_an_array_and_as_lines(
    spark_session: Any, tmp_path: Path, is_array: bool
) -> None:
    records = [{"n": 1, "word": "a"}, {"n": 2, "word": None}]
    text = json.dumps(records, indent=1) if is_array else "\n".join(map(json.dumps, records))
    (tmp_path / "words.json").write_text(text)
    source = opened(spark_session, tmp_path / "words.json")
    assert values(source, "n") == ["1", "2"]
    assert values(source, "word") == [None, "a"]


def test_a_table_that_is_not_there_is_named_with_the_nearest_one(spark_session: Any) -> None:
    spark_session.range(1).createOrReplaceTempView("patients")
    error = refused(spark_session, "patiens")
    spark_session.catalog.dropTempView("patients")
    assert error.code == "no-table"
    assert "did you mean 'patients'?" in error.what
    assert refused(spark_session, "nowhere.patients").code == "no-table"


def test_a_path_without_anything_is_named(spark_session: Any, tmp_path: Path) -> None:
    assert refused(spark_session, tmp_path / "no.parquet").code == "no-files"
    (tmp_path / "empty").mkdir()
    assert refused(spark_session, tmp_path / "empty", "parquet").code == "no-files"
    (tmp_path / "bad.parquet").write_text("this is no Parquet at all")
    assert refused(spark_session, tmp_path / "bad.parquet").code == "unreadable-data"


def test_an_unknown_column_is_named_with_those_there_are(spark_session: Any) -> None:
    spark_session.range(3).toDF("number").createOrReplaceTempView("numbers")
    with pytest.raises(BadData, match="no column 'numbr' in numbers; did you mean 'number'"):
        opened(spark_session, "numbers").count_by(["numbr"])
    spark_session.catalog.dropTempView("numbers")
