"""A value generalization hierarchy: what each value of an attribute becomes at each level."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from shoal.definition.hierarchies.base import TOP
from shoal.errors import BadHierarchy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from shoal.values import Ints


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """The levels of an attribute, from its values (level 0, the leaves) to the most general.

    `labels[level][group]` is the text of a group and `groups[level][leaf]` the group of a leaf, so
    `groups[0]` counts 0, 1, 2 and on. `from_rows` and `without_leaves` make one, and both promise
    nesting: leaves in one group at a level are in one group at every level above.
    """

    attribute: str
    labels: tuple[tuple[str, ...], ...]
    groups: tuple[Ints, ...]

    @property
    def height(self) -> int:
        """The last level; level 0 are the values as they are."""
        return len(self.labels) - 1

    def leaves_under(self, level: int) -> Ints:
        """How many leaves each group of a level has."""
        return np.bincount(self.groups[level], minlength=len(self.labels[level])).astype(np.int64)

    def rows(self) -> Iterator[tuple[str, ...]]:
        """One row per leaf: the value, then its label at each level, as a hierarchy file has it."""
        columns = (
            [labels[group] for group in groups.tolist()]
            for labels, groups in zip(self.labels, self.groups, strict=True)
        )
        return zip(*columns, strict=True)

    @classmethod
    def from_rows(
        cls,
        attribute: str,
        rows: Sequence[Sequence[str]],
        where: Callable[[int], str],
        remedy: str = "rows with one label at a level must agree at all levels above it",
    ) -> Hierarchy:
        """The hierarchy with these rows, or BadHierarchy; groups are numbered as they appear.

        `where` names a row for people (`age.csv line 7`), `remedy` says how to repair nesting.
        """
        _refuse_misshapen(attribute, rows, where)
        labels: list[tuple[str, ...]] = []
        groups: list[Ints] = []
        for level in range(len(rows[0])):
            column = [row[level] for row in rows]
            code = {label: group for group, label in enumerate(dict.fromkeys(column))}
            if "" in code:
                raise BadHierarchy(
                    f"hierarchy of {attribute!r}: {where(column.index(''))} is empty at "
                    f"level {level}",
                    hint="fill the cell; missing values need no row, they stay missing",
                    code="empty-label",
                )
            labels.append(tuple(code))
            groups.append(np.fromiter(map(code.__getitem__, column), np.int64, len(column)))
        hierarchy = cls(attribute, tuple(labels), tuple(groups))
        hierarchy._refuse_values_twice(where)
        hierarchy._refuse_unnested(where, remedy)
        return hierarchy

    @classmethod
    def without_leaves(cls, attribute: str, levels: int) -> Hierarchy:
        """For an attribute with no value at all: so many empty levels, then `*` for the missing."""
        nothing = np.empty(0, np.int64)
        return cls(attribute, ((),) * levels + ((TOP,),), (nothing,) * (levels + 1))

    def _refuse_values_twice(self, where: Callable[[int], str]) -> None:
        groups = self.groups[0]
        if len(self.labels[0]) == len(groups):
            return
        first = _first_leaves(groups, len(self.labels[0]))
        again = int(np.flatnonzero(first[groups] != np.arange(len(groups)))[0])
        value = self.labels[0][groups[again]]
        raise BadHierarchy(
            f"hierarchy of {self.attribute!r}: the value {value!r} occurs twice, "
            f"at {where(int(first[groups[again]]))} and at {where(again)}",
            hint="keep one row for each value",
            code="value-twice",
        )

    def _refuse_unnested(self, where: Callable[[int], str], remedy: str) -> None:
        """Prove nesting between neighbouring levels, from which it follows for all pairs.

        A level nests in the one above exactly when every leaf has the same group there as the
        first leaf of its own group.
        """
        for level in range(self.height):
            groups, above = self.groups[level], self.groups[level + 1]
            first = _first_leaves(groups, len(self.labels[level]))
            wrong = np.flatnonzero(above[first[groups]] != above)
            if len(wrong):
                leaf = int(wrong[0])
                other = int(first[groups[leaf]])
                upper = self.labels[level + 1]
                raise BadHierarchy(
                    f"hierarchy of {self.attribute!r} is not nested: at level {level} the label "
                    f"{self.labels[level][groups[leaf]]!r} stands at {where(other)} and at "
                    f"{where(leaf)}, but level {level + 1} says {upper[above[other]]!r} at the "
                    f"first and {upper[above[leaf]]!r} at the second",
                    hint=remedy,
                    code="not-nested",
                )


def _first_leaves(groups: Ints, number: int) -> Ints:
    """The first leaf of each group: written from the last leaf down, the first one stays."""
    first = np.empty(number, np.int64)
    first[groups[::-1]] = np.arange(len(groups) - 1, -1, -1)
    return first


def _refuse_misshapen(
    attribute: str, rows: Sequence[Sequence[str]], where: Callable[[int], str]
) -> None:
    """Refuse no rows, and rows of different lengths."""
    if not rows:
        raise BadHierarchy(
            f"hierarchy of {attribute!r} has no values",
            hint="give one row for each value: value;level 1;...;top",
            code="empty-hierarchy",
        )
    lengths = list(map(len, rows))
    if len(set(lengths)) > 1:
        wrong = next(i for i, length in enumerate(lengths) if length != lengths[0])
        raise BadHierarchy(
            f"hierarchy of {attribute!r}: {where(wrong)} has {lengths[wrong]} cells "
            f"where {where(0)} has {lengths[0]}",
            hint="give every row the same number of levels; repeat a label to fill a level",
            code="ragged-hierarchy",
        )
