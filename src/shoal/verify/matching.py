"""How many records match each record, when a missing value may match more than a missing value.

Four relations between a record t and another u, required of every quasi-identifier:

- basic: equal and not missing;
- extended: equal, or both missing;
- maybe: equal, or either missing;
- right maybe: equal, or missing in u.

They nest: what matches by one of them matches by all that follow, right maybe before maybe. The
maybe relations are no equivalences, so they make no classes: matches are counted for each record,
itself included. Under basic match a record with a missing quasi-identifier matches nobody.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow.compute as pc

if TYPE_CHECKING:
    from shoal.values import Bools, Ints
    from shoal.verify.recount import Recount

WITHSTANDS = {
    "basic": "withstands attacks on missing values, but every record with one stands alone",
    "extended": "withstands attackers who know whether a value is missing or recorded",
    "maybe": "does not withstand an attacker who knows that a value is missing or that it is not",
    "right-maybe": "does not withstand an attacker who knows that a value was recorded",
}
"""What each relation promises against an attacker who knows about missing values."""

MATCHES = tuple(WITHSTANDS)
_LARGEST_KEY = 2**62


@dataclass(frozen=True)
class Matching:
    """A table judged by one relation.

    `k` is the smallest number of matches of any record, `unique_records` match nobody else, and
    `records_below` have fewer matches than were asked for, None when nothing was. `attack` says
    what the relation withstands: a record that is below k under extended match, but not under a
    maybe relation, hides among records that an attacker who knows what is missing can tell apart.
    """

    match: str
    k: int
    unique_records: int
    records_below: int | None
    attack: str


def judge_match(found: Recount, match: str, k: int | None = None) -> Matching:
    """Count the matches of every record."""
    matches, sizes = count_matches(found, match), found.sizes
    return Matching(
        match,
        int(matches.min(initial=found.records)),
        int(sizes[matches <= 1].sum()),
        None if k is None else int(sizes[matches < k].sum()),
        WITHSTANDS[match],
    )


def count_matches(found: Recount, match: str) -> Ints:
    """The number of matches of a record of each class; all records of a class have the same.

    Two tuples match by a maybe relation when they are equal in every attribute that neither misses.
    So tuples are grouped by their pattern, the set of attributes they miss, and for each union of
    two patterns the tuples that miss no more are numbered by the rest of their attributes: equal
    numbers match. By right maybe the other tuple's pattern is the union.
    """
    if match == "extended":
        return found.sizes
    table = _tuples(found)
    if match == "basic":
        return np.where(table.missing.any(axis=1), 0, found.sizes)
    matches = np.zeros(len(found.sizes), dtype=np.int64)
    for union, partners in _partners(list(table.rows), match == "right-maybe").items():
        numbers = _numbered(table, union, partners)
        for pattern, others in partners.items():
            matches[table.rows[pattern]] += _equal(table, numbers, pattern, others)
    return matches


def _partners(patterns: Sequence[int], right: bool) -> dict[int, dict[int, list[int]]]:
    """For each union of patterns those that have it with others, and which others these are.

    Every other stands among them too: it has the same union with the first, or by right maybe is
    the union, which it has with itself.
    """
    found: dict[int, dict[int, list[int]]] = {}
    for one in patterns:
        for other in patterns:
            union = one | other
            if not right or union == other:
                found.setdefault(union, {}).setdefault(one, []).append(other)
    return found


@dataclass(frozen=True, eq=False)
class _Tuples:
    """Distinct tuples: a code for each cell, where cells are missing, and the records of each.

    `rows[pattern]` are the tuples that miss exactly the attributes whose bits the pattern has.
    """

    codes: Ints
    missing: Bools
    weights: Ints
    rows: Mapping[int, Ints]


def _tuples(found: Recount) -> _Tuples:
    columns = [found.table.column(i) for i in range(len(found.quasi_identifiers))]
    missing = np.array([np.asarray(pc.is_null(column)) for column in columns], dtype=bool).T
    codes = np.array([_codes(column) for column in columns], dtype=np.int64).T
    kinds, kind_of = np.unique(missing, axis=0, return_inverse=True)
    order = np.argsort(kind_of.ravel(), kind="stable")
    ends = np.cumsum(np.bincount(kind_of.ravel(), minlength=len(kinds)))
    patterns = [sum(1 << int(i) for i in np.flatnonzero(kind)) for kind in kinds]
    rows = np.split(order, ends[:-1])
    return _Tuples(codes, missing, found.sizes, dict(zip(patterns, rows, strict=False)))


def _codes(column: object) -> Ints:
    """A number for each label, 0 for missing."""
    encoded = pc.dictionary_encode(column).combine_chunks()
    return np.asarray(pc.fill_null(pc.add(encoded.indices, 1), 0), dtype=np.int64)


def _numbered(table: _Tuples, union: int, patterns: Collection[int]) -> dict[int, Ints]:
    """A number for each tuple of each pattern, equal where all attributes outside the union are."""
    shared = [i for i in range(table.codes.shape[1]) if not union >> i & 1]
    rows = np.concatenate([table.rows[pattern] for pattern in patterns])
    keys = _keys([table.codes[rows, attribute] for attribute in shared], len(rows))
    ends = np.cumsum([len(table.rows[pattern]) for pattern in patterns])
    return dict(zip(patterns, np.split(_renumbered(keys), ends[:-1]), strict=True))


def _equal(
    table: _Tuples, numbers: Mapping[int, Ints], pattern: int, others: Sequence[int]
) -> Ints:
    """For each tuple of a pattern the records of the others with the same number."""
    weights = np.concatenate([table.weights[table.rows[other]] for other in others])
    theirs = np.concatenate([numbers[other] for other in others])
    mine = numbers[pattern]
    records = np.bincount(theirs, weights=weights, minlength=int(mine.max()) + 1)
    return records[mine].astype(np.int64)


def _keys(columns: Sequence[Ints], rows: int) -> Ints:
    """One number for each row, equal where all columns are.

    The codes are the digits of the number; when it would grow too large, keys are numbered anew.
    """
    keys, bound = np.zeros(rows, dtype=np.int64), 1
    for column in columns:
        base = int(column.max(initial=0)) + 1
        if bound * base >= _LARGEST_KEY:
            keys = _renumbered(keys)
            bound = int(keys.max(initial=0)) + 1
        keys, bound = keys * base + column, bound * base
    return keys


def _renumbered(keys: Ints) -> Ints:
    """The same keys as numbers from 0 without gaps."""
    numbers: Ints = np.unique(keys, return_inverse=True)[1].ravel()
    return numbers
