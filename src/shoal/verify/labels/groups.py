"""Runs of neighbours among the sorted values: `first..last`, or the value where a run has one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, TypeAlias

from shoal.verify.labels.base import Built
from shoal.verify.labels.ranges import as_number

if TYPE_CHECKING:
    from shoal.definition.model import Groups

DOTS = ".."
Key: TypeAlias = tuple[Decimal, str]
Order: TypeAlias = Callable[[str], Key | None]
"""Where a value stands among the others; None when it cannot be one of them."""


def by_number(text: str) -> Key | None:
    """By size, then by text, for values that are numbers."""
    number = as_number(text)
    return None if number is None else (number, text)


def by_text(text: str) -> Key:
    """By code point."""
    return (Decimal(0), text)


class GroupLabels(Built):
    """Every run has as many neighbours as the level says; only the last one may have fewer."""

    def __init__(self, spec: Groups, values: Collection[str] | None) -> None:
        super().__init__(len(spec.sizes), values)
        self.spec = spec

    def is_value(self, label: str) -> bool:
        """Anything that is not a run in one of the possible orders."""
        return not any(self._ends(label, order) for order in self._orders())

    def listed_misfits(self, level: int, labels: Sequence[str]) -> list[str]:
        """Labels that are no run of this level; where the order is open, in the order that fits."""
        size = self.spec.sizes[level - 1]
        if self.values is not None:
            return self._known_misfits(size, labels)
        return min((self._unknown_misfits(size, labels, o) for o in self._orders()), key=len)

    def is_whole(self, label: str) -> bool:
        """Whether the run goes from the first value of the source to the last."""
        if not self.values:
            return False
        ordered = self._sorted()
        return label in (f"{ordered[0]}{DOTS}{ordered[-1]}", ordered[0] * (len(ordered) == 1))

    def _orders(self) -> tuple[Order, ...]:
        """The orders unknown values may have: with `auto`, by number when all of them are."""
        if self.spec.order != "auto":
            return (by_number if self.spec.order == "number" else by_text,)
        return (by_number, by_text)

    def _known_order(self) -> Order:
        if self.spec.order == "text" or None in map(by_number, self.values or ()):
            return by_text
        return by_number

    def _sorted(self) -> list[str]:
        order = self._known_order()
        return sorted(self.values or (), key=lambda value: order(value) or by_text(value))

    def _known_misfits(self, size: int, labels: Sequence[str]) -> list[str]:
        """The source's values are known, so its runs are: cut the sorted values every `size`."""
        ordered = self._sorted()
        runs = [ordered[at : at + size] for at in range(0, len(ordered), size)]
        known = {f"{run[0]}{DOTS}{run[-1]}" if len(run) > 1 else run[0] for run in runs}
        return [label for label in labels if label not in known]

    def _unknown_misfits(self, size: int, labels: Sequence[str], order: Order) -> list[str]:
        """Runs must rise, no two may overlap, and a bare value must come after all others."""
        runs: list[tuple[Key, Key, str]] = []
        wrong: list[str] = []
        for label in labels:
            bare = order(label)
            if ends := self._ends(label, order):
                runs.append((*ends, label))
            elif bare is not None:
                runs.append((bare, bare, label))
            else:
                wrong.append(label)
        runs.sort()
        for at, (first, last, label) in enumerate(runs):
            overlaps = (at > 0 and runs[at - 1][1] >= first) or (
                at + 1 < len(runs) and last >= runs[at + 1][0]
            )
            short = size > 1 and first == last and at + 1 < len(runs)
            if overlaps or short:
                wrong.append(label)
        return wrong

    @staticmethod
    def _ends(label: str, order: Order) -> tuple[Key, Key] | None:
        """The first and last value of a run, by the first pair of dots between rising ends."""
        for first, last in _splits(label):
            low, high = order(first), order(last)
            if first and last and low is not None and high is not None and low < high:
                return low, high
        return None


def _splits(label: str) -> Iterator[tuple[str, str]]:
    at = label.find(DOTS)
    while at >= 0:
        yield label[:at], label[at + len(DOTS) :]
        at = label.find(DOTS, at + 1)
