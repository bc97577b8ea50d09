"""Random tables for local recoding: three attributes of eight values, some cells missing."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from oracle import Ladder, Row
from problems import Case, problem_of
from shoal.search.problem import Problem

EIGHT = Ladder({f"v{i}": (f"v{i}", f"p{i // 2}", f"f{i // 4}", "*") for i in range(8)})
"""Eight values in pairs, in fours, all."""


def random_problem(seed: int, records: int, k: int = 4, suppression: int = 0) -> Problem:
    """A problem of k-anonymity with so many records."""
    random = np.random.default_rng(seed)
    rows: list[Row] = []
    for _ in range(records):
        cells = [f"v{int(random.integers(8))}" for _ in range(3)]
        rows.append(tuple(None if random.random() < 0.05 else cell for cell in cells))
    case = Case(tuple(rows), (EIGHT,) * 3, (3,) * 3, (Fraction(1),) * 3, k, suppression)
    return problem_of(case)
