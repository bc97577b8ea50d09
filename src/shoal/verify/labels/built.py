"""What the verifier needs to know about the labels of a hierarchy, and the simplest builders.

Two questions: whether a label, as a release has it, can be one of its level, and what a value
of the source becomes at a level. Both are answered from the description of the hierarchy, so a
fault in the code that builds hierarchies is not repeated here.

`Built` is what all builders share. `suppress`, masks and dates follow, which look at one value at a
time.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from contextlib import suppress
from datetime import date, datetime
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from shoal.definition.model import Dates, Mask


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


class SuppressLabels(Built):
    """The value, then `*`."""

    def __init__(self, values: Collection[str] | None) -> None:
        super().__init__(0, values)

    def is_value(self, label: str) -> bool:
        """Anything but `*`."""
        return label != TOP

    def listed_misfits(self, level: int, labels: Sequence[str]) -> list[str]:  # noqa: ARG002
        """No level lies between the values and `*`."""
        return list(labels)

    def labelled(self, level: int) -> dict[str, str]:  # noqa: ARG002
        """No level lies between the values and `*`."""
        return {}

    def is_whole(self, label: str) -> bool:  # noqa: ARG002
        """`*` is added even where the column has one value."""
        return False


class MaskLabels(Built):
    """At level i the last (or first) `mask[i - 1]` characters are stars.

    A value no longer than that is all stars, as many as the longest value has characters. So the
    labels that are all stars have one length, and no label is longer.
    """

    def __init__(self, spec: Mask, values: Collection[str] | None) -> None:
        super().__init__(len(spec.mask), values)
        self.spec = spec

    def is_value(self, label: str) -> bool:
        """Whether no star is at the masked side; a value with one is known from the source only."""
        return not self._rest_and_stars(label)[1]

    def listed_misfits(self, level: int, labels: Sequence[str]) -> list[str]:
        """Too few or too many stars, a star elsewhere, or all stars of the wrong length."""
        step = self.spec.mask[level - 1]
        if self.values is not None:
            known = set(self.labelled(level).values())
            return [label for label in labels if label not in known]
        longest = max(map(len, labels), default=0)
        return [label for label in labels if not self._fits(label, step, longest)]

    def labelled(self, level: int) -> dict[str, str]:
        """Each value with its stars; one that is no longer than these is nothing but stars."""
        step, values = self.spec.mask[level - 1], self.values or ()
        stars, whole = TOP * step, TOP * max(map(len, values), default=0)
        right = self.spec.side == "right"
        return {
            v: whole if len(v) <= step else v[:-step] + stars if right else stars + v[step:]
            for v in values
        }

    def is_whole(self, label: str) -> bool:
        """The only label of a known source, or all stars and no more than are masked.

        The stars are as many as the longest value has characters, so then all values are masked.
        """
        if self.values is not None:
            return set(self.labelled(self.listed).values()) == {label}
        return set(label) == {TOP} and len(label) <= self.spec.mask[-1]

    def _fits(self, label: str, step: int, longest: int) -> bool:
        rest, stars = self._rest_and_stars(label)
        if not rest:
            return stars == longest
        return stars == step and TOP not in rest

    def _rest_and_stars(self, label: str) -> tuple[str, int]:
        """What is left without the stars at the masked side, and how many these are."""
        rest = label.rstrip(TOP) if self.spec.side == "right" else label.lstrip(TOP)
        return rest, len(label) - len(rest)


_ISO_DAY = r"\d{4}-\d\d-\d\d"
_FORMS = {
    "day": r"(\d{4})-(\d\d)-(\d\d)",
    "week": r"(\d{4})-W(\d\d)",
    "month": r"(\d{4})-(\d\d)",
    "quarter": r"(\d{4})-Q([1-4])",
    "year": r"(\d{4})",
    "decade": r"(\d{3})0-(\d{3})9",
    "century": r"(\d\d)00-(\d\d)99",
}


def is_unit(unit: str, label: str) -> bool:
    """Whether the label names a day, week, month ... that the calendar has."""
    match = re.fullmatch(_FORMS[unit], label, re.ASCII)
    if match is None:
        return False
    numbers = [int(part) for part in match.groups()]
    if unit in ("decade", "century"):
        return numbers[0] == numbers[1]
    try:
        if unit == "week":
            date.fromisocalendar(numbers[0], numbers[1], 1)
        else:
            date(*([*numbers, 1, 1])[:3])
    except ValueError:
        return False
    return True


def name_of(unit: str, day: date) -> str:
    """What the day, week, month ... of a day is called."""
    year, week, _ = day.isocalendar()
    if unit == "week":
        return f"{year:04}-W{week:02}"
    if unit == "quarter":
        return f"{day.year:04}-Q{1 + (day.month - 1) // 3}"
    if unit in ("decade", "century"):
        known = f"{day.year:04}"[: 3 if unit == "decade" else 2]
        return f"{known:0<4}-{known:9<4}"
    return day.isoformat()[: {"year": 4, "month": 7, "day": 10}[unit]]


def _only_day(text: str, stated: str) -> date | None:
    """The day in one of the stated formats, unless another format makes it another time."""
    read: set[datetime] = set()
    for form in map(str.strip, stated.split("|")) if "|" in stated else [stated]:
        with suppress(ValueError):
            read.add(datetime.strptime(text, form).replace(tzinfo=None))
    return next(iter(read)).date() if len(read) == 1 else None


class DateLabels(Built):
    """One unit of the calendar per level, above dates as the source writes them."""

    def __init__(self, spec: Dates, values: Collection[str] | None) -> None:
        super().__init__(len(spec.units), values)
        self.spec = spec

    def is_value(self, label: str) -> bool:
        """A date in the given format, else an ISO date, alone or with a time behind it."""
        return self._day(label) is not None

    def listed_misfits(self, level: int, labels: Sequence[str]) -> list[str]:
        """Labels that do not name one of the level's units."""
        return [label for label in labels if not is_unit(self.spec.units[level - 1], label)]

    def labelled(self, level: int) -> dict[str, str]:
        """The unit that each date lies in."""
        unit = self.spec.units[level - 1]
        days = {value: self._day(value) for value in self.values or ()}
        return {value: name_of(unit, day) for value, day in days.items() if day is not None}

    def is_whole(self, label: str) -> bool:
        """Whether every date of the source lies in it."""
        days = [self._day(value) for value in self.values or ()]
        unit = self.spec.units[-1]
        return bool(days) and all(day is not None and name_of(unit, day) == label for day in days)

    def _day(self, text: str) -> date | None:
        if self.spec.format is not None:
            return _only_day(text.strip(), self.spec.format)
        match = re.match(rf"({_ISO_DAY})(?:$|[T Z+-])", text.strip(), re.ASCII)
        return date.fromisoformat(match[1]) if match and is_unit("day", match[1]) else None
