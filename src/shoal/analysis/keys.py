"""Which sets of columns single records out? Distinction, separation and minimal keys.

The distinction of a set is its number of classes over the number of records. Its separation is the
share of pairs of records that differ in it. Both can only grow when a column is added.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import pyarrow.compute as pc

from shoal.encode.rows import number_rows

if TYPE_CHECKING:
    import pyarrow as pa

    from shoal.values import Ints

Set = frozenset[int]

MOST_KEYS = 50
"""So many minimal keys are shown,"""
MOST_CANDIDATES = 500
"""and where more than so many sets are candidates, not all are looked for."""


@dataclass(frozen=True)
class Identifying:
    """How well a set of columns tells records apart."""

    columns: tuple[str, ...]
    distinction: float
    separation: float


@dataclass(frozen=True)
class Keys:
    """The minimal sets of columns with at least the distinction `least`, smallest first.

    Every other set with that distinction contains one of them, if they are `complete`.
    """

    least: float
    sets: tuple[Identifying, ...]
    complete: bool


class Combinations:
    """Distinct combinations of values with their numbers of records, in memory as codes."""

    def __init__(self, counted: pa.Table) -> None:
        *names, number = counted.column_names
        self.names = tuple(names)
        self.records: Ints = np.asarray(counted[number], np.int64)
        self._counted = counted
        self._codes = [_codes(counted[name]) for name in names]

    def rows(self) -> Iterator[tuple[str | None, ...]]:
        """The values of each combination, None for missing."""
        columns = (self._counted[name].to_pylist() for name in self.names)
        return zip(*columns, strict=True)

    def class_of(self, columns: Sequence[int]) -> tuple[Ints, int]:
        """The class of each combination by some of the columns, and the number of classes."""
        if not columns:
            return np.zeros(len(self.records), dtype=np.int64), min(1, len(self.records))
        codes = [self._codes[column] for column in columns]
        return number_rows(codes, [int(each.max(initial=0)) + 1 for each in codes])

    def sizes(self, columns: Sequence[int]) -> Ints:
        """The number of records of each class by some of the columns."""
        if not len(self.records):
            return np.zeros(0, dtype=np.int64)
        class_of, classes = self.class_of(columns)
        return np.bincount(class_of, self.records, classes).astype(np.int64)

    def identifying(self, columns: Sequence[int]) -> Identifying:
        """Distinction and separation of some of the columns."""
        sizes = self.sizes(columns)
        records = int(sizes.sum())
        pairs = records * (records - 1)
        alike = int((sizes * (sizes - 1)).sum())
        return Identifying(
            tuple(self.names[column] for column in columns),
            len(sizes) / records if records else 0.0,
            1 - alike / pairs if pairs else 0.0,
        )


def _codes(column: pa.ChunkedArray) -> Ints:
    """Equal values have equal codes; missing has one of its own."""
    encoded = pc.dictionary_encode(column.combine_chunks(), null_encoding="encode")
    return np.asarray(encoded.indices, np.int64)


def small_sets(found: Combinations, most: int) -> tuple[Identifying, ...]:
    """Every set of up to `most` columns, the best separating ones of each size first."""
    columns = range(len(found.names))
    sets: list[Identifying] = []
    for size in range(1, min(most, len(found.names)) + 1):
        measured = [found.identifying(each) for each in combinations(columns, size)]
        sets += sorted(measured, key=lambda each: (-each.separation, each.columns))
    return tuple(sets)


def minimal_keys(found: Combinations, least: float = 1.0, most: int = MOST_KEYS) -> Keys:
    """The minimal sets with at least the distinction `least`, without trying all sets."""
    records = max(1, int(found.records.sum()))
    needed = least * records - 1e-9

    def is_key(columns: Set) -> bool:
        return found.class_of(sorted(columns))[1] >= needed

    keys, complete = minimal_sets(len(found.names), is_key, most)
    return Keys(least, tuple(found.identifying(sorted(each)) for each in keys), complete)


def minimal_sets(columns: int, holds: Callable[[Set], bool], most: int) -> tuple[list[Set], bool]:
    """The minimal sets for which a monotone property holds, and whether these are all.

    Dualize and advance (Gunopulos et al. 2003): a set holds only if it meets the complement of
    every maximal set that does not hold. So the minimal sets that meet all complements known so
    far are tried. One that does not hold is grown to a maximal one, whose complement is new. When
    all of them hold, they are the answer. Tries are about the number of minimal sets, plus the
    number of maximal ones times the columns. Where there are very many, some minimal sets are
    found by leaving out columns one after the other.
    """
    everything = frozenset(range(columns))
    if not holds(everything):
        return [], True
    complements: list[Set] = []
    candidates: list[Set] = [frozenset()]
    proved: set[Set] = set()
    while len(candidates) <= MOST_CANDIDATES:
        failing = _first_failing(candidates, holds, proved)
        if failing is None:
            return candidates[:most], len(candidates) <= most
        complements.append(everything - _grown(failing, everything, holds))
        candidates = _transversals(candidates, complements[-1])
    found = {_shrunk(everything, first, holds) for first in range(columns)}
    return sorted(found, key=_size_first)[:most], False


def _first_failing(
    candidates: Sequence[Set], holds: Callable[[Set], bool], proved: set[Set]
) -> Set | None:
    """The first candidate that does not hold; those that do are kept in `proved`."""
    for each in candidates:
        if each in proved:
            continue
        if not holds(each):
            return each
        proved.add(each)
    return None


def _shrunk(everything: Set, first: int, holds: Callable[[Set], bool]) -> Set:
    """A minimal set that holds; columns are left out in turn, from one of them on."""
    found = everything
    for column in sorted(everything, key=lambda each: (each < first, each)):
        if holds(found - {column}):
            found -= {column}
    return found


def _size_first(columns: Set) -> tuple[int, list[int]]:
    return len(columns), sorted(columns)


def _grown(start: Set, everything: Set, holds: Callable[[Set], bool]) -> Set:
    """A maximal set around one that does not hold."""
    grown = start
    for column in sorted(everything - start):
        larger = grown | {column}
        if not holds(larger):
            grown = larger
    return grown


def _transversals(found: Sequence[Set], complement: Set) -> list[Set]:
    """The minimal sets that meet one more set, from those that meet all others (Berge)."""
    meeting = [each for each in found if each & complement]
    others = {each | {column} for each in found if not each & complement for column in complement}
    new = [each for each in others if not any(other <= each for other in meeting)]
    return sorted([*meeting, *new], key=_size_first)
