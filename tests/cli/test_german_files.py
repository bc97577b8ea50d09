"""A hospital's export, from `init` to a verified release, judged by readers that are not ours."""

from __future__ import annotations

import csv
import json
from collections import Counter
from decimal import Decimal
from pathlib import Path

import openpyxl
import pytest

from commands import leftovers, shoal
from german_file import HEADER_ROW, NAMES, records, write_csv, write_workbook
from shoal.definition.model import Dates, Files, Intervals, Mask, OutputFile
from shoal.definition.read import read

MISSING = {None, "", "k.A.", "n/a", "-", "999"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The workbook, its CSV twin, the definitions that `init` drafts for both, and releases."""
    folder = tmp_path_factory.mktemp("klinik")
    write_workbook(folder / "patienten.xlsx")
    write_csv(folder / "patienten.csv")
    for kind, data in (("excel", "patienten.xlsx"), ("csv", "patienten.csv")):
        run(folder, "init", data, "-o", f"{kind}.yaml")
        run(folder, "run", f"{kind}.yaml", "-o", f"{kind}-release.csv", "--json", f"{kind}.json")
    return folder


def run(folder: Path, *arguments: str) -> str:
    """What the command says, which must succeed."""
    done = shoal(*arguments, folder=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def plain(text: str | None) -> str | None:
    """A cell as it must be read: numbers with points, the rest as it is."""
    if text is None:
        return None
    if "," in text and text.replace(".", "").replace(",", "").isdigit():
        return text.replace(".", "").replace(",", ".")
    return text


def rows_of_csv(path: Path) -> tuple[list[str], list[list[str]]]:
    with path.open(encoding="utf-8", newline="") as file:
        names, *rows = csv.reader(file)
    return names, rows


def classes(definition: Path, names: list[str], rows: list[list[str]]) -> Counter[tuple[str, ...]]:
    quasi = [names.index(name) for name in read(definition).quasi_identifiers]
    return Counter(tuple(row[i] for i in quasi) for row in rows)


def test_how_the_files_are_read_is_guessed_and_stated(folder: Path) -> None:
    excel, text = read(folder / "excel.yaml").source, read(folder / "csv.yaml").source
    assert isinstance(excel, Files)
    assert isinstance(text, Files)
    assert (excel.header, excel.decimal, excel.settings) == (HEADER_ROW, ",", {"sheet": "Daten"})
    assert (text.header, text.decimal) == (HEADER_ROW, ",")
    assert (text.encoding, text.delimiter) == ("cp1252", ";")
    for name in ("excel.yaml", "csv.yaml"):
        definition = read(folder / name)
        assert set(definition.missing.values) == MISSING - {None, ""}
        comment = (folder / name).read_text(encoding="utf-8")
        assert f"Guessed: header {HEADER_ROW}." in comment
        assert "'k.A.': It is a usual way" in comment


def test_roles_and_hierarchies_fit_in_spite_of_missing_spellings(folder: Path) -> None:
    found = read(folder / "excel.yaml").attributes
    assert list(found) == list(NAMES)
    assert found["Pat.-Nr."].role == found["Name, Vorname"].role == "identifier"
    assert found["Hauptdiagnose"].role == found['Einkommen "netto"'].role == "sensitive"
    birth = found["Geb.-Datum"].hierarchy
    assert isinstance(birth, Dates)
    assert birth.format == "%d.%m.%Y"
    assert isinstance(found["PLZ"].hierarchy, Mask)
    assert isinstance(found["Größe (cm)"].hierarchy, Intervals)
    assert isinstance(found["Gewicht <b>kg</b>"].hierarchy, Intervals)


@pytest.mark.parametrize("kind", ["excel", "csv"])
def test_the_release_is_safe_by_another_count_and_holds_true_values(
    folder: Path, kind: str
) -> None:
    definition = folder / f"{kind}.yaml"
    names, rows = rows_of_csv(folder / f"{kind}-release.csv")
    assert "Pat.-Nr." not in names
    assert "Name, Vorname" not in names
    assert min(classes(definition, names, rows).values()) >= 5
    assert len(rows) >= 0.95 * 600
    originals = list(zip(*records(), strict=True))
    pay = Counter(plain(cell) or "" for cell in originals[NAMES.index('Einkommen "netto"')])
    released = Counter(row[names.index('Einkommen "netto"')] for row in rows)
    assert not released - pay
    assert all(Decimal(text) > 0 for text in released if text not in MISSING)
    release, result = f"{kind}-release.csv", f"{kind}.json"
    run(folder, "verify", release, "-d", f"{kind}.yaml", "--result", result)
    assert leftovers(folder) == []


def test_the_workbook_and_its_twin_give_the_same_release_every_time(folder: Path) -> None:
    first = (folder / "excel-release.csv").read_bytes()
    run(folder, "run", "excel.yaml", "-o", "again.csv")
    assert (folder / "again.csv").read_bytes() == first
    twin = (folder / "csv-release.csv").read_bytes()
    assert twin.replace(b"Notiz", NAMES[-1].encode(), 1) == first


def test_a_release_as_a_workbook_holds_the_same_records(folder: Path) -> None:
    run(folder, "run", "excel.yaml", "-o", "release.xlsx")
    names, rows = rows_of_csv(folder / "excel-release.csv")
    sheet = openpyxl.load_workbook(folder / "release.xlsx").active
    assert sheet is not None
    first, *cells = sheet.iter_rows(values_only=True)
    assert list(first) == names
    assert [[cell or "" for cell in row] for row in cells] == rows
    run(folder, "verify", "release.xlsx", "-d", "excel.yaml")


@pytest.mark.parametrize("spelling", ["xml", "json"])
def test_converted_definitions_give_the_same_release(folder: Path, spelling: str) -> None:
    run(folder, "convert", "csv.yaml", f"other.{spelling}")
    run(folder, "run", f"other.{spelling}", "-o", f"{spelling}.csv")
    assert (folder / f"{spelling}.csv").read_bytes() == (folder / "csv-release.csv").read_bytes()


def test_risk_counts_the_records_that_the_definition_reads(folder: Path) -> None:
    run(folder, "risk", "csv.yaml", "--json", "risk.json")
    before = json.loads((folder / "risk.json").read_text(encoding="utf-8"))["before"]
    quasi = [
        NAMES.index(n) if n in NAMES else 9 for n in read(folder / "csv.yaml").quasi_identifiers
    ]
    rows = [
        tuple(None if cell in MISSING else plain(cell) for cell in (row[i] for i in quasi))
        for row in records()
    ]
    assert (before["records"], before["classes"]) == (len(rows), len(set(rows)))


def test_check_measures_the_file_as_the_definition_reads_it(folder: Path) -> None:
    stated = ("--sheet", "Daten", "--header", str(HEADER_ROW), "--decimal", ",")
    columns = ("--qi", "Größe (cm)", "--qi", "Geschlecht", "--missing-value", "k.A.")
    said = run(folder, "check", "patienten.xlsx", *columns, *stated, "--json", "--no-warnings")
    cells = [(plain(row[5]), row[3]) for row in records()]
    expected = Counter(tuple(None if c in ("k.A.", None) else c for c in pair) for pair in cells)
    assert json.loads(said)["k"] == min(expected.values())
    wrong = shoal("check", "patienten.xlsx", *columns, "--header", "x", folder=folder)
    assert wrong.returncode == 2


def test_files_of_both_ways_to_write_numbers_are_one_table(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("Titel\nx;y\n1.234,5;a\n2,5;b\n", encoding="utf-8")
    (tmp_path / "b.csv").write_text("x,y\n1234.5,a\n2.5,b\n", encoding="utf-8")
    (tmp_path / "d.yaml").write_text(
        """
source: [{path: a.csv, header: 2, decimal: ",", delimiter: ";"}, b.csv]
output: release.csv
k: 2
attributes:
  x: {role: quasi-identifier, hierarchy: {intervals: [10, 5000]}}
  y: keep
""",
        encoding="utf-8",
    )
    run(tmp_path, "run", "d.yaml")
    assert (tmp_path / "release.csv").read_text() == "x,y\n1234.5,a\n1234.5,a\n2.5,b\n2.5,b\n"
    run(tmp_path, "verify", "release.csv", "-d", "d.yaml")


def test_what_is_stated_wins_over_what_is_guessed(folder: Path) -> None:
    stated = ("--sheet", "Daten", "--header", "4", "--decimal", ".")
    run(folder, "init", "patienten.xlsx", "-o", "stated.yaml", *stated)
    source = read(folder / "stated.yaml").source
    assert isinstance(source, Files)
    assert (source.header, source.decimal, source.settings) == (4, ".", {"sheet": "Daten"})
    assert "Guessed" not in (folder / "stated.yaml").read_text(encoding="utf-8")
    for wrong in (("--header", "x"), ("--header", "0"), ("--decimal", ";")):
        assert (
            shoal("init", "patienten.xlsx", "-o", "w.yaml", *wrong, folder=folder).returncode == 2
        )


def test_one_odd_text_is_said_and_never_silently_suppresses_a_column(tmp_path: Path) -> None:
    rows = "".join(f"{20 + i % 60},0{i % 9 + 1}.0{i % 8 + 1}.19{i % 50 + 40}\n" for i in range(400))
    (tmp_path / "p.csv").write_text(f"age,born\n{rows}geheim,verborgen\n", encoding="utf-8")
    done = shoal("init", "p.csv", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "p.yaml").read_text(encoding="utf-8")
    for said in (done.stdout, " ".join(text.replace("#", " ").split())):
        assert "Most values are numbers, but 1 record has 1 value of another kind." in said
        assert "Most values are dates of one format, but 1 record has 1 value" in said
    assert "geheim" not in text + done.stdout
    assert "verborgen" not in text + done.stdout


def test_frequent_codes_in_the_way_are_named(tmp_path: Path) -> None:
    rows = "".join(f"{20 + i % 60},x\n" for i in range(400)) + "90+,y\n" * 30
    (tmp_path / "p.csv").write_text(f"age,b\n{rows}", encoding="utf-8")
    assert (
        "30 records have 1 value of another kind, among them '90+'."
        in shoal("init", "p.csv", folder=tmp_path).stdout
    )


@pytest.mark.parametrize(
    ("days", "said"),
    [
        (["01/02/2020", "03/04/2021", "05/06/2022"], "Day and month of these dates may be"),
        (["31.12.2020", "2021-05-06", "06/05/2022"] * 2, "Most values are dates of one format"),
        (["31.12.2020", "2021-05-06", "06/05/2022"] * 2, "A `format` can be several"),
        (["1,5", "2,25", "3.125", "4.5"], "decimal commas: state `decimal`"),
    ],
)
def test_other_obstacles_are_said_too(tmp_path: Path, days: list[str], said: str) -> None:
    rows = "".join(f'"{day}",{i}\n' for i, day in enumerate(days * 20))
    (tmp_path / "p.csv").write_text(f"wert,b\n{rows}", encoding="utf-8")
    assert said in shoal("init", "p.csv", folder=tmp_path).stdout


def test_a_rare_number_for_missing_values_is_said_and_spoils_no_intervals(tmp_path: Path) -> None:
    rows = "".join(f"{20 + i % 60},x\n" for i in range(1000))
    (tmp_path / "p.csv").write_text(f"age,b\n{rows}9998,x\n9998,x\n", encoding="utf-8")
    said = run(tmp_path, "init", "p.csv")
    assert "age: 2 records have 1 number far from all others. List it as missing if" in said
    assert "9998" not in said + (tmp_path / "p.yaml").read_text(encoding="utf-8")
    age = read(tmp_path / "p.yaml").attributes["age"].hierarchy
    assert isinstance(age, Intervals)
    assert age.widths[-1] <= 20


def test_dates_written_in_two_ways_become_units_of_time(tmp_path: Path) -> None:
    days = [f"{i % 28 + 1:02}.{i % 12 + 1:02}.{1950 + i % 40}" for i in range(300)]
    days += [f"{1950 + i % 40}-{i % 12 + 1:02}-{i % 28 + 1:02}" for i in range(60)]
    rows = "".join(f"{day},{'mw'[i % 2]}\n" for i, day in enumerate(days))
    (tmp_path / "p.csv").write_text(f"Geburtsdatum,Geschlecht\n{rows}", encoding="utf-8")
    run(tmp_path, "init", "p.csv")
    birth = read(tmp_path / "p.yaml").attributes["Geburtsdatum"].hierarchy
    assert isinstance(birth, Dates)
    assert birth.format == "%Y-%m-%d | %d.%m.%Y"
    run(tmp_path, "run", "p.yaml", "--json", "r.json")
    names, released = rows_of_csv(tmp_path / "p-release.csv")
    assert names == ["Geburtsdatum", "Geschlecht"]
    assert min(Counter(map(tuple, released)).values()) >= 5
    decades = {label[:3] for label, _ in released}
    assert decades <= {"195", "196", "197", "198"}
    run(tmp_path, "verify", "p-release.csv", "-d", "p.yaml", "--result", "r.json")
    run(tmp_path, "run", "p.yaml", "--recoding", "local", "-o", "local.csv")
    names, released = rows_of_csv(tmp_path / "local.csv")
    assert min(Counter(map(tuple, released)).values()) >= 5


def test_the_output_of_a_drafted_definition_is_plain_csv(folder: Path) -> None:
    output = read(folder / "excel.yaml").output
    assert isinstance(output, OutputFile)
    assert output.delimiter == ","
