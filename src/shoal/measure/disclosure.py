"""What the classes of a table disclose about a sensitive attribute, by every privacy model."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shoal.measure import spread
from shoal.measure.distance import distance_of

if TYPE_CHECKING:
    from shoal.measure.classes import ClassName, ClassTable, Values
    from shoal.measure.distance import Ancestors

NAMED_CLASSES = 3
"""How many homogeneous classes are named."""


@dataclass(frozen=True)
class Disclosure:
    """The strongest demand of each kind that all classes meet; None where no number is enough.

    The reference is the attribute in the table itself. Recursive (c,l)-diversity holds for every c
    above `recursive_c` with l = `distinct_l`, and above `recursive_c_of_2` with l = 2; delta
    disclosure for every delta above `delta`. A homogeneous class has one value only, so it
    discloses the value of everybody known to be in it. The largest ones are `named`.
    """

    attribute: str
    values: int
    distinct_l: int
    entropy_l: float
    recursive_c: float | None
    recursive_c_of_2: float | None
    t_equal: float | None
    t_ordered: float | None
    t_hierarchical: float | None
    alpha: float | None
    beta: float | None
    enhanced_beta: float | None
    delta: float | None
    homogeneous_classes: int
    homogeneous_records: int
    named: tuple[ClassName, ...]

    def facts(self) -> list[tuple[str, str]]:
        """What was measured, as pairs to be shown."""
        numbers = [
            ("distinct l", self.distinct_l),
            ("entropy l", self.entropy_l),
            (f"recursive c, l = {max(self.distinct_l, 2)}", self.recursive_c),
            ("recursive c, l = 2", self.recursive_c_of_2),
            ("t, equal distance", self.t_equal),
            ("t, ordered distance", self.t_ordered),
            ("t, hierarchical distance", self.t_hierarchical),
            ("alpha", self.alpha),
            ("beta", self.beta),
            ("enhanced beta", self.enhanced_beta),
            ("delta", self.delta),
        ]
        if self.t_hierarchical is None:
            numbers = [pair for pair in numbers if "hierarchical" not in pair[0]]
        return [
            (what, "none" if number is None else f"{number:.6g}")
            for what, number in dict(numbers).items()
        ]


def disclosure(
    attribute: str, found: ClassTable, classes: list[Values], table: Values, tree: Ancestors | None
) -> Disclosure:
    """Measure one attribute; `tree` is its hierarchy for the hierarchical distance."""
    l = min(map(len, classes), default=0)
    homogeneous = [row for row, values in enumerate(classes) if len(values) == 1]
    largest = found.first_of(homogeneous, NAMED_CLASSES, "descending")

    def farthest(kind: str) -> float | None:
        return _worst(distance_of(kind, table, tree), classes)

    return Disclosure(
        attribute=attribute,
        values=len(table),
        distinct_l=l,
        entropy_l=min(map(spread.effective_number, classes), default=0.0),
        recursive_c=_worst(lambda values: spread.recursive_ratio(values, max(l, 2)), classes),
        recursive_c_of_2=_worst(lambda values: spread.recursive_ratio(values, 2), classes),
        t_equal=farthest("equal"),
        t_ordered=farthest("ordered"),
        t_hierarchical=farthest("hierarchical") if tree is not None else None,
        alpha=_worst(spread.largest_share, classes),
        beta=_worst(spread.gain(table), classes),
        enhanced_beta=_worst(spread.enhanced_gain(table), classes),
        delta=_worst(spread.log_ratio(table), classes),
        homogeneous_classes=len(homogeneous),
        homogeneous_records=int(found.sizes[homogeneous].sum()),
        named=tuple(found.name(row) for row in largest),
    )


def _worst(measure: spread.Measure, classes: Iterable[Values]) -> float | None:
    """The largest number of any class; None where it is infinite, or there is no class."""
    worst = max(map(measure, classes), default=math.inf)
    return worst if worst < math.inf else None
