"""Dates coarsened to units: 2020-03-07, 2020-W10, 2020-03, 2020-Q1, 2020, 2020-2029, 2000-2099."""

from __future__ import annotations

import re
from datetime import date, datetime
from typing import TYPE_CHECKING

from shoal.verify.labels.base import Built

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from shoal.definition.model import Dates

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


def in_unit(unit: str, label: str, day: date) -> bool:
    """Whether the day lies in the day, week, month ... that the label names."""
    if unit == "week":
        year, week, _ = day.isocalendar()
        return label == f"{year:04}-W{week:02}"
    if unit == "quarter":
        return label == f"{day.year:04}-Q{(day.month + 2) // 3}"
    if unit in ("decade", "century"):
        first, last = label.split("-")
        return int(first) <= day.year <= int(last)
    return day.isoformat().startswith(label)


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
        return bool(days) and all(day is not None and in_unit(unit, label, day) for day in days)

    def _day(self, text: str) -> date | None:
        try:
            if self.spec.format is not None:
                return datetime.strptime(text.strip(), self.spec.format).date()
        except ValueError:
            return None
        match = re.match(rf"({_ISO_DAY})(?:$|[T Z+-])", text.strip(), re.ASCII)
        return date.fromisoformat(match[1]) if match and is_unit("day", match[1]) else None
