"""Recoding: a plain-Python oracle judges what the engine writes, in every format."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shoal.engines.base import Generalization, Recoding, Source
from shoal.engines.duckdb.files import open_files
from shoal.engines.duckdb.staged import StagedFile
from shoal.engines.frames.source import StagedTable, open_frame
from shoal.engines.opening import recode_into
from shoal.engines.options import FileOptions, FileTarget, Resources
from shoal.errors import BadData, BadOutput

Row = tuple[Any, ...]
UNCHANGED = Generalization((), ())
ENDINGS = (".csv", ".parquet", ".json", ".jsonl")


def oracle(rows: list[dict[str, Any]], recoding: Recoding) -> list[Row]:
    """Row by row, as a newcomer would write it; sorted with missing last."""
    passing = {tuple(row.values()) for row in recoding.classes.to_pylist()}
    released = []
    for row in rows:
        key: dict[str, Any] = {}
        clean = {
            name: None if row[name] in ("", *recoding.missing) else row[name]
            for name in recoding.generalized
        }
        if recoding.complete and None in clean.values():
            continue
        for name, g in recoding.generalized.items():
            labels = dict(zip(g.values, g.labels, strict=True)) if g.values else None
            value = clean[name]
            key[name] = g.missing if value is None else labels[value] if labels else value
        passes = tuple(key.values()) in passing
        if passes or recoding.mark:
            out = {name: key.get(name, row[name] or None) for name in recoding.columns}
            blanked = () if passes else recoding.blanked
            released.append(tuple(None if n in blanked else out[n] for n in recoding.columns))
    labels_first = sorted(recoding.columns, key=lambda name: name not in recoding.generalized)
    order = [recoding.columns.index(name) for name in labels_first]
    return sorted(released, key=lambda row: [(row[i] is None, row[i] or "") for i in order])


value = st.sampled_from([None, "", "NA", "x", "y", 'q"', "a,b", "l\nm", "NULL", " s"])


@st.composite
def problems(draw: st.DrawFn) -> tuple[list[dict[str, Any]], Recoding]:
    rows = draw(
        st.lists(st.fixed_dictionaries({"A": value, "a": value, "keep": value}), max_size=8)
    )
    missing = draw(st.sampled_from([(), ("NA",)]))
    texts = ("NA", "x", "y", 'q"', "a,b", "l\nm", "NULL", " s")
    labels = draw(st.tuples(*[st.sampled_from(["*", "[0, 5[", "x"])] * len(texts)))
    top = draw(st.sampled_from([None, "*"]))
    generalized = {"A": Generalization(texts, labels, top), "a": UNCHANGED}
    label = st.sampled_from([None, "*", "[0, 5[", "x"])
    kept = draw(st.sets(st.tuples(label, st.sampled_from([None, "NA", *texts])), max_size=14))
    classes = pa.table(
        [pa.array([row[i] for row in kept], pa.string()) for i in range(2)], names=["A", "a"]
    )
    columns = draw(st.permutations(["A", "a", "keep"]))
    mark, complete = draw(st.booleans()), draw(st.booleans())
    return rows, Recoding(tuple(columns), generalized, classes, ("A", "a"), missing, mark, complete)


def frame(rows: list[dict[str, Any]]) -> pa.Table:
    names = ["A", "a", "keep"]
    return pa.table([pa.array([r[n] for r in rows], pa.string()) for n in names], names=names)


@pytest.mark.slow
@settings(max_examples=80)
@given(problems())
def test_the_engine_recodes_as_plain_python_does(
    problem: tuple[list[dict[str, Any]], Recoding],
) -> None:
    rows, recoding = problem
    with open_frame(frame(rows)) as source:
        staged = recode_into(source, recoding, None)
    assert isinstance(staged, StagedTable)
    assert staged.frame().column_names == list(recoding.columns)
    assert [tuple(row.values()) for row in staged.frame().to_pylist()] == oracle(rows, recoding)


@pytest.mark.slow
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(problems(), st.sampled_from([".csv", ".json", ".jsonl"]))
def test_what_is_written_is_what_is_counted_again(
    tmp_path: Path, problem: tuple[list[dict[str, Any]], Recoding], ending: str
) -> None:
    rows, recoding = problem
    expected = oracle(rows, recoding)
    if not expected and ending != ".csv":
        return
    with open_frame(frame(rows)) as source:
        staged = recode_into(source, recoding, FileTarget(tmp_path / f"out{ending}"))
    with closing(staged.source()) as again:
        table = again.count_by(recoding.columns)
    found = [
        tuple(row)
        for *row, count in zip(*(c.to_pylist() for c in table.columns), strict=True)
        for _ in range(count)
    ]
    staged.discard()
    assert sorted(found, key=repr) == sorted(expected, key=repr)


def read_texts(path: Path, names: tuple[str, ...]) -> pa.Table:
    if path.suffix == ".parquet":
        return pq.read_table(path)
    return pa.csv.read_csv(
        path,
        parse_options=pa.csv.ParseOptions(newlines_in_values=True),
        convert_options=pa.csv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.string()),
            null_values=[""],
            strings_can_be_null=True,
        ),
    )


@pytest.mark.slow
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(problems(), st.sampled_from([".parquet", ".csv", ""]))
def test_parquet_files_are_recoded_as_plain_python_does(
    tmp_path: Path, problem: tuple[list[dict[str, Any]], Recoding], ending: str
) -> None:
    rows, recoding = problem
    expected = oracle(rows, recoding)
    lower = {"A": "a", "a": "b", "keep": "keep"}
    named = replace(
        recoding,
        columns=tuple(lower[name] for name in recoding.columns),
        generalized={lower[name]: each for name, each in recoding.generalized.items()},
        classes=recoding.classes.rename_columns(["a", "b"]),
        blanked=("a", "b"),
    )
    data = frame(rows).rename_columns(list(lower.values()))
    pq.write_table(data, tmp_path / "data.parquet")
    with open_files(FileOptions(str(tmp_path / "data.parquet"))) as source:
        target = FileTarget(tmp_path / f"out{ending}") if ending else None
        with recode_into(source, named, target) as staged:
            if isinstance(staged, StagedTable):
                table = staged.frame()
            else:
                assert isinstance(staged, StagedFile)
                table = read_texts(staged.path, named.columns)
    assert [tuple(row.values()) for row in table.to_pylist()] == expected


def example(source: Source, **changes: Any) -> Recoding:
    """Age in tens, sex unchanged, the ward kept."""
    ages = [age for age in source.count_by(["age"]).column("age").to_pylist() if age is not None]
    decade = Generalization(tuple(ages), tuple(f"[{int(a) // 10}0s]" for a in ages))
    labels = {"age": sorted({*decade.labels, None}, key=str), "sex": ["f", "m", None]}
    pairs = [(age, sex) for age in labels["age"] for sex in labels["sex"]]
    classes = pa.table(
        [pa.array([p[i] for p in pairs], pa.string()) for i in range(2)], names=["age", "sex"]
    )
    return Recoding(
        **{
            "columns": ("sex", "age", "ward"),
            "generalized": {"age": decade, "sex": UNCHANGED},
            "classes": classes,
            "blanked": ("age", "sex"),
            **changes,
        }
    )


def patients(folder: Path, records: int = 30_000) -> Path:
    lines = (
        f"{'' if i % 17 == 0 else 20 + i * 7919 % 50},{'fm'[i % 2]},w{i * 31 % 1009}\n"
        for i in range(records)
    )
    path = folder / "patients.csv"
    path.write_text("age,sex,ward\n" + "".join(lines))
    return path


@pytest.mark.slow
@pytest.mark.parametrize("ending", ENDINGS)
def test_the_same_bytes_come_out_every_time(tmp_path: Path, ending: str) -> None:
    path, outputs = patients(tmp_path), set()
    for threads in (1, 2, 2):
        with open_files(FileOptions(str(path)), resources=Resources(threads=threads)) as source:
            staged = recode_into(source, example(source), FileTarget(tmp_path / f"out{ending}"))
        assert isinstance(staged, StagedFile)
        with staged:
            outputs.add(staged.path.read_bytes())
    assert len(outputs) == 1


def test_csv_has_a_header_plain_line_ends_and_quotes_only_where_needed(tmp_path: Path) -> None:
    table = pa.table({"A": ["x", None], "a": ['say "hi"', "NULL"], "p;q": ["1;2", "1,2"]})
    recoding = Recoding(("a", "A", "p;q"), {"A": UNCHANGED}, table.select(["A"]), ())
    with open_frame(table) as source:
        target = FileTarget(tmp_path / "out.csv", delimiter=";")
        recode_into(source, recoding, target).publish()
    expected = 'a;A;"p;q"\n"say ""hi""";x;"1;2"\nNULL;;1,2\n'
    assert (tmp_path / "out.csv").read_bytes() == expected.encode()


def test_a_missing_value_of_a_single_column_is_no_blank_line(tmp_path: Path) -> None:
    table = pa.table({"A": ["x", None]})
    with open_frame(table) as source:
        recoding = Recoding(("A",), {"A": UNCHANGED}, table, ())
        recode_into(source, recoding, FileTarget(tmp_path / "out.csv")).publish()
    assert (tmp_path / "out.csv").read_bytes() == b'A\nx\n""\n'


def test_json_is_an_array_or_lines_of_objects(tmp_path: Path) -> None:
    table = pa.table({"A": ["x", None], "a": [1, 2]})
    recoding = Recoding(("A", "a"), {"A": UNCHANGED}, table.select(["A"]), ())
    rows = [{"A": "x", "a": 1}, {"A": None, "a": 2}]
    with open_frame(table) as source:
        recode_into(source, recoding, FileTarget(tmp_path / "out.json")).publish()
        recode_into(source, recoding, FileTarget(tmp_path / "out.jsonl")).publish()
    assert json.loads((tmp_path / "out.json").read_text()) == rows
    lines = (tmp_path / "out.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in lines] == rows


@pytest.mark.parametrize(
    ("ending", "content"), [(".csv", "A,a\n"), (".json", "[]\n"), (".jsonl", "")]
)
def test_nothing_released_is_a_table_without_records(
    tmp_path: Path, ending: str, content: str
) -> None:
    table = pa.table({"A": ["x"], "a": ["y"]})
    recoding = Recoding(("A", "a"), {"A": UNCHANGED}, table.select(["A"]).slice(0, 0), ())
    with open_frame(table) as source:
        recode_into(source, recoding, FileTarget(tmp_path / f"out{ending}")).publish()
    assert (tmp_path / f"out{ending}").read_text() == content


def test_unchanged_columns_keep_their_type_in_parquet(tmp_path: Path) -> None:
    table = pa.table({"age": [34, None], "dose": [1.5, float("nan")], "zip": ["1", "2"]})
    masked = Generalization(("1", "2"), ("*", "*"))
    classes = pa.table({"age": ["34", None], "zip": ["*", "*"]})
    recoding = Recoding(("age", "dose", "zip"), {"age": UNCHANGED, "zip": masked}, classes, ())
    with open_frame(table) as source:
        recode_into(source, recoding, FileTarget(tmp_path / "out.parquet")).publish()
    written = pq.read_table(tmp_path / "out.parquet")
    assert written.to_pydict() == {"age": [34, None], "dose": [1.5, None], "zip": ["*", "*"]}
    assert written.schema.types == [pa.int64(), pa.float64(), pa.string()]


def test_parquet_refuses_names_that_differ_in_case_alone(tmp_path: Path) -> None:
    table = pa.table({"A": ["x"], "a": ["y"]})
    recoding = Recoding(("A", "a"), {"A": UNCHANGED}, table.select(["A"]), ())
    with open_frame(table) as source, pytest.raises(BadOutput) as caught:
        recode_into(source, recoding, FileTarget(tmp_path / "out.parquet"))
    assert caught.value.code == "names-differ-in-case"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "change", [lambda text: text.replace("34", "35"), lambda text: text + "9,m,w\n"]
)
def test_a_value_that_was_not_counted_stops_the_release(
    tmp_path: Path, change: Callable[[str], str]
) -> None:
    path = tmp_path / "in.csv"
    path.write_text("age,sex,ward\n34,f,w1\n34,f,w2\n")
    with open_files(FileOptions(str(path))) as source:
        recoding = example(source)
        path.write_text(change(path.read_text()))
        with pytest.raises(BadData) as caught:
            recode_into(source, recoding, FileTarget(tmp_path / "out.csv"))
    assert caught.value.code == "source-changed"
    assert [file.name for file in tmp_path.iterdir()] == ["in.csv"]
