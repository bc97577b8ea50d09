"""How many records match each tuple by a maybe relation, without comparing every two of them.

A join has tuples on both sides, `mine` and the `others`; a pair matches when the keys are equal and
every open column is equal or missing in the other one, and by maybe match also when it is missing
in mine. A join is split into smaller ones, so that every pair is in at most one of them:

- A column without missing cells becomes part of the key. Tuples whose key is not on the other side
  match nobody, so they are left out.
- Different keys do not match, so the keys are split into two halves.
- Where there is one key only, the pairs are split by one column: it is missing in the other, which
  always matches; or in mine alone; or in neither, and then it becomes part of the key.

Without open columns, all records of a key match. A join with few pairs is compared directly, 64
pairs at a time: for every column and value the others that match are the bits of a row, and the
matches of a tuple are the bits that all of its rows share. So few missing values take almost no
comparisons; at worst every pair is compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.errors import BadData
from shoal.measure.classes import numbered

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shoal.values import Ints

    Words = NDArray[np.uint64]

PAIR_LIMIT = 100_000_000_000
"""Pairs that are compared by default: about a minute."""

FEW_PAIRS = 2**24
"""Pairs that are compared at once: their bits take two megabytes."""

WORD = 64


@dataclass(frozen=True, eq=False)
class _Join:
    """Rows of a table on both sides, a key for each, and the columns that may be missing."""

    mine: Ints
    others: Ints
    my_keys: Ints
    other_keys: Ints
    columns: tuple[int, ...]

    @property
    def pairs(self) -> int:
        """The pairs to compare; without open columns, none need be."""
        return len(self.mine) * len(self.others) if self.columns else 0

    def subset(self, mine: Any, others: Any, columns: Sequence[int]) -> _Join:
        """The join of the rows that a mask selects on each side."""
        return _Join(
            self.mine[mine],
            self.others[others],
            self.my_keys[mine],
            self.other_keys[others],
            tuple(columns),
        )


def count_pairs(
    codes: Ints,
    weights: Ints,
    *,
    right: bool,
    limit: int = PAIR_LIMIT,
    progress: Callable[[float], None] | None = None,
) -> Ints:
    """For each row of codes, 0 where missing, the weight of all rows that match it.

    By right maybe match with `right`, else by maybe match. It is an error when more than `limit`
    pairs would have to be compared. `progress` is called with the share that is done.
    """
    rows = np.arange(len(codes), dtype=np.int64)
    keys = np.zeros(len(codes), dtype=np.int64)
    whole = _Join(rows, rows, keys, keys, tuple(range(codes.shape[1])))
    pairs = 0
    for join in _small_joins(codes, whole, right):
        pairs += join.pairs
        if pairs > limit:
            raise _too_many(limit)
    matches, done = np.zeros(len(codes), dtype=np.int64), 0
    for join in _small_joins(codes, whole, right):
        matches[join.mine] += (
            _compared(codes, weights, join, right) if join.columns else _equal(weights, join)
        )
        done += join.pairs
        if progress is not None:
            progress(done / max(1, pairs))
    return matches


def _too_many(limit: int) -> BadData:
    return BadData(
        f"more than {limit:,} pairs of combinations would have to be compared",
        code="too-many-pairs",
        hint="allow more with --pair-limit, name fewer quasi-identifiers, or measure by extended"
        " or basic match, which compare none",
    )


def _small_joins(codes: Ints, join: _Join, right: bool) -> Iterator[_Join]:
    """Joins with few pairs each that together have every matching pair of a join once."""
    join = _keyed(codes, join)
    if len(join.mine) == 0 or len(join.others) == 0:
        return
    if join.pairs <= FEW_PAIRS:
        yield join
        return
    for smaller in _by_key(join) or _by_column(codes, join, right):
        yield from _small_joins(codes, smaller, right)


def _keyed(codes: Ints, join: _Join) -> _Join:
    """Columns without missing cells join the key; only keys that both sides have are left."""
    present = [
        column
        for column in join.columns
        if codes[join.mine, column].all() and codes[join.others, column].all()
    ]
    if not present:
        return join
    rows = np.concatenate([join.mine, join.others])
    keys = np.concatenate([join.my_keys, join.other_keys])
    keys = numbered([keys, *(codes[rows, column] for column in present)])[0]
    my_keys, other_keys = keys[: len(join.mine)], keys[len(join.mine) :]
    keyed = _Join(join.mine, join.others, my_keys, other_keys, join.columns)
    most = int(keys.max(initial=0)) + 1
    shared = (np.bincount(my_keys, minlength=most) > 0) & (
        np.bincount(other_keys, minlength=most) > 0
    )
    left = [column for column in join.columns if column not in present]
    return keyed.subset(shared[my_keys], shared[other_keys], left)


def _by_key(join: _Join) -> list[_Join]:
    """Two joins of about as many rows, with the lower and the upper keys; none for a single key."""
    keys = np.concatenate([join.my_keys, join.other_keys])
    low, high = int(keys.min()), int(keys.max())
    if low == high:
        return []
    middle = int(np.partition(keys, len(keys) // 2)[len(keys) // 2])
    cut = middle if middle > low else int(keys[keys > low].min())
    below, other_below = join.my_keys < cut, join.other_keys < cut
    return [
        join.subset(below, other_below, join.columns),
        join.subset(~below, ~other_below, join.columns),
    ]


def _by_column(codes: Ints, join: _Join, right: bool) -> list[_Join]:
    """The pairs by where the column with the fewest missing cells is missing."""

    def missing(column: int) -> int:
        cells = codes[join.mine, column], codes[join.others, column]
        return sum(len(side) - int(np.count_nonzero(side)) for side in cells)

    column = min(join.columns, key=missing)
    left = [other for other in join.columns if other != column]
    mine, others = codes[join.mine, column] > 0, codes[join.others, column] > 0
    everyone = np.ones(len(mine), dtype=bool)
    in_other = join.subset(everyone, ~others, left)
    in_neither = join.subset(mine, others, join.columns)
    return (
        [in_other, in_neither]
        if right
        else [in_other, in_neither, join.subset(~mine, others, left)]
    )


def _equal(weights: Ints, join: _Join) -> Ints:
    """For each of mine the weight of the others with the same key."""
    most = int(join.my_keys.max(initial=0)) + 1
    found = np.zeros(most, dtype=np.int64)
    known = join.other_keys < most
    np.add.at(found, join.other_keys[known], weights[join.others[known]])
    return found[join.my_keys]


def _compared(codes: Ints, weights: Ints, join: _Join, right: bool) -> Ints:
    """For each of mine the weight of the others that match, by bits."""
    number = len(join.others)
    everybody = _bits(np.ones(number, dtype=bool))
    matching = np.tile(everybody, (len(join.mine), 1))
    matching &= _allowed(join.my_keys + 1, join.other_keys + 1, everybody, right)
    for column in join.columns:
        mine, others = codes[join.mine, column], codes[join.others, column]
        matching &= _allowed(mine, others, everybody, right)
    return _weight_of_bits(matching, weights[join.others])


def _allowed(mine: Ints, others: Ints, everybody: Words, right: bool) -> Words:
    """For each of mine the bits of those others that match it in one column."""
    values, value_of = np.unique(mine, return_inverse=True)
    missing = _bits(others == 0)
    rows = np.tile(missing, (len(values), 1))
    index = np.searchsorted(values, others).clip(max=len(values) - 1)
    equal = np.flatnonzero((values[index] == others) & (others > 0))
    bits = np.uint64(1) << (equal % WORD).astype(np.uint64)
    np.bitwise_or.at(rows, (index[equal], equal // WORD), bits)
    if values[0] == 0 and not right:
        rows[0] = everybody
    allowed: Words = rows[value_of.ravel()]
    return allowed


def _bits(flags: NDArray[np.bool_]) -> Words:
    """Flags as the bits of words, the first in the lowest bit."""
    padded = np.zeros(-(-len(flags) // WORD) * WORD, dtype=bool)
    padded[: len(flags)] = flags
    return np.packbits(padded, bitorder="little").view("<u8").astype(np.uint64)


def _weight_of_bits(matching: Words, weights: Ints) -> Ints:
    """The sum of the weights of each row's set bits, one binary digit of the weights at a time."""
    found = np.zeros(len(matching), dtype=np.int64)
    for digit in range(int(weights.max()).bit_length()):
        has = _bits((weights >> digit) & 1 > 0)
        found += np.bitwise_count(matching & has).sum(axis=1, dtype=np.int64) << digit
    return found
