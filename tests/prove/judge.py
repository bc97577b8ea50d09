"""Judges a release from what is stored, in plain Python and without any code of Shoal."""

from __future__ import annotations

import datetime
import itertools
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any

import numpy as np

from prove.tables import SERIAL, Grid, empty

FRACTION = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d*[1-9]\d*")
TOLERANCE = 1e-9
"""How far a float may be beyond its limit."""


@dataclass(frozen=True)
class ValueDemand:
    """What each class must have of a sensitive column; a class without any value has nothing.

    `recursive` is (c, l). `closeness` is t, by the `ordered` distance or the equal one.
    """

    distinct: int = 1
    alpha: Fraction = Fraction(1)
    entropy: float = 1.0
    recursive: tuple[Fraction, int] | None = None
    closeness: Fraction | None = None
    ordered: bool = False


@dataclass(frozen=True)
class Demands:
    """What a definition demands of a release, in the judge's own words.

    Records with a serial number below `apart` are stored elsewhere than the others, where the same
    value may have another text.
    """

    k: int
    quasi: tuple[str, ...]
    sensitive: dict[str, ValueDemand] = field(default_factory=dict)
    kept: tuple[str, ...] = ()
    suppression: int | Fraction = 0
    marked: bool = False
    basic: bool = False
    missing: frozenset[str] = frozenset()
    person: str | None = None
    local: bool = False
    apart: int = 0

    @property
    def released(self) -> set[str]:
        return {*self.quasi, *self.sensitive, *self.kept}

    def limit(self, records: int) -> int:
        share = self.suppression
        return share if isinstance(share, int) else int(share * records)

    def lacks(self, cell: Any) -> bool:
        """Whether a cell of the source is missing."""
        return empty(cell) or (isinstance(cell, str) and cell in self.missing)


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


def same(original: Any, stored: Any) -> bool:
    """Whether a value is still the same in another store, which may hold it as text."""
    if empty(original) or empty(stored):
        return empty(original) and empty(stored)
    if exact(original) == exact(stored) or isinstance(original, bytes):
        return True
    text = str(stored)
    if isinstance(original, int) and original in (0, 1) and text.lower() in ("true", "false"):
        return bool(original) == (text.lower() == "true")
    try:
        if isinstance(original, int | Decimal):
            return Decimal(text) == original
        if isinstance(original, float):
            return float(text) == original or float(np.float32(float(text))) == original
        if isinstance(original, datetime.datetime):
            return datetime.datetime.fromisoformat(text) == original
        if isinstance(original, datetime.date):
            return datetime.datetime.fromisoformat(text) == datetime.datetime(
                *original.timetuple()[:3]
            )
    except (ValueError, InvalidOperation):
        return False
    return isinstance(stored, str) and _moment(text) == _moment(original)


def _moment(text: Any) -> Any:
    """A text, of a time without the zeros at its end: SQLite has no other type for times."""
    is_time = isinstance(text, str) and FRACTION.fullmatch(text)
    return text.rstrip("0") if is_time else text


def faults(demands: Demands, source: Grid, release: Grid) -> list[str]:
    """All that is unsafe or wrong with the release; nothing for a good one."""
    if set(release.names) != demands.released:
        return [f"columns {sorted(release.names)} in place of {sorted(demands.released)}"]
    counted = counted_rows(demands, source)
    blank, classes = _classes(demands, source, release)
    unsafe = {key for key, rows in classes.items() if not _safe(demands, source, release, rows)}
    found = [f"class {key} is not safe" for key in unsafe]
    gone = len(counted) - len(release.rows)
    if gone < 0 or (demands.marked and gone):
        found.append(f"{len(release.rows)} records released of {len(counted)}")
    if gone + len(blank) > demands.limit(len(counted)):
        found.append(f"{gone + len(blank)} suppressed of {len(counted)}")
    return found + (_changes(demands, source, release, blank) if SERIAL in release.names else [])


def counted_rows(demands: Demands, source: Grid) -> list[Sequence[Any]]:
    """The records that count: under basic match, those with all quasi-identifiers."""
    return [
        row
        for row in source.rows
        if not (demands.basic and any(map(demands.lacks, source.cells(row, demands.quasi))))
    ]


def _classes(
    demands: Demands, source: Grid, release: Grid
) -> tuple[set[int], dict[tuple[str, ...], list[int]]]:
    """The numbers of the rows that are suppressed and marked, and those of each class.

    Records without any quasi-identifier are marked ones, or a class of records that never had one.
    The latter count as marked where they would be no safe class: then nothing else may be shown.
    Without serial numbers, those that show a sensitive value are taken for the latter first.
    """
    classes: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for i, row in enumerate(release.rows):
        classes[tuple(map(exact, release.cells(row, demands.quasi)))].append(i)
    nothing = ("missing",) * len(demands.quasi)
    if not demands.marked or nothing not in classes:
        return set(), classes
    rows = classes.pop(nothing)
    if SERIAL in release.names:
        own = [i for i in rows if _never_had_any(demands, source, release, release.rows[i])]
    else:
        bare = sum(all(map(demands.lacks, source.cells(r, demands.quasi))) for r in source.rows)
        blanks = [all(map(empty, release.cells(release.rows[i], demands.sensitive))) for i in rows]
        own = [i for _, i in sorted(zip(blanks, rows, strict=True))][:bare]
    shown = any(
        not empty(c) for i in own for c in release.cells(release.rows[i], demands.sensitive)
    )
    if own and (shown or _safe(demands, source, release, own)):
        classes[nothing] = own
    return set(rows) - set(classes.get(nothing, ())), classes


def _never_had_any(demands: Demands, source: Grid, release: Grid, row: Sequence[Any]) -> bool:
    original = _origin(source, release, row)
    return original is not None and all(map(demands.lacks, source.cells(original, demands.quasi)))


def _origin(source: Grid, release: Grid, row: Sequence[Any]) -> Sequence[Any] | None:
    """The record of the source with the same serial number."""
    number = str(row[release.at(SERIAL)])
    return next((r for r in source.rows if str(r[source.at(SERIAL)]) == number), None)


def _safe(demands: Demands, source: Grid, release: Grid, rows: Sequence[int]) -> bool:
    """Whether a class has k records, or k persons, and meets every demand on its values."""
    people: list[Any] = list(rows)
    if demands.person is not None:
        origins = [_origin(source, release, release.rows[i]) for i in rows]
        people = [_person(demands, source, origin) for origin in origins]
    if len(set(people)) < demands.k:
        return False
    for name, demand in demands.sensitive.items():
        cells = [release.rows[i][release.at(name)] for i in rows]
        if not _diverse(demand, _counted(demands, people, cells)):
            return False
        if demand.closeness is not None:
            origins = [_origin(source, release, release.rows[i]) for i in rows]
            own = [None if row is None else row[source.at(name)] for row in origins]
            values = _counted(demands, people, own)
            if not _close(demand, values, _whole(demands, source, name)):
                return False
    return True


def _person(demands: Demands, source: Grid, row: Sequence[Any] | None) -> Any:
    """Whose record this is; all records that do not say so are of one person."""
    cell = None if row is None or demands.person is None else row[source.at(demands.person)]
    return None if demands.lacks(cell) else cell


def _counted(demands: Demands, people: Iterable[Any], cells: Iterable[Any]) -> Counter[str]:
    """How often each value occurs; a person counts once with each different value."""
    pairs = {
        (person, meaning(cell))
        for person, cell in zip(people, cells, strict=True)
        if not demands.lacks(cell)
    }
    return Counter(value for _, value in pairs)


def _whole(demands: Demands, source: Grid, name: str) -> Counter[str]:
    """The values of the whole table, suppressed records included."""
    rows = counted_rows(demands, source)
    people: list[Any] = list(range(len(rows)))
    if demands.person is not None:
        people = [_person(demands, source, row) for row in rows]
    return _counted(demands, people, [row[source.at(name)] for row in rows])


def _diverse(demand: ValueDemand, values: Counter[str]) -> bool:
    """Whether the values of a class are as many and as evenly spread as demanded."""
    total = values.total()
    if len(values) < demand.distinct:
        return False
    if values and Fraction(max(values.values()), total) > demand.alpha:
        return False
    entropy = -sum(n / total * math.log(n / total) for n in values.values())
    if entropy < math.log(demand.entropy) - TOLERANCE:
        return False
    if demand.recursive is None:
        return True
    c, l = demand.recursive
    counts = sorted(values.values(), reverse=True)
    return bool(counts) and counts[0] < c * sum(counts[l - 1 :])


def _close(demand: ValueDemand, values: Counter[str], table: Counter[str]) -> bool:
    """Whether the values of a class are spread nearly as in the whole table."""
    if not values or demand.closeness is None:
        return False
    order = sorted(table | values, key=_in_order)
    surplus = [
        Fraction(values[value], values.total()) - Fraction(table[value], table.total())
        for value in order
    ]
    if demand.ordered:
        moved = sum(map(abs, itertools.accumulate(surplus)), Fraction(0))
        distance = moved / max(len(order) - 1, 1)
    else:
        distance = sum(map(abs, surplus), Fraction(0)) / 2
    return float(distance) <= float(demand.closeness) + TOLERANCE


def _in_order(value: str) -> tuple[bool, Decimal, str]:
    """Numbers by size, then texts by code point."""
    try:
        number = Decimal(value)
    except InvalidOperation:
        return True, Decimal(0), value
    return (False, number, value) if number.is_finite() else (True, Decimal(0), value)


def _changes(demands: Demands, source: Grid, release: Grid, blank: set[int]) -> list[str]:
    """Records that are not of the source, changed values, one value recoded in two ways.

    In local recoding it is all quasi-identifiers together that are recoded in one way.
    """
    found = []
    became: dict[tuple[bool, tuple[str, ...], tuple[str, ...]], tuple[str, ...]] = {}
    recoded = [demands.quasi] if demands.local else [(name,) for name in demands.quasi]
    numbers = [str(row[release.at(SERIAL)]) for row in release.rows]
    if len(set(numbers)) < len(numbers):
        found.append("a record is released twice")
    for i, row in enumerate(release.rows):
        origin = _origin(source, release, row)
        if origin is None:
            found.append(f"no record {row[release.at(SERIAL)]!r} in the source")
            continue
        for name in demands.kept if i in blank else (*demands.kept, *demands.sensitive):
            original, stored = origin[source.at(name)], row[release.at(name)]
            lost = name in demands.sensitive and demands.lacks(original) and empty(stored)
            if not lost and not same(original, stored):
                found.append(f"{name}: {original!r} became {stored!r}")
        for names in recoded if i not in blank else ():
            before = tuple(map(exact, source.cells(origin, names)))
            labels = tuple(map(exact, release.cells(row, names)))
            apart = int(row[release.at(SERIAL)]) < demands.apart
            if became.setdefault((apart, names, before), labels) != labels:
                found.append(f"{names}: {before!r} became two values")
    return found
