"""The losses that Shoal ships: by cell, by level (`Weighted`), by class (the last two)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from shoal.loss.intervals import widths_of

if TYPE_CHECKING:
    from shoal.loss.base import Domain, Floats
    from shoal.values import Ints


@dataclass(frozen=True)
class Iyengar:
    """A kept cell costs (leaves under its value - 1) / (leaves of the hierarchy - 1).

    A group above contains the group below, so the cost never falls. A missing cell has no value
    to lose and costs 0, as does every cell of a hierarchy with one leaf.

    With `intervals` at `width` a cell of a column of intervals costs the width of its interval over
    the range of the column, as Iyengar defines it for numbers (intervals.py says which columns
    these are, and what the range is).
    """

    intervals: Literal["values", "width"] = "values"
    name: ClassVar[str] = "iyengar"

    def __post_init__(self) -> None:
        if self.intervals not in ("values", "width"):
            raise ValueError("intervals must be 'values' or 'width'")

    def cell_costs(self, domain: Domain) -> tuple[Floats, ...]:
        widths = widths_of(domain) if self.intervals == "width" else None
        if widths is not None:
            return _costs_of_widths(domain, widths)
        costs = []
        others = max(len(domain.leaves[0]) - 1, 1)
        for groups, leaves in zip(domain.groups, domain.leaves, strict=True):
            cost = np.zeros(len(groups))
            cost[:-1] = (leaves[groups[:-1]] - 1) / others
            costs.append(cost)
        return tuple(costs)


def _costs_of_widths(domain: Domain, widths: tuple[Floats, ...]) -> tuple[Floats, ...]:
    """The width of the interval of each code, 0 for missing.

    Labels may contradict each other, and state a narrower interval than one below. The wider one
    counts, so that the cost never falls.
    """
    costs: list[Floats] = []
    for groups, of_group in zip(domain.groups, widths, strict=True):
        cost = np.zeros(len(groups))
        cost[:-1] = of_group[groups[:-1]]
        costs.append(np.maximum(cost, costs[-1]) if costs else cost)
    return tuple(costs)


@dataclass(frozen=True)
class Precision:
    """A kept cell costs level / height; a missing one, which has no value to lose, 0."""

    name: ClassVar[str] = "precision"

    def cell_costs(self, domain: Domain) -> tuple[Floats, ...]:
        costs = []
        for level, groups in enumerate(domain.groups):
            cost = np.full(len(groups), level / max(domain.height, 1))
            cost[-1] = 0.0
            costs.append(cost)
        return tuple(costs)


@dataclass(frozen=True)
class NonUniformEntropy:
    """A kept cell costs log2(f(b) / f(a)) bits, over the most bits a cell of its column can cost.

    f(a) is how many records of the table have the original value, f(b) how many have the released
    one. Missing joins the only value of a hierarchy of one level, and has it from the start. Groups
    only grow, so f(b) and the cost never fall. The most bits are those of the rarest
    value when nothing is known of it, log2(records / f(rarest)), so costs stay within [0, 1]. A
    missing cell costs 0.
    """

    name: ClassVar[str] = "entropy"

    def cell_costs(self, domain: Domain) -> tuple[Floats, ...]:
        weights = domain.weights
        occurring = weights[:-1] > 0
        rarest = weights[:-1][occurring].min(initial=int(weights.sum()) or 1)
        most = np.log2(max(int(weights.sum()), 1) / rarest)
        original = np.bincount(domain.groups[0], weights=weights)[domain.groups[0]]
        costs = []
        for groups in domain.groups:
            together = np.bincount(groups, weights=weights)[groups]
            cost = np.zeros(len(groups))
            if most > 0:
                bits = np.log2(together[:-1][occurring] / original[:-1][occurring])
                cost[:-1][occurring] = np.minimum(bits / most, 1.0)
            costs.append(cost)
        return tuple(costs)


@dataclass(frozen=True)
class Weighted:
    """A level costs the quantifier that the definition gives it (`information loss`).

    Without quantifiers level i of a hierarchy of height h costs i / h. The loss of a node is the
    sum over its attributes of priority times quantifier; suppression is limited but not charged.
    """

    name: ClassVar[str] = "weighted"

    def level_costs(self, domain: Domain) -> tuple[float, ...]:
        if domain.quantifiers is not None:
            return domain.quantifiers
        return tuple(level / max(domain.height, 1) for level in range(domain.height + 1))


@dataclass(frozen=True)
class Discernibility:
    """A released record pays the size of its class, a suppressed one the size of the table.

    The sum is divided by records squared, what it costs to suppress everything, so it is in [0, 1].
    """

    name: ClassVar[str] = "discernibility"

    def class_loss(self, sizes: Ints, suppressed: int, records: int) -> float:
        return float((sizes.astype(float) ** 2).sum() + records * suppressed) / records**2

    def least(self, finest: Ints, dropped: int, records: int) -> float:
        """Each record pays at least its finest class; each dropped one pays `records` instead.

        Which are dropped is not known: the least is paid when those of the largest finest classes
        are. So a bound never falls as finest classes merge, for then no record pays less.
        """
        sizes = np.sort(finest).astype(float)
        stay = np.clip(records - dropped - (np.cumsum(sizes) - sizes), 0, sizes)
        return float((stay * sizes).sum() + dropped * records) / records**2


@dataclass(frozen=True)
class ClassSize:
    """Records of the table per released class.

    Suppressed records count as records but form no class, so suppression alone never lowers it.
    """

    name: ClassVar[str] = "class-size"

    def class_loss(self, sizes: Ints, suppressed: int, records: int) -> float:  # noqa: ARG002
        return records / max(len(sizes), 1)

    def least(self, finest: Ints, dropped: int, records: int) -> float:
        """No more classes than the finest, nor than records that stay."""
        return records / max(min(len(finest), records - dropped), 1)
