"""What a loss is. Three kinds, since each allows its own bounds.

A *cell loss* charges each kept cell by its level and value and each suppressed record 1 per
attribute. A *level loss* charges the levels alone. A *class loss* looks at class sizes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias, runtime_checkable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from shoal.values import Ints

    Floats: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Domain:
    """A quasi-identifier as a loss sees it.

    `groups[level][code]` is the group of a value at a level; the last code means missing.
    `leaves[level][group]` is the number of leaves under a group, `weights[code]` the number of
    records with a value, and `quantifiers[level]` the loss its definition gives to a level.
    `labels[level][group]` is the text of a group; it is empty where the texts are not known.
    """

    name: str
    groups: tuple[Ints, ...]
    leaves: tuple[Ints, ...]
    weights: Ints
    quantifiers: tuple[float, ...] | None
    labels: tuple[tuple[str, ...], ...] = ()

    @property
    def height(self) -> int:
        return len(self.leaves) - 1


@runtime_checkable
class CellLoss(Protocol):
    """Charges kept cells by level and value, and each suppressed record 1 per attribute."""

    @property
    def name(self) -> str:
        """Its name in definitions and results."""

    def cell_costs(self, domain: Domain) -> tuple[Floats, ...]:
        """`costs[level][code]`, in [0, 1], never falling as the level rises."""


@runtime_checkable
class LevelLoss(Protocol):
    """Charges the level of each attribute; suppression is limited, not charged."""

    @property
    def name(self) -> str:
        """Its name in definitions and results."""

    def level_costs(self, domain: Domain) -> tuple[float, ...]:
        """The cost of each level, at least 0, never falling as the level rises."""


@runtime_checkable
class ClassLoss(Protocol):
    """Looks at the sizes of the released classes and the number of suppressed records."""

    @property
    def name(self) -> str:
        """Its name in definitions and results."""

    def class_loss(self, sizes: Ints, suppressed: int, records: int) -> float:
        """The loss when classes of these sizes are released and the rest of `records` is not."""

    def least(self, finest: Ints, dropped: int, records: int) -> float:
        """At most the loss of any release with at least `dropped` records suppressed whose classes
        are unions of classes of the `finest` sizes.

        These hold all records but some of those that are dropped.
        """


Loss: TypeAlias = CellLoss | LevelLoss | ClassLoss
