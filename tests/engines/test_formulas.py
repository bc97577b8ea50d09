"""Cells that a spreadsheet would run: a warning, and with `formulas: escape` made text."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import duckdb
import openpyxl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.engines.duckdb.writing import escaped, is_formula, unescaped
from shoal.engines.spark.source import is_formula as is_formula_in_spark

RUN = (
    "=cmd|' /C calc'!A0",
    "+1+cmd",
    "-1+cmd|x",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    "＝1+1",
    "-20--1",
    "=1\n",
)
NOT_RUN = ("-5", "+3", "-1,000.50", "-2e-5", "+7%", "-.5", "-", "=", "a=b", "'=1", " =1", "", "1+1")
TEXTS = st.text(st.sampled_from("=+-@'\t\r\n19aé, ") | st.characters(codec="utf-8"), max_size=6)


def said(sql: str, text: str) -> Any:
    """What DuckDB makes of a text by an expression on the column t."""
    return duckdb.execute(f"SELECT {sql} FROM (SELECT ? AS t)", [text]).fetchall()[0][0]


def test_formulas_are_distinguished_from_numbers_and_text() -> None:
    assert [text for text in (*RUN, *NOT_RUN) if said(is_formula("t"), text)] == list(RUN)


@pytest.mark.slow
@given(TEXTS.filter(lambda text: "\0" not in text))
def test_an_escaped_text_is_no_formula_and_can_be_read_again(text: str) -> None:
    written = said(escaped("t"), text)
    assert not said(is_formula("t"), written)
    assert said(unescaped("t"), written) == text
    assert written == text or written == f"'{text}"


def definition(folder: Path, **output: str) -> dict[str, Any]:
    """Six records; the cells of `note` and one label are formulas, the numbers of `delta` not."""
    (folder / "in.csv").write_text(
        "zip,delta,note\n" + "47677,-5,=1+1\n" * 3 + "47602,+3,'=1+1\n" * 2 + "47602,2,plain\n"
    )
    tree = {"*": {"=476": ["47677"], "'=476": ["47602"]}}
    return {
        "source": str(folder / "in.csv"),
        "output": {"path": str(folder / "out.csv"), **output},
        "k": 3,
        "attributes": {
            "zip": {"role": "quasi-identifier", "hierarchy": {"tree": tree}, "from": 1},
            "delta": "keep",
            "note": "keep",
        },
    }


def test_formulas_in_a_csv_file_are_a_warning_with_column_and_records(tmp_path: Path) -> None:
    found = [each for each in shoal.run(definition(tmp_path)).warnings if "formula" in each.code]
    assert [(each.code, each.attribute, each.records) for each in found] == [
        ("formula-cells", "zip", 3),
        ("formula-cells", "note", 3),
    ]
    assert not any("1+1" in each.text for each in found)


@pytest.mark.slow
def test_escaped_formulas_are_text_and_the_release_is_still_verified(tmp_path: Path) -> None:
    mapping = definition(tmp_path, formulas="escape")
    result = shoal.run(mapping)
    assert not [each for each in result.warnings if "formula" in each.code]
    with (tmp_path / "out.csv").open(newline="") as file:
        rows = sorted(tuple(row) for row in csv.reader(file))
    assert rows == sorted(
        [("zip", "delta", "note")]
        + [("'=476", "-5", "'=1+1")] * 3
        + [("''=476", "+3", "''=1+1")] * 2
        + [("''=476", "2", "plain")]
    )
    assert shoal.verify(tmp_path / "out.csv", mapping).safe
    mapping["output"]["formulas"] = "keep"
    assert not shoal.verify(tmp_path / "out.csv", mapping).safe


def test_other_formats_hold_formulas_as_text(tmp_path: Path) -> None:
    mapping = definition(tmp_path)
    mapping["output"] = str(tmp_path / "out.xlsx")
    assert not [each for each in shoal.run(mapping).warnings if "formula" in each.code]
    sheet = openpyxl.load_workbook(tmp_path / "out.xlsx").worksheets[0]
    cells = [cell for row in sheet.iter_rows() for cell in row]
    assert {cell.data_type for cell in cells} == {"s"}
    mapping["output"] = {"path": str(tmp_path / "out.json"), "formulas": "escape"}
    with pytest.raises(shoal.BadDefinition, match="only CSV files"):
        shoal.run(mapping)


def test_the_option_is_the_same_in_every_spelling_of_a_definition(tmp_path: Path) -> None:
    from shoal.definition.read import from_mapping, read
    from shoal.definition.write import spelled

    model = from_mapping(definition(tmp_path, formulas="escape"))
    for form in ("yaml", "json", "xml"):
        path = tmp_path / f"it.{form}"
        path.write_text(spelled(model, form))
        assert json.loads(read(path).model_dump_json())["output"]["formulas"] == "escape"


def test_formulas_in_a_csv_folder_of_spark_are_a_warning_too(
    spark_session: Any, tmp_path: Path
) -> None:
    of_file = [each for each in shoal.run(definition(tmp_path)).warnings if "formula" in each.code]
    output = {"spark": str(tmp_path / "folder"), "format": "csv"}
    result = shoal.run({**definition(tmp_path), "output": output}, spark=spark_session)
    found = [each for each in result.warnings if "formula" in each.code]
    assert [(each.attribute, each.records) for each in found] == [
        (each.attribute, each.records) for each in of_file
    ]
    assert "release to a CSV file" in found[0].text
    other = {"spark": str(tmp_path / "json"), "format": "json"}
    result = shoal.run({**definition(tmp_path), "output": other}, spark=spark_session)
    assert not [each for each in result.warnings if "formula" in each.code]


def test_spark_sees_the_same_formulas(spark_session: Any) -> None:
    texts = [*RUN, *NOT_RUN]
    frame = spark_session.createDataFrame(pa.table({"t": texts}))
    found = [row[0] for row in frame.filter(is_formula_in_spark(frame["t"])).collect()]
    assert sorted(found) == sorted(RUN)


def test_spark_is_not_asked_to_escape_formulas(tmp_path: Path) -> None:
    output = {"spark": str(tmp_path / "folder"), "format": "csv", "formulas": "escape"}
    with pytest.raises(shoal.BadDefinition) as caught:
        shoal.run({**definition(tmp_path), "output": output})
    assert "Spark cannot escape formulas" in str(caught.value)
