"""A value generalization hierarchy: what each value of an attribute becomes at each level.

`Hierarchy` is proved to be nested when it is made. `build` makes one from its definition and the
values of the data, `read_hierarchy` from a CSV file in the format of ARX (see
`shoal.definition.hierarchies.listed`), and `write_hierarchy` writes such a file.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from shoal.definition.hierarchies.base import TOP, refuse_uncovered
from shoal.definition.hierarchies.listed import Csv
from shoal.errors import BadData, BadHierarchy, BadOutput

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from shoal.definition.hierarchies.base import Kind
    from shoal.definition.model import Attribute
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
                    f"{self.labels[level][groups[leaf]]!r} is at {where(other)} and at "
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


def build(attribute: str, kind: Kind, counts: Mapping[str, int], *, lowest: int = 0) -> Hierarchy:
    """The hierarchy of an attribute whose values occur so often; missing values are not among them.

    Every value is a leaf, or BadHierarchy says which are not. Files and trees may have more leaves
    than the data. All other kinds have exactly the values as leaves, in their natural order, so
    that a hierarchy written to a file and read again costs the same.

    Their last level is `*`. It says no more than the level below where that has a single label on
    this data, so there it is left out, unless `lowest`, the lowest level that may be used, is that
    level.
    """
    if not counts and not kind.names_values:
        return Hierarchy.without_leaves(attribute, levels=(kind.listed or 0) + 1)
    found = kind.rows(attribute, counts)
    rows = found.rows if kind.names_values else _with_top(found.rows, lowest)
    hierarchy = Hierarchy.from_rows(attribute, rows, found.where, remedy=kind.nesting)
    leaves = frozenset(hierarchy.labels[0])
    uncovered = [value for value in counts if value not in leaves]
    refuse_uncovered(attribute, uncovered, counts, _remedy(kind, hierarchy))
    return hierarchy


def levels_of(
    name: str, declared: Attribute, hierarchy: Hierarchy
) -> tuple[int, tuple[float, ...] | None]:
    """The highest level that may be used, and the losses of the levels; BadData if they do not fit.

    A definition may name the level `*` of a builder also where `build` left it out, since it says
    no more than the level below: a limit there allows all levels, and its loss is never paid.
    """
    limit, losses, height = declared.limit, declared.information_loss, hierarchy.height
    known = declared.hierarchy.heights if declared.hierarchy else None
    highest = height if known is None else max(height, known[1])
    if declared.lowest > height:
        raise BadData(
            f"attributes.{name}.from is {declared.lowest}, but the hierarchy ends at level "
            f"{highest}",
            code="from-above-hierarchy",
            hint=f"write a level from 0 to {highest}, or leave it out",
        )
    if limit is not None and limit > highest:
        raise BadData(
            f"attributes.{name}.limit is {limit}, but the hierarchy ends at level {highest}",
            code="limit-above-hierarchy",
            hint=f"set the limit to {highest} or less, or leave it out",
        )
    if losses is not None and len(losses) not in (height + 1, highest + 1):
        raise BadData(
            f"attributes.{name}.information loss has {len(losses)} numbers, but on this data the "
            f"hierarchy has {height + 1} levels",
            code="losses-of-levels",
            hint="give one number for each level; `shoal hierarchy show` shows them",
        )
    return (
        height if limit is None else min(limit, height),
        None if losses is None else losses[: height + 1],
    )


def _with_top(rows: Sequence[tuple[str, ...]], lowest: int) -> Sequence[tuple[str, ...]]:
    """The rows with a level `*`, unless their last level is a single label already."""
    listed = max(map(len, rows), default=1) - 1
    repeats = listed > 0 and len({row[-1] for row in rows}) == 1
    return rows if repeats and lowest <= listed else [(*row, TOP) for row in rows]


def _remedy(kind: Kind, hierarchy: Hierarchy) -> str:
    """How to cover more values; a file of one column may just have another delimiter."""
    if not isinstance(kind, Csv):
        return (
            "add each as a leaf of the tree"
            if kind.names_values
            else ("choose another hierarchy, or builder")
        )
    if hierarchy.height == 0:
        return (
            f"{kind.path.name} has one column when split at {kind.delimiter!r}: give its "
            'delimiter, as {path: file.csv, delimiter: ","}'
        )
    return f"add a row for each to {kind.path.name}: value;level 1;...;top"


_NEEDS_QUOTES = re.compile(r'[;"\r\n]|^[\s#\ufeff]|\s$')


def read_hierarchy(attribute: str, path: Path, delimiter: str = ";") -> Hierarchy:
    """The hierarchy in a file; BadHierarchy names the line of the first mistake."""
    found = Csv(path=path, delimiter=delimiter).rows(attribute, {})
    return Hierarchy.from_rows(attribute, found.rows, found.where)


def write_hierarchy(hierarchy: Hierarchy, path: Path, overwrite: bool = False) -> None:
    """Write the hierarchy so that `read_hierarchy` and ARX read the same; a file there is kept."""
    if not hierarchy.labels[0]:
        raise BadHierarchy(
            f"hierarchy of {hierarchy.attribute!r} has no values to write",
            hint="the column is empty or wholly missing",
            code="empty-hierarchy",
        )
    try:
        with path.open("w" if overwrite else "x", encoding="utf-8", newline="") as file:
            file.writelines(";".join(map(_cell, row)) + "\n" for row in hierarchy.rows())
    except FileExistsError:
        raise BadOutput(
            f"{path} exists already", hint="use --force to overwrite it", code="file-exists"
        ) from None
    except OSError as error:
        raise BadOutput(
            f"cannot write {path}: {error.strerror}",
            hint="choose a folder that exists and that you may write to",
            code="unwritable-output",
        ) from None


def _cell(text: str) -> str:
    """Quoted where a reader needs it: also outer spaces, and '#', which some take for a comment."""
    return '"' + text.replace('"', '""') + '"' if _NEEDS_QUOTES.search(text) else text
