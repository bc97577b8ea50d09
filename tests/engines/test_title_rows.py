"""Tables below titles: `header: 3` reads the names from the third row, and skips what is above."""

from __future__ import annotations

import csv
import gzip
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shoal.engines.duckdb.files import open_files
from shoal.engines.formats.excel import ExcelReader
from shoal.engines.options import FileOptions
from shoal.errors import BadData

TABLE = [["Name", "PLZ"], ["a", "01067"], ["b", "80331"]]


def read(path: Path, **options: Any) -> tuple[list[str], list[tuple[str | None, ...]]]:
    with open_files(FileOptions(str(path), **options)) as source:
        names = [column.name for column in source.columns()]
        rows = source.count_by(names).to_pylist()
    return names, sorted(
        (tuple(row[name] for name in names) for row in rows for _ in range(row["#records"])),
        key=str,
    )


def text(folder: Path, content: str, encoding: str = "utf-8", name: str = "data.csv") -> Path:
    (folder / name).write_bytes(content.encode(encoding))
    return folder / name


def workbook(path: Path, rows: list[list[Any]]) -> Path:
    book = openpyxl.Workbook()
    assert book.active is not None
    for number, row in enumerate(rows, 1):
        for position, value in enumerate(row, 1):
            book.active.cell(number, position, value)
    book.save(path)
    return path


@pytest.mark.parametrize(
    "titles",
    [
        "Bericht 2026;;\n\n",
        "Bericht, vom 3.4.\n;;;;;;\n",
        '"Bericht" vom; 3.4.\nSeite 1\n',
        "\n\n",
        '"zwei\nZeilen";\n\n',
        "=1+1;<b>;'\n-;-\n",
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1", "utf-16"])
def test_rows_above_the_header_may_have_any_form(
    tmp_path: Path, titles: str, encoding: str
) -> None:
    path = text(tmp_path, titles + "Name;PLZ\na;01067\nb;80331\n", encoding)
    stated = None if encoding.startswith("utf") else encoding
    expected = (["Name", "PLZ"], [("a", "01067"), ("b", "80331")])
    assert read(path, header=3, encoding=stated) == expected
    packed = tmp_path / "data.csv.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert read(packed, header=3, encoding=stated) == expected


def test_the_first_row_is_the_same_as_true(tmp_path: Path) -> None:
    path = text(tmp_path, "1;2\n3;4\n")
    assert read(path, header=1) == read(path, header=True) == (["1", "2"], [("3", "4")])
    assert read(path, header=False)[0] == ["column1", "column2"]


def test_a_row_without_names_is_refused(tmp_path: Path) -> None:
    sheet = workbook(tmp_path / "data.xlsx", [["Titel"], [], *TABLE])
    for path in (text(tmp_path, "Titel;\n;\nName;PLZ\na;1\n"), sheet):
        for row in (2, 7, 10**6):
            with pytest.raises(BadData, match=f"has no names in row {row}") as caught:
                read(path, header=row)
            assert caught.value.code == "no-header-row"


def test_a_broken_row_is_named_by_its_line_in_the_file(tmp_path: Path) -> None:
    path = text(tmp_path, 'Titel\n"zwei\nZeilen"\nName;PLZ\na;1\nb;2;3;4\n')
    with pytest.raises(BadData, match=r"line 6: 4 fields where the table has 2 columns"):
        read(path, header=3)


def test_a_workbook_has_its_names_in_the_row_that_people_see(tmp_path: Path) -> None:
    titled = workbook(tmp_path / "data.xlsx", [["Bericht", None, "Stand"], [], [], *TABLE])
    assert read(titled, header=4) == (["Name", "PLZ"], [("a", "01067"), ("b", "80331")])
    plain = workbook(tmp_path / "plain.xlsx", TABLE)
    assert read(plain) == read(plain, header=True) == read(titled, header=4)


def test_a_workbook_without_names_has_numbered_columns(tmp_path: Path) -> None:
    path = workbook(tmp_path / "data.xlsx", [["a"], ["b", None, 3], []])
    names, rows = read(path, header=False)
    assert names == ["column1", "column2", "column3"]
    assert rows == [("a", None, None), ("b", None, "3")]


def test_options_that_a_workbook_does_not_know_are_refused(tmp_path: Path) -> None:
    path = workbook(tmp_path / "data.xlsx", TABLE)
    for options in ({"header": "0"}, {"header": "x"}, {"header": "-1"}, {"decimal": ";"}):
        with pytest.raises(BadData) as caught:
            list(ExcelReader().read(path, options))
        assert caught.value.code == "unknown-option"


def test_stored_kinds_are_found_below_the_header_alone(tmp_path: Path) -> None:
    path = workbook(tmp_path / "data.xlsx", [["Titel"], ["n", "x"], [1, "a"], [2, 5]])
    (batch,) = ExcelReader().read_stored(path, {"header": "2"})
    assert batch.to_pylist() == [{"n": "1", "x": "text a"}, {"n": "2", "x": "number 5"}]


cells = st.text(st.characters(codec="utf-8", exclude_characters="\0\r"), max_size=5)


@pytest.mark.slow
@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40, deadline=None
)
@given(
    st.lists(st.lists(cells, max_size=4), max_size=4),
    st.lists(st.tuples(cells.filter(bool), cells), max_size=5),
)
def test_any_titles_leave_the_table_below_as_it_is(
    tmp_path: Path, titles: list[list[str]], rows: list[tuple[str, str]]
) -> None:
    path = tmp_path / "data.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=";", lineterminator="\n")
        writer.writerows([*titles, ["name one", "name two"], *rows])
    found = read(path, header=len(titles) + 1, delimiter=";", quote='"')
    expected = sorted(((a or None, b or None) for a, b in rows), key=str)
    assert found == (["name one", "name two"], expected)
