"""Whether a release is safe, told from what is stored in plain Python, without code of Shoal."""

from __future__ import annotations

import datetime
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any

import numpy as np

from prove.tables import SERIAL


@dataclass(frozen=True)
class Grid:
    """A table as some other library than Shoal reads it."""

    names: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]

    def at(self, name: str) -> int:
        return self.names.index(name)

    def cells(self, row: Sequence[Any], names: Iterable[str]) -> tuple[Any, ...]:
        return tuple(row[self.at(name)] for name in names)


@dataclass(frozen=True)
class Demand:
    """What each class must have of a sensitive column."""

    distinct: int = 1
    alpha: Fraction = Fraction(1)


@dataclass(frozen=True)
class Asked:
    """What was asked of a release, in the judge's own words."""

    k: int
    quasi: tuple[str, ...]
    sensitive: dict[str, Demand] = field(default_factory=dict)
    kept: tuple[str, ...] = ()
    suppression: int | Fraction = 0
    marked: bool = False
    basic: bool = False
    missing: frozenset[str] = frozenset()
    person: str | None = None

    @property
    def released(self) -> set[str]:
        return {*self.quasi, *self.sensitive, *self.kept}

    def limit(self, records: int) -> int:
        share = self.suppression
        return share if isinstance(share, int) else int(share * records)

    def lacks(self, cell: Any) -> bool:
        """Whether a cell of the source is missing."""
        return empty(cell) or (isinstance(cell, str) and cell in self.missing)


def empty(cell: Any) -> bool:
    """Null, empty text, NaN, NaT and pandas' NA."""
    if type(cell).__name__ in ("NoneType", "NAType", "NaTType"):
        return True
    return bool(cell == "" or cell != cell)


def exact(cell: Any) -> str:
    """A stored value with its type and all of its digits: the finest key by which to group."""
    if empty(cell):
        return "missing"
    plain = cell.item() if isinstance(cell, np.generic) else cell
    return f"{type(plain).__name__} {plain!r}"


def meaning(cell: Any) -> str:
    """A number whatever its type and digits, else the text: the key to count different values.

    1, 1.0 and the text '1' are one value; the texts '1.0' and '01' are others.
    """
    plain = cell.item() if isinstance(cell, np.generic) else cell
    if isinstance(plain, bool) or not isinstance(plain, int | float | Decimal):
        return str(plain)
    number = Decimal(str(plain))
    return f"{number.normalize() + 0:f}" if number.is_finite() else str(plain)


def same(given: Any, stored: Any) -> bool:
    """Whether a value is still the same in another place, which may hold it as text."""
    if empty(given) or empty(stored):
        return empty(given) and empty(stored)
    if exact(given) == exact(stored) or isinstance(given, bytes):
        return True
    text = str(stored)
    if isinstance(given, int) and given in (0, 1) and text.lower() in ("true", "false"):
        return bool(given) == (text.lower() == "true")
    try:
        if isinstance(given, int | Decimal):
            return Decimal(text) == given
        if isinstance(given, float):
            return float(text) == given or float(np.float32(float(text))) == given
        if isinstance(given, datetime.datetime):
            return datetime.datetime.fromisoformat(text) == given
        if isinstance(given, datetime.date):
            return datetime.datetime.fromisoformat(text) == datetime.datetime(
                *given.timetuple()[:3]
            )
    except (ValueError, InvalidOperation):
        return False
    return isinstance(stored, str) and text == given


def faults(asked: Asked, source: Grid, release: Grid) -> list[str]:
    """All that is unsafe or wrong with the release; nothing for a good one."""
    if set(release.names) != asked.released:
        return [f"columns {sorted(release.names)} in place of {sorted(asked.released)}"]
    counted = [row for row in source.rows if not (asked.basic and _incomplete(asked, source, row))]
    blank, classes = _classes(asked, source, release)
    unsafe = {key for key, rows in classes.items() if not _safe(asked, source, release, rows)}
    found = [f"class {key} is not safe" for key in unsafe]
    gone = len(counted) - len(release.rows)
    if gone < 0 or (asked.marked and gone):
        found.append(f"{len(release.rows)} records released of {len(counted)}")
    if gone + len(blank) > asked.limit(len(counted)):
        found.append(f"{gone + len(blank)} suppressed of {len(counted)}")
    return found + (_changes(asked, source, release, blank) if SERIAL in release.names else [])


def _incomplete(asked: Asked, source: Grid, row: Sequence[Any]) -> bool:
    return any(map(asked.lacks, source.cells(row, asked.quasi)))


def _classes(
    asked: Asked, source: Grid, release: Grid
) -> tuple[set[int], dict[tuple[str, ...], list[int]]]:
    """The numbers of the rows that are suppressed and marked, and those of each class.

    Records without any quasi-identifier are marked ones, or a class of records that never had one.
    The latter count as marked where they would be no safe class: then nothing else may be shown.
    """
    classes: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for i, row in enumerate(release.rows):
        classes[tuple(map(exact, release.cells(row, asked.quasi)))].append(i)
    nothing = ("missing",) * len(asked.quasi)
    if not asked.marked or nothing not in classes:
        return set(), classes
    rows = classes.pop(nothing)
    if SERIAL in release.names:
        own = [i for i in rows if _never_had_any(asked, source, release, release.rows[i])]
    else:
        bare = sum(all(map(asked.lacks, source.cells(r, asked.quasi))) for r in source.rows)
        own = rows[:bare]
    shown = any(not empty(c) for i in own for c in release.cells(release.rows[i], asked.sensitive))
    if own and (shown or _safe(asked, source, release, own)):
        classes[nothing] = own
    return set(rows) - set(classes.get(nothing, ())), classes


def _never_had_any(asked: Asked, source: Grid, release: Grid, row: Sequence[Any]) -> bool:
    given = _origin(source, release, row)
    return given is not None and all(map(asked.lacks, source.cells(given, asked.quasi)))


def _origin(source: Grid, release: Grid, row: Sequence[Any]) -> Sequence[Any] | None:
    """The record of the source with the same serial number."""
    number = str(row[release.at(SERIAL)])
    return next((r for r in source.rows if str(r[source.at(SERIAL)]) == number), None)


def _safe(asked: Asked, source: Grid, release: Grid, rows: Sequence[int]) -> bool:
    """Whether a class has k records, or k persons, and meets every demand on its values."""
    people: list[Any] = list(rows)
    if asked.person is not None:
        people = []
        for i in rows:
            origin = _origin(source, release, release.rows[i])
            cell = None if origin is None else origin[source.at(asked.person)]
            people.append(None if asked.lacks(cell) else cell)
    if len(set(people)) < asked.k:
        return False
    for name, demand in asked.sensitive.items():
        pairs = {
            (who, meaning(release.rows[i][release.at(name)]))
            for i, who in zip(rows, people, strict=True)
            if not asked.lacks(release.rows[i][release.at(name)])
        }
        values = Counter(value for _, value in pairs)
        if len(values) < demand.distinct:
            return False
        if values and Fraction(max(values.values()), len(pairs)) > demand.alpha:
            return False
    return True


def _changes(asked: Asked, source: Grid, release: Grid, blank: set[int]) -> list[str]:
    """Records that are not of the source, changed values, one value recoded in two ways."""
    found = []
    became: dict[tuple[str, str], str] = {}
    numbers = [str(row[release.at(SERIAL)]) for row in release.rows]
    if len(set(numbers)) < len(numbers):
        found.append("a record is released twice")
    for i, row in enumerate(release.rows):
        origin = _origin(source, release, row)
        if origin is None:
            found.append(f"no record {row[release.at(SERIAL)]!r} in the source")
            continue
        for name in asked.kept if i in blank else (*asked.kept, *asked.sensitive):
            given, stored = origin[source.at(name)], row[release.at(name)]
            lost = name in asked.sensitive and asked.lacks(given) and empty(stored)
            if not lost and not same(given, stored):
                found.append(f"{name}: {given!r} became {stored!r}")
        for name in asked.quasi if i not in blank else ():
            given, label = exact(origin[source.at(name)]), exact(row[release.at(name)])
            if became.setdefault((name, given), label) != label:
                found.append(f"{name}: {given!r} became two values")
    return found
