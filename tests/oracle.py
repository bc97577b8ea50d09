"""Slow, obvious Python that says what the right answer is: fractions, dictionaries and loops."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

Cell = str | None
Row = tuple[Cell, ...]


@dataclass(frozen=True)
class Ladder:
    """A hierarchy: for each value its labels, from the value itself to the top."""

    steps: dict[str, tuple[str, ...]]

    @property
    def height(self) -> int:
        return len(next(iter(self.steps.values()))) - 1

    def label(self, value: Cell, level: int) -> Cell:
        tops = {steps[-1] for steps in self.steps.values()}
        if value is None:
            return tops.pop() if level == self.height and len(tops) == 1 else None
        return self.steps[value][level]

    def leaves(self, value: str, level: int) -> int:
        label = self.steps[value][level]
        return sum(1 for steps in self.steps.values() if steps[level] == label)

    def iyengar(self, value: Cell, level: int) -> Fraction:
        if value is None or len(self.steps) == 1:
            return Fraction(0)
        return Fraction(self.leaves(value, level) - 1, len(self.steps) - 1)


@dataclass(frozen=True)
class Outcome:
    """A node with its exact loss, the suppressed records, and the released rows."""

    loss: Fraction
    suppressed: int
    node: tuple[int, ...]
    released: tuple[Row, ...]


def outcome(
    rows: Sequence[Row],
    ladders: Sequence[Ladder],
    node: tuple[int, ...],
    k: int,
    priorities: Sequence[Fraction],
) -> Outcome:
    """What releasing at a node means."""
    labelled = [
        tuple(
            ladder.label(cell, level)
            for ladder, cell, level in zip(ladders, row, node, strict=False)
        )
        for row in rows
    ]
    sizes = Counter(labelled)
    loss = Fraction(0)
    released = []
    for row, labels in zip(rows, labelled, strict=False):
        kept = sizes[labels] >= k
        if kept:
            released.append(labels)
        for ladder, cell, level, priority in zip(ladders, row, node, priorities, strict=False):
            loss += priority * (ladder.iyengar(cell, level) if kept else 1)
    total = loss / len(rows) / sum(priorities)
    return Outcome(total, len(rows) - len(released), node, tuple(released))


def optimum(
    rows: Sequence[Row],
    ladders: Sequence[Ladder],
    limits: Sequence[int],
    k: int,
    suppression: int,
    priorities: Sequence[Fraction],
) -> Outcome | None:
    """The best node of all: least loss, then fewest suppressed, then smallest levels."""
    nodes = itertools.product(*(range(limit + 1) for limit in limits))
    outcomes = (outcome(rows, ladders, node, k, priorities) for node in nodes)
    safe = [each for each in outcomes if each.suppressed <= suppression and each.released]
    return min(safe, key=lambda each: (each.loss, each.suppressed, each.node), default=None)
