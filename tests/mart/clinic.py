"""A small mart of three sources in CSV files, which tests ask for releases."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from shoal import mart
from shoal.mart.log import Log
from shoal.mart.log_chain import Entry

Row = Sequence[Any]


def write_csv(path: Path, header: Sequence[str], rows: Iterable[Row]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([header, *rows])


def read_csv(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


COLUMNS: dict[str, Any] = {
    "patient": {"sex": {"role": "quasi-identifier", "hierarchy": "suppress"}},
    "findings": {
        "PT": {
            "role": "quasi-identifier",
            "hierarchy": {"tree": {"1": ["1a", "1b", "1c", "1mic"], "2": ["2"]}},
            "information loss": [0, 0.3, 1],
        },
        "age": {"role": "quasi-identifier", "hierarchy": {"intervals": [5, 10]}},
    },
    "survival": {
        "cause": {"role": "quasi-identifier", "hierarchy": "suppress"},
        "days": "keep",
        "therapy": {"role": "sensitive", "diversity": {"distinct": 2}},
    },
}
"""What each source of the clinic shares, unless a test says otherwise."""


@dataclass
class Clinic:
    """The files of a mart, and what is asked of it.

    Patients are (id, sex), findings (preparation, patient, PT, age), survival (patient, cause,
    days, therapy).
    """

    folder: Path
    patients: list[Row] = field(default_factory=list)
    findings: list[Row] = field(default_factory=list)
    survival: list[Row] = field(default_factory=list)
    columns: dict[str, Any] = field(default_factory=lambda: deepcopy(COLUMNS))
    keys: dict[str, Any] = field(default_factory=dict)

    @property
    def catalog(self) -> dict[str, Any]:
        sources = {
            name: {"source": str(self.folder / f"{name}.csv"), "columns": columns}
            for name, columns in self.columns.items()
        }
        return {
            "mart": "clinic",
            "log": str(self.folder / "log.jsonl"),
            "person": {"source": "patient", "columns": ["PatId"]},
            "sources": sources,
            "links": [
                {"between": {"findings": "PatId", "patient": "PatId"}, "kind": "many-to-one"},
                {"between": {"survival": "Ident", "patient": "PatId"}, "kind": "one-to-one"},
            ],
            **self.keys,
        }

    def write(self) -> None:
        """Write the sources."""
        write_csv(self.folder / "patient.csv", ["PatId", "sex"], self.patients)
        header = ["PrepId", "PatId", "PT", "age"]
        write_csv(self.folder / "findings.csv", header, self.findings)
        write_csv(
            self.folder / "survival.csv", ["Ident", "cause", "days", "therapy"], self.survival
        )

    def ask(self, *project: str, output: Any = None, **keys: Any) -> mart.MartResult:
        """Write the sources and ask; by default the release is a CSV file."""
        self.write()
        given = {"asker": "oncology", "project": list(project), **keys}
        target = self.output if output is None else output
        return mart.request(self.catalog, given, output=target)

    @property
    def output(self) -> Path:
        return self.folder / "release.csv"

    def released(self) -> list[dict[str, str]]:
        """The rows of the release."""
        return read_csv(self.output)

    @property
    def entries(self) -> tuple[Entry, ...]:
        return Log(self.folder / "log.jsonl").entries()


def clinic(
    folder: Path, people: Iterable[tuple[str, str, Sequence[tuple[str, int]], str]]
) -> Clinic:
    """A clinic of people: sex, cause of death, and a finding (PT, age) or several each."""
    made = Clinic(folder)
    for number, (sex, cause, findings, therapy) in enumerate(people):
        made.patients.append((number, sex))
        made.survival.append((number, cause, 10 * number, therapy))
        for preparation, (stage, age) in enumerate(findings):
            made.findings.append((f"{number}-{preparation}", number, stage, age))
    return made


def many(folder: Path, number: int = 60, *, findings: int = 1) -> Clinic:
    """A clinic of so many people, whose values are different enough to need generalization."""
    stages = ("1a", "1b", "1c", "1mic", "2")
    people = (
        (
            "mf"[i % 2],
            ("I25", "C18", "C19")[i % 7 % 3],
            [(stages[(i + j) % 5], 20 + (7 * i + 11 * j) % 50) for j in range(findings)],
            ("A", "B", "C")[i % 3],
        )
        for i in range(number)
    )
    return clinic(folder, people)
