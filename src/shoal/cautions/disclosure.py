"""How much a kept column discloses of a generalized quasi-identifier.

Take two records with the same released label. How often do they have the same value of the
quasi-identifier? And how often if they also have the same value of the kept column? If the kept
column is independent of the quasi-identifier, both frequencies are equal, however rare its values
are: the number of agreeing pairs among n records is n * (n - 1) / 2 times a probability that does
not depend on n. So random values do not look like a disclosure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from shoal.values import Bools, Ints

NARROWED = 1.75
"""Records of a label are disclosed when agreement is so many times as frequent,"""
CERTAINTY = 0.5
"""or when it is so much of the way from chance to certainty."""
DISCLOSED_SHARE = 0.5
"""A column discloses when that is so for this share of the records that can be compared,"""
DEVIATIONS = 5.0
"""and agreeing pairs are so many standard deviations more than by chance;"""
EXACT_SHARE = 0.05
"""or when at least this share of the records have a kept value that occurs with one value only,"""
BY_CHANCE = 0.001
"""which would happen by chance at most with this probability."""


@dataclass(frozen=True)
class Disclosed:
    """Of how many records a kept column discloses more than the label, of how many the value."""

    records: int
    exactly: int


def disclosed(labels: Ints, values: Ints, kept: Ints, counts: Ints) -> Disclosed | None:
    """What the kept column discloses, None where it is not more than chance.

    A row for each distinct pair of a value of the quasi-identifier and one of the kept column: the
    codes of the label, the value and the kept value, and how many records have them. Labels that
    stand for one value hide nothing.
    """
    several = _several(labels, values)
    labels, values, kept, counts = (each[several] for each in (labels, values, kept, counts))
    if not len(labels):
        return None
    label_of = _numbered(labels)
    chance = _agreement(label_of, _numbered(label_of, values), counts)
    cell_of = _numbered(label_of, kept)
    agreement = _agreement(cell_of, _numbered(cell_of, values), counts)
    sizes = _sums(cell_of, counts)
    expected = chance[_first(cell_of, label_of)]
    largest = _largest_share(label_of, values, counts)[_first(cell_of, label_of)]
    pairs = sizes * (sizes - 1) / 2
    comparable = sizes >= 2
    if not comparable.any():
        return None
    finer = comparable & _finer(agreement, expected)
    exact = comparable & (agreement >= 1) & (largest ** (sizes - 1.0) <= BY_CHANCE)
    surplus = float((pairs * (agreement - expected))[comparable].sum())
    beyond = surplus >= DEVIATIONS * max(float((pairs * expected).sum()), 1.0) ** 0.5
    exactly, records = int(sizes[exact].sum()), int(sizes[finer].sum())
    if beyond and records >= DISCLOSED_SHARE * sizes[comparable].sum():
        return Disclosed(records, exactly)
    return Disclosed(exactly, exactly) if exactly >= EXACT_SHARE * counts.sum() else None


def _finer(agreement: np.ndarray, expected: np.ndarray) -> Bools:
    """Where agreement is much more frequent than expected."""
    narrowed = agreement >= NARROWED * expected
    finer: Bools = narrowed | (agreement - expected >= CERTAINTY * (1 - expected))
    return finer


def _several(labels: Ints, values: Ints) -> Bools:
    """The rows whose label stands for more than one value of the data."""
    width = int(values.max(initial=0)) + 1
    number = np.bincount(np.unique(labels * width + values) // width)
    several: Bools = number[labels] > 1
    return several


def _agreement(group_of: Ints, part_of: Ints, counts: Ints) -> np.ndarray:
    """For each group how likely two of its records lie in the same part; 0 for a single record."""
    parts, sizes = _sums(part_of, counts), _sums(group_of, counts)
    inside = np.bincount(_first(part_of, group_of), parts * (parts - 1.0), len(sizes))
    return np.divide(inside, sizes * (sizes - 1.0), out=np.zeros(len(sizes)), where=sizes > 1)


def _largest_share(group_of: Ints, values: Ints, counts: Ints) -> np.ndarray:
    """For each group the share of its most frequent value."""
    part_of = _numbered(group_of, values)
    parts, sizes = _sums(part_of, counts), _sums(group_of, counts)
    largest = np.zeros(len(sizes))
    np.maximum.at(largest, _first(part_of, group_of), parts)
    shares: np.ndarray = largest / sizes
    return shares


def _sums(group_of: Ints, counts: Ints) -> np.ndarray:
    """The records of each group."""
    return np.bincount(group_of, counts)


def _first(part_of: Ints, group_of: Ints) -> Ints:
    """The group of each part; all rows of a part lie in one group."""
    groups = np.zeros(int(part_of.max()) + 1, np.int64)
    groups[part_of] = group_of
    return groups


def _numbered(*columns: Ints) -> Ints:
    """Numbers from 0 on without gaps, equal where all columns are."""
    key = columns[0]
    for column in columns[1:]:
        key = key * (int(column.max()) + 1) + column
    numbers: Ints = np.unique(key, return_inverse=True)[1].ravel()
    return numbers
