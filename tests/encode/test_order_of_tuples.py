"""The order of the tuples in which a local recoding is searched."""

from __future__ import annotations

import numpy as np

from recoding.local_problems import random_problem
from shoal.encode.table import number_alike


def test_tuples_are_numbered_by_their_groups_from_the_highest_levels_down() -> None:
    table = random_problem(3, 200).table
    rows = np.random.default_rng(1).integers(table.tuples, size=500)
    codes = [column[rows] for column in table.codes]
    numbers, count = number_alike(table.attributes, codes)
    keys = [
        tuple(
            int(attribute.groups[level][column[i]])
            for level in (3, 2, 1, 0)
            for attribute, column in zip(table.attributes, codes, strict=True)
        )
        for i in range(len(rows))
    ]
    rank = {key: number for number, key in enumerate(sorted(set(keys)))}
    assert count == len(rank)
    assert numbers.tolist() == [rank[key] for key in keys]
