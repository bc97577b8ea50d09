"""Which columns of a table identify persons, and whether persons have several records.

Names of columns say much, values say the rest: records of one person agree in what describes a
person, in birth, sex or place, while records of one ward or one diagnosis do not. How far records
with the same value agree by chance is computed from the counts of both columns.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeAlias

from shoal.definition.column_meaning import alike
from shoal.definition.draft import MANY, Guess, Profile, Repeated
from shoal.definition.model import Dates

Counts: TypeAlias = Mapping[str, Mapping[str | None, int]]
"""How many records have each value of each column."""
Distinct: TypeAlias = Callable[[Sequence[str], int], int]
"""How many combinations some columns have, or one more than a limit."""

_MEASURED = re.compile(r"[.,]\d|\d[-/]\d\d?[-/]\d")
"""Decimals and dates, which are no numbers of persons."""

MOST_CANDIDATES = 20
"""So many columns are looked at, so that a table with many columns takes no longer."""
MOST_OTHERS = 8
"""Each is compared with so many others, where their names do not show what they are."""
REPEATED = 0.98
"""With fewer distinct values than this share of the records, persons have several records."""


def with_likeness(profiles: Sequence[Profile], counts: Counts, distinct: Distinct) -> list[Profile]:
    """The profiles, each with the columns in which records with the same value agree.

    Only columns that may identify persons are looked at: their names mean nothing else, they have
    many values, and these repeat.
    """
    candidates = [profile.name for profile in profiles if _may_tell_persons(profile)]
    likeness = {
        name: _alike(name, profiles, counts, distinct) for name in candidates[:MOST_CANDIDATES]
    }
    return [replace(profile, alike=likeness.get(profile.name, ())) for profile in profiles]


def _may_tell_persons(profile: Profile) -> bool:
    sound, number = profile.sound, profile.distinct
    if sound.known or sound.sensitive or number < MANY or profile.share >= REPEATED:
        return False
    measured = sum(bool(_MEASURED.search(value)) for value in profile.values)
    return number**2 >= profile.present and measured <= len(profile.values) / 2


def _alike(
    name: str, profiles: Sequence[Profile], counts: Counts, distinct: Distinct
) -> tuple[str, ...]:
    """The columns in which records with the same value agree, empty unless a person's would.

    Where names show what describes a person, records must agree in two families of these (birth,
    sex, place, origin, name) and in half of all. Where they do not, they must agree in three
    columns and in half of those with the most values.
    """
    describing = [other for other in _describing(profiles) if other != name]
    least = 2
    if len(describing) < least:
        others = [p for p in profiles if p.name != name and p.distinct > 1 and p.share < 0.5]
        others.sort(key=lambda profile: -profile.distinct)
        describing, least = [profile.name for profile in others[:MOST_OTHERS]], 3
    found: list[str] = []
    for done, other in enumerate(describing):
        if len(found) + len(describing) - done < least:
            break
        pairs = partial(distinct, (name, other))
        if alike(counts[name].values(), counts[other].values(), pairs):
            found.append(other)
    return tuple(found) if len(found) >= max(least, len(describing) / 2) else ()


def _describing(profiles: Sequence[Profile]) -> Iterator[str]:
    """One column of each family that describes persons: the one with the most values."""
    best: dict[str, Profile] = {}
    for profile in profiles:
        family = "name" if profile.sound.name_of_person else profile.sound.family
        if family and profile.distinct > max(1, best[family].distinct if family in best else 0):
            best[family] = profile
    return (profile.name for profile in best.values())


def repeated_persons(guesses: Sequence[Guess], distinct: Distinct) -> Repeated | None:
    """What identifies persons where some have several records, else None.

    It is a number that repeats, best one that names persons, then one whose records are alike; else
    the names together with the date of birth, when these repeat.
    """
    identifiers = [g.profile for g in guesses if g.attribute.role == "identifier"]
    numbers = [profile for profile in identifiers if _repeats(profile) and _is_key(profile)]
    if numbers:
        best = min(numbers, key=_rank)
        return Repeated((best.name,), best.distinct, best.records)
    names = [profile for profile in identifiers if profile.sound.name_of_person]
    births = [g.profile for g in guesses if isinstance(g.attribute.hierarchy, Dates)]
    births = [profile for profile in births if profile.sound.family == "birth"]
    if not names or not births:
        return None
    columns = tuple(profile.name for profile in (*names, births[0]))
    records = names[0].records
    most = int(REPEATED * records)
    persons = distinct(columns, most)
    return Repeated(columns, persons, records) if persons <= most else None


def _repeats(profile: Profile) -> bool:
    """Whether nearly all records have a value, and some values have several records."""
    return profile.share < REPEATED and profile.missing <= 0.1 * profile.records


def _is_key(profile: Profile) -> bool:
    sound = profile.sound
    named = sound.number_of_person or sound.number_of_case or sound.number_alone
    return named or bool(profile.alike)


def _rank(profile: Profile) -> tuple[bool, bool, int]:
    return (not profile.sound.number_of_person, not profile.alike, profile.distinct)
