"""`date`: dates and timestamps by day, week, month, quarter, year, decade or century."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from datetime import datetime
from itertools import pairwise
from typing import Annotated, Any, ClassVar, Literal, TypeAlias, get_args

from pydantic import BeforeValidator, Field

from shoal.definition.hierarchies.base import Kind, Rows, refuse_uncovered
from shoal.definition.scalars import as_list
from shoal.errors import Mistake

DateUnit: TypeAlias = Literal["day", "week", "month", "quarter", "year", "decade", "century"]
UNITS: tuple[str, ...] = get_args(DateUnit)
"""The units from short to long; each but the week lies inside every longer one."""

_TIME = r"(?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:[.,][0-9]+)?)?"
_ZONE = r" ?(?:Z|UTC|[+-][0-9]{2}(?::?[0-9]{2}(?::?[0-9]{2})?)?)"
_ISO = re.compile(rf"([0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}(?:[T ]{_TIME})?)(?:{_ZONE})?")


COMMON_FORMATS = (
    None,
    *("%Y/%m/%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y"),
    *("%d.%m.%Y %H:%M", "%d.%m.%Y %H:%M:%S", "%d/%m/%Y %H:%M"),
)
"""Formats in which dates are recognised; None is that of ISO, with or without a time."""

MOST_FORMS = 4
"""A column with dates of more forms than this is looked at by its owner."""
BETWEEN = "|"
"""What stands between several formats of one column."""


def formats_in(pattern: str) -> list[str]:
    """The formats of a pattern: `%d.%m.%Y | %Y-%m-%d` has two."""
    return [each.strip() for each in pattern.split(BETWEEN)] if BETWEEN in pattern else [pattern]


def parse_date(text: str, pattern: str | None = None) -> datetime | None:
    """The date and time in a text, as written there: a time zone is parsed and ignored.

    Without a pattern (as in strftime) it must be an ISO date, with or without a time. A pattern may
    have several formats; a text that is different dates in two of them is none.
    """
    if pattern is not None and BETWEEN in pattern:
        found = {parse_date(text, each) for each in formats_in(pattern)} - {None}
        return found.pop() if len(found) == 1 else None
    text = text.strip()
    try:
        if pattern is not None:
            return datetime.strptime(text, pattern).replace(tzinfo=None)
        match = _ISO.fullmatch(text)
        return datetime.fromisoformat(match[1]) if match else None
    except ValueError:
        return None


def formats_of(texts: Collection[str]) -> list[str | None]:
    """The common formats that fit all texts; where none does, several of them in one pattern.

    Texts of one form, with the same signs between their digits, must have one format alone.
    """
    fitting = _fitting(texts)
    if fitting or not texts:
        return fitting
    forms: dict[str, list[str]] = {}
    for text in texts:
        forms.setdefault(re.sub(r"[0-9]+", "0", text.strip()), []).append(text)
    if len(forms) > MOST_FORMS:
        return []
    found = [_fitting(same) for same in forms.values()]
    if any(len(each) != 1 for each in found):
        return []
    stated = {"%Y-%m-%d" if form is None else form for [form] in found}
    pattern = f" {BETWEEN} ".join(sorted(stated))
    return [pattern] if all(parse_date(text, pattern) is not None for text in texts) else []


def _fitting(texts: Collection[str]) -> list[str | None]:
    return [p for p in COMMON_FORMATS if all(parse_date(t, p) is not None for t in texts)]


class Dates(Kind):
    """Dates coarsened to the listed units; `format` as in strftime, ISO dates by default.

    Several formats stand beside each other: `%d.%m.%Y | %Y-%m-%d`.
    """

    units: Annotated[tuple[DateUnit, ...], BeforeValidator(as_list)] = Field(alias="date")
    format: str | None = None

    key: ClassVar[str] = "date"
    example: ClassVar[str] = "{date: [month, year]}"
    nesting: ClassVar[str] = "list units from short to long; a week fits into no longer unit"
    short: ClassVar[Mapping[str, Any]] = {"type": "string"}
    xsd: ClassVar[str] = f"""
  <xs:complexType name="date">
    <xs:attribute name="units" type="units" use="required"/>
    <xs:attribute name="format" type="xs:string"/>
  </xs:complexType>
  <xs:simpleType name="unit">
    <xs:restriction base="xs:token">
      {"".join(f'<xs:enumeration value="{unit}"/>' for unit in UNITS)}
    </xs:restriction>
  </xs:simpleType>
  <xs:simpleType name="units">
    <xs:list itemType="unit"/>
  </xs:simpleType>"""

    @property
    def listed(self) -> int:
        """One level for each unit."""
        return len(self.units)

    def mistakes(self, key: str) -> Iterator[Mistake]:
        """Units must be listed from short to long, and each lie in the next; no format is empty."""
        if BETWEEN in (self.format or "") and "" in formats_in(self.format or ""):
            remedy = f'write for example `format: "%d.%m.%Y {BETWEEN} %Y-%m-%d"`'
            yield Mistake(f"{key}.format", "lists an empty format", remedy)
        key = f"{key}.date"
        if not self.units:
            yield Mistake(key, "lists no unit", "write for example `date: [month, year]`")
        for unit, longer in pairwise(self.units):
            if UNITS.index(longer) <= UNITS.index(unit):
                remedy = f"list the units from short to long: {', '.join(UNITS)}"
                yield Mistake(key, f"{longer} is not longer than {unit}", remedy)
            elif unit == "week":
                plural = "centuries" if longer == "century" else f"{longer}s"
                remedy = f"leave out week or {longer}"
                yield Mistake(key, f"a week may lie in two {plural}", remedy)

    def rows(self, attribute: str, counts: Mapping[str, int]) -> Rows:
        """The value, then the name of each of its units; rows in the order of time.

        Every unit but the week is cut out of the next longer one, so they nest in that order; a
        week may lie in two months and two years, and nests in none of them.
        """
        dates = {value: parse_date(value, self.format) for value in counts}
        uncovered = [value for value, date in dates.items() if date is None]
        remedy = (
            f"correct what is not a date of the format {self.format!r}"
            if self.format
            else "correct what is no ISO date, or give the format: "
            '{date: [year], format: "%d.%m.%Y"}'
        )
        refuse_uncovered(attribute, uncovered, counts, remedy)
        known = {value: date for value, date in dates.items() if date is not None}
        ordered = sorted(known.items(), key=lambda item: (item[1], item[0]))
        labels = [DATE_LABELS[unit] for unit in self.units]
        rows = [(value, *(label(date) for label in labels)) for value, date in ordered]
        return Rows.of_values(rows)


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
