"""One column that is released unchanged: how often its values occur, and what they disclose.

The second half judges whether it discloses a generalized quasi-identifier. Take two records with
the same released label. How often do they have the same value of the quasi-identifier? And how
often if they also have the same value of the kept column? If the kept column is independent of the
quasi-identifier, both frequencies are equal, however rare its values are: the number of agreeing
pairs among n records is n * (n - 1) / 2 times a probability that does not depend on n. So random
values do not look like a disclosure.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, prod
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.arrow_arrays import from_numpy, from_texts, to_numpy
from shoal.encode.rows import column_of, number_rows, weights_of
from shoal.engines.failures import source_changed
from shoal.errors import BadData
from shoal.values import Caution

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from shoal.cautions.recoded import Recoded
    from shoal.encode.table import Attribute
    from shoal.engines.base import Source
    from shoal.values import Bools, Ints


MOST_VALUES = 200_000
"""So many distinct values of a column are read; where there are more, they are counted only."""
MOST_COMBINATIONS = 500_000
"""Up to so many combinations of a column with all generalized quasi-identifiers are read,"""
MOST_PAIRS = 2_000_000
"""and with one of them so many."""
NEARLY_UNIQUE = 0.2
"""From this share of records on that have a unique value, a column is nearly unique."""
FREE_TEXT_SHARE = 0.5
"""Free text is different in more than this share of the records,"""
FREE_TEXT_WORDS, FREE_TEXT_LENGTH = 4, 20
"""and has on average so many words and so many characters."""


@dataclass(frozen=True)
class Hidden:
    """A quasi-identifier that is released above level 0: the label of each of its values.

    In local recoding `further` has the labels at the other released levels above 0.
    """

    name: str
    values: pa.Array
    labels: np.ndarray
    further: tuple[np.ndarray, ...] = ()

    @classmethod
    def of(cls, attribute: Attribute, level: int, *others: int) -> Hidden:
        """The attribute at a level, and at others in local recoding."""
        leaves, groups = attribute.hierarchy.labels[0], attribute.hierarchy.groups
        further = tuple(groups[each] for each in others)
        return cls(attribute.name, from_texts(leaves), groups[level], further)


@dataclass(frozen=True)
class Kept:
    """A kept column as it was counted.

    `distinct` is the number of its values, `records` of those that have one. At least `unique` of
    them have a value that no other record has. `prose` says that the values look like sentences.
    """

    name: str
    distinct: int
    records: int
    unique: int
    prose: bool


def examine_kept(
    source: Source,
    name: str,
    hidden: Sequence[Hidden],
    missing: Sequence[str],
    *,
    records: int,
    tuples: float = inf,
    recoded: Recoded | None = None,
) -> tuple[Kept, list[Caution]] | None:
    """A column and its warnings; None where the engine cannot compare its values, such as lists.

    The first question is the number of its values. With more than MOST_VALUES it is the only one.
    Otherwise the second question is how often each value occurs with the values of all hidden
    columns, which answers everything; where that may be too much to read, there is one question
    for each hidden column. `records` of the source have at most `tuples` different combinations of
    quasi-identifiers.

    In local recoding a value has several labels. `recoded` says which label each combination of all
    quasi-identifiers has; where these are too many to read, every record is judged at each
    released level, so that no warning is lost, and the worst one counts.
    """
    distinct = distinct_values(source, name, missing)
    if distinct is None:
        return None
    if distinct > MOST_VALUES:
        # Each value that is not unique has two records at least: records >= unique + 2 * (distinct
        # - unique), so unique >= 2 * distinct - records.
        kept = Kept(name, distinct, records, max(0, 2 * distinct - records), False)
        return kept, cautions_of(kept)
    joint = None
    if distinct > 1 and _combinations(hidden, distinct, records, tuples) <= MOST_COMBINATIONS:
        joint = _joint(source, name, hidden, missing, recoded)
    kept = Kept(name, distinct, records, 0, False)
    if distinct >= NEARLY_UNIQUE * records:
        counted = source.count_by((name,), missing) if joint is None else _summed_by(joint, [name])
        kept = _counted(name, counted)
    found = cautions_of(kept)
    if kept.unique < kept.records:
        found += _disclosing(source, kept, hidden, missing, joint, recoded)
    return kept, found


def distinct_values(source: Source, name: str, missing: Sequence[str]) -> int | None:
    """How many different values a column has, None where the engine cannot compare them."""
    try:
        return source.count_distinct((name,), missing)
    except BadData as error:
        if error.code == "unsupported-type":
            return None
        raise


def _combinations(hidden: Sequence[Hidden], distinct: int, records: int, tuples: float) -> float:
    """At most so many combinations has a column with the hidden ones; missing is a value too."""
    together = min(tuples, prod(len(each.values) + 1 for each in hidden))
    return min(records, together * (distinct + 1))


def _joint(
    source: Source,
    name: str,
    hidden: Sequence[Hidden],
    missing: Sequence[str],
    recoded: Recoded | None,
) -> pa.Table | None:
    """How often each value occurs with the values of all hidden columns; None without any.

    In local recoding with the values of all quasi-identifiers.
    """
    if not hidden:
        return None
    names = tuple(each.name for each in hidden) if recoded is None else recoded.names
    return source.count_by((*names, name), missing)


def _summed_by(joint: pa.Table, names: Sequence[str]) -> pa.Table:
    """The records of each combination of fewer columns, as `count_by` would give them."""
    columns = [column_of(joint, name) for name in names]
    numbers, classes = number_rows(
        [each.rows for each in columns], [len(each.counts) + 1 for each in columns]
    )
    records, one = np.zeros(classes, np.int64), np.zeros(classes, np.int64)
    np.add.at(records, numbers, weights_of(joint))
    one[numbers] = np.arange(len(numbers))
    return joint.select(names).take(from_numpy(one)).append_column("records", from_numpy(records))


def _counted(name: str, counted: pa.Table) -> Kept:
    """A column whose values were read."""
    present = counted.filter(counted.column(0).is_valid())
    values, counts = present.column(0).to_pylist(), present.column(1).to_pylist()
    return Kept(name, len(values), sum(counts), counts.count(1), is_prose(values))


def is_prose(values: Sequence[str]) -> bool:
    """Whether the values have many words and are long, on average."""
    if not values:
        return False
    words = sum(len(value.split()) for value in values) / len(values)
    return words >= FREE_TEXT_WORDS and sum(map(len, values)) / len(values) >= FREE_TEXT_LENGTH


def cautions_of(kept: Kept) -> list[Caution]:
    """The warning about the values of a column by themselves."""
    share = kept.records and kept.distinct / kept.records
    if kept.prose and share > FREE_TEXT_SHARE:
        text = (
            f"{kept.name!r} holds free text, which may say anything about a person: "
            f"{kept.distinct:,} different texts in {kept.records:,} records; drop it"
        )
        return [Caution("kept-free-text", kept.name, text, kept.records)]
    if kept.distinct > 1 and kept.unique >= NEARLY_UNIQUE * kept.records:
        text = (
            f"{kept.unique:,} of {kept.records:,} records have a value of {kept.name!r} that no "
            "other record has; who knows it finds the record: drop it, or make it a "
            "quasi-identifier"
        )
        return [Caution("kept-unique", kept.name, text, kept.unique)]
    return []


def _disclosing(
    source: Source,
    kept: Kept,
    hidden: Sequence[Hidden],
    missing: Sequence[str],
    joint: pa.Table | None,
    recoded: Recoded | None,
) -> Iterator[Caution]:
    """The warning about quasi-identifiers that a column discloses."""
    if kept.distinct <= 1:
        return
    if joint is not None and recoded is not None:
        judged = _recoded(kept.name, hidden, joint, recoded)
    else:
        pairs = _pairs(source, kept.name, hidden, missing, joint)
        judged = ((each.name, _worst(each, counted)) for each, counted in pairs)
    found = {name: seen for name, seen in judged if seen is not None}
    if not found:
        return
    parts = [f"{name!r} ({_numbers(seen)})" for name, seen in found.items()]
    text = (
        f"{kept.name!r} discloses more than is released of {', '.join(parts)}: "
        "drop it, or make it a quasi-identifier"
    )
    records = max(seen.records for seen in found.values())
    yield Caution("kept-tells-more", kept.name, text, records)


def _numbers(seen: Disclosed) -> str:
    records = "1 record" if seen.records == 1 else f"{seen.records:,} records"
    return f"{records}, the value itself of {seen.exactly:,}"


def _pairs(
    source: Source,
    name: str,
    hidden: Sequence[Hidden],
    missing: Sequence[str],
    joint: pa.Table | None,
) -> Iterator[tuple[Hidden, pa.Table]]:
    """For each quasi-identifier its pairs with the kept column, with their records.

    A quasi-identifier with too many pairs is left out: the column cannot disclose much of it.
    """
    for each in hidden:
        if joint is not None:
            yield each, _summed_by(joint, [each.name, name])
            continue
        pairs = source.count_by((each.name, name), missing, at_most=MOST_PAIRS)
        if pairs.num_rows <= MOST_PAIRS:
            yield each, pairs


def _worst(hidden: Hidden, pairs: pa.Table) -> Disclosed | None:
    """What the pairs disclose at the released level, at most at any where there are several."""
    every = [_disclosed(hidden, labels, pairs) for labels in (hidden.labels, *hidden.further)]
    seen = [each for each in every if each is not None]
    return max(seen, key=lambda each: (each.records, each.exactly), default=None)


def _disclosed(hidden: Hidden, labels: np.ndarray, pairs: pa.Table) -> Disclosed | None:
    """What the pairs disclose; records without one of the two values disclose nothing."""
    pairs = pairs.filter(pc.and_(pairs.column(0).is_valid(), pairs.column(1).is_valid()))
    if not pairs.num_rows:
        return None
    found = pc.index_in(pairs.column(0), value_set=hidden.values)
    if found.null_count:
        raise source_changed("the source")
    values = to_numpy(found).astype(np.int64)
    kept = to_numpy(pc.dictionary_encode(pairs.column(1)).combine_chunks().indices).astype(np.int64)
    return disclosed(labels[values], values, kept, weights_of(pairs))


def _recoded(
    name: str, hidden: Sequence[Hidden], joint: pa.Table, recoded: Recoded
) -> Iterator[tuple[str, Disclosed | None]]:
    """What is disclosed of each quasi-identifier by the labels that its records really have."""
    labels, kept, counts = recoded.labels_of(joint), column_of(joint, name), weights_of(joint)
    for each in hidden:
        label = labels[:, recoded.names.index(each.name)]
        values = column_of(joint, each.name)
        there = (label >= 0) & (kept.rows < len(kept.counts)) & (values.rows < len(values.counts))
        chosen = (array[there] for array in (label, values.rows, kept.rows, counts))
        yield each.name, disclosed(*chosen) if there.any() else None


NARROWED = 1.75
"""Records of a label are disclosed when agreement is so many times as frequent,"""
CERTAINTY = 0.5
"""or when it is so much of the way from chance to certainty."""
DISCLOSED_SHARE = 0.5
"""A column discloses when that is so for this share of the records that can be compared,"""
DEVIATIONS = 5.0
"""and agreeing pairs are so many standard deviations more than by chance;"""
EXACT_SHARE = 0.05
"""or when at least this share of the records have a kept value that occurs with one value only,"""
BY_CHANCE = 0.001
"""which would happen by chance at most with this probability."""


@dataclass(frozen=True)
class Disclosed:
    """Of how many records a kept column discloses more than the label, of how many the value."""

    records: int
    exactly: int


def disclosed(labels: Ints, values: Ints, kept: Ints, counts: Ints) -> Disclosed | None:
    """What the kept column discloses, None where it is not more than chance.

    A row for each distinct pair of a value of the quasi-identifier and one of the kept column: the
    codes of the label, the value and the kept value, and how many records have them. Labels that
    mean one value hide nothing.
    """
    several = _several(labels, values)
    labels, values, kept, counts = (each[several] for each in (labels, values, kept, counts))
    if not len(labels):
        return None
    label_of = _numbered(labels)
    chance = _agreement(label_of, _numbered(label_of, values), counts)
    cell_of = _numbered(label_of, kept)
    agreement = _agreement(cell_of, _numbered(cell_of, values), counts)
    sizes = _sums(cell_of, counts)
    expected = chance[_first(cell_of, label_of)]
    largest = _largest_share(label_of, values, counts)[_first(cell_of, label_of)]
    pairs = sizes * (sizes - 1) / 2
    comparable = sizes >= 2
    if not comparable.any():
        return None
    finer = comparable & _finer(agreement, expected)
    exact = comparable & (agreement >= 1) & (largest ** (sizes - 1.0) <= BY_CHANCE)
    surplus = float((pairs * (agreement - expected))[comparable].sum())
    beyond = surplus >= DEVIATIONS * max(float((pairs * expected).sum()), 1.0) ** 0.5
    exactly, records = int(sizes[exact].sum()), int(sizes[finer].sum())
    if beyond and records >= DISCLOSED_SHARE * sizes[comparable].sum():
        return Disclosed(records, exactly)
    return Disclosed(exactly, exactly) if exactly >= EXACT_SHARE * counts.sum() else None


def _finer(agreement: np.ndarray, expected: np.ndarray) -> Bools:
    """Where agreement is much more frequent than expected."""
    narrowed = agreement >= NARROWED * expected
    finer: Bools = narrowed | (agreement - expected >= CERTAINTY * (1 - expected))
    return finer


def _several(labels: Ints, values: Ints) -> Bools:
    """The rows whose label means more than one value of the data."""
    width = int(values.max(initial=0)) + 1
    # With the counts NumPy does not import its masked arrays, which takes a twentieth of a second.
    different, _ = np.unique(labels * width + values, return_counts=True)
    number = np.bincount(different // width)
    several: Bools = number[labels] > 1
    return several


def _agreement(group_of: Ints, part_of: Ints, counts: Ints) -> np.ndarray:
    """For each group how likely two of its records lie in the same part; 0 for a single record."""
    parts, sizes = _sums(part_of, counts), _sums(group_of, counts)
    inside = np.bincount(_first(part_of, group_of), parts * (parts - 1.0), len(sizes))
    return np.divide(inside, sizes * (sizes - 1.0), out=np.zeros(len(sizes)), where=sizes > 1)


def _largest_share(group_of: Ints, values: Ints, counts: Ints) -> np.ndarray:
    """For each group the share of its most frequent value."""
    part_of = _numbered(group_of, values)
    parts, sizes = _sums(part_of, counts), _sums(group_of, counts)
    largest = np.zeros(len(sizes))
    np.maximum.at(largest, _first(part_of, group_of), parts)
    shares: np.ndarray = largest / sizes
    return shares


def _sums(group_of: Ints, counts: Ints) -> np.ndarray:
    """The records of each group."""
    return np.bincount(group_of, counts)


def _first(part_of: Ints, group_of: Ints) -> Ints:
    """The group of each part; all rows of a part lie in one group."""
    groups = np.zeros(int(part_of.max()) + 1, np.int64)
    groups[part_of] = group_of
    return groups


def _numbered(*columns: Ints) -> Ints:
    """Numbers from 0 on without gaps, equal where all columns are."""
    key = columns[0]
    for column in columns[1:]:
        key = key * (int(column.max()) + 1) + column
    numbers: Ints = np.unique(key, return_inverse=True)[1].ravel()
    return numbers
