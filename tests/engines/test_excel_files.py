from __future__ import annotations

import datetime
from contextlib import closing
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shoal.engines.duckdb.files import open_files
from shoal.engines.formats.excel import ExcelReader, ExcelWriter
from shoal.engines.formats.sheet_rows import MOST_ROWS
from shoal.engines.opening import check_records
from shoal.engines.options import FileOptions, FileTarget
from shoal.errors import BadData, BadOutput

texts = st.text(st.characters(codec="utf-8"), max_size=6) | st.sampled_from(
    ["=1+1", "+1", "-1", "@a", "007", "_x0041_", "_x000D_", "\r\n", " x ", "<a>", "\0", "1.0"]
)


def workbook(path: Path, *rows: list[Any], sheet: str = "data") -> Path:
    book = openpyxl.Workbook()
    assert book.active is not None
    book.active.title = sheet
    for row in rows:
        book.active.append(row)
    book.save(path)
    return path


def read(path: Path, **options: str) -> list[dict[str, str | None]]:
    return [row for batch in ExcelReader().read(path, options) for row in batch.to_pylist()]


@pytest.mark.slow
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(texts.filter(bool), min_size=1, max_size=3, unique=True).flatmap(
        lambda found: st.lists(
            st.fixed_dictionaries(dict.fromkeys(found, st.none() | texts)), max_size=4
        ).map(lambda rows: (found, rows))
    )
)
def test_what_is_written_is_read_back(
    tmp_path: Path, table: tuple[list[str], list[dict[str, str | None]]]
) -> None:
    names, rows = table
    path = tmp_path / "rows.xlsx"
    schema = pa.schema([(name, pa.string()) for name in names])
    ExcelWriter().write(pa.Table.from_pylist(rows, schema).to_reader(), path, {})
    (batch,) = ExcelReader().read(path, {})
    assert batch.schema.names == names
    assert [{k: v or None for k, v in row.items()} for row in batch.to_pylist()] == [
        {k: v or None for k, v in row.items()} for row in rows
    ]


def test_no_released_text_is_a_formula(tmp_path: Path) -> None:
    path = tmp_path / "out.xlsx"
    ExcelWriter().write(pa.table({"=a": ["=1+1", "@x", "-2"]}).to_reader(), path, {})
    sheet = openpyxl.load_workbook(path).active
    assert sheet is not None
    cells = [cell for row in sheet.iter_rows() for cell in row]
    assert [cell.value for cell in cells] == ["=a", "=1+1", "@x", "-2"]
    assert {cell.data_type for cell in cells} <= {"s", "inlineStr"}


def test_the_same_records_give_the_same_bytes(tmp_path: Path) -> None:
    rows = pa.table({"a": ["x", None], "b": ["1", "2"]})
    for name in ("one.xlsx", "two.xlsx"):
        ExcelWriter().write(rows.to_reader(), tmp_path / name, {"sheet": "people"})
    assert (tmp_path / "one.xlsx").read_bytes() == (tmp_path / "two.xlsx").read_bytes()
    assert openpyxl.load_workbook(tmp_path / "one.xlsx").sheetnames == ["people"]


def test_values_read_as_other_engines_would_print_them(tmp_path: Path) -> None:
    values = [1, 2.0, 0.1, True, datetime.date(2026, 1, 31), datetime.datetime(2026, 1, 31, 12, 30)]
    path = workbook(tmp_path / "types.xlsx", list("abcdefg"), [*values, "#N/A"], [None, "007"])
    first, second = read(path)
    assert list(first.values()) == [
        *("1", "2", "0.1", "true", "2026-01-31", "2026-01-31 12:30:00"),
        None,
    ]
    assert list(second.values()) == [None, "007", None, None, None, None, None]


def test_a_formula_counts_by_its_value_and_empty_rows_are_passed_over(tmp_path: Path) -> None:
    path = workbook(tmp_path / "f.xlsx", ["a", "b"], ["=1+1", "x"], [None, None], ["y", None])
    assert read(path) == [{"a": None, "b": "x"}, {"a": "y", "b": None}]


def test_a_sheet_is_chosen_by_name(tmp_path: Path) -> None:
    path = workbook(tmp_path / "s.xlsx", ["a"], ["1"], sheet="people")
    assert read(path, sheet="people") == [{"a": "1"}]
    with pytest.raises(BadData, match="did you mean 'people'") as caught:
        read(path, sheet="peopel")
    assert caught.value.code == "no-sheet"


def test_an_error_in_a_cell_is_refused_with_its_cell(tmp_path: Path) -> None:
    path = workbook(tmp_path / "e.xlsx", ["a"], ["#DIV/0!"])
    with pytest.raises(BadData, match=r"cell A2 .* #DIV/0!") as caught:
        read(path)
    assert caught.value.code == "error-cell"


def test_a_value_under_no_name_is_refused_with_its_cell(tmp_path: Path) -> None:
    path = workbook(tmp_path / "n.xlsx", ["a", None], ["1", "2"])
    with pytest.raises(BadData, match="cell B2") as caught:
        read(path)
    assert caught.value.code == "unnamed-column"


def test_a_file_that_is_no_workbook_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.xlsx").write_bytes(b"no workbook")
    with pytest.raises(BadData) as caught:
        open_files(FileOptions(str(tmp_path / "x.xlsx")))
    assert caught.value.code == "unreadable-data"


def test_an_empty_sheet_has_no_columns(tmp_path: Path) -> None:
    path = workbook(tmp_path / "x.xlsx")
    with pytest.raises(BadData) as caught:
        open_files(FileOptions(str(path)))
    assert caught.value.code == "no-columns"


def test_workbooks_are_counted_like_any_file(tmp_path: Path) -> None:
    path = workbook(tmp_path / "x.xlsx", ["a", "A"], [1, "x"], [1.0, "x"], ["1", None])
    with closing(open_files(FileOptions(str(path)))) as source:
        counted = source.count_by(["A", "a"]).to_pylist()
    assert sorted((r["a"], r["A"] or "", r["#records"]) for r in counted) == [
        ("1", "", 1),
        ("1", "x", 2),
    ]


def test_more_records_than_a_sheet_holds_are_refused_before_any_work(tmp_path: Path) -> None:
    check_records(FileTarget(tmp_path / "out.xlsx"), MOST_ROWS - 1)
    with pytest.raises(BadOutput) as caught:
        check_records(FileTarget(tmp_path / "out.xlsx"), MOST_ROWS)
    assert caught.value.code == "too-many-records"


def test_a_text_longer_than_a_cell_and_a_bad_name_of_a_sheet_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadOutput, match="32,768 characters in 'a'"):
        ExcelWriter().write(pa.table({"a": ["x" * 32_768]}).to_reader(), tmp_path / "o", {})
    with pytest.raises(BadOutput, match="no name of a sheet"):
        ExcelWriter().write(pa.table({"a": ["x"]}).to_reader(), tmp_path / "o", {"sheet": "a/b"})
