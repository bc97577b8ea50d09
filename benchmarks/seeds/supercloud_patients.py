"""100,000 patients like those in the figures of the SUPERCLOUD report.

The report shows nineteen of them: ages from 0 to 99, ZIP codes that begin with 22, and made-up
health data. Ages are even, and there are three women for every four men. ZIP codes run evenly from
22096 on, so that fewer than 500 patients live in the district 220: no node that keeps three digits
of the ZIP code reaches k = 500. The seed is the first with which the smallest classes are those of
figure 1.4, 2,049 records at node (1, 0, 3) and 931 at node (0, 1, 3).
"""

from __future__ import annotations

import random

import pyarrow as pa

RECORDS = 100_000
SEED = 798
RACES = ["White", "Black", "Asian-Pac-Islander", "Amer-Indian-Eskimo", "Other"]
CHOLESTEROL = ["Desirable", "Borderline high", "High"]
DISEASES = ["circulatory", "digestive", "endocrine", "nervous", "respiratory", "skin", "external"]


def patients(records: int = RECORDS, seed: int = SEED) -> pa.Table:
    """The table; the same for the same seed."""
    chance = random.Random(seed)
    columns = {
        "age": [int(100 * chance.random()) for _ in range(records)],
        "gender": ["Female" if chance.random() < 3 / 7 else "Male" for _ in range(records)],
        "zip": [str(chance.randint(22096, 22999)) for _ in range(records)],
        "race": chance.choices(RACES, k=records),
        "smoker": chance.choices(["Yes", "No"], k=records),
        "blood pressure": [
            f"{low}/{high}"
            for low, high in zip(
                chance.choices(range(60, 101, 10), k=records),
                chance.choices(range(90, 161, 10), k=records),
                strict=True,
            )
        ],
        "cholesterol": chance.choices(CHOLESTEROL, k=records),
        "glucose": chance.choices(range(80, 151, 10), k=records),
        "diseases": chance.choices(DISEASES, k=records),
    }
    return pa.table(columns)
