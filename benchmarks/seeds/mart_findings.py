"""Findings like those of the data-mart paper: 16,417 staged mamma carcinomas.

313 of them have stage 1 and grade 1, which is what the paper's request selects. They are given as a
table of counts, shaped so that the paper's two settings meet its numbers of classes: 107 classes
with 67 of one case; 98 once R is suppressed; 16 with PT generalized too; 20 with PT and PN. The
paper counts 48 classes of one case after R is suppressed, and no table can: where 107 classes
become 98, nine joins at most, each with two such classes, take away 18 of the 67. Here it is 49.

98 classes out of 16 also need more values of PT than the four the paper lists in its extract; `(m)`
marks several tumours, as the TNM rules have it, and 1 is a stage without its part.
"""

from __future__ import annotations

import random

import pyarrow as pa

CASES = 16_417
SEED = 2006
PT = ("1mic", "1a", "1b", "1c", "1", "1a(m)", "1b(m)", "1c(m)", "1(m)")
SELECTED = (  # PN, PM, R, and the cases of each PT
    ("X", "X", "0", (0, 1, 0, 0, 1, 0, 1, 1, 0)),
    ("X", "X", "2", (4, 0, 1, 0, 0, 4, 1, 0, 0)),
    ("0", "X", "0", (7, 0, 23, 26, 1, 8, 1, 1, 1)),
    ("1mi", "X", "0", (1, 5, 6, 1, 1, 1, 0, 1, 0)),
    ("1mi", "X", "1", (1, 0, 0, 0, 1, 0, 0, 0, 1)),
    ("1a", "X", "0", (0, 11, 8, 1, 0, 0, 0, 0, 1)),
    ("1a", "X", "1", (3, 0, 0, 1, 0, 1, 0, 0, 1)),
    ("1b", "X", "0", (0, 1, 3, 6, 1, 0, 0, 5, 0)),
    ("1b", "X", "1", (0, 1, 0, 0, 1, 0, 0, 0, 0)),
    ("2", "X", "0", (0, 0, 1, 0, 2, 1, 0, 0, 0)),
    ("2", "X", "2", (0, 6, 0, 6, 0, 0, 0, 0, 2)),
    ("3", "X", "0", (0, 1, 1, 0, 0, 0, 1, 1, 2)),
    ("X", "0", "0", (1, 0, 5, 1, 1, 0, 1, 0, 3)),
    ("0", "0", "0", (7, 16, 0, 12, 4, 0, 5, 10, 1)),
    ("0", "0", "1", (0, 0, 9, 0, 0, 0, 0, 0, 0)),
    ("1mi", "0", "0", (0, 1, 0, 0, 0, 1, 0, 0, 0)),
    ("1mi", "0", "1", (1, 1, 3, 0, 0, 0, 1, 0, 0)),
    ("1a", "0", "0", (1, 6, 0, 1, 1, 0, 0, 3, 0)),
    ("1a", "0", "1", (0, 0, 1, 0, 0, 0, 1, 0, 0)),
    ("1b", "0", "0", (0, 0, 1, 0, 0, 0, 0, 0, 0)),
    ("1b", "0", "1", (1, 5, 0, 0, 0, 0, 2, 0, 0)),
    ("2", "0", "0", (2, 0, 1, 0, 1, 1, 2, 1, 0)),
    ("2", "0", "2", (0, 1, 0, 2, 1, 0, 0, 0, 1)),
    ("3", "0", "0", (0, 0, 2, 0, 0, 0, 0, 0, 0)),
    ("3", "0", "X", (0, 0, 0, 0, 1, 0, 0, 1, 1)),
    ("1a", "1", "0", (1, 6, 0, 1, 0, 0, 0, 0, 0)),
    ("1a", "1", "2", (0, 0, 1, 0, 0, 0, 1, 1, 0)),
    ("2", "1", "0", (1, 1, 0, 0, 0, 0, 0, 2, 3)),
)
LATER_STAGES = ("2", "3", "4a", "4b", "4c", "4d")


def findings(seed: int = SEED) -> pa.Table:
    """All findings, in no order; the same for the same seed."""
    chance = random.Random(seed)
    rows = [
        (pt, pn, pm, "1", r)
        for pn, pm, r, cases in SELECTED
        for pt, count in zip(PT, cases, strict=True)
        for _ in range(count)
    ]
    while len(rows) < CASES:
        grade = chance.choice("123")
        pt = chance.choice(LATER_STAGES if grade == "1" else (*PT, *LATER_STAGES))
        pn = chance.choice(("X", "0", "1mi", "1a", "1b", "2", "3"))
        rows.append((pt, pn, chance.choice("X01"), grade, chance.choice("X012")))
    chance.shuffle(rows)
    names = ("PT", "PN", "PM", "G", "R")
    columns = dict(zip(names, zip(*rows, strict=True), strict=True))
    return pa.table({"localisation": ["Mamma"] * CASES, **columns})


def request(table: pa.Table) -> pa.Table:
    """The paper's request: the cases of stage 1, whatever its part, and grade 1."""
    wanted = [
        pt in PT and grade == "1"
        for pt, grade in zip(table["PT"].to_pylist(), table["G"].to_pylist(), strict=True)
    ]
    return table.filter(pa.array(wanted))
