"""What each level of a hierarchy makes of a column: its labels with their records, what is missing.

The labels that are shown are bounded, the numbers are of all. Where the hierarchy does not cover
all values, the levels are those of the values it covers, and the others are listed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.encode.hierarchy import Hierarchy, build
from shoal.errors import BadHierarchy, ShoalError

if TYPE_CHECKING:
    from shoal.definition.hierarchies.base import Kind

SHOWN = 50
"""So many labels of a level are shown: those with most records, in the order of the hierarchy."""
LONGEST = 200
"""Longer labels are cut where they are shown."""


@dataclass(frozen=True)
class LevelLabels:
    """One level: how many labels it has for the values of the data, and the most frequent."""

    labels: int
    shown: tuple[tuple[str, int], ...]

    @property
    def more(self) -> int:
        return self.labels - len(self.shown)


@dataclass(frozen=True)
class Problem:
    """An error as the command line shows it."""

    what: str
    hint: str
    code: str

    @classmethod
    def of(cls, error: ShoalError) -> Problem:
        return cls(error.what, error.hint, error.code)


@dataclass(frozen=True)
class Levels:
    """What a hierarchy makes of a column. `uncovered` are the values it says nothing about.

    `levels` is empty where the hierarchy cannot be built at all; `problem` says why.
    """

    values: int
    records: int
    missing: int
    levels: tuple[LevelLabels, ...] = ()
    uncovered: int = 0
    uncovered_shown: tuple[tuple[str, int], ...] = ()
    problem: Problem | None = None

    @property
    def height(self) -> int:
        return len(self.levels) - 1

    @property
    def covered(self) -> bool:
        """Whether the hierarchy can be used: it is sound, and covers every value."""
        return self.problem is None

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Levels:
        levels = tuple(
            LevelLabels(each["labels"], _pairs(each["shown"])) for each in data["levels"]
        )
        problem = Problem(**data["problem"]) if data["problem"] else None
        shown = _pairs(data["uncovered_shown"])
        return cls(**{**data, "levels": levels, "uncovered_shown": shown, "problem": problem})


def levels_of(
    column: str, kind: Kind, counts: Mapping[str, int], missing: int
) -> tuple[Levels, Hierarchy | None]:
    """The levels of a hierarchy on a column whose values occur so often, and the hierarchy itself.

    They are the levels that the search sees: a level `*` that says no more than the level below is
    left out.
    """
    records = sum(counts.values())
    found = Levels(len(counts), records, missing)
    try:
        return _described(found, hierarchy := build(column, kind, counts), counts), hierarchy
    except BadHierarchy as error:
        problem = Problem.of(error)
        lacking = {value: counts[value] for value in error.uncovered}
    covered = {value: count for value, count in counts.items() if value not in lacking}
    found = Levels(
        len(counts), records, missing, (), len(lacking), _most_frequent(lacking), problem
    )
    if not covered or not lacking:
        return found, None
    hierarchy = build(column, kind, covered)
    return _described(found, hierarchy, covered), hierarchy


def _described(found: Levels, hierarchy: Hierarchy, counts: Mapping[str, int]) -> Levels:
    """With the labels of each level that values of the data have."""
    leaves = hierarchy.labels[0]
    weights = np.array([counts.get(leaf, 0) for leaf in leaves], np.int64)
    levels = []
    for labels, groups in zip(hierarchy.labels, hierarchy.groups, strict=True):
        records = np.bincount(groups, weights, len(labels)).astype(np.int64).tolist()
        present = {label: count for label, count in zip(labels, records, strict=True) if count}
        levels.append(LevelLabels(len(present), _most_frequent(present)))
    return replace(found, levels=tuple(levels))


def _most_frequent(counts: Mapping[str, int]) -> tuple[tuple[str, int], ...]:
    """The most frequent, in the order in which they are given."""
    chosen = set(sorted(counts, key=lambda label: (-counts[label], label))[:SHOWN])
    return tuple((_cut(label), counts[label]) for label in counts if label in chosen)


def _cut(label: str) -> str:
    return label if len(label) <= LONGEST else f"{label[: LONGEST - 1]}…"


def _pairs(pairs: Any) -> tuple[tuple[str, int], ...]:
    return tuple((label, records) for label, records in pairs)
