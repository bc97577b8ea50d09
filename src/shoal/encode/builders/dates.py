"""Hierarchies of dates and timestamps: day, week, month, quarter, year, decade, century."""

from __future__ import annotations

import re
from datetime import datetime
from typing import TYPE_CHECKING

from shoal.encode.builders.cover import refuse_uncovered

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from shoal.definition.model import Dates

_TIME = r"(?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:[.,][0-9]+)?)?"
_ZONE = r" ?(?:Z|UTC|[+-][0-9]{2}(?::?[0-9]{2}(?::?[0-9]{2})?)?)"
_ISO = re.compile(rf"([0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}(?:[T ]{_TIME})?)(?:{_ZONE})?")


def parse_date(text: str, pattern: str | None = None) -> datetime | None:
    """The date and time a text says, as written there: a zone is read and then left aside.

    Without a pattern (as in strftime) it must be an ISO date, with or without a time.
    """
    text = text.strip()
    try:
        if pattern is not None:
            return datetime.strptime(text, pattern).replace(tzinfo=None)
        match = _ISO.fullmatch(text)
        return datetime.fromisoformat(match[1]) if match else None
    except ValueError:
        return None


def date_rows(attribute: str, spec: Dates, counts: Mapping[str, int]) -> list[tuple[str, ...]]:
    """One row per value, by time: the value, then what it is called at each unit.

    Every unit but the week is cut out of the next longer one, so they nest in that order; a week
    may lie in two months and two years, and nests in none of them.
    """
    dates = {value: parse_date(value, spec.format) for value in counts}
    uncovered = [value for value, date in dates.items() if date is None]
    remedy = (
        f"correct what is not a date of the format {spec.format!r}"
        if spec.format
        else 'correct what is no ISO date, or give the format: {date: [year], format: "%d.%m.%Y"}'
    )
    refuse_uncovered(attribute, uncovered, counts, remedy)
    known = {value: date for value, date in dates.items() if date is not None}
    ordered = sorted(known.items(), key=lambda item: (item[1], item[0]))
    labels = [DATE_LABELS[unit] for unit in spec.units]
    return [(value, *(label(date) for label in labels)) for value, date in ordered]


def _day(date: datetime) -> str:
    return date.date().isoformat()


def _week(date: datetime) -> str:
    year, week, _ = date.isocalendar()
    return f"{year:04d}-W{week:02d}"


def _month(date: datetime) -> str:
    return f"{date.year:04d}-{date.month:02d}"


def _quarter(date: datetime) -> str:
    return f"{date.year:04d}-Q{(date.month + 2) // 3}"


def _year(date: datetime) -> str:
    return f"{date.year:04d}"


def _decade(date: datetime) -> str:
    first = date.year // 10 * 10
    return f"{first:04d}-{first + 9:04d}"


def _century(date: datetime) -> str:
    first = date.year // 100 * 100
    return f"{first:04d}-{first + 99:04d}"


DATE_LABELS: Mapping[str, Callable[[datetime], str]] = {
    "day": _day,
    "week": _week,
    "month": _month,
    "quarter": _quarter,
    "year": _year,
    "decade": _decade,
    "century": _century,
}
"""What each unit of a definition calls a date."""
