"""Slow, obvious Python that says what a data mart may release, with nothing of `shoal.mart`.

A row of the join is a dict from source to its record, or to None where an optional partner is
absent. All counts of twins are counts of distinct persons.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from oracle import Cell, Ladder

Record = Mapping[str, Cell]
Joined = Mapping[str, Record | None]
Column = tuple[str, str]
Labels = tuple[Cell, ...]


@dataclass(frozen=True)
class Join:
    """Two sources with their key columns; rows stay where the `optional` source has no partner.

    Several records of the source `many` may have one key.
    """

    left: str
    left_key: tuple[str, ...]
    right: str
    right_key: tuple[str, ...]
    many: str | None = None
    optional: str | None = None

    def key_of(self, source: str) -> tuple[str, ...]:
        return self.left_key if source == self.left else self.right_key

    def other(self, source: str) -> str:
        return self.right if source == self.left else self.left


@dataclass(frozen=True)
class Mart:
    """The tables, how they are linked, who is a person, and the hierarchies."""

    tables: Mapping[str, Sequence[Record]]
    joins: Sequence[Join]
    person: tuple[str, tuple[str, ...]]
    ladders: Mapping[Column, Ladder]

    def person_of(self, row: Joined) -> Labels:
        """Who a joined row belongs to."""
        source, columns = self.person
        record = row[source]
        assert record is not None
        return tuple(record[column] for column in columns)


@dataclass(frozen=True)
class Selection:
    """A condition: the column, and which of its values (None: missing) it accepts."""

    column: Column
    accepts: Callable[[Cell], bool]


def sources_between(mart: Mart, used: Iterable[str]) -> list[str]:
    """The sources that are used and those on their paths to the person, the person's first."""
    reached: dict[str, tuple[str, ...]] = {mart.person[0]: (mart.person[0],)}
    queue = [mart.person[0]]
    for source in queue:
        for join in mart.joins:
            if source in (join.left, join.right) and join.other(source) not in reached:
                other = join.other(source)
                reached[other] = (*reached[source], other)
                queue.append(other)
    needed = {each for source in used for each in reached[source]} | {mart.person[0]}
    return [source for source in queue if source in needed]


def joined(mart: Mart, used: Iterable[str], conditions: Sequence[Selection]) -> list[Joined]:
    """The natural join of the used sources, after the selection."""
    order = sources_between(mart, used)
    rows: list[dict[str, Record | None]] = [{order[0]: row} for row in mart.tables[order[0]]]
    for source in order[1:]:
        join, near = next(
            (join, join.other(source))
            for join in mart.joins
            if source in (join.left, join.right) and join.other(source) in order
            if order.index(join.other(source)) < order.index(source)
        )
        rows = [
            {**row, source: partner}
            for row in rows
            for partner in _partners(mart.tables[source], join, source, row[near])
        ]
    return [row for row in rows if all(c.accepts(cell(row, c.column)) for c in conditions)]


def _partners(
    table: Sequence[Record], join: Join, source: str, record: Record | None
) -> list[Record | None]:
    """The records of a source that have the key of a record; None where none may be."""
    found: list[Record | None] = []
    if record is not None:
        key = [record[column] for column in join.key_of(join.other(source))]
        for row in table:
            if [row[column] for column in join.key_of(source)] == key and None not in key:
                found.append(row)
    return found or ([None] if join.optional == source else [])


def cell(row: Joined, column: Column) -> Cell:
    """The value of a column in a joined row."""
    record = row[column[0]]
    return None if record is None else record[column[1]]


def labels(
    mart: Mart, row: Joined, columns: Sequence[Column], levels: Mapping[Column, int]
) -> Labels:
    """The labels of a row in some columns; a column without a level stays as it is."""
    return tuple(
        mart.ladders[column].label(cell(row, column), levels[column])
        if column in levels
        else cell(row, column)
        for column in columns
    )


def persons_by_class(
    mart: Mart, rows: Iterable[Joined], columns: Sequence[Column], levels: Mapping[Column, int]
) -> dict[Labels, set[Labels]]:
    """The persons of each class of some columns."""
    found: dict[Labels, set[Labels]] = defaultdict(set)
    for row in rows:
        found[labels(mart, row, columns, levels)].add(mart.person_of(row))
    return found


def passing(
    mart: Mart,
    rows: Sequence[Joined],
    groups: Sequence[Sequence[Column]],
    levels: Mapping[Column, int],
    k: int,
) -> list[Joined]:
    """The rows that are left when rows of classes below k persons leave, until none does."""
    left = list(rows)
    while True:
        counted = [(group, persons_by_class(mart, left, group, levels)) for group in groups]
        kept = [
            row
            for row in left
            if all(len(found[labels(mart, row, group, levels)]) >= k for group, found in counted)
        ]
        if len(kept) == len(left):
            return kept
        left = kept


def groups_of(columns: Sequence[Column], scope: str) -> list[tuple[Column, ...]]:
    """What is judged together: each source's quasi-identifiers, or all of them."""
    if scope == "joint":
        return [tuple(columns)] if columns else []
    by_source: dict[str, list[Column]] = {}
    for column in columns:
        by_source.setdefault(column[0], []).append(column)
    return [tuple(group) for group in by_source.values()]


def limit_by_selection(ladder: Ladder, selected: set[str]) -> int:
    """The highest level at which no label covers all selected values and others besides."""
    for level in range(ladder.height, 0, -1):
        covered: dict[str, set[str]] = defaultdict(set)
        for value, steps in ladder.steps.items():
            covered[steps[level]].add(value)
        if not any(selected < below for below in covered.values()):
            return level
    return 0


def is_safe(
    mart: Mart,
    rows: Sequence[Joined],
    group: Sequence[Column],
    levels: Mapping[Column, int],
    k: int,
) -> bool:
    """Whether every class of these columns has k persons."""
    return all(len(found) >= k for found in persons_by_class(mart, rows, group, levels).values())


def least_cost(
    mart: Mart,
    rows: Sequence[Joined],
    group: Sequence[Column],
    limits: Mapping[Column, int],
    weights: Mapping[Column, Fraction],
    k: int,
) -> Fraction | None:
    """The least sum of priority times level/height of a node that is safe without suppression."""
    costs = [
        cost(mart, dict(zip(group, node, strict=True)), weights)
        for node in itertools.product(*(range(limits[column] + 1) for column in group))
        if is_safe(mart, rows, group, dict(zip(group, node, strict=True)), k)
    ]
    return min(costs, default=None)


def cost(mart: Mart, levels: Mapping[Column, int], weights: Mapping[Column, Fraction]) -> Fraction:
    """Priority times level/height, over the columns."""
    return sum(
        (
            weights[column] * Fraction(level, mart.ladders[column].height)
            for column, level in levels.items()
            if mart.ladders[column].height
        ),
        Fraction(0),
    )


def is_repeated(mart: Mart, source: str, used: Iterable[str]) -> bool:
    """Whether a record of a source may be in several rows of the join of the used sources."""
    order = sources_between(mart, used)
    pending, seen = [source], {source}
    for near in pending:
        for join in mart.joins:
            if near in (join.left, join.right) and join.other(near) in order:
                far = join.other(near)
                if far not in seen and join.many == far:
                    return True
                pending += [far] if far not in seen else []
                seen.add(far)
    return False


def persons_alone(
    mart: Mart,
    rows: Sequence[Joined],
    group: Sequence[Column],
    levels: Mapping[Column, int],
    k: int,
) -> int:
    """The persons whose rows, taken together, fewer than k persons have."""
    of_person: dict[Labels, Counter[Labels]] = defaultdict(Counter)
    for row in rows:
        of_person[mart.person_of(row)][labels(mart, row, group, levels)] += 1
    same = Counter(frozenset(counted.items()) for counted in of_person.values())
    return sum(number for number in same.values() if number < k)


def uniques(
    mart: Mart, rows: Sequence[Joined], columns: Sequence[Column], levels: Mapping[Column, int]
) -> int:
    """The rows whose labels in all columns only one person has."""
    found = persons_by_class(mart, rows, columns, levels)
    return sum(len(found[labels(mart, row, columns, levels)]) == 1 for row in rows)


@dataclass(frozen=True)
class Release:
    """What one release told: which rows passed, the labels in them, and its k."""

    rows: Sequence[Joined]
    columns: Sequence[Column]
    levels: Mapping[Column, int]
    k: int

    @property
    def sources(self) -> set[str]:
        return set().union(*self.rows)


def has_small_cell(mart: Mart, one: Release, other: Release, source: str) -> bool:
    """Whether two releases together say something of a source that is true of too few persons.

    Rows of both match where they are made of the same records of all sources that both use. What
    is said of a row is its class in each release, or that it has no match in the other.
    """
    both = one.sources & other.sources
    matches: dict[frozenset[tuple[str, int]], tuple[list[Joined], list[Joined]]] = {}
    for number, release in enumerate((one, other)):
        for row in release.rows:
            identity = frozenset((each, id(row[each])) for each in both)
            matches.setdefault(identity, ([], []))[number].append(row)
    persons: dict[tuple[Labels | None, Labels | None], set[Labels]] = defaultdict(set)
    for ours, theirs in matches.values():
        for first, second in itertools.product(ours or (None,), theirs or (None,)):
            either = first or second
            assert either is not None
            said = (_said(mart, one, first, source), _said(mart, other, second, source))
            persons[said].add(mart.person_of(either))
    return any(
        len(known) < max(r.k for r, labels in zip((one, other), said, strict=True) if labels)
        for said, known in persons.items()
    )


def _said(mart: Mart, release: Release, row: Joined | None, source: str) -> Labels | None:
    """What a release says of a row: its labels in the columns of a source; None if it has none."""
    if row is None:
        return None
    columns = [column for column in release.columns if column[0] == source]
    return ("released", *labels(mart, row, columns, release.levels))


def released_rows(
    mart: Mart, rows: Sequence[Joined], columns: Sequence[Column], levels: Mapping[Column, int]
) -> Counter[Labels]:
    """What a reader of the output must find: each row of labels, and how often."""
    return Counter(labels(mart, row, columns, levels) for row in rows)
