"""Findings like those of the data-mart paper: 16,417 staged mamma carcinomas.

313 of them have stage 1 and grade 1, which is what the paper's request selects. They are given as a
table of counts, `examples/mart/selected.csv`, shaped so that the paper's two settings meet its
numbers of classes: 107 classes with 67 of one case; 98 once R is suppressed; 16 with PT generalized
too; 20 with PT and PN. The paper counts 48 classes of one case after R is suppressed, and no table
can: where 107 classes become 98, nine joins at most, each with two such classes, take away 18 of
the 67. Here it is 49.

98 classes out of 16 also need more values of PT than the four the paper lists in its extract; `(m)`
marks several tumours, as the TNM rules have it, and 1 is a stage without its part.
"""

from __future__ import annotations

import csv
import random
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

CASES = 16_417
SEED = 2006
PT = ("1mic", "1a", "1b", "1c", "1", "1a(m)", "1b(m)", "1c(m)", "1(m)")
LATER_STAGES = ("2", "3", "4a", "4b", "4c", "4d")
SELECTED = Path(__file__).parent.parent.parent / "examples" / "mart" / "selected.csv"


def findings(seed: int = SEED) -> pa.Table:
    """All findings, in no order; the same for the same seed."""
    chance = random.Random(seed)
    rows = list(_selected())
    while len(rows) < CASES:
        grade = chance.choice("123")
        pt = chance.choice(LATER_STAGES if grade == "1" else (*PT, *LATER_STAGES))
        pn = chance.choice(("X", "0", "1mi", "1a", "1b", "2", "3"))
        rows.append((pt, pn, chance.choice("X01"), grade, chance.choice("X012")))
    chance.shuffle(rows)
    names = ("PT", "PN", "PM", "G", "R")
    columns = dict(zip(names, zip(*rows, strict=True), strict=True))
    return pa.table({"localisation": ["Mamma"] * CASES, **columns})


def _selected() -> Iterator[tuple[str, ...]]:
    """The cases of stage 1 and grade 1: PT, PN, PM, G and R."""
    with SELECTED.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            for pt in PT:
                yield from [(pt, row["PN"], row["PM"], "1", row["R"])] * int(row[pt])


def request(table: pa.Table) -> pa.Table:
    """The paper's request: the cases of stage 1, whatever its part, and grade 1."""
    wanted = [
        pt in PT and grade == "1"
        for pt, grade in zip(table["PT"].to_pylist(), table["G"].to_pylist(), strict=True)
    ]
    return table.filter(pa.array(wanted))
