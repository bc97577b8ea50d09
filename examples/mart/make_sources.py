"""Write the sources of the data-mart example: invented patients, findings, deaths, gene profiles.

    python examples/mart/make_sources.py [FOLDER]

Four sources of three kinds appear in the folder (`data` beside this file, if none is named):

    hospital.sqlite    tables `findings` (20,000 preparations) and `patient`
    survival.parquet   one record per patient, found by name, surname and day of birth
    genes.csv          gene expression profiles, found by preparation

The same bytes are drawn on every machine. 16,417 findings are of the mamma. 313 of them have
stage 1 and grade 1: each is of another patient, and their stages are those of `selected.csv`, which
was shaped to have the paper's numbers of classes. All other values are drawn.
"""

from __future__ import annotations

import csv
import random
import sqlite3
import sys
from collections.abc import Iterator
from dataclasses import astuple, dataclass, fields
from datetime import date, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

HERE = Path(__file__).parent
SEED, FINDINGS, MAMMA, GENES = 2006, 20_000, 16_417, 12
STAGE_ONE = ("1mic", "1a", "1b", "1c", "1", "1a(m)", "1b(m)", "1c(m)", "1(m)")
LATER_STAGES = ("2", "3", "4a", "4b", "4c", "4d")
NODES = ("X", "0", "1mi", "1a", "1b", "2", "3")
OTHER_PLACES = ("Colon", "Lung", "Prostate", "Skin", "Stomach")
SENDERS = ("Surgery", "Gynaecology", "Graz East", "Graz West", "Leibnitz")
NAMES = "Ada Bela Cilli Dora Edda Franzi Gerda Hanna Ida Jutta Karla Lena Mira Nora Olga".split()
STEMS = "Ahorn Birn Buchen Eichen Erlen Fichten Hasel Linden Tannen Ulmen Weiden".split()
ENDINGS = "auer bacher berger brunner egger felder hofer huber leitner moser reiter".split()
CAUSES = (("C509", "C509"), ("I219", "I219"), ("I251", "I251"), ("S069", "V849"), ("S224", "V486"))
BEGIN, LAST_DAY = date(1996, 1, 1), date(2006, 12, 31)


@dataclass(frozen=True)
class Stage:
    """What a pathologist says of a tumour."""

    place: str
    size: str
    nodes: str
    metastases: str
    grade: str
    residue: str


@dataclass(frozen=True)
class Patient:
    """Who is known by these in the hospital, and by name and day of birth in the registry."""

    PatId: int
    Name: str
    Surname: str
    DayOfBirth: str


@dataclass(frozen=True)
class Finding:
    """A preparation of a patient."""

    PrepId: int
    PatId: int
    Loc: str
    Age: int
    PT: str
    PN: str
    PM: str
    G: str
    R: str
    SendDate: str
    Sender: str


@dataclass(frozen=True)
class Survival:
    """One patient in the registry; no day and no cause while the patient lives."""

    GivenName: str
    FamilyName: str
    Born: date
    DayOfDeath: date | None
    IcdE: str | None
    IcdN: str | None


def main(folder: Path) -> None:
    """Draw all sources from the seed, and write them."""
    chance = random.Random(SEED)  # noqa: S311 - a seeded draw of invented people
    selected, others = list(selected_stages()), list(other_stages(chance))
    patients = list(draw_patients(chance, len(selected) + 4 * len(others) // 5))
    owners = [*patients[: len(selected)], *chance.choices(patients, k=len(others))]
    findings = draw_findings(chance, [*selected, *others], owners)
    folder.mkdir(parents=True, exist_ok=True)
    write_hospital(folder / "hospital.sqlite", findings, patients)
    write_survival(folder / "survival.parquet", draw_survival(chance, findings, patients))
    profiled = [f.PrepId for f in findings if _is_selected(f) or f.PrepId % 10 == 0]
    write_genes(folder / "genes.csv", chance, profiled)


def selected_stages() -> Iterator[Stage]:
    """The 313 cases of stage 1 and grade 1, case by case from the table of counts."""
    with (HERE / "selected.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            for size in STAGE_ONE:
                stage = Stage("Mamma", size, row["PN"], row["PM"], "1", row["R"])
                yield from [stage] * int(row[size])


def other_stages(chance: random.Random) -> Iterator[Stage]:
    """All other cases: first mamma, none of them with stage 1 and grade 1; then other places."""
    for number in range(313, FINDINGS):
        grade = chance.choice("123")
        sizes = LATER_STAGES if grade == "1" else (*STAGE_ONE, *LATER_STAGES)
        place = "Mamma" if number < MAMMA else chance.choice(OTHER_PLACES)
        tumour = (chance.choice(sizes), chance.choice(NODES), chance.choice("X01"))
        yield Stage(place, *tumour, grade, chance.choice("X012"))


def draw_patients(chance: random.Random, number: int) -> Iterator[Patient]:
    """Patients with invented names; no two share both names and the day of birth."""
    known: set[tuple[str, str, str]] = set()
    while len(known) < number:
        surname = chance.choice(STEMS) + chance.choice(ENDINGS)
        born = date(1915, 1, 1) + timedelta(chance.randrange(60 * 365))
        who = (chance.choice(NAMES), surname, born.isoformat())
        if who not in known:
            known.add(who)
            yield Patient(10_000 + len(known), *who)


def draw_findings(
    chance: random.Random, stages: list[Stage], owners: list[Patient]
) -> list[Finding]:
    """A preparation for each stage and its patient, in no order."""
    pairs = list(zip(stages, owners, strict=True))
    chance.shuffle(pairs)
    findings = []
    for number, (stage, patient) in enumerate(pairs, start=1):
        sent = BEGIN + timedelta(chance.randrange(9 * 365))
        age = (sent - date.fromisoformat(patient.DayOfBirth)).days // 365
        tumour = (stage.size, stage.nodes, stage.metastases, stage.grade, stage.residue)
        sent_text, sender = sent.strftime("%d.%m.%Y"), chance.choice(SENDERS)
        findings.append(
            Finding(number, patient.PatId, stage.place, age, *tumour, sent_text, sender)
        )
    return findings


def draw_survival(
    chance: random.Random, findings: list[Finding], patients: list[Patient]
) -> list[Survival]:
    """Every patient; a third died after the last preparation."""
    last_sent = dict.fromkeys((patient.PatId for patient in patients), BEGIN)
    for finding in findings:
        day, month, year = map(int, finding.SendDate.split("."))
        last_sent[finding.PatId] = max(last_sent[finding.PatId], date(year, month, day))
    records = []
    for patient in chance.sample(patients, len(patients)):
        sent = last_sent[patient.PatId]
        died: date | None = None
        causes: tuple[str | None, str | None] = (None, None)
        if chance.random() < 1 / 3:
            died = sent + timedelta(chance.randrange(1, (LAST_DAY - sent).days))
            causes = chance.choice(CAUSES)
        born = date.fromisoformat(patient.DayOfBirth)
        records.append(Survival(patient.Name, patient.Surname, born, died, *causes))
    return records


def _is_selected(finding: Finding) -> bool:
    return finding.Loc == "Mamma" and finding.PT in STAGE_ONE and finding.G == "1"


def write_hospital(path: Path, findings: list[Finding], patients: list[Patient]) -> None:
    """Both tables of the hospital, in a new database."""
    path.unlink(missing_ok=True)
    connection = sqlite3.connect(path)
    with connection:
        for table, rows in (("findings", findings), ("patient", patients)):
            kinds = {"int": "INTEGER", "str": "TEXT"}
            columns = [f"{field.name} {kinds[str(field.type)]}" for field in fields(rows[0])]
            marks = ", ".join("?" * len(columns))
            connection.execute(f"CREATE TABLE {table} ({', '.join(columns)})")
            connection.executemany(f"INSERT INTO {table} VALUES ({marks})", map(astuple, rows))
    connection.close()


def write_survival(path: Path, records: list[Survival]) -> None:
    """The registry as Parquet; days are dates there."""
    columns = zip(*map(astuple, records), strict=True)
    names = [field.name for field in fields(Survival)]
    pq.write_table(pa.table(dict(zip(names, map(list, columns), strict=True))), path)


def write_genes(path: Path, chance: random.Random, preparations: list[int]) -> None:
    """A profile of twelve expressions for each preparation."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["PrepId", *(f"e{i}" for i in range(1, GENES + 1))])
        for preparation in preparations:
            profile = [f"{chance.gauss(0, 1):.4f}" for _ in range(GENES)]
            writer.writerow([preparation, *profile])


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "data")
