"""What Spark writes appears all at once or not at all, and replaces only what it may."""

from __future__ import annotations

import os
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from shoal.engines.base import Generalization, Recoding, Source
from shoal.engines.local_files import owned
from shoal.engines.opening import check_target, open_source, recode_into
from shoal.engines.options import FileOptions, SparkOptions, SparkTarget
from shoal.engines.spark import open_frame, stage_rows
from shoal.engines.spark.catalog import check_table
from shoal.engines.spark.session import Session
from shoal.errors import BadData, BadOutput, ShoalError

WORDS = ["a", "b ", None, 'say "hi"', "two\nlines", "#1", " c"]
UNCHANGED = {"word": Generalization((), ())}


@pytest.fixture
def source(spark_session: Any) -> Source:
    """Words that file formats trip over, with a number that only few of them have."""
    table = pa.table({"word": WORDS, "n": [1.5, 1e20, None, -0.0, 3.0, 4.0, 5.0]})
    return open_frame(spark_session.createDataFrame(table))


def release_of(source: Source, columns: tuple[str, ...] = ("word", "n")) -> Recoding:
    return Recoding(columns, UNCHANGED, source.count_by(["word"]).select([0]), ())


def rows(counted: pa.Table) -> list[str]:
    return sorted(str(row) for row in counted.to_pylist())


@pytest.mark.parametrize("kind", ["csv", "json", "parquet", "orc"])
def test_a_staged_folder_holds_what_was_released(
    source: Source, spark_session: Any, tmp_path: Path, kind: str
) -> None:
    target = SparkTarget(str(tmp_path / "release"), kind)
    check_target(target, spark=spark_session)
    staged = recode_into(source, release_of(source), target)
    written = staged.source()
    assert rows(written.count_by(["word", "n"])) == rows(source.count_by(["word", "n"]))
    assert not (tmp_path / "release").exists()
    [hidden] = tmp_path.iterdir()
    assert stat.S_IMODE(hidden.stat().st_mode) == 0o700
    assert staged.publish() == target.name
    staged.discard()
    names = sorted(path.name for path in (tmp_path / "release").iterdir())
    assert names[0] == "_SUCCESS"
    assert names[1].startswith("part-00000.")
    assert [path.name for path in tmp_path.iterdir()] == ["release"]


def test_the_files_are_the_same_whatever_the_order_of_the_input(
    spark_session: Any, tmp_path: Path
) -> None:
    count = 2000
    words = pa.table({"word": [f"w{i % 7}" for i in range(count)], "n": list(range(count))})
    written = []
    for number, order in enumerate((range(count), range(count - 1, -1, -1))):
        frame = spark_session.createDataFrame(words.take(list(order))).repartition(number + 1)
        source = open_frame(frame)
        target = SparkTarget(str(tmp_path / str(number)), "csv")
        recode_into(source, release_of(source), target).publish()
        files = sorted((tmp_path / str(number)).glob("part-*"))
        written.append([file.read_bytes() for file in files])
    assert written[0] == written[1]
    assert [row.split(b",")[1] for row in written[0][0].split()[1:6]] != [b"0", b"1", b"2", b"3"]


def test_a_column_that_spark_cannot_compare_is_refused(spark_session: Any, tmp_path: Path) -> None:
    columns = "cast(id AS string) AS word", "array(map('a', id)) AS n"
    source = open_frame(spark_session.range(4).selectExpr(*columns))
    with pytest.raises(BadData) as caught:
        recode_into(source, release_of(source), SparkTarget(str(tmp_path / "release"), "parquet"))
    assert caught.value.code == "column-not-comparable"
    assert list(tmp_path.iterdir()) == []


def test_a_discarded_folder_leaves_nothing(source: Source, tmp_path: Path) -> None:
    staged = recode_into(source, release_of(source), SparkTarget(str(tmp_path / "release")))
    staged.discard()
    staged.discard()
    assert list(tmp_path.iterdir()) == []


def test_missing_values_in_a_single_column_of_csv_are_not_lost(
    source: Source, tmp_path: Path
) -> None:
    target = SparkTarget(str(tmp_path / "release.csv"))
    staged = recode_into(source, release_of(source, ("word",)), target)
    assert rows(staged.source().count_by(["word"])) == rows(source.count_by(["word"]))


def test_an_earlier_folder_is_replaced_only_when_that_is_said(
    source: Source, spark_session: Any, tmp_path: Path
) -> None:
    path = tmp_path / "release"
    recode_into(source, release_of(source), SparkTarget(str(path))).publish()
    with pytest.raises(BadOutput) as caught:
        check_target(SparkTarget(str(path)), spark=spark_session)
    assert caught.value.code == "folder-exists"
    replacing = SparkTarget(str(path), replace=True)
    check_target(replacing, spark=spark_session)
    recode_into(source, release_of(source, ("word",)), replacing).publish()
    assert spark_session.read.parquet(str(path)).columns == ["word"]
    assert [each.name for each in tmp_path.iterdir()] == ["release"]


def test_a_folder_on_another_file_system_is_replaced_by_two_renames(
    source: Source, spark_session: Any, tmp_path: Path
) -> None:
    settings = spark_session.sparkContext._jsc.hadoopConfiguration()
    settings.set("fs.viewfs.mounttable.elsewhere.link./data", tmp_path.as_uri())
    target = SparkTarget("viewfs://elsewhere/data/release", replace=True)
    for columns in (("word", "n"), ("word",)):
        check_target(target, spark=spark_session)
        staged = recode_into(source, release_of(source, columns), target)
        assert rows(staged.source().count_by(["word"])) == rows(source.count_by(["word"]))
        staged.publish()
        staged.discard()
        assert spark_session.read.parquet(str(tmp_path / "release")).columns == list(columns)
        assert [path.name for path in tmp_path.iterdir()] == ["release"]
    (tmp_path / "release").rename(tmp_path / ".release.shoal-before")
    check_target(target, spark=spark_session)
    assert [path.name for path in tmp_path.iterdir()] == ["release"]


def test_a_folder_of_other_things_is_never_replaced(spark_session: Any, tmp_path: Path) -> None:
    (tmp_path / "thesis.doc").write_text("dear")
    with pytest.raises(BadOutput) as caught:
        check_target(SparkTarget(str(tmp_path), "parquet", replace=True), spark=spark_session)
    assert caught.value.code == "output-not-replaceable"


def test_what_a_killed_process_left_is_removed(spark_session: Any, tmp_path: Path) -> None:
    dead = subprocess.Popen(["true"])
    dead.wait()
    mine = owned(".shoal-")
    left = tmp_path / f"{mine.replace(str(os.getpid()), str(dead.pid), 1)}0123"
    other = tmp_path / f"{mine}4567"
    left.mkdir()
    other.mkdir()
    check_target(SparkTarget(str(tmp_path / "release")), spark=spark_session)
    assert [path.name for path in tmp_path.iterdir()] == [other.name]


def test_names_that_differ_in_case_need_a_session_that_tells_them_apart(
    spark_session: Any, tmp_path: Path
) -> None:
    table = pa.table({"word": ["a"], "WORD": ["b"]})
    source = open_frame(spark_session.createDataFrame(table))
    with pytest.raises(BadOutput) as caught:
        recode_into(source, release_of(source, ("word", "WORD")), SparkTarget(str(tmp_path / "r")))
    assert caught.value.code == "names-differ-in-case"
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def schema(spark_session: Any) -> Iterator[str]:
    """A schema of the catalog, with a name that must be quoted."""
    spark_session.sql("CREATE SCHEMA `select`")
    yield "`select`"
    spark_session.sql("DROP SCHEMA `select` CASCADE")


def tables_of(spark_session: Any, schema: str) -> list[str]:
    return sorted(table.name for table in spark_session.catalog.listTables(schema))


def test_a_table_of_the_catalog_appears_by_a_rename(
    source: Source, spark_session: Any, schema: str
) -> None:
    target = SparkTarget(f"{schema}.release")
    check_target(target, spark=spark_session)
    staged = recode_into(source, release_of(source), target)
    assert tables_of(spark_session, schema) != ["release"]
    assert rows(staged.source().count_by(["word"])) == rows(source.count_by(["word"]))
    staged.publish()
    staged.discard()
    assert tables_of(spark_session, schema) == ["release"]
    again = open_source(SparkOptions(f"{schema}.release"), spark=spark_session)
    assert rows(again.count_by(["word", "n"])) == rows(source.count_by(["word", "n"]))


def test_a_table_is_replaced_only_when_that_is_said(
    source: Source, spark_session: Any, schema: str
) -> None:
    name = f"{schema}.release"
    recode_into(source, release_of(source), SparkTarget(name)).publish()
    with pytest.raises(BadOutput) as caught:
        check_target(SparkTarget(name), spark=spark_session)
    assert caught.value.code == "table-exists"
    late = recode_into(source, release_of(source), SparkTarget(name))
    with pytest.raises(BadOutput):
        late.publish()
    replacing = SparkTarget(name, replace=True)
    check_target(replacing, spark=spark_session)
    recode_into(source, release_of(source, ("word",)), replacing).publish()
    assert spark_session.table(name).columns == ["word"]
    assert tables_of(spark_session, schema) == ["release"]


def test_a_view_a_schema_that_is_not_there_and_a_bad_name_are_refused(spark_session: Any) -> None:
    spark_session.range(1).createOrReplaceTempView("seen")
    for name, code in (
        ("seen", "table-exists"),
        ("nowhere.release", "no-schema"),
        ("`my release`", "bad-table-name"),
    ):
        with pytest.raises(ShoalError) as caught:
            check_target(SparkTarget(name, replace=True), spark=spark_session)
        assert caught.value.code == code
    spark_session.catalog.dropTempView("seen")


def test_a_table_is_refused_where_the_catalog_is_forgotten_with_the_session(
    spark_session: Any,
) -> None:
    with pytest.raises(BadOutput) as caught:
        check_table(SparkTarget("release"), Session(spark_session, is_own=True))
    assert caught.value.code == "no-catalog"


def test_a_stream_from_elsewhere_is_written_in_its_order(
    spark_session: Any, tmp_path: Path
) -> None:
    (tmp_path / "in.csv").write_text("word,n\nb,2\na,1\nc,\n")
    file = open_source(FileOptions(str(tmp_path / "in.csv")))
    target = SparkTarget(str(tmp_path / "release.csv"))
    with file.recoded(release_of(file)) as stream:
        staged = stage_rows(target, stream, spark_session)
    assert rows(staged.source().count_by(["word", "n"])) == rows(file.count_by(["word", "n"]))
    staged.publish()
    staged.discard()
    [part] = (tmp_path / "release.csv").glob("part-*")
    assert part.read_text() == "word,n\na,1\nb,2\nc,\n"


def test_an_empty_stream_becomes_a_table_with_columns_and_no_records(
    spark_session: Any, tmp_path: Path
) -> None:
    columns = {"word": pa.string(), "n": pa.uint64(), "span": pa.duration("s")}
    nothing = pa.schema(columns).empty_table().to_reader()
    staged = stage_rows(SparkTarget(str(tmp_path / "release")), nothing, spark_session)
    assert [column.name for column in staged.source().columns()] == ["word", "n", "span"]
    assert staged.source().count_by([]).to_pylist() == [{"#records": 0}]
