"""Numbers with a decimal comma, and marks between thousands: read as numbers, and nothing else."""

from __future__ import annotations

import csv
import random
import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shoal.definition.hierarchies.numbers import parse_number
from shoal.engines.duckdb.files import open_files
from shoal.engines.formats.decimals import Decimals
from shoal.engines.options import FileOptions
from shoal.errors import BadData

NUMBERS = {
    "1,5": "1.5",
    "-0,50": "-0.50",
    "+1,0": "+1.0",
    ",5": ".5",
    "1.234,56": "1234.56",
    "1.234": "1234",
    "12.345.678,9": "12345678.9",
    "1\u00a0234,5": "1234.5",
    "1\u202f234": "1234",
    "1 234,5": "1234.5",
    "1'234,5": "1234.5",
    "1’234": "1234",
    " 2,5 ": "2.5",
    "1,5e3": "1.5e3",
    "12": "12",
    "007": "007",
}
NO_NUMBERS = [
    "31.12.2026", "1.5", "0.123", "007.123", "1.23.456", "1.2345", "12.34,5", "030 123 456",
    "1.234 567", "1,2,3", "1,5 kg", "1,5%", "k.A.", "-", ",", ".", "", "1.234,",
    "756.1234.5678.97", "١,٥", "1,5\n", "1e3,5", "192.168.1.1", "12,5-13,5", "--1,5",
    "1..234", "1.234'567", "<b>1,5</b>", "1,5\u200f",
]  # fmt: skip


def read_csv(folder: Path, values: list[str], **options: Any) -> list[str | None]:
    """A column as it is read; the rows are in the order of a number beside each."""
    path = folder / "data.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = [["n", "x"], *([str(i), value] for i, value in enumerate(values))]
        csv.writer(file, delimiter=";", lineterminator="\n").writerows(rows)
    with open_files(FileOptions(str(path), **options), ("n", "x")) as source:
        table = source.count_by(["n", "x"])
    found = {row["n"]: row["x"] for row in table.to_pylist()}
    return [found[str(i)] for i in range(len(values))]


def read_excel(folder: Path, values: list[Any], **options: Any) -> list[str | None]:
    book = openpyxl.Workbook()
    assert book.active is not None
    for row in [["n", "x"], *([f"r{i}", value] for i, value in enumerate(values))]:
        book.active.append(row)
    book.save(folder / "data.xlsx")
    with open_files(FileOptions(str(folder / "data.xlsx"), **options)) as source:
        table = source.count_by(["n", "x"])
    found = {row["n"]: row["x"] for row in table.to_pylist()}
    return [found[f"r{i}"] for i in range(len(values))]


def test_a_number_is_read_with_a_point_and_without_other_marks(tmp_path: Path) -> None:
    assert read_csv(tmp_path, list(NUMBERS), decimal=",") == list(NUMBERS.values())
    assert read_excel(tmp_path, list(NUMBERS), decimal=",") == list(NUMBERS.values())


def test_what_is_no_such_number_stays_as_it_is(tmp_path: Path) -> None:
    expected = [value or None for value in NO_NUMBERS]
    assert read_csv(tmp_path, NO_NUMBERS, decimal=",") == expected
    assert read_excel(tmp_path, NO_NUMBERS, decimal=",") == expected


def test_without_a_stated_mark_nothing_is_changed(tmp_path: Path) -> None:
    assert read_csv(tmp_path, list(NUMBERS)) == list(NUMBERS)
    assert read_excel(tmp_path, list(NUMBERS)) == list(NUMBERS)


def test_a_stated_point_takes_out_commas_between_thousands(tmp_path: Path) -> None:
    values = ["1,234.56", "1.5", "1,234", "1.234", "1,5", "12,345", "1'234.5"]
    expected = ["1234.56", "1.5", "1234", "1.234", "1,5", "12345", "1234.5"]
    assert read_csv(tmp_path, values, decimal=".") == expected


def test_cells_of_numbers_in_a_workbook_are_never_changed(tmp_path: Path) -> None:
    assert read_excel(tmp_path, [1.234, 1234.5, 12, "1.234"], decimal=",") == [
        "1.234", "1234.5", "12", "1234",
    ]  # fmt: skip


def test_two_ways_to_write_a_number_are_one_value(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text("a;b\n1.234,5;x\n1234,5;x\n1 234,5;x\n", encoding="utf-8")
    with open_files(FileOptions(str(path), decimal=",")) as source:
        assert source.count_by(["a"]).to_pylist() == [{"a": "1234.5", "#records": 3}]


@pytest.mark.parametrize("ending", ["json", "parquet"])
def test_formats_with_numbers_of_their_own_refuse_a_decimal_mark(
    tmp_path: Path, ending: str
) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = tmp_path / f"data.{ending}"
    path.write_text('[{"a": "1,5"}]', encoding="utf-8")
    if ending == "parquet":
        pq.write_table(pa.table({"a": ["1,5"]}), path)
    for stated in ({"decimal": ","}, {"header": 3}):
        with pytest.raises(BadData, match=f"takes no `{next(iter(stated))}`") as caught:
            open_files(FileOptions(str(path), **stated))
        assert caught.value.code == "unknown-option"


def test_a_reader_that_knows_no_decimal_mark_refuses_it(tmp_path: Path) -> None:
    (tmp_path / "data.xml").write_text("<r><p><a>1,5</a></p></r>", encoding="utf-8")
    with pytest.raises(BadData, match="takes no option 'decimal'"):
        open_files(FileOptions(str(tmp_path / "data.xml"), decimal=","))


def test_every_number_is_read_as_the_number_that_it_is() -> None:
    dice = random.Random(7)
    comma = Decimals(",")
    for _ in range(2000):
        number = Decimal(dice.randrange(-(10**9), 10**9)).scaleb(-dice.randrange(0, 5))
        english = f"{number:,f}" if dice.random() < 0.5 else f"{number:f}"
        german = english.translate(str.maketrans(",.", ".,"))
        assert parse_number(comma.canonical(german)) == number


@pytest.mark.slow
@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=15, deadline=None
)
@given(
    st.lists(
        st.text("0123456789.,' \u00a0\u202f+-eEk\t’", max_size=12)
        | st.text(st.characters(codec="utf-8", exclude_characters="\0\r\n"), max_size=6),
        min_size=1,
        max_size=60,
    )
)
def test_duckdb_and_python_read_every_text_alike(tmp_path: Path, values: list[str]) -> None:
    for decimal in (",", "."):
        expected = [Decimals(decimal).canonical(value) or None for value in values]
        assert read_csv(tmp_path, values, decimal=decimal) == expected


def test_reading_takes_time_in_proportion_to_the_length() -> None:
    comma = Decimals(",")
    for text in ("1.234" * 20_000, "1" * 100_000 + "x", "1 234" * 20_000, "." * 100_000):
        assert not comma.is_number(text)
    assert re.fullmatch("[0-9]+", comma.canonical("1" + ".234" * 20_000))
