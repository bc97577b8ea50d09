"""Columns that are released as they stand: nearly unique ones, and free text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from shoal.errors import BadData
from shoal.values import Caution

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shoal.engines.base import Source

MOST_VALUES = 200_000
"""So many distinct values of a column are read; where there are more, they are counted only."""
NEARLY_UNIQUE = 0.2
"""From this share of records on that have a value of their own, a column is nearly unique."""
FREE_TEXT_SHARE = 0.5
"""Free text is different in more than this share of the records,"""
FREE_TEXT_WORDS, FREE_TEXT_LENGTH = 4, 20
"""and has on average so many words and so many characters."""


@dataclass(frozen=True)
class Kept:
    """A kept column as it was counted.

    `distinct` are its values, `records` those that have one, `alone` at least so many whose value
    nobody shares. `prose` says that the values look like sentences.
    """

    name: str
    distinct: int
    records: int
    alone: int
    prose: bool


def look_at(source: Source, name: str, missing: Sequence[str], records: int) -> Kept | None:
    """Count one column, and read its values only where they may be nearly unique.

    None where the engine cannot compare the values, such as lists.

    With d different values in n records, s of which stand alone, all others have two records or
    more, so n >= s + 2 * (d - s), and s >= 2 * d - n. That is taken where d is too many to read.
    """
    distinct = distinct_values(source, name, missing)
    if distinct is None:
        return None
    if distinct > MOST_VALUES:
        return Kept(name, distinct, records, max(0, 2 * distinct - records), False)
    if distinct < NEARLY_UNIQUE * records:
        return Kept(name, distinct, records, 0, False)
    counted = source.count_by((name,), missing)
    there = counted.filter(counted.column(0).is_valid())
    values, counts = there.column(0).to_pylist(), there.column(1).to_pylist()
    return Kept(name, len(values), sum(counts), counts.count(1), _is_prose(values))


def distinct_values(source: Source, name: str, missing: Sequence[str]) -> int | None:
    """How many different values a column has, None where the engine cannot compare them."""
    try:
        return source.count_distinct((name,), missing)
    except BadData as error:
        if error.code == "unsupported-type":
            return None
        raise


def cautions_of(kept: Kept) -> list[Caution]:
    """What is to be said of a column by itself."""
    share = kept.records and kept.distinct / kept.records
    if kept.prose and share > FREE_TEXT_SHARE:
        return [
            Caution(
                "kept-free-text",
                kept.name,
                f"{kept.name!r} holds free text, which may tell anything of a person: "
                f"{kept.distinct:,} different texts in {kept.records:,} records; drop it",
                kept.records,
            )
        ]
    if kept.distinct > 1 and kept.alone >= NEARLY_UNIQUE * kept.records:
        return [
            Caution(
                "kept-unique",
                kept.name,
                f"{kept.alone:,} of {kept.records:,} records have a value of {kept.name!r} that no "
                "other record has; who knows it finds the record: drop it, or make it a "
                "quasi-identifier",
                kept.alone,
            )
        ]
    return []


def _is_prose(values: Sequence[str]) -> bool:
    """Whether the values have many words and are long, on average."""
    if not values:
        return False
    words = sum(len(value.split()) for value in values) / len(values)
    return words >= FREE_TEXT_WORDS and sum(map(len, values)) / len(values) >= FREE_TEXT_LENGTH
