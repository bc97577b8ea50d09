"""How many records match each record, when a missing value may match more than a missing value.

Four relations between a record t and another u, required of every quasi-identifier:

- basic: equal and not missing;
- extended: equal, or both missing;
- maybe: equal, or either missing;
- right maybe: equal, or missing in u.

They nest: what matches by basic match also matches by extended, right maybe and maybe match. The
maybe relations are not transitive, so they make no classes: matches are counted for each record,
itself included. Under basic match a record with a missing quasi-identifier matches nobody.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow.compute as pc

from shoal.arrow_arrays import scalar, to_numpy
from shoal.errors import BadData
from shoal.measure.pairs import PAIR_LIMIT, count_pairs

if TYPE_CHECKING:
    from shoal.measure.classes import ClassTable
    from shoal.values import Ints

ATTACKS = {
    "basic": "withstands attacks on missing values, but every record with one is alone",
    "extended": "withstands attackers who know whether a value is missing or recorded",
    "maybe": "does not withstand an attacker who knows that a value is missing or that it is not",
    "right-maybe": "does not withstand an attacker who knows that a value was recorded",
}
"""What each relation promises against an attacker who knows about missing values."""

MATCHES = tuple(ATTACKS)


@dataclass(frozen=True)
class Matching:
    """A table judged by one relation.

    `k` is the smallest number of matches of any record, `unique_records` match nobody else, and
    `records_below` have fewer matches than the demanded k, None when no k was. `attack` says
    what the relation withstands: a record that is below k under extended match, but not under a
    maybe relation, hides among records that an attacker who knows what is missing can tell apart.
    Where matches were not counted, all numbers are None and `not_counted` says why.
    """

    match: str
    k: int | None
    unique_records: int | None
    records_below: int | None
    attack: str
    not_counted: str = ""


def judge_match(
    found: ClassTable,
    match: str,
    k: int | None = None,
    *,
    persons: ClassTable | None = None,
    limit: int = PAIR_LIMIT,
    progress: Callable[[float], None] | None = None,
) -> Matching:
    """Count the matches of every record; an error if more than `limit` pairs must be compared.

    With `persons`, the same classes by persons, the persons that a record matches are counted.
    """
    counted, sizes = persons or found, found.sizes
    matches = count_matches(counted, match, limit=limit, progress=progress)
    return Matching(
        match,
        int(matches.min(initial=counted.records)),
        int(sizes[matches <= 1].sum()),
        None if k is None else int(sizes[matches < k].sum()),
        ATTACKS[match],
    )


def judge_all_matches(
    found: ClassTable,
    k: int | None = None,
    *,
    limit: int = PAIR_LIMIT,
    progress: Callable[[float], None] | None = None,
) -> tuple[Matching, ...]:
    """The table judged by every relation; what would take too many pairs is not counted."""
    judged = []
    for match in MATCHES:
        try:
            judged.append(judge_match(found, match, k, limit=limit, progress=progress))
        except BadData as error:
            judged.append(Matching(match, None, None, None, ATTACKS[match], error.what))
    return tuple(judged)


def count_matches(
    found: ClassTable,
    match: str,
    *,
    limit: int = PAIR_LIMIT,
    progress: Callable[[float], None] | None = None,
) -> Ints:
    """The number of matches of a record of each class; all records of a class have the same.

    For a maybe relation classes are compared with each other (pairs.py), at most `limit` pairs.
    """
    if match == "extended":
        return found.sizes
    codes = _codes(found)
    if match == "basic":
        return np.where((codes == 0).any(axis=1), 0, found.sizes)
    return count_pairs(
        codes, found.sizes, right=match == "right-maybe", limit=limit, progress=progress
    )


def _codes(found: ClassTable) -> Ints:
    """A row for each class, with a number for each label, 0 for missing."""
    columns = [found.table.column(i) for i in range(len(found.quasi_identifiers))]
    coded = [pc.dictionary_encode(column).combine_chunks() for column in columns]
    missing, one = scalar(0, np.int32), scalar(1, np.int32)
    numbers = [pc.fill_null(pc.add(column.indices, one), missing) for column in coded]
    return np.array([to_numpy(column) for column in numbers], dtype=np.int64).T
