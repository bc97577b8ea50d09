"""The six patients of the data-mart paper's tables 1 and 2, k-anonymous in each source alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa
from benchmarks.seeds.experiment import table

import shoal

PATIENTS: Mapping[str, list[Any]] = {
    "PT": ["3A", "3A", "3B", "3B", "3B", "3B"],
    "PN": ["0"] * 6,
    "PM": ["1", "X", "X", "X", "1", "X"],
    "cause of death": [
        "Atherosclerotic heart disease",
        "Sigmoid colon",
        "Colon, unspecified",
        "Sigmoid colon",
        "Atherosclerotic heart disease",
        "Caecum",
    ],
    "height": [185, 173, 175, 172, 170, 183],
    "weight": [85, 80, 69, 70, 62, 80],
}
NORMAL, OVERWEIGHT = "[18.5,...,24.9] Normal", "[25.0,...,29.9] Overweight"
SOURCES: Mapping[str, Mapping[str, Any]] = {
    "findings": {
        "PT": {
            "hierarchy": {
                "tree": {"[3-4]": {"3": ["3A", "3B"], "4": ["4A", "4B"]}, "[1-2]": {"1": ["1A"]}}
            },
            "information loss": [0, 0.3, 0.7, 1],
        },
        "PN": "suppress",
        "PM": "suppress",
    },
    "survival": {
        "cause of death": {
            "tree": {
                "I25": ["Atherosclerotic heart disease"],
                "C18": ["Sigmoid colon", "Colon, unspecified", "Caecum"],
            }
        }
    },
    "clinic": {
        "BMI": {
            "tree": {
                NORMAL: [str(bmi) for bmi in range(19, 25)],
                OVERWEIGHT: [str(bmi) for bmi in range(25, 30)],
            }
        }
    },
}
PAPER = {
    "findings": [("3", "0", "1")] * 2 + [("3", "0", "X")] * 4,
    "survival": [("C18",)] * 4 + [("I25",)] * 2,
    "clinic": [(NORMAL,)] * 4 + [(OVERWEIGHT,)] * 2,
}


def shared_table() -> pa.Table:
    """Table 1, with the body mass index for height and weight."""
    sizes = zip(PATIENTS["weight"], PATIENTS["height"], strict=True)
    bmi = [str(round(float(weight) / (float(height) / 100) ** 2)) for weight, height in sizes]
    return pa.table({**PATIENTS, "BMI": bmi})


def released(source: str) -> list[tuple[str, ...]]:
    """What a source's attributes become with k = 2, its records in order of their values."""
    hierarchies = SOURCES[source]
    frame = shared_table().select(list(hierarchies))
    safe = shoal.anonymize(frame, hierarchies, k=2, suppression=0, loss="weighted")
    return sorted(zip(*(safe[name].to_pylist() for name in hierarchies), strict=True))


def anonymised_sources() -> Iterator[str]:
    """The lines of table 2, source by source, and whether they are the paper's."""
    rows = []
    for source, hierarchies in SOURCES.items():
        records = released(source)
        shown = "; ".join(
            f"{records.count(each)} x {' '.join(each)}" for each in dict.fromkeys(records)
        )
        rows.append([source, ", ".join(hierarchies), shown, records == PAPER[source]])
    yield "Tables 1 and 2: six patients, 2-anonymous in each source"
    yield from table(["source", "attributes", "released", "as in table 2"], rows)
