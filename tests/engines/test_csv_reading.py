"""CSV files as people write them: every value as its own text, every row or an error."""

from __future__ import annotations

import csv
import gzip
import io
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shoal.engines.base import COUNT
from shoal.engines.duckdb.files import open_files
from shoal.engines.options import FileOptions
from shoal.errors import BadData

Rows = Counter[tuple[str | None, ...]]


def read(path: Path, expect: tuple[str, ...] = (), **options: Any) -> tuple[list[str], Rows]:
    with open_files(FileOptions(str(path), **options), expect) as source:
        names = [column.name for column in source.columns()]
        table = source.count_by(names)
    rows: Rows = Counter()
    for *values, count in zip(*(column.to_pylist() for column in table.columns), strict=True):
        rows[tuple(values)] += count
    return names, rows


def write(folder: Path, content: str | bytes, name: str = "data.csv") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_values_keep_their_spelling(tmp_path: Path) -> None:
    names, rows = read(write(tmp_path, "zip,x\n007,1.0\n007,1.0\n1e3, a \n"))
    assert names == ["zip", "x"]
    assert rows == {("007", "1.0"): 2, ("1e3", " a "): 1}


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_found(tmp_path: Path, delimiter: str) -> None:
    text = "name,zip\nann,1\nbob,2\n".replace(",", delimiter)
    assert read(write(tmp_path, text)) == (["name", "zip"], {("ann", "1"): 1, ("bob", "2"): 1})


def test_a_decimal_comma_is_no_delimiter(tmp_path: Path) -> None:
    names, rows = read(write(tmp_path, "a;b\n1,5;2,5\n2,5;3,5\n"))
    assert names == ["a", "b"]
    assert rows == {("1,5", "2,5"): 1, ("2,5", "3,5"): 1}


def test_single_quotes_are_found_where_the_header_has_them(tmp_path: Path) -> None:
    assert read(write(tmp_path, "'a','b'\n'x,y','2'\n")) == (["a", "b"], {("x,y", "2"): 1})


@pytest.mark.slow
def test_a_quote_far_below_the_sample_is_a_quote(tmp_path: Path) -> None:
    text = "a,b\n" + "x,1\n" * 60_000 + '"p,q\nr","say ""hi"""\n'
    assert read(write(tmp_path, text))[1] == {("x", "1"): 60_000, ("p,q\nr", 'say "hi"'): 1}


def test_what_is_stated_is_not_guessed(tmp_path: Path) -> None:
    path = write(tmp_path, "a;b|c\n1;2|3\n")
    assert read(path, delimiter="|")[0] == ["a;b", "c"]
    assert read(path, delimiter=";", header=False) == (
        ["column1", "column2"],
        {("a", "b|c"): 1, ("1", "2|3"): 1},
    )
    assert read(write(tmp_path, 'a,b\n"x,1\n'), quote="")[1] == {('"x', "1"): 1}
    assert read(write(tmp_path, "a\tb\nx\t1\n"), delimiter="\\t")[0] == ["a", "b"]


@pytest.mark.parametrize(
    ("text", "header"),
    [
        ("name,age\nann,34\n", True),
        ("name,city\nann,rome\n", True),
        ("ann,34\nbob,35\n", False),
        ("ann,ann\nbob,rome\n", False),
        ("2020-01-02,x\n2020-01-03,y\n", False),
    ],
)
def test_a_header_is_distinguished_from_a_record(tmp_path: Path, text: str, header: bool) -> None:
    names, _ = read(write(tmp_path, text))
    assert (names == text.splitlines()[0].split(",")) is header


def test_an_expected_name_proves_a_header(tmp_path: Path) -> None:
    path = write(tmp_path, "city,2019\nrome,1\n")
    assert read(path)[0] == ["column1", "column2"]
    assert read(path, expect=("city", "other"))[0] == ["city", "2019"]


def test_the_byte_order_mark_is_no_part_of_the_first_name(tmp_path: Path) -> None:
    assert read(write(tmp_path, "\ufeffa,b\nx,1\n"))[0] == ["a", "b"]


def test_names_that_differ_in_case_and_odd_names_work(tmp_path: Path) -> None:
    names, rows = read(write(tmp_path, 'A,a,"say ""x""",select,a b\n1,2,3,4,5\n'), expect=("A",))
    assert names == ["A", "a", 'say "x"', "select", "a b"]
    assert rows == {("1", "2", "3", "4", "5"): 1}


@pytest.mark.parametrize("encoding", ["utf-16", "latin-1", "cp1252", "shift_jis"])
def test_other_encodings_are_read(tmp_path: Path, encoding: str) -> None:
    word = "日本" if encoding == "shift_jis" else "café"
    path = write(tmp_path, f"name,n\n{word},1\n".encode(encoding))
    stated = None if encoding == "utf-16" else encoding
    assert read(path, encoding=stated) == (["name", "n"], {(word, "1"): 1})


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_every_kind_of_line_end_is_read(tmp_path: Path, end: str) -> None:
    text = "a,b\nx,1\n\ny,2\n".replace("\n", end)
    assert read(write(tmp_path, text))[1] == {("x", "1"): 1, ("y", "2"): 1}


def test_mixed_line_ends_lose_no_row(tmp_path: Path) -> None:
    for text in ("a,b\r\nx,1\ny,2\n", 'a,b\nx,"1"\r\ny,2\n', "\n\na,b\nx,1\ny,2\n"):
        assert read(write(tmp_path, text))[1] == {("x", "1"): 1, ("y", "2"): 1}
    assert read(write(tmp_path, '"a\r\nz",b\nx,1\n'))[1] == {("x", "1"): 1}


def test_a_nul_inside_quotes_is_a_character(tmp_path: Path) -> None:
    assert read(write(tmp_path, 'a,b\n"x\0y",1\n'))[1] == {("x\0y", "1"): 1}


def test_packed_files_are_read(tmp_path: Path) -> None:
    text = b"a,b\nx,1\n"
    plain = read(write(tmp_path, text))
    assert read(write(tmp_path, gzip.compress(text), "data.csv.gz")) == plain
    with pa.CompressedOutputStream(str(tmp_path / "data.csv.zst"), "zstd") as file:
        file.write(text)
    assert read(tmp_path / "data.csv.zst") == plain


def test_a_header_alone_is_a_table_without_records(tmp_path: Path) -> None:
    for text in ("a,b\n", "a,b"):
        with open_files(FileOptions(str(write(tmp_path, text)))) as source:
            assert [column.name for column in source.columns()] == ["a", "b"]
            assert source.count_by(["a"]).num_rows == 0
            assert source.count_by([]).to_pydict() == {COUNT: [0]}


def test_several_files_are_one_table_whatever_their_column_order(tmp_path: Path) -> None:
    write(tmp_path, "a,b\nx,1\n", "p1.csv")
    write(tmp_path, "b;a\n2;y\n", "p2.csv")
    assert read(tmp_path / "p*.csv") == (["a", "b"], {("x", "1"): 1, ("y", "2"): 1})


def test_a_path_with_the_characters_of_a_glob_is_taken_as_it_is(tmp_path: Path) -> None:
    write(tmp_path, "a,b\nwrong,1\n", "d1.csv")
    path = write(tmp_path, "a,b\nright,1\n", "d[1]*.csv")
    assert read(path)[1] == {("right", "1"): 1}


cell = st.text(st.sampled_from("ab ,;\"'\n\r\t\0é#\\*"), max_size=6)


@pytest.mark.slow
@settings(max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=st.lists(st.tuples(cell, cell), max_size=6),
    end=st.sampled_from(["\n", "\r\n"]),
    quoting=st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL]),
)
def test_whatever_python_writes_is_read_back(
    tmp_path: Path, rows: list[tuple[str, str]], end: str, quoting: Any
) -> None:
    if quoting == csv.QUOTE_MINIMAL:  # Python 3.11 leaves a carriage return unquoted
        rows = [(a.replace("\r", ""), b.replace("\r", "")) for a, b in rows]
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator=end, quoting=quoting).writerows([("a", "b"), *rows])
    found = read(write(tmp_path, text.getvalue()), header=True, delimiter=",")[1]
    assert found == Counter(tuple(value or None for value in row) for row in rows)


@pytest.mark.slow
@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(st.sampled_from('ab,"\n\r'), max_size=25), st.sampled_from(["\n", "\r\n"]))
def test_no_text_is_read_other_than_python_reads_it(tmp_path: Path, body: str, end: str) -> None:
    """Either an error, or the rows of Python's csv module; never a row less."""
    text = "p,q\n" + body
    if end == "\r\n":
        text = text.replace("\r", "").replace("\n", end)
    path = write(tmp_path, text)
    try:
        found = read(path, header=True, delimiter=",", quote='"')[1]
    except BadData:
        return
    rows = [row for row in csv.reader(io.StringIO(text, newline="")) if row][1:]
    assert found == Counter(tuple(value or None for value in row[:2]) for row in rows)
