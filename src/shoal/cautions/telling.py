"""How much a column that is kept tells of a quasi-identifier that is generalized.

Take two records with the same released label. How often do they have the same value of the
quasi-identifier? And how often, when they also have the same value of the kept column? If the kept
column has nothing to do with the quasi-identifier, both are equally often, however rare its values
are: the number of agreeing pairs among n records is n * (n - 1) / 2 times a chance that does not
depend on n. So a column of noise does not look as if it told anything.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from shoal.values import Bools, Ints

NARROWED = 1.75
"""Records of a label are told more finely when agreement is so many times as frequent,"""
TOLD = 0.5
"""or when so much of the way from chance to certainty is gone."""
FINER_SHARE = 0.5
"""A column tells more when that is so for this share of the records that can be compared,"""
DEVIATIONS = 5.0
"""and agreeing pairs are so many standard deviations more than by chance;"""
EXACT_SHARE = 0.05
"""or when at least this share of the records have a kept value that goes with one value only,"""
BY_CHANCE = 0.001
"""which would happen by chance at most so often."""


@dataclass(frozen=True)
class Told:
    """How many records a kept column tells more finely, and of how many of them the very value."""

    records: int
    exactly: int


def told(labels: Ints, values: Ints, kept: Ints, counts: Ints) -> Told | None:
    """What the kept column tells, None where it is not more than chance.

    A row for each distinct pair of a value of the quasi-identifier and one of the kept column: the
    number of the label, of the value, of the kept value, and how many records have them. Labels
    that stand for one value have nothing to tell.
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
    if beyond and records >= FINER_SHARE * sizes[comparable].sum():
        return Told(records, exactly)
    return Told(exactly, exactly) if exactly >= EXACT_SHARE * counts.sum() else None


def _finer(agreement: np.ndarray, expected: np.ndarray) -> Bools:
    """Where agreement is much more frequent than expected."""
    narrowed = agreement >= NARROWED * expected
    told: Bools = narrowed | (agreement - expected >= TOLD * (1 - expected))
    return told


def _several(labels: Ints, values: Ints) -> Bools:
    """The rows whose label stands for more than one value of the data."""
    pairs = np.unique(np.stack([labels, values]), axis=1)
    found, number = np.unique(pairs[0], return_counts=True)
    return np.isin(labels, found[number > 1])


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
