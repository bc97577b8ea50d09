"""Parquet in many files, read and written; packed files; and folders replaced as a whole."""

from __future__ import annotations

import gzip
import json
import stat
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import polars
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import shoal
from adapters import rows_of
from shoal.engines import local_files
from shoal.engines.base import Generalization, Recoding
from shoal.engines.duckdb.files import open_files
from shoal.engines.formats.parquet import fixed_folder, partitions_of
from shoal.engines.frames.source import open_frame
from shoal.engines.opening import recode_into
from shoal.engines.options import FileOptions, FileTarget, Resources
from shoal.errors import BadData, BadDefinition, BadOutput

UNCHANGED = Generalization((), ())


def release(table: pa.Table, target: FileTarget, resources: Resources | None = None) -> None:
    """All records as they are, ordered."""
    first = table.column_names[0]
    listed = pa.table({first: table.column(first).cast(pa.string())})
    recoding = Recoding(tuple(table.column_names), {first: UNCHANGED}, listed, ())
    with open_frame(table, resources=resources or Resources()) as source:
        recode_into(source, recoding, target).publish()


def files_in(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


PATIENTS = pa.table(
    {
        "zip": ["1/2", "1/2", "x y", None, "x y"],
        "year": [2024, 2023, 2024, 2024, None],
        "ward": ["a", "b", "c", "d", "e"],
    }
)


def test_partitions_are_folders_that_others_read_too(tmp_path: Path) -> None:
    release(PATIENTS, FileTarget(tmp_path / "out", "parquet", partition_by=("year", "zip")))
    missing = "__HIVE_DEFAULT_PARTITION__"
    assert files_in(tmp_path / "out") == [
        "year=2023/zip=1%2F2/part-00000.parquet",
        "year=2024/zip=1%2F2/part-00000.parquet",
        f"year=2024/zip={missing}/part-00000.parquet",
        "year=2024/zip=x y/part-00000.parquet",
        f"year={missing}/zip=x y/part-00000.parquet",
    ]
    read = polars.read_parquet(tmp_path / "out", hive_partitioning=True)
    again = read.select("zip", "year", "ward").sort("ward")
    assert again.to_dict(as_series=False) == PATIENTS.to_pydict()
    assert (tmp_path / "out").stat().st_mode == tmp_path_of_a_new_folder(tmp_path)


def tmp_path_of_a_new_folder(folder: Path) -> int:
    (folder / "new").mkdir()
    return (folder / "new").stat().st_mode


@pytest.mark.slow
@given(
    st.lists(
        st.tuples(st.sampled_from(["a", None, "b=c", "é/%", "A"]), st.sampled_from("xyz")),
        min_size=1,
        max_size=30,
    )
)
@settings(max_examples=25, suppress_health_check=list(HealthCheck))
def test_what_is_written_to_partitions_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str | None, str]]
) -> None:
    folder = tmp_path_factory.mktemp("partitioned")
    table = pa.table({"p": [row[0] for row in rows], "v": [row[1] for row in rows]})
    release(table, FileTarget(folder / "out", "parquet", partition_by=("p",)))
    found = rows_of(open_files(FileOptions(str(folder / "out"))))
    assert found == Counter((value, part) for part, value in rows)


def test_a_glob_and_a_folder_have_the_same_columns(tmp_path: Path) -> None:
    release(PATIENTS, FileTarget(tmp_path / "out", "parquet", partition_by=("year",)))
    by_folder = rows_of(open_files(FileOptions(str(tmp_path / "out"))))
    by_glob = rows_of(open_files(FileOptions(str(tmp_path / "out" / "**" / "*.parquet"))))
    one = tmp_path / "out" / "year=2023" / "part-00000.parquet"
    assert by_folder == by_glob
    assert by_folder.total() == 5
    assert rows_of(open_files(FileOptions(str(one)))) == {("1/2", "b"): 1}


def test_folders_above_the_source_are_no_partitions() -> None:
    root = fixed_folder("/data/run=5/year=*/x.parquet")
    assert root == Path("/data/run=5")
    found = partitions_of(Path("/data/run=5/year=2024/=/x.parquet"), root)
    assert found == {"year": "2024"}


def test_hidden_files_and_other_formats_in_a_folder_are_no_data(tmp_path: Path) -> None:
    pq.write_table(pa.table({"a": ["x"]}), tmp_path / "one.parquet")
    for name in ("_SUCCESS", ".one.parquet.crc", "notes.txt", "_old.parquet"):
        (tmp_path / name).write_text("no data")
    assert rows_of(open_files(FileOptions(str(tmp_path)))) == {("x",): 1}


def test_a_folder_without_parquet_files_is_no_source(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a\n1\n")
    with pytest.raises(BadData) as caught:
        open_files(FileOptions(str(tmp_path)))
    assert caught.value.code == "source-is-a-folder"


def test_files_of_different_types_and_orders_are_one_table(tmp_path: Path) -> None:
    pq.write_table(pa.table({"a": [1], "b": ["x"]}), tmp_path / "1.parquet")
    pq.write_table(pa.table({"b": ["y"], "a": ["01"]}), tmp_path / "2.parquet")
    pq.write_table(pa.table({"a": [2], "b": ["z"]}), tmp_path / "3.parquet")
    found = rows_of(open_files(FileOptions(str(tmp_path))))
    assert found == Counter([("1", "x"), ("01", "y"), ("2", "z")])


@pytest.mark.slow
def test_a_large_release_is_split_by_size_in_order_and_the_same_every_time(
    tmp_path: Path,
) -> None:
    table = pa.table({"a": [f"{i * 7919 % 400_000:06}" for i in range(400_000)]})
    contents = set()
    for threads in (1, 2):
        target = FileTarget(tmp_path / f"out{threads}", "parquet", file_size=100_000)
        release(table, target, Resources(threads=threads))
        files = sorted(target.path.iterdir())
        contents.add(tuple(path.read_bytes() for path in files))
    assert len(contents) == 1
    assert len(files) > 2
    read = [value for path in files for value in pq.read_table(path).column("a").to_pylist()]
    assert read == sorted(table.column("a").to_pylist())


def test_a_release_without_records_has_its_columns(tmp_path: Path) -> None:
    target = FileTarget(tmp_path / "out", "parquet", partition_by=("b",))
    recoding = Recoding(("a", "b"), {"a": UNCHANGED}, pa.table({"a": pa.array([], "string")}), ())
    with open_frame(pa.table({"a": ["x"], "b": ["y"]})) as source:
        staged = recode_into(source, recoding, target)
    with closing(staged.source()) as again:
        assert [column.name for column in again.columns()] == ["a", "b"]
        assert again.count_by([]).to_pydict() == {"#records": [0]}
    staged.discard()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("exchange", [True, False])
def test_an_earlier_release_is_replaced_as_a_whole(
    tmp_path: Path, exchange: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = FileTarget(tmp_path / "out", "parquet", partition_by=("year",))
    if not exchange:
        monkeypatch.setattr(local_files, "_exchange", lambda *_: False)
    release(PATIENTS, target)
    release(PATIENTS.slice(0, 1), target)
    assert files_in(tmp_path / "out") == ["year=2024/part-00000.parquet"]
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_folder_that_stepped_aside_is_put_back_unless_a_new_one_is_there(tmp_path: Path) -> None:
    aside = tmp_path / ".out.shoal-before"
    aside.mkdir()
    (aside / "old.parquet").touch()
    assert local_files.folders_with_backup(tmp_path) == [tmp_path / "out"]
    local_files.restore_folder(tmp_path / "out")
    assert files_in(tmp_path) == ["out/old.parquet"]
    aside.mkdir()
    local_files.restore_folder(tmp_path / "out")
    assert files_in(tmp_path) == ["out/old.parquet"]
    assert not aside.exists()


def test_a_folder_of_anything_else_is_never_replaced(tmp_path: Path) -> None:
    from shoal.engines.duckdb.staged import check_file

    (tmp_path / "home" / "deep").mkdir(parents=True)
    (tmp_path / "home" / "deep" / "thesis.doc").touch()
    with pytest.raises(BadOutput) as caught:
        check_file(FileTarget(tmp_path / "home", "parquet", file_size=1))
    assert caught.value.code == "output-not-replaceable"


def test_a_staged_folder_is_private(tmp_path: Path) -> None:
    target = FileTarget(tmp_path / "out", "parquet", file_size=1000)
    recoding = Recoding(("zip",), {"zip": UNCHANGED}, PATIENTS.select(["zip"]), ())
    with open_frame(PATIENTS) as source:
        staged = recode_into(source, recoding, target)
    (hidden,) = tmp_path.iterdir()
    assert hidden.name.startswith(".shoal-")
    assert stat.S_IMODE(hidden.stat().st_mode) == 0o700
    staged.discard()
    assert list(tmp_path.iterdir()) == []


ATTRIBUTES: dict[str, Any] = {
    "zip": {"role": "quasi-identifier", "hierarchy": "suppress"},
    "year": "keep",
    "ward": "keep",
}


def definition(folder: Path, **output: Any) -> dict[str, Any]:
    source = {"source": str(folder / "in.parquet"), "k": 2, "suppression": 1}
    partitioned = {"path": str(folder / "out"), "format": "parquet", **output}
    return {**source, "output": partitioned, "attributes": ATTRIBUTES}


@pytest.mark.slow
def test_a_definition_parts_its_output_which_is_verified_and_can_be_read_again(
    tmp_path: Path,
) -> None:
    pq.write_table(PATIENTS, tmp_path / "in.parquet")
    partitioned = definition(tmp_path, **{"partition by": ["year"]})
    result = shoal.run(partitioned)
    assert result.verified
    again = shoal.run(
        {**partitioned, "source": str(tmp_path / "out"), "output": str(tmp_path / "o.csv")}
    )
    assert (again.records, again.loss) == (4, 0)
    assert shoal.run(partitioned).loss == result.loss


@pytest.mark.parametrize(
    ("output", "said"),
    [
        ({"partition by": ["name"]}, "'name' is not released"),
        ({"partition by": ["year", "year"]}, "twice"),
        ({"partition by": ["year", "zip", "ward"]}, "leaves no column"),
        ({"format": "csv", "partition by": ["year"]}, "only Parquet"),
        ({"path": "", "file size": "1 MB"}, "no path"),
        ({"file size": "large"}, "no amount of memory"),
    ],
)
def test_an_output_that_cannot_have_partitions_is_a_mistake(
    tmp_path: Path, output: dict[str, Any], said: str
) -> None:
    pq.write_table(PATIENTS, tmp_path / "in.parquet")
    with pytest.raises(BadDefinition) as caught:
        shoal.run(definition(tmp_path, **output))
    assert said in str(caught.value)


def test_a_folder_that_holds_the_source_is_no_output(tmp_path: Path) -> None:
    pq.write_table(PATIENTS, tmp_path / "in.parquet")
    with pytest.raises(BadDefinition, match="holds the source"):
        shoal.run(definition(tmp_path, **{"path": str(tmp_path), "file size": "1 MB"}))
    with pytest.raises(BadDefinition, match="is a file of the source"):
        shoal.run({**definition(tmp_path), "source": str(tmp_path)})


@pytest.mark.slow
@pytest.mark.parametrize("ending", [".csv.gz", ".csv.zst", ".json.gz", ".jsonl.zst", ".tsv.gz"])
def test_packed_outputs_are_read_back_and_the_same_every_time(tmp_path: Path, ending: str) -> None:
    contents = set()
    for number in range(2):
        release(PATIENTS, FileTarget(tmp_path / f"{number}{ending}"))
        contents.add((tmp_path / f"{number}{ending}").read_bytes())
    assert len(contents) == 1
    found = rows_of(open_files(FileOptions(str(tmp_path / f"0{ending}"))))
    texts = [[None if v is None else str(v) for v in c.to_pylist()] for c in PATIENTS.columns]
    assert found == Counter(zip(*texts, strict=True))


def test_packed_outputs_without_records_are_packed_too(tmp_path: Path) -> None:
    empty = PATIENTS.slice(0, 0)
    release(empty, FileTarget(tmp_path / "a.csv.gz"))
    release(empty, FileTarget(tmp_path / "a.json.gz"))
    assert gzip.decompress((tmp_path / "a.csv.gz").read_bytes()) == b"zip,year,ward\n"
    assert json.loads(gzip.decompress((tmp_path / "a.json.gz").read_bytes())) == []
    with pytest.raises(BadOutput) as caught:
        release(empty, FileTarget(tmp_path / "a.parquet.gz"))
    assert caught.value.code == "packed-parquet"


def test_long_integers_in_json_keep_their_digits(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(f'[{{"a": {10**30}, "b": 0.5}}, {{"a": 1, "b": 2}}]')
    found = rows_of(open_files(FileOptions(str(tmp_path / "a.json"))))
    assert found == Counter([(str(10**30), "0.5"), ("1", "2.0")])


def test_not_a_number_is_missing_also_where_a_file_does_not_say_that_it_has_some(
    tmp_path: Path,
) -> None:
    pq.write_table(pa.table({"a": [1.5, float("nan")]}), tmp_path / "a.parquet")
    assert rows_of(open_files(FileOptions(str(tmp_path / "a.parquet")))) == {
        ("1.5",): 1,
        (None,): 1,
    }
