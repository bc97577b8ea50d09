"""What a privacy model is. The search, the bounds and the report rely on nothing else.

The second half is arithmetic that models share: counts and shares of sensitive values in many
classes at once. At the end shares are capped: no value may have more than a share of a class, as
alpha, beta and delta demand. A cap on shares is linear in counts, so it is closed under union.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, runtime_checkable

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shoal.values import Bools, Counts, Histogram, Ints

    Floats: TypeAlias = NDArray[np.float64]


class PrivacyModel(Protocol):
    """A demand on classes: a small frozen value whose parameters were checked when it was made."""

    @property
    def name(self) -> str:
        """Its name in definitions and results."""

    @property
    def attribute(self) -> str | None:
        """The sensitive attribute it looks at, None when sizes are enough."""

    @property
    def closed_under_union(self) -> bool:
        """Whether the union of disjoint classes that satisfy it satisfies it.

        Bounds use `least_removal` only where this is true.
        """

    @property
    def higher_is_safer(self) -> bool:
        """Whether a higher value reached means more protection, as for k, or less, as for t."""

    def demanded(self) -> str:
        """The demand as people write it, such as `k >= 5`."""

    def satisfied(self, counts: Counts) -> Bools:
        """For each class whether it may be released; exact."""

    def least_removal(self, counts: Counts) -> Ints:
        """For each class a number of records that are suppressed however the class is split.

        With closure under union the kept part of a class satisfies the model itself, so the least
        number of records whose removal leaves a class that can satisfy it is a right answer. Any
        smaller number is right too, and 0 always is.
        """

    def reached(self, counts: Counts) -> float:
        """The strongest demand of this kind that all these classes meet."""


@runtime_checkable
class TableModel(Protocol):
    """What a model adds that looks at all released classes together, such as an average.

    Classes are numbered in the order of their groups, attribute by attribute, wherever `keep` is
    called. So ties do not depend on the order of records.
    """

    def keep(self, counts: Counts, kept: Bools) -> Bools:
        """Those of the kept classes that stay, so that the demand holds for them; exact.

        All models of the table together are met when none of them drops a further class.
        """

    def most_released(self, counts: Counts, most: Ints) -> int:
        """A number of records that no node releases more of, at these classes or parts of them.

        At most `most` records of each class are released, by the models of classes.
        """


@runtime_checkable
class PlainModel(Protocol):
    """What a plug-in adds to a model, so that the verifier can judge a release by it.

    The verifier shares no code with the search, so it does not ask `satisfied`.
    """

    def demanded(self) -> str:
        """The demand as people write it."""

    def holds(
        self, size: int, values: Mapping[str | None, int], table: Mapping[str | None, int]
    ) -> bool:
        """Whether a class of `size` records may be released; plain Python, exact.

        `values` are the sensitive values of the class with their records, `table` those of the
        whole source, suppressed records included. A missing value is left out of both, or is None
        where the definition counts it as a value. Both are empty for a model without an attribute.
        Where persons are counted, `size` is the number of persons, and for a model of an attribute
        all three count distinct pairs of person and value.
        """


def accepts(model: PrivacyModel, counts: Counts) -> Bools:
    """For each class whether the model lets it be released, by records or by persons."""
    return model.satisfied(counts.of(model.attribute))


def reaches(model: PrivacyModel, counts: Counts) -> float:
    """The strongest demand of the model's kind that all classes meet, by records or by persons."""
    return model.reached(counts.of(model.attribute))


def certain_removal(model: PrivacyModel, counts: Counts) -> Ints:
    """For each class a number of records that are suppressed however the class is split.

    By records that is the model's `least_removal`. A person can be in several parts of a class, so
    by persons a union of parts that satisfy the model need not satisfy it, and less can be
    concluded. One conclusion holds: where all members must be removed, no subset of them satisfies
    the model. The members of each part of the class are such a subset, so every part is suppressed,
    and with it all records.
    """
    if not model.closed_under_union:
        return np.zeros(len(counts.sizes), dtype=np.int64)
    seen = counts.of(model.attribute)
    least = model.least_removal(seen)
    return least if seen is counts else np.where(least >= seen.sizes, counts.sizes, 0)


def released(models: Sequence[PrivacyModel], counts: Counts) -> Bools:
    """For each class whether it is released: all models accept it, and no model drops it further.

    Models of the table take their turns until none drops a class.
    """
    kept = np.ones(len(counts.sizes), dtype=np.bool_)
    for model in models:
        kept &= accepts(model, counts)
    of_table = [model for model in models if isinstance(model, TableModel)]
    before = -1
    while of_table and before != kept.sum():
        before = int(kept.sum())
        for model in of_table:
            kept = model.keep(counts, kept)
    return kept


def meets(model: PrivacyModel, counts: Counts) -> bool:
    """Whether these classes may be released together, by one model."""
    return bool(released([model], counts).all())


@dataclass(frozen=True, eq=False)
class Removal:
    """What is suppressed however classes are split: records of each class, and `further` ones.

    Models of the table say how many records go, but not of which classes: so many more than those
    of `each`, in any class.
    """

    each: Ints
    further: int = 0

    @property
    def records(self) -> int:
        """The records in all."""
        return int(self.each.sum()) + self.further


def certain_removals(models: Sequence[PrivacyModel], counts: Counts) -> Removal:
    """What is suppressed of these classes, however they are split, by all models together."""
    each = np.zeros(len(counts.sizes), dtype=np.int64)
    for model in models:
        each = np.maximum(each, certain_removal(model, counts))
    most = counts.sizes - each
    stay = int(most.sum())
    least = min(
        (m.most_released(counts, most) for m in models if isinstance(m, TableModel)), default=stay
    )
    return Removal(each, max(stay - least, 0))


TOLERANCE = 1e-12
"""Sums of floats are compared with this tolerance, so that a value on the limit satisfies."""


def classes(histogram: Histogram) -> int:
    """How many classes the histogram has."""
    return len(histogram.starts) - 1


def owners(histogram: Histogram) -> Ints:
    """The class of each entry."""
    return np.repeat(np.arange(classes(histogram)), np.diff(histogram.starts))


def per_class(histogram: Histogram, entries: NDArray[Any]) -> Floats:
    """The sum of a number per entry over each class; 0 for a class without entries."""
    sums = np.bincount(owners(histogram), weights=entries, minlength=classes(histogram))
    return sums.astype(np.float64)


def totals(histogram: Histogram) -> Ints:
    """The records of each class that have a value."""
    return per_class(histogram, histogram.counts).astype(np.int64)


def distinct(histogram: Histogram) -> Ints:
    """The number of different values in each class."""
    return np.diff(histogram.starts)


def largest(histogram: Histogram, entries: NDArray[Any]) -> Floats:
    """The largest of a number per entry in each class; 0 for a class without entries."""
    found = np.zeros(classes(histogram))
    np.maximum.at(found, owners(histogram), entries)
    return found


def descending(histogram: Histogram) -> tuple[Ints, Ints]:
    """The counts sorted downwards within each class, and each one's rank there, from 0."""
    owner = owners(histogram)
    order = np.lexsort((-histogram.counts, owner))
    ranks = np.arange(len(owner)) - histogram.starts[owner]
    return histogram.counts[order], ranks


def ceiling(numbers: Floats) -> Ints:
    """Rounded up, but not for a rounding error: never above the true number."""
    return np.maximum(np.ceil(numbers - 1e-9), 0).astype(np.int64)


SHARE_TOLERANCE = 1e-9
"""Shares times records are compared with this tolerance."""


def reference_shares(histogram: Histogram) -> Floats:
    """The share of each value in the whole table."""
    return histogram.reference.counts / max(int(histogram.reference.counts.sum()), 1)


def within(histogram: Histogram, caps: Floats, tolerance: float = SHARE_TOLERANCE) -> Bools:
    """The classes in which every value has at most its cap of the records; an empty one fails."""
    records = totals(histogram)
    over = histogram.counts > caps[histogram.values] * records[owners(histogram)] + tolerance
    fits: Bools = (per_class(histogram, over) == 0) & (records > 0)
    return fits


def kept_at_most(histogram: Histogram, caps: Floats) -> Ints:
    """No part of a class with more records than this is within the caps.

    A part of `M` records has at most min(n_v, caps[v] * M) of each value, so M is at most the sum
    of these. The sum minus M is concave in M and 0 at 0: the M that pass are 0 to some M*, found by
    bisection.
    """
    owner = owners(histogram)
    low = np.zeros(len(histogram.starts) - 1, dtype=np.int64)
    high = totals(histogram) + 1
    while (high - low > 1).any():
        middle = (low + high) // 2
        most = np.minimum(histogram.counts, caps[histogram.values] * middle[owner])
        enough = per_class(histogram, most) >= middle - SHARE_TOLERANCE
        low, high = np.where(enough, middle, low), np.where(enough, high, middle)
    return low


def removal(sizes: Ints, records: Ints, kept: Ints, satisfied: Bools) -> Ints:
    """The least removal: 0 for a class that satisfies, all of one of which nothing can stay."""
    return np.where(satisfied, 0, np.where(kept == 0, sizes, records - kept))
