"""What the verifier needs to know about the labels of a hierarchy, and what all builders share.

Two questions: whether a label, as a release has it, can be one of its level, and what a value
of the source becomes at a level. Both are answered from the description of the hierarchy, so a
fault in the code that builds hierarchies is not repeated here.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

TOP = "*"
"""The label of the level that is added above a builder's last level."""


class Labels(Protocol):
    """The labels of one hierarchy, level by level."""

    @property
    def height(self) -> int:
        """The greatest level there can be."""

    def misfits(self, level: int, labels: Sequence[str]) -> list[str]:
        """Those of a column's distinct labels that cannot be of this level."""

    def single(self, level: int, labels: Sequence[str]) -> bool:
        """Whether this is certainly the last level and has one value only.

        Missing becomes that value, so a missing value that is still there is a fault.
        """

    @property
    def last(self) -> int:
        """The lowest level from which on no value differs more; a builder must know the values."""

    def generalized(self, level: int) -> Mapping[str, str]:
        """What values become at a level up to `height`; one that is not covered is left out.

        A builder answers for the values that it knows, a list of labels for all that it lists.
        """


class Built(ABC):
    """The labels of a hierarchy made by a builder with so many `listed` levels above the values.

    `values` are the distinct values of the source, None when they are not known. Whether `*` was
    added above the last listed level depends on them: it was when that level has several labels.
    """

    def __init__(self, listed: int, values: Collection[str] | None) -> None:
        self.listed = listed
        self.values = None if values is None else frozenset(values)

    @property
    def height(self) -> int:
        """The listed levels and the `*` above them."""
        return self.listed + 1

    def misfits(self, level: int, labels: Sequence[str]) -> list[str]:
        """Level 0 holds values of the source, the level above the listed ones nothing but `*`."""
        if level == 0 and self.values is not None:
            return [label for label in labels if label not in self.values]
        if level == 0:
            return [label for label in labels if not self.is_value(label)]
        if level == self.listed + 1:
            return [label for label in labels if label != TOP]
        return self.listed_misfits(level, labels)

    def single(self, level: int, labels: Sequence[str]) -> bool:
        """True for `*`, and for the last listed level where one label means all values."""
        if level == self.listed + 1:
            return True
        return level == self.listed and len(labels) == 1 and self.is_whole(labels[0])

    @property
    def last(self) -> int:
        """The last listed level where all values have one label there, else the `*` above it."""
        single = self.listed and len(set(self.generalized(self.listed).values())) == 1
        return self.listed if single else self.listed + 1

    def generalized(self, level: int) -> dict[str, str]:
        """The values themselves, their labels, or `*`."""
        values = self.values or ()
        if level == 0:
            return {value: value for value in values}
        if level == self.listed + 1:
            return dict.fromkeys(values, TOP)
        return self.labelled(level)

    @abstractmethod
    def labelled(self, level: int) -> dict[str, str]:
        """`generalized` for the levels 1 to `listed`."""

    @abstractmethod
    def is_value(self, label: str) -> bool:
        """Whether it may be an original value, by its form."""

    @abstractmethod
    def listed_misfits(self, level: int, labels: Sequence[str]) -> list[str]:
        """`misfits` for the levels 1 to `listed`."""

    @abstractmethod
    def is_whole(self, label: str) -> bool:
        """Whether this label of the last listed level certainly means every value."""


def missing_label(labels: Labels, level: int) -> str | None:
    """What a missing value becomes: from the last level on its single label, else still missing."""
    if level < labels.last:
        return None
    there = set(labels.generalized(level).values()) or {TOP}
    return there.pop() if len(there) == 1 else None
