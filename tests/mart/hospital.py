"""A mart of typed tables in any place, with derived columns; a release of it is recounted here."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa

K = 3
CAUSES = ("C18", "C19", "I25")


def patients() -> pa.Table:
    """Ninety patients; the last ten have no findings."""
    numbers = range(90)
    born = [date(1930, 1, 1) + timedelta(days=211 * i % 17_000) for i in numbers]
    return pa.table({"PatId": list(numbers), "sex": ["mf"[i % 2] for i in numbers], "born": born})


def findings() -> pa.Table:
    """One or two findings of each patient, and five of nobody that the mart knows."""
    of = [i * 7 % 80 for i in range(120)] + [1000 + i for i in range(5)]
    numbers = range(len(of))
    return pa.table(
        {
            "PrepId": [f"T{i:03}" for i in numbers],
            "patient": pa.array(of, pa.int32()),
            "height": [150 + 13 * i % 45 for i in numbers],
            "weight": [None if i % 31 == 3 else 50.5 + 17 * i % 60 for i in numbers],
            "sent": [date(2001, 1, 1) + timedelta(days=97 * i % 1_500) for i in numbers],
        }
    )


def survival() -> pa.Table:
    """How all patients but every ninth died."""
    numbers = [i for i in range(90) if i % 9 != 8]
    causes = [CAUSES[i % 5 % 3] for i in numbers]
    return pa.table({"Ident": [str(i) for i in numbers], "cause": causes})


TABLES = {"patient": patients(), "findings": findings(), "survival": survival()}
SHARED: dict[str, dict[str, Any]] = {
    "patient": {
        "sex": {"role": "quasi-identifier", "hierarchy": "suppress"},
        "year": {
            "role": "quasi-identifier",
            "derive": "year(born)",
            "hierarchy": {"intervals": [5, 10, 20]},
        },
    },
    "findings": {
        "PrepId": "keep",
        "bmi": {
            "role": "quasi-identifier",
            "derive": "round(weight / (height / 100) ^ 2)",
            "hierarchy": {"intervals": [5, 10]},
        },
        "age": {
            "role": "quasi-identifier",
            "derive": "year(sent) - year(patient.born)",
            "hierarchy": {"intervals": [10, 20, 40]},
        },
        "height": {"role": "quasi-identifier", "hierarchy": {"intervals": [10, 20]}},
    },
    "survival": {"cause": {"role": "quasi-identifier", "hierarchy": "suppress"}},
}
REQUEST: dict[str, Any] = {
    "asker": "oncology",
    "project": ["PrepId", "sex", "year", "bmi", "age", "cause"],
    "select": ["height >= 160", "year < 1975", "cause in [C18, C19]"],
    "k": K,
    "suppression": "20%",
    "limits": {"bmi": 2, "age": 3},
}
CLASSES = {"patient": ("sex", "year"), "findings": ("bmi", "age"), "survival": ("cause",)}
"""The quasi-identifiers that the request projects, of each source."""


def catalog(folder: Path, places: Mapping[str, Any], log: str = "log.jsonl") -> dict[str, Any]:
    """The catalog of the tables in these places; those without a place are CSV files."""
    for name in TABLES.keys() - places.keys():
        write_csv(folder / f"{name}.csv", TABLES[name])
    where = {name: places.get(name, str(folder / f"{name}.csv")) for name in reversed(TABLES)}
    return {
        "mart": "hospital",
        "log": str(folder / log),
        "person": {"source": "patient", "columns": ["PatId"]},
        "sources": {name: {"source": where[name], "columns": SHARED[name]} for name in where},
        "links": [
            {"between": {"findings": "patient", "patient": "PatId"}, "kind": "many-to-one"},
            {"between": {"survival": "Ident", "patient": "PatId"}, "kind": "one-to-one"},
        ],
        "missing": {"match": "extended"},
        "policy": {"k": K, "suppression": "20%"},
    }


def write_csv(path: Path, table: pa.Table) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, table.column_names)
        writer.writeheader()
        writer.writerows(table.to_pylist())


def read_csv(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def in_order(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(rows, key=lambda row: str(row["PrepId"]))


def texts(row: Mapping[str, Any]) -> dict[str, str]:
    """A row as a CSV file has it."""
    return {name: "" if value is None else str(value) for name, value in row.items()}


def selected() -> dict[str, dict[str, Any]]:
    """The joined rows that the request selects, by their preparation, with derived columns."""
    patient_of = {row["PatId"]: row for row in TABLES["patient"].to_pylist()}
    cause_of = {row["Ident"]: row["cause"] for row in TABLES["survival"].to_pylist()}
    rows = {}
    for row in TABLES["findings"].to_pylist():
        person = patient_of.get(row["patient"])
        cause = cause_of.get(str(row["patient"]))
        if person and cause in CAUSES[:2] and row["height"] >= 160 and person["born"].year < 1975:
            metres, year = row["height"] / 100, person["born"].year
            bmi = None if row["weight"] is None else int(row["weight"] / metres**2 + 0.5)
            derived = {"year": year, "bmi": bmi, "age": row["sent"].year - year}
            rows[row["PrepId"]] = {**row, **person, **derived, "cause": cause}
    return rows


def recount(released: Iterable[Mapping[str, Any]], suppressed: int) -> None:
    """Check a release: its rows are selected ones, labels are true, classes have k persons.

    The preparation of a released row, which is kept as it is, says whose it is.
    """
    rows, joined = list(released), selected()
    assert rows
    assert len({row["PrepId"] for row in rows}) == len(rows) == len(joined) - suppressed
    for names in CLASSES.values():
        persons: dict[tuple[Any, ...], set[int]] = {}
        for row in rows:
            raw = joined[row["PrepId"]]
            assert all(covers(row[name], raw[name]) for name in names)
            persons.setdefault(tuple(row[name] for name in names), set()).add(raw["PatId"])
        assert min(map(len, persons.values())) >= K


def covers(label: str | None, value: Any) -> bool:
    """Whether a label is true of a value: all of them, an interval, or the value itself."""
    if label == "*" or value is None or not label:
        return label == "*" or (value is None and not label)
    if label.startswith("["):
        low, high = map(float, label.strip("[)").split(","))
        return low <= float(value) < high
    return label == str(value)
