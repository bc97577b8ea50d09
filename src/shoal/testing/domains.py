"""Random quasi-identifiers, as a loss sees them, and every release of a few small classes."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from shoal.loss.base import Domain


def random_domains(seed: int, number: int) -> Iterator[Domain]:
    """Domains of up to six values and four levels, some values rare, absent or missing.

    A level merges groups of the one below. Missing is a group of its own at every level, but for
    the last one where this has a single group. Every array is read-only.
    """
    draw = random.Random(seed)  # noqa: S311
    for _ in range(number):
        values = draw.randint(1, 6)
        levels = [list(range(values))]
        for _ in range(draw.randint(0, 3)):
            merged = [draw.randrange(3) for _ in range(values)]
            levels.append(_renumbered([merged[group] for group in levels[-1]]))
        if draw.random() < 0.5:
            levels.append([0] * values)
        weights = [draw.choice([0, 1, 2, 5, 40]) for _ in range(values + 1)]
        rising = sorted(draw.random() for _ in levels)
        yield domain_of(levels, weights, tuple(rising) if draw.random() < 0.5 else None)


def domain_of(
    levels: Sequence[Sequence[int]],
    weights: Sequence[int],
    quantifiers: tuple[float, ...] | None = None,
) -> Domain:
    """A domain from the group of each value at each level; the last weight is that of missing."""
    groups, leaves = [], []
    for level, group_of in enumerate(levels):
        under = np.bincount(group_of)
        joins_top = level == len(levels) - 1 and len(under) == 1
        groups.append(np.array([*group_of, 0 if joins_top else len(under)], dtype=np.int64))
        leaves.append(under.astype(np.int64))
    counted = np.array(weights, dtype=np.int64)
    for array in (*groups, *leaves, counted):
        array.setflags(write=False)
    return Domain("domain", tuple(groups), tuple(leaves), counted, quantifiers)


@dataclass(frozen=True)
class Release:
    """The sizes of the finest classes and of the released ones, and the suppressed records.

    Of the `suppressed` records `gone` are in none of the finest classes.
    """

    finest: tuple[int, ...]
    sizes: tuple[int, ...]
    suppressed: int
    gone: int

    @property
    def records(self) -> int:
        return sum(self.finest) + self.gone


def random_releases(seed: int, tables: int) -> Iterator[Release]:
    """Every release of some tables: all ways to unite finest classes, and to suppress unions."""
    draw = random.Random(seed)  # noqa: S311
    for _ in range(tables):
        finest = tuple(draw.choice([1, 1, 2, 3, 7]) for _ in range(draw.randint(1, 5)))
        gone = draw.choice([0, 0, 1, 4])
        for unions in sorted(set(_partitions(finest))):
            for kept in itertools.product([False, True], repeat=len(unions)):
                sizes = tuple(itertools.compress(unions, kept))
                yield Release(finest, sizes, sum(finest) + gone - sum(sizes), gone)


def _partitions(sizes: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """The sizes of the unions, for every way to unite classes."""
    if not sizes:
        yield ()
        return
    first, rest = sizes[0], sizes[1:]
    for unions in _partitions(rest):
        yield tuple(sorted((first, *unions)))
        for i, union in enumerate(unions):
            yield tuple(sorted((*unions[:i], union + first, *unions[i + 1 :])))


def _renumbered(groups: list[int]) -> list[int]:
    """The same groups, numbered from 0 without a gap."""
    rank = {group: i for i, group in enumerate(sorted(set(groups)))}
    return [rank[group] for group in groups]
