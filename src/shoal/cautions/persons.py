"""Identifiers that repeat, where a definition counts records and not persons."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from shoal.cautions.kept import distinct_values
from shoal.definition.column_words import Sound
from shoal.definition.dependence import alike
from shoal.values import Caution

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from shoal.definition.model import Definition
    from shoal.encode.table import Table
    from shoal.engines.base import Source

REPEATED = 0.98
"""With fewer distinct values than this share of the records, an identifier repeats."""
MOST_VALUES = 1_000_000
"""So many values of an identifier are read, to see whether their records are of one person."""


def persons_of(source: Source, name: str, definition: Definition, table: Table) -> dict[str, int]:
    """The identifier with its number of values, where persons have several records by it."""
    records = table.records + table.removed
    number = distinct_values(source, name, definition.missing.values)
    if number and repeats(number, records) and _of_persons(source, name, definition, table):
        return {name: number}
    return {}


def repeated_identifiers(found: Mapping[str, int], records: int) -> Iterator[Caution]:
    """A warning for the identifier of `persons_of` that best tells persons apart."""
    if found:
        best = min(found, key=lambda name: (not Sound(name).number_of_person, found[name]))
        yield repeated(best, found[best], records, f"`person: {best}`")


def repeats(distinct: int, records: int) -> bool:
    """Whether many values occur in several records."""
    return 1 < distinct <= int(REPEATED * records)


def repeated(name: str, persons: int, records: int, remedy: str) -> Caution:
    """The warning, with what to write so that persons are counted."""
    text = (
        f"{records:,} records have {persons:,} different values of {name!r}: one person may have "
        f"several records, and a class fewer than k persons; count persons with {remedy}"
    )
    return Caution("repeated-identifier", name, text, records)


def _of_persons(source: Source, name: str, definition: Definition, table: Table) -> bool:
    """Whether records with the same value are of one person.

    The name may say so. Otherwise they must agree in at least half of the quasi-identifiers, which
    a doctor's name or a common surname would not. Nothing more is counted once that is decided.
    """
    if Sound(name).number_of_person:
        return True
    missing = definition.missing.values
    counted = source.count_by((name,), missing, at_most=MOST_VALUES)
    if counted.num_rows > MOST_VALUES:
        return False
    sizes = np.asarray(counted.column(1)).tolist()
    left = len(table.attributes)
    needed = max(1, -(-left // 2))
    for attribute, shares in zip(table.attributes, table.records_of, strict=True):
        pairs = partial(_distinct, source, (name, attribute.name), missing)
        needed -= alike(sizes, shares[shares > 0].tolist(), pairs)
        left -= 1
        if needed == 0 or needed > left:
            break
    return needed == 0


def _distinct(source: Source, columns: tuple[str, ...], missing: tuple[str, ...], most: int) -> int:
    return source.count_distinct(columns, missing, at_most=most)
