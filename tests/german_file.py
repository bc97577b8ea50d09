"""A file as a German hospital exports it, as a workbook and as its CSV twin; the same every time.

Titles above the table, text numbers with decimal commas and points between thousands, dates
dd.mm.yyyy, several spellings of missing values, and names of columns that are hard on programs.
"""

from __future__ import annotations

import csv
import random
from collections.abc import Sequence
from pathlib import Path

import openpyxl

NAMES = (
    "Pat.-Nr.",
    "Name, Vorname",
    "Geb.-Datum",
    "Geschlecht",
    "PLZ",
    "Größe (cm)",
    "Gewicht <b>kg</b>",
    'Einkommen "netto"',
    "Hauptdiagnose",
    "הערה",
)
TITLES = (("Klinikum Süd – Auszug",), (), ("Stand: 16.11.2026", "vertraulich"))
HEADER_ROW = len(TITLES) + 1
DIAGNOSES = ("I10.90", "E11.9", "J45.0", "M54.5", "F32.1", "K29.7")


def records(number: int = 600, seed: int = 11) -> list[list[str | None]]:
    """The records below the names, as texts; None is an empty cell."""
    dice = random.Random(seed)
    return [_record(i, dice) for i in range(number)]


def _record(number: int, dice: random.Random) -> list[str | None]:
    day = f"{dice.randint(1, 28):02}.{dice.randint(1, 12):02}.{dice.randint(1940, 2004)}"
    size = f"{dice.randint(1480, 2010) / 10:.1f}".replace(".", ",")
    weight = f"{dice.randint(450, 1400) / 10:.1f}".replace(".", ",")
    pay = f"{dice.randint(90_000, 780_000) / 100:,.2f}".translate(str.maketrans(",.", ".,"))
    plz = f"{dice.choice(['010', '803', '506', '201'])}{dice.randint(10, 99)}"
    missing = dice.choice(["k.A.", "k.A.", "n/a", "-", None])
    return [
        f"{1_000_000 + 7 * number}",
        f"{dice.choice(['Müller', 'Weiß', 'Özdemir', 'Schäfer'])}, {dice.choice('ABCDE')}{number}",
        day if dice.random() > 0.04 else missing,
        dice.choice(["männlich", "weiblich"]) if dice.random() > 0.03 else missing,
        plz,
        size if dice.random() > 0.05 else missing,
        weight if dice.random() > 0.05 else "999",
        pay if dice.random() > 0.08 else missing,
        dice.choice(DIAGNOSES),
        dice.choice(["=1+1", "ok", "<script>alert(1)</script>", None]),
    ]


def write_workbook(path: Path, number: int = 600, seed: int = 11) -> Path:
    """The workbook: a cover sheet, and the table below its titles; every cell is text."""
    book = openpyxl.Workbook()
    cover, sheet = book.active, book.create_sheet("Daten")
    assert cover is not None
    cover.title = "Deckblatt"
    cover.append(["Auszug für die Forschung"])
    rows: list[Sequence[str | None]] = [*TITLES, NAMES, *records(number, seed)]
    for position, row in enumerate(rows, 1):
        for column, value in enumerate(row, 1):
            if value is not None:
                sheet.cell(position, column, value).data_type = "s"
    book.save(path)
    return path


def write_csv(path: Path, number: int = 600, seed: int = 11, encoding: str = "cp1252") -> Path:
    """The same as CSV with semicolons; a name that the encoding lacks is spelled in it."""
    names = [name if _can(name, encoding) else "Notiz" for name in NAMES]
    with path.open("w", encoding=encoding, newline="") as file:
        writer = csv.writer(file, delimiter=";", lineterminator="\r\n")
        width = len(names)
        for title in TITLES:
            writer.writerow([*title, *[""] * (width - len(title))])
        writer.writerow(names)
        writer.writerows([value or "" for value in row] for row in records(number, seed))
    return path


def _can(text: str, encoding: str) -> bool:
    return text == text.encode(encoding, errors="replace").decode(encoding)
