"""Random classes of records with a sensitive value each, small enough for an exhaustive check."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from shoal.values import Counts, Histogram, Reference

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from shoal.values import Ints

Record: TypeAlias = str | None
"""A record is its sensitive value, None where that is missing."""

Class: TypeAlias = tuple[Record, ...]

TREE: Mapping[str, tuple[int, ...]] = {
    "a": (0, 0, 0),
    "b": (1, 0, 0),
    "c": (2, 1, 0),
    "d": (3, 1, 0),
    "e": (4, 2, 0),
}
"""The values, and the group of each at every level of their hierarchy."""

MISSING = (5, 3, 0)
"""The groups of a missing value that counts as a value: its own, except at the top level."""


@dataclass(frozen=True)
class Case:
    """Some classes of a table; `others` are its further records, the suppressed ones.

    `missing_is_value` says whether a missing value counts as one more value or as none.
    """

    classes: tuple[Class, ...]
    others: Class
    missing_is_value: bool

    @property
    def table(self) -> Counter[Record]:
        """The values of the whole table, as a model sees them."""
        return self.values_of([record for each in (*self.classes, self.others) for record in each])

    def values_of(self, records: Sequence[Record]) -> Counter[Record]:
        """The values of some records, without the missing ones where these count as none."""
        return Counter(r for r in records if self.missing_is_value or r is not None)

    def counts(self, attribute: str | None, classes: Sequence[Class] | None = None) -> Counts:
        """Classes of this table, all by default, as a model of the attribute sees them.

        Every array is read-only, so that a model which writes to its input is caught.
        """
        chosen = self.classes if classes is None else classes
        sizes = _ints([len(each) for each in chosen])
        if attribute is None:
            return Counts(sizes)
        return Counts(sizes, {attribute: self._histogram(chosen)})

    def _histogram(self, classes: Sequence[Class]) -> Histogram:
        reference = self._reference()
        rank = {value: i for i, value in enumerate(reference.values)}
        entries = [
            sorted((rank[value], count) for value, count in self.values_of(each).items())
            for each in classes
        ]
        return Histogram(
            _ints([0, *itertools.accumulate(len(each) for each in entries)]),
            _ints([value for each in entries for value, _ in each]),
            _ints([count for each in entries for _, count in each]),
            reference,
        )

    def _reference(self) -> Reference:
        table = self.table
        values = sorted(table, key=lambda value: (value is None, value or ""))
        groups = [MISSING if value is None else TREE[value] for value in values]
        return Reference(
            tuple(values),
            _ints([table[value] for value in values]),
            tuple(_ints([group[level] for group in groups]) for level in range(len(MISSING))),
        )


def random_cases(seed: int, number: int) -> Iterator[Case]:
    """Cases of up to four classes of up to eight records, some of them without a value."""
    draw = random.Random(seed)  # noqa: S311
    for _ in range(number):
        values: list[Record] = [*itertools.islice(TREE, draw.randint(1, len(TREE)))]
        if draw.random() < 0.5:
            values.append(None)
        lean = [draw.random() ** 2 + 0.05 for _ in values]
        classes = tuple(
            tuple(draw.choices(values, lean, k=draw.randint(1, 8)))
            for _ in range(draw.randint(1, 4))
        )
        others = tuple(draw.choices(values, k=draw.choice([0, 0, 3, 9])))
        yield Case(classes, others, draw.random() < 0.5)


def parts(records: Class) -> list[Class]:
    """Every non-empty part of a class, as a multiset."""
    counted = sorted(Counter(records).items(), key=repr)
    kinds = [[(value,) * taken for taken in range(count + 1)] for value, count in counted]
    found = (tuple(itertools.chain(*chosen)) for chosen in itertools.product(*kinds))
    return [part for part in found if part]


def many_classes(attribute: str | None, classes: int, seed: int = 1) -> Counts:
    """Many classes, each with four of twenty values, in random order."""
    draw = np.random.default_rng(seed)
    counts = draw.integers(1, 30, (classes, 4))
    values = np.sort(np.argsort(draw.random((classes, 20)), axis=1)[:, :4], axis=1)
    table = np.bincount(values.ravel(), weights=counts.ravel(), minlength=20)
    leaves = np.arange(20)
    reference = Reference(
        tuple(f"v{value:02}" for value in leaves),
        _ints(table),
        (_ints(leaves), _ints(leaves // 5), _ints(leaves * 0)),
    )
    histogram = Histogram(
        _ints(np.arange(classes + 1) * 4), _ints(values.ravel()), _ints(counts.ravel()), reference
    )
    histograms = {} if attribute is None else {attribute: histogram}
    return Counts(_ints(counts.sum(axis=1)), histograms)


def _ints(numbers: ArrayLike) -> Ints:
    array = np.array(numbers, dtype=np.int64)
    array.setflags(write=False)
    return array
