"""Runs of neighbours among the sorted values: `<C`, `[C,M)`, `>=M`, or numbered `group 1 of 3`.

What separates two runs must reveal no value of the source: it is no value itself, and has at
most half of the characters or digits of the value behind it. Where that is not possible everywhere,
the runs of the level are numbered.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from fractions import Fraction
from itertools import pairwise
from math import inf
from typing import TYPE_CHECKING, Any, TypeAlias

from shoal.verify.labels.built import TOP, Built
from shoal.verify.labels.ranges import EVERYTHING, Range, as_label, as_range, measured

if TYPE_CHECKING:
    from shoal.definition.model import Groups

_NUMBERED = re.compile(r"group ([1-9][0-9]*) of ([1-9][0-9]*)", re.ASCII)
_FORMS = (re.compile(r"<(\w+)"), re.compile(r"\[(\w+),(\w+)\)"), re.compile(r">=(\w+)"))

Ends: TypeAlias = tuple[Any, Any]
"""Where a run begins and ends: two texts, or two numbers with infinity for an open end."""


class GroupLabels(Built):
    """Every run has as many neighbours as the level says; only the last one may have fewer."""

    def __init__(self, spec: Groups, values: Collection[str] | None) -> None:
        super().__init__(len(spec.sizes), values)
        self.spec = spec

    def is_value(self, label: str) -> bool:
        """Anything that is not the label of a run."""
        numeric = self.spec.order != "text" and as_range(label) is not None
        return not (_NUMBERED.fullmatch(label) or numeric or _text_ends(label))

    def listed_misfits(self, level: int, labels: Sequence[str]) -> list[str]:
        """Labels that are no run of this level; where the order is open, in the order that fits."""
        if self.values is not None:
            known = set(self.labelled(level).values())
            return [label for label in labels if label not in known]
        if any(map(_NUMBERED.fullmatch, labels)):
            return _unnumbered(labels)
        if list(labels) == [TOP]:
            return []
        found = [_overlapping(labels, _text_ends)] if self.spec.order != "number" else []
        if self.spec.order != "text":
            found.append(_overlapping(labels, _number_ends))
        return min(found, key=len)

    def labelled(self, level: int) -> dict[str, str]:
        """The run that each value is in: the sorted values are cut every so many."""
        size, values = self.spec.sizes[level - 1], self.values or frozenset()
        numbers = {value: number for value in values if (number := measured(value)) is not None}
        if self.spec.order == "text" or len(numbers) < len(values):
            ordered = sorted(values)
            labels = _text_labels(ordered, size)
        else:
            ordered = sorted(values, key=lambda value: (numbers[value], value))
            labels = _number_labels([numbers[value] for value in ordered], size)
        return {value: labels[at // size] for at, value in enumerate(ordered)}

    def is_whole(self, label: str) -> bool:
        """A single run of all values has nothing to be separated from: its label is `*`."""
        return label == TOP and (self.values is None or len(self.values) <= self.spec.sizes[-1])


def _numbered(values: int, size: int) -> list[str]:
    runs = -(-values // size)
    return [f"group {run} of {runs}" for run in range(1, runs + 1)]


def _text_labels(ordered: Sequence[str], size: int) -> list[str]:
    """The labels of a level: what two texts share, and one character more, separates them."""
    ends = [""]
    for at in range(size, len(ordered), size):
        shared = _shared(ordered[at - 1], ordered[at])
        ends.append(ordered[at][: shared + 1])
        if 2 * (shared + 1) > len(ordered[at]) or not ends[-1].isalnum():
            return _numbered(len(ordered), size)
    inner = [f"[{low},{high})" for low, high in pairwise(ends[1:])]
    return [f"<{ends[1]}", *inner, f">={ends[-1]}"] if len(ends) > 1 else [TOP]


def _shared(lower: str, upper: str) -> int:
    """With how many equal characters two different texts begin."""
    pairs = enumerate(zip(lower, upper, strict=False))
    return next((at for at, (one, other) in pairs if one != other), len(lower))


def _number_labels(ordered: Sequence[Fraction], size: int) -> list[str]:
    """The labels of a level: ranges, or numbered where a number between two would reveal too much.

    All numbers are whole multiples of one power of ten. In these steps the larger end has so many
    digits, and the number between has zeros in the lower half of them.
    """
    step = _common_step(ordered)
    ends: list[Fraction | None] = [None]
    for low, high in zip(ordered[size - 1 :: size], ordered[size::size], strict=False):
        digits = len(str(max(abs(low / step), abs(high / step)).numerator))
        roundest = step * Fraction(10) ** digits
        finest = roundest / 10 ** (digits // 2)
        while low // roundest * roundest + roundest >= high:
            roundest /= 10
            if roundest < finest:
                return _numbered(len(ordered), size)
        ends.append(low // roundest * roundest + roundest)
    ends.append(None)
    ranges = [Range(low, high) for low, high in pairwise(ends)]
    return [TOP] if ranges == [EVERYTHING] else [as_label(each) for each in ranges]


def _common_step(numbers: Sequence[Fraction]) -> Fraction:
    """The largest power of ten of which all numbers are multiples; 1 for zeros alone."""
    step = Fraction(1)
    while any((number / step).denominator > 1 for number in numbers):
        step /= 10
    while any(numbers) and all((number / step / 10).denominator == 1 for number in numbers):
        step *= 10
    return step


def _unnumbered(labels: Sequence[str]) -> list[str]:
    """Labels that are no number of a group, or of another number of groups than the first."""
    found = {label: _NUMBERED.fullmatch(label) for label in labels}
    numbers = {m[2] for m in found.values() if m is not None and int(m[1]) <= int(m[2])}
    return [
        label
        for label, match in found.items()
        if match is None or int(match[1]) > int(match[2]) or len(numbers) > 1
    ]


def _text_ends(label: str) -> Ends | None:
    """Where the run of a label begins and ends in the order of text."""
    below, between, above = (form.fullmatch(label) for form in _FORMS)
    if below:
        return "", below[1]
    if above:
        return above[1], chr(0x10FFFF)
    return (between[1], between[2]) if between else None


def _number_ends(label: str) -> Ends | None:
    """Where the run of a label begins and ends in the order of numbers."""
    found = as_range(label)
    if found is None:
        return None
    low = -inf if found.low is None else found.low
    return low, inf if found.high is None else found.high


def _overlapping(labels: Sequence[str], ends_of: Callable[[str], Ends | None]) -> list[str]:
    """Labels that are no run in this order, do not rise, or overlap with a neighbour."""
    found = {label: ends_of(label) for label in labels}
    wrong = {label for label, ends in found.items() if ends is None or ends[0] >= ends[1]}
    runs = sorted((ends, label) for label, ends in found.items() if ends and label not in wrong)
    for (before, label), (after, other) in pairwise(runs):
        if before[1] > after[0]:
            wrong |= {label, other}
    return [label for label in labels if label in wrong]
