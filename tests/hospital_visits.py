"""Visits as a hospital's system exports them: semicolons, a mark for UTF-8, many ways to miss.

`write_visits` gives each patient many visits; what describes a patient is the same in all.
"""

from __future__ import annotations

import csv
import random
from pathlib import Path

NAMES = (
    *("Fallnummer", "Patienten-ID", "Geburtsjahr", "Geschlecht", "PLZ"),
    *("Aufnahmedatum", "Fachabteilung", "Liegedauer", "Hauptdiagnose"),
)
MISSING = ("k.A.", "n/a", "-", "unbekannt", "9999")
"""Spellings of missing values; the last stands among numbers."""
_DEPARTMENTS = ("Innere", "Chirurgie", "Neurologie", "Gynäkologie")
_DIAGNOSES = ("I10.90", "E11.9", "J45.0", "M54.5", "F32.1", "K29.7")


def visits(number: int, patients: int, seed: int = 7) -> list[tuple[str, ...]]:
    """The records below the names."""
    dice = random.Random(seed)
    people = [
        (
            f"P{100_000 + 13 * i}",
            str(dice.randint(1935, 2005)),
            dice.choice(("m", "w")),
            f"{dice.choice(('010', '012', '803', '505'))}{dice.randint(10, 99)}",
        )
        for i in range(patients)
    ]
    return [_visit(i, people[dice.randrange(patients)], dice) for i in range(number)]


def _visit(number: int, person: tuple[str, ...], dice: random.Random) -> tuple[str, ...]:
    day = f"{dice.randint(1, 28):02}.{dice.randint(1, 12):02}.{dice.randint(2021, 2024)}"
    words = MISSING[:4]
    return (
        f"F{5_000_000 + number}",
        *person,
        day if dice.random() > 0.03 else dice.choice(words),
        dice.choice(_DEPARTMENTS) if dice.random() > 0.03 else dice.choice(words),
        str(1 + int(dice.expovariate(0.2))) if dice.random() > 0.04 else MISSING[4],
        dice.choice(_DIAGNOSES) if dice.random() > 0.02 else dice.choice(words),
    )


def write_visits(path: Path, number: int, patients: int, seed: int = 7) -> list[tuple[str, ...]]:
    """Write them as German Excel does; gives the records."""
    rows = visits(number, patients, seed)
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        csv.writer(file, delimiter=";", lineterminator="\r\n").writerows([NAMES, *rows])
    return rows
