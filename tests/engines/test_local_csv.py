"""CSV as spreadsheets of other countries expect it, judged by Python's csv module."""

from __future__ import annotations

import csv
import gzip
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import shoal
from commands import leftovers
from commands import shoal as command
from shoal.definition.read import read
from shoal.errors import BadDefinition, BadOutput

TEXTS = ["Größe", "1.234.567", "10.11.2026", "=1.5", "a;b", "1.5.", ".", "1e5", "007", None]
NUMBERS = [1.5, -0.25, 1e300, 1e-7, 3.0, None, 1234.5, 0.1, 2.0, 12.0]


def table(texts: list[str | None] | None = None) -> pa.Table:
    return pa.table(
        {
            "sex": ["w", "m"] * 5,
            "text": texts or TEXTS,
            "pointed": ["1.5", "+.5", "-2.", "1.5E-3", "1.234", *["x"] * 5],
            "number": pa.array(NUMBERS, pa.float64()),
        }
    )


def released(folder: Path, output: Any, texts: list[str | None] | None = None) -> Path:
    pq.write_table(table(texts), folder / "in.parquet")
    roles = {"sex": "quasi-identifier", "text": "keep", "pointed": "keep", "number": "keep"}
    text = json.dumps({"source": "in.parquet", "output": output, "k": 5, "attributes": roles})
    (folder / "d.json").write_text(text, encoding="utf-8")
    result = shoal.run(folder / "d.json")
    assert result.verified
    assert shoal.verify(folder / str(result.output), definition=folder / "d.json").safe
    return folder / str(result.output)


def with_comma(value: object) -> str:
    """A number as German spreadsheets have it."""
    return "" if value is None else str(value).replace(".", ",")


def test_german_excel_opens_the_release(tmp_path: Path) -> None:
    path = released(tmp_path, {"file": "out.csv", "encoding": "utf-8-sig", "decimal": ","})
    assert path.read_bytes().startswith(b"\xef\xbb\xbf")
    with path.open(encoding="utf-8-sig", newline="") as file:
        names, *rows = csv.reader(file, delimiter=";")
    assert names == ["sex", "text", "pointed", "number"]
    assert sorted(row[1] for row in rows) == sorted(text or "" for text in TEXTS)
    assert {row[2] for row in rows} == {"1,5", "+,5", "-2,", "1,5E-3", "1,234", "x"}
    assert {row[3] for row in rows} == set(map(with_comma, NUMBERS))


@pytest.mark.parametrize("encoding", ["windows-1252", "utf-16", "utf-16-le", "latin-1", "UTF8"])
def test_every_encoding_holds_the_same_text(encoding: str, tmp_path: Path) -> None:
    plain = released(tmp_path, {"path": "plain.csv", "formulas": "escape"}).read_text("utf-8")
    keys = {"encoding": encoding, "formulas": "escape"}
    path = released(tmp_path, {"path": "out.csv", **keys})
    assert path.read_bytes().decode(encoding) == plain
    packed = released(tmp_path, {"path": "out.csv.gz", **keys})
    assert gzip.decompress(packed.read_bytes()).decode(encoding) == plain


@pytest.mark.parametrize(
    ("keys", "texts", "code"),
    [
        ({"encoding": "latin-1"}, ["€"] * 10, "not-in-encoding"),
        ({"encoding": "ascii"}, None, "not-in-encoding"),
        ({"decimal": ","}, ["1,5", *TEXTS[1:]], "decimal-commas"),
    ],
)
def test_what_the_output_cannot_hold_is_refused_and_nothing_is_published(
    keys: dict[str, str], texts: list[str | None] | None, code: str, tmp_path: Path
) -> None:
    (tmp_path / "out.csv").write_text("before", encoding="utf-8")
    with pytest.raises(BadOutput) as caught:
        released(tmp_path, {"path": "out.csv", **keys}, texts)
    assert caught.value.code == code
    assert "€" not in str(caught.value)
    assert (tmp_path / "out.csv").read_text("utf-8") == "before"
    assert leftovers(tmp_path) == []


@pytest.mark.parametrize(
    ("output", "said"),
    [
        ({"path": "x.csv", "encoding": "latin-11"}, "no encoding is called 'latin-11'"),
        ({"path": "x.csv", "encoding": "rot13"}, "no encoding is called 'rot13'"),
        ({"path": "x.csv", "decimal": ";"}, "decimal"),
        ({"path": "x.parquet", "encoding": "latin-1"}, "only CSV files are written with"),
        ({"path": "x.json", "decimal": ","}, "only CSV files are written with `decimal`"),
        ({"spark": "x", "encoding": "utf-16"}, "Spark writes UTF-8 and decimal points"),
        ({"path": "x.csv", "file": "y.csv"}, "file"),
    ],
)
def test_a_layout_that_cannot_be_is_one_mistake(
    output: dict[str, str], said: str, tmp_path: Path
) -> None:
    with pytest.raises(BadDefinition, match=said) as caught:
        released(tmp_path, output)
    assert len(caught.value.mistakes) == 1


@pytest.mark.slow
def test_another_path_and_another_spelling_of_the_definition_keep_the_layout(
    tmp_path: Path,
) -> None:
    first = released(tmp_path, {"path": "out.csv", "encoding": "utf-16", "decimal": ","})
    for arguments in (
        ("convert", "d.json", "d.xml"),
        ("run", "d.xml", "-o", "other.csv"),
        ("verify", "other.csv", "-d", "d.xml"),
        ("utility", "d.xml", "--json", "u.json"),
    ):
        done = command(*arguments, folder=tmp_path)
        assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "other.csv").read_bytes() == first.read_bytes()
    text = (tmp_path / "d.xml").read_text("utf-8").replace('path="out.csv"', 'file="out.csv"')
    (tmp_path / "d.xml").write_text(text, encoding="utf-8")
    assert read(tmp_path / "d.xml").output == read(tmp_path / "d.json").output
