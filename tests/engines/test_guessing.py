"""How a file is to be read, guessed: right on real forms, silent on values, never an exception."""

from __future__ import annotations

import gzip
import io
import json
import random
import time
import zipfile
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from shoal.demo.registry import write_registry
from shoal.engines.duckdb.files import open_files
from shoal.engines.formats.guessing import Reading, guess_reading
from shoal.engines.options import FileOptions

PLAIN = "name,age\nann,34\nbob,35\n"
GERMAN = (
    "Klinikum Süd;;;\n;;;\nName;Größe;Geburt;PLZ\n"
    + "Jürgen;1.234,5;31.12.1950;01067\nÄnne;0,75;k.A.;80331\n" * 20
)


def put(folder: Path, content: str | bytes, name: str = "data.csv") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def workbook(path: Path, sheets: dict[str, list[list[Any]]]) -> Path:
    book = openpyxl.Workbook()
    book.remove(book.active)  # type: ignore[arg-type]
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


def opened(path: Path, reading: Reading) -> list[str]:
    """The columns that a reader finds with the keys of a reading."""
    with open_files(FileOptions(str(path), **reading.source())) as source:
        return [column.name for column in source.columns()]


@pytest.mark.parametrize(
    ("content", "source", "missing"),
    [
        (PLAIN, {}, ()),
        (PLAIN.replace(",", ";"), {}, ()),
        (PLAIN.replace(",", "\t"), {}, ()),
        (PLAIN.replace("\n", "\r\n"), {}, ()),
        ("34,1\n35,2\n", {}, ()),
        ("x\n1\n2\n", {}, ()),
        ("'a','b'\n'x,y','2'\n", {}, ()),
        (PLAIN.encode("utf-8-sig"), {}, ()),
        (PLAIN.encode("utf-16"), {}, ()),
        (PLAIN.encode("utf-16-le"), {"encoding": "utf-16-le"}, ()),
        (PLAIN.encode("utf-16-be"), {"encoding": "utf-16-be"}, ()),
        ("naïve,ß\nä,1\n", {}, ()),
        ("naïve,ß\nä,1\n".encode("latin-1"), {"encoding": "cp1252"}, ()),
        ("preis,ß\n5 €,1\n".encode("cp1252"), {"encoding": "cp1252"}, ()),
        ("größe,name\n1,Jürgen Käß\n".encode("cp850"), {"encoding": "cp850"}, ()),
        ("größe,name\n1,Jürgen Käß\n".encode("mac-roman"), {"encoding": "mac-roman"}, ()),
        (
            GERMAN.encode("latin-1"),
            {"encoding": "cp1252", "header": 3, "decimal": ",", "delimiter": ";"},
            ("k.A.",),
        ),
        ("Bericht\n\na,b,c\n1,2,3\n4,5,6\n", {"header": 3}, ()),
        ("Bericht, neu\na;b;c\n1;2;3\n4;5;6\n", {"header": 2, "delimiter": ";"}, ()),
        ("a;b\n1,5;x\n2,25;y\n", {"decimal": ",", "delimiter": ";"}, ()),
        ('a,b\n"1,5",x\n"2,25",y\n', {"decimal": ","}, ()),
        ('a,b\n"1,234.50",x\n"2,500.00",y\n', {"decimal": "."}, ()),
        ('a,b\n"1,234,567",x\n"2,500,000",y\n', {"decimal": "."}, ()),
        ("a;b\n1,5;1.5\n2,25;2.75\n", {}, ()),
        ("a;b\n1.234;x\n2.500;y\n", {}, ()),
        ('a,b\n"1,234",x\n"2,500",y\n', {}, ()),
        ("a,b\n1.5,x\n2.25,y\n", {}, ()),
        ("tag,wert\n31.12.2026,1\n01.01.2026,2\n", {}, ()),
    ],
)
def test_a_text_file_is_read_as_it_was_meant(
    tmp_path: Path, content: str | bytes, source: dict[str, Any], missing: tuple[str, ...]
) -> None:
    path = put(tmp_path, content)
    reading = guess_reading(path)
    assert reading.problem is None
    assert reading.source() == source
    assert reading.missing == missing
    assert opened(path, reading)


def test_the_ending_of_the_owners_name_counts_and_content_counts_more(tmp_path: Path) -> None:
    upload = put(tmp_path, PLAIN, "upload-17")
    assert guess_reading(upload, "patients.csv").source() == {}
    assert guess_reading(upload, "patients.dat").source() == {"format": "csv"}
    assert guess_reading(put(tmp_path, '[{"a": 1}]', "x.txt")).format == "json"
    xml = '<?xml version="1.0"?><r><p><a>1</a></p></r>'
    assert guess_reading(put(tmp_path, xml, "x.csv")).format == "xml"
    assert guess_reading(put(tmp_path, "<r><p><a>k.A.</a></p></r>", "x.xml")).missing == ("k.A.",)
    assert guess_reading(put(tmp_path, "<b>;c\n1;2\n", "x.csv")).format == "csv"
    no_json = guess_reading(put(tmp_path, "a;b\n1;2\n", "x.json"))
    assert no_json.source() == {"format": "csv", "delimiter": ";"}
    pq.write_table(pa.table({"a": ["1", "k.A."]}), tmp_path / "x.csv")
    found = guess_reading(tmp_path / "x.csv")
    assert (found.source(), found.missing) == ({"format": "parquet"}, ("k.A.",))
    book = workbook(tmp_path / "b.xlsx", {"s": [["a", "b"], [1, 2]]})
    assert guess_reading(book, "upload").source() == {"format": "excel"}


def test_packed_files_are_looked_into(tmp_path: Path) -> None:
    path = put(tmp_path, gzip.compress(GERMAN.encode("latin-1")), "data.csv.gz")
    reading = guess_reading(path)
    assert reading.source()["header"] == 3
    assert opened(path, reading) == ["Name", "Größe", "Geburt", "PLZ"]


def test_a_workbook_is_read_from_its_largest_table(tmp_path: Path) -> None:
    table = [["Name", "Größe"], *([f"p{i}", f"{i},5"] for i in range(50))]
    path = workbook(
        tmp_path / "b.xlsx",
        {"Deckblatt": [["Klinikum"], ["Stand", "heute"]], "Daten": [["Titel"], [], *table]},
    )
    reading = guess_reading(path)
    assert reading.sheets == ("Deckblatt", "Daten")
    assert reading.source() == {"header": 3, "decimal": ",", "options": {"sheet": "Daten"}}
    assert opened(path, reading) == ["Name", "Größe"]
    first = guess_reading(path, stated={"sheet": "Deckblatt"})
    assert first.source()["options"] == {"sheet": "Deckblatt"}


def test_numbers_of_a_workbook_show_no_decimal_mark(tmp_path: Path) -> None:
    rows: list[list[Any]] = [["a", "b"], *([i + 0.5, f"{i}.5"] for i in range(20))]
    assert guess_reading(workbook(tmp_path / "b.xlsx", {"s": rows})).source() == {}
    rows = [["a", "b"], *([i + 0.5, f"{i},5"] for i in range(20))]
    assert guess_reading(workbook(tmp_path / "b.xlsx", {"s": rows})).source() == {"decimal": ","}


def test_what_is_stated_is_kept_and_the_rest_fits_it(tmp_path: Path) -> None:
    path = put(tmp_path, GERMAN.encode("latin-1"))
    stated = {"encoding": "latin-1", "header": 4, "decimal": ".", "delimiter": ";"}
    reading = guess_reading(path, stated=stated)
    assert reading.source() == stated
    assert all(each.stated for each in reading.guesses if each.key in stated)
    wrong = guess_reading(path, stated={"encoding": "no such"})
    assert wrong.problem is not None
    assert wrong.problem.code == "unknown-encoding"


def test_every_guess_has_a_reason_and_alternatives_and_is_plain_json(tmp_path: Path) -> None:
    book = workbook(tmp_path / "b.xlsx", {"s": [["a", "b"], [1, "x"]]})
    for path in (put(tmp_path, GERMAN.encode("latin-1")), book):
        reading = guess_reading(path)
        assert json.loads(json.dumps(reading.to_json()))["format"] == reading.format
        for each in reading.guesses:
            assert each.reason.endswith(".")
            assert each.key == "missing" or each.value in each.alternatives


def test_no_reason_quotes_a_value(tmp_path: Path) -> None:
    rows = "".join(f"geheim{i};{i},5;verborgen\n" for i in range(200))
    reading = guess_reading(put(tmp_path, f"Titel geheim;;\n\nName;Wert;x\n{rows}"))
    text = json.dumps(reading.to_json())
    assert "geheim" not in text
    assert "verborgen" not in text


def test_files_that_are_read_well_today_need_no_key(tmp_path: Path) -> None:
    write_registry(tmp_path / "patients.csv", 200)
    assert guess_reading(tmp_path / "patients.csv").source() == {}


@pytest.mark.parametrize(
    ("content", "name", "code"),
    [
        (b"", "x.csv", "empty-file"),
        (bytes(range(256)) * 40, "x.dat", "unreadable-data"),
        (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj", "x.pdf", "unreadable-data"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 900, "x.xls", "unreadable-data"),
        (b"PK\x03\x04 broken", "x.xlsx", "unreadable-data"),
        (b"PAR1 broken", "x.parquet", "unreadable-data"),
        (b"\x1f\x8b broken", "x.csv.gz", "unreadable-data"),
        (b"<?xml version='1.0'?><r><p>", "x.xml", None),
        (b'<!DOCTYPE r SYSTEM "file:///etc/passwd"><r/>', "x.xml", None),
    ],
)
def test_what_cannot_be_read_is_a_problem_and_no_exception(
    tmp_path: Path, content: bytes, name: str, code: str | None
) -> None:
    reading = guess_reading(put(tmp_path, content, name))
    assert reading.problem is not None
    assert code in (None, reading.problem.code)
    assert reading.format == ""


def test_a_file_that_is_not_there_is_a_problem(tmp_path: Path) -> None:
    for path in (tmp_path / "no.csv", tmp_path):
        assert guess_reading(path).problem is not None


def test_a_large_file_takes_no_longer_than_a_small_one(tmp_path: Path) -> None:
    path = tmp_path / "large.csv"
    with path.open("wb") as file:
        file.write(GERMAN.encode("latin-1") * 2000)
        file.truncate(3 << 30)
    began = time.monotonic()
    guess_reading(path)
    assert time.monotonic() - began < 5


def test_text_far_down_decides_the_encoding(tmp_path: Path) -> None:
    rows = "name,x\n" + "ann,1\n" * 400_000 + "jürgen,2\n" * 40_000
    assert guess_reading(put(tmp_path, rows.encode("latin-1"))).source() == {"encoding": "cp1252"}


@pytest.mark.slow
def test_no_damage_of_a_file_raises_or_takes_long(tmp_path: Path) -> None:
    dice = random.Random(5)
    book = workbook(tmp_path / "b.xlsx", {"s": [["a", "b"], *([i, f"{i},5"] for i in range(30))]})
    parquet = tmp_path / "p.parquet"
    pq.write_table(pa.table({"a": list(range(50))}), parquet)
    whole = {
        "x.csv": GERMAN.encode("latin-1"),
        "y.csv": GERMAN.encode("utf-16"),
        "x.json": json.dumps([{"a": i, "b": [1, {"c": None}]} for i in range(20)]).encode(),
        "x.xml": b"<?xml version='1.0'?><r>" + b"<p a='1'><b>2</b></p>" * 20 + b"</r>",
        "x.xlsx": book.read_bytes(),
        "x.parquet": parquet.read_bytes(),
        "x.csv.gz": gzip.compress(PLAIN.encode()),
        "x.bin": dice.randbytes(4000),
    }
    keys = ("format", "delimiter", "quote", "encoding", "decimal", "header", "sheet")
    odd = ["", ";", "csv", "excel", "xml", "json", "utf-16", "hex", 3, -1, True, [], "\0", 10**20]
    for number in range(400):
        name = dice.choice(list(whole))
        data = bytearray(whole[name])
        for _ in range(dice.choice([0, 1, 5, 50])):
            position = dice.randrange(len(data))
            match dice.randrange(3):
                case 0:
                    data[position] = dice.randrange(256)
                case 1:
                    del data[position : position + dice.randrange(20)]
                case _:
                    data[position:position] = dice.randbytes(3)
            data = data or bytearray(b"x")
        path = put(tmp_path, bytes(data), dice.choice([name, name, "upload", "a.txt", "b.xlsx"]))
        stated = {dice.choice(keys): dice.choice(odd)} if number % 3 == 0 else {}
        began = time.monotonic()
        reading = guess_reading(path, stated=stated)
        assert time.monotonic() - began < 3
        json.dumps(reading.to_json(), default=str)
        path.unlink()


def test_a_workbook_that_unpacks_to_much_more_than_it_is_is_refused(tmp_path: Path) -> None:
    book = workbook(tmp_path / "b.xlsx", {"s": [["a", "b"], ["x", "y"]]})
    bomb = tmp_path / "bomb.xlsx"
    with zipfile.ZipFile(book) as old, zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as new:
        for item in old.namelist():
            if item != "xl/sharedStrings.xml":
                new.writestr(item, old.read(item))
        with new.open("xl/sharedStrings.xml", "w", force_zip64=True) as part:
            block = b"<si><t>" + b"A" * (1 << 20) + b"</t></si>"
            for _ in range(300):
                part.write(block)
    assert bomb.stat().st_size < 2 << 20
    reading = guess_reading(bomb)
    assert reading.problem is not None
    assert "unpacks to" in reading.problem.what


def test_bytes_of_a_stream_are_not_needed_twice(tmp_path: Path) -> None:
    path = put(tmp_path, io.BytesIO(GERMAN.encode()).getvalue())
    before = path.stat().st_mtime_ns
    guess_reading(path)
    assert path.stat().st_mtime_ns == before
