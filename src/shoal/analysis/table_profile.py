"""A table at first sight: each column's type, counts, risk by itself, and a guess of its role.

Columns are counted one after the other, and of each only the numbers and a sample of its values
stay in memory, so a table may have many columns with a value of its own in every record. The result
holds no value of the data but the texts that stand for missing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.analysis.column_shape import ValueType, histogram, type_of
from shoal.analysis.identifiers import identifiers
from shoal.cautions.kept import Kept, cautions_of, is_prose
from shoal.definition.draft import MISSING_TOKENS, Guess, Profile, Repeated, guess_all
from shoal.definition.draft_persons import repeated_persons, with_likeness
from shoal.definition.hierarchies.registry import written
from shoal.definition.obstacles import obstacle
from shoal.definition.write import attribute_mapping
from shoal.encode.propose import propose
from shoal.engines.duckdb.source import TableSource
from shoal.errors import BadData

if TYPE_CHECKING:
    from shoal.definition.model import Hierarchy
    from shoal.engines.base import Source
    from shoal.values import Caution, Ints

MOST_VALUES = 5_000_000
"""A column with more distinct values is not read; it is counted only."""
SAMPLE = 20_000
"""So many values of a column are looked at to guess what it is,"""
SMALL_SAMPLE = 500
"""and so many to recognise kinds of identifiers."""

MOST_CELLS = 4_000_000
"""Up to so many cells are counted in one pass: with many columns that is much faster."""

Progress = Callable[[int, int], None]
"""Takes the number of columns that are counted, and of all."""


@dataclass(frozen=True)
class ColumnProfile:
    """One column. `unique` records have a value that no other has.

    `distinction` is the share of distinct values among the records, `separation` the share of
    pairs of records that differ. `attribute` is the guess as a definition has it, `hierarchy` what
    fits the values whatever the role; None where only a sample was looked at.
    """

    name: str
    type: ValueType
    distinct: int
    missing: int
    unique: int
    histogram: tuple[int, ...]
    distinction: float
    separation: float
    role: str
    reason: str
    attribute: Any
    hierarchy: Any
    warnings: tuple[Caution, ...]
    identifier: str


@dataclass(frozen=True)
class TableProfile:
    """A table: its records, its columns, what means missing, and what identifies persons."""

    records: int
    columns: tuple[ColumnProfile, ...]
    missing: tuple[str, ...]
    person: Repeated | None


@dataclass(frozen=True)
class _Counted:
    """A column as it was counted: what stays of it in memory."""

    profile: Profile
    type: ValueType
    sizes: Ints
    bars: tuple[int, ...]
    unique: int
    separation: float
    tokens: frozenset[str] = frozenset()


def profile_table(
    source: Source,
    missing: Sequence[str] | None = None,
    also: Sequence[str] = (),
    progress: Progress = lambda *_: None,
) -> TableProfile:
    """Count and guess; `missing` are the texts for missing values.

    Without any stated, these are the usual ones and those of `also`, as far as they occur.
    """
    records = int(source.count_by(()).column(0)[0].as_py())
    if not records:
        raise BadData(
            f"{source.name} has no records",
            code="no-records",
            hint="roles and hierarchies are proposed from the values; give a table with some",
        )
    names = [column.name for column in source.columns()]
    usual = tuple(dict.fromkeys((*also, *MISSING_TOKENS)))
    tokens = usual if missing is None else tuple(missing)
    counted: dict[str, _Counted] = {}
    for name, table in _tables(source, names, records):
        if table is not None and table.num_rows > MOST_VALUES:
            counted[name] = _counted_only(source, name, tokens, records)
        else:
            counted[name] = _counted(name, table, tokens, records)
        progress(len(counted), len(names))
    counted = {name: counted[name] for name in names}
    if missing is None:
        found = frozenset().union(*(each.tokens for each in counted.values()))
        tokens = tuple(token for token in usual if token in found)
    proposed = _Proposed()
    guesses, person = _guess(source, counted, tokens, proposed)
    columns = (_column(counted[found.profile.name], found, proposed) for found in guesses)
    return TableProfile(records, tuple(columns), tokens, person)


class _Proposed:
    """Proposes hierarchies, once for each list of values."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, ...], Hierarchy] = {}

    def __call__(self, values: Sequence[str]) -> Hierarchy:
        key = tuple(values)
        if key not in self._found:
            self._found[key] = propose(key)
        return self._found[key]


def _tables(
    source: Source, names: Sequence[str], records: int
) -> Iterator[tuple[str, pa.Table | None]]:
    """The values of each column with their records; None where they cannot be compared."""
    if isinstance(source, TableSource) and records * len(names) <= MOST_CELLS:
        for name, found in source.count_each():
            values = pa.array(found.keys(), pa.string())
            yield name, pa.table([values, pa.array(found.values())], ["value", "records"])
        return
    for name in names:
        try:
            yield name, source.count_by((name,), at_most=MOST_VALUES)
        except BadData as error:
            if error.code != "unsupported-type":
                raise
            yield name, None


def _counted(name: str, table: pa.Table | None, missing: Sequence[str], records: int) -> _Counted:
    """One column; one whose values cannot be compared counts as without any."""
    if table is None or not table.num_rows:
        nothing = Profile(name, (), records, records)
        return _Counted(nothing, "no values", np.zeros(0, np.int64), (), 0, 0.0)
    texts = table.column(0)
    is_token = pc.is_in(texts, value_set=pa.array(missing, pa.string()))
    tokens = frozenset(texts.filter(is_token).to_pylist())
    present = table.filter(pc.and_(pc.is_valid(texts), pc.invert(is_token))).combine_chunks()
    values, sizes = present.column(0).combine_chunks(), np.asarray(present.column(1), np.int64)
    absent = records - int(sizes.sum())
    kind = type_of(values)
    sample = _sample(values)
    others = len(values) - len(sample)
    said = "" if others else obstacle(dict(zip(values.to_pylist(), sizes.tolist(), strict=True)))
    profile = Profile(name, sample, records, absent, others=others, obstacle=said)
    alike = int((sizes * (sizes - 1)).sum()) + absent * (absent - 1)
    separation = 1 - alike / (records * (records - 1)) if records > 1 else 0.0
    bars = histogram(values, sizes, kind)
    unique = int((sizes == 1).sum())
    return _Counted(profile, kind, sizes.astype(np.int32), bars, unique, separation, tokens)


def _counted_only(source: Source, name: str, missing: Sequence[str], records: int) -> _Counted:
    """A column with so many values that they are not read; its numbers are lower bounds.

    Each value that is not unique has two records at least, so unique >= 2 * distinct - records.
    """
    distinct = source.count_distinct((name,), missing)
    unique = max(0, 2 * distinct - records)
    profile = Profile(name, (), records, 0, others=distinct)
    return _Counted(profile, "text", np.zeros(0, np.int32), (), unique, 1 - 1 / distinct)


def _sample(values: pa.Array) -> tuple[str, ...]:
    """The values in order, or about SAMPLE of them at equal distances."""
    ordered = values.take(pc.sort_indices(values))
    step = -(-len(ordered) // SAMPLE)
    return tuple(ordered.to_pylist()[:: step or 1])


class _Sizes(Mapping[str, Mapping[str | None, int]]):
    """The records of each value of each column, as `with_likeness` reads them: sizes only."""

    def __init__(self, counted: Mapping[str, _Counted]) -> None:
        self._counted = counted

    def __getitem__(self, name: str) -> Mapping[str | None, int]:
        return {str(i): size for i, size in enumerate(self._counted[name].sizes.tolist())}

    def __iter__(self) -> Iterator[str]:
        return iter(self._counted)

    def __len__(self) -> int:
        return len(self._counted)


def _guess(
    source: Source,
    counted: Mapping[str, _Counted],
    missing: Sequence[str],
    proposed: _Proposed,
) -> tuple[list[Guess], Repeated | None]:
    """The guesses of `shoal init`, and the columns that identify persons."""

    def distinct(columns: Sequence[str], most: int) -> int:
        return source.count_distinct(columns, missing, at_most=most)

    profiles = [each.profile for each in counted.values()]
    guesses = guess_all(with_likeness(profiles, _Sizes(counted), distinct), proposed)
    person = repeated_persons(guesses, distinct)
    return [_on_all_values(source, found, missing) for found in guesses], person


def _on_all_values(source: Source, found: Guess, missing: Sequence[str]) -> Guess:
    """A quasi-identifier whose hierarchy was proposed from a sample gets one from all values."""
    if found.attribute.hierarchy is None or not found.profile.others:
        return found
    table = source.count_by((found.profile.name,), missing)
    values = [value for value in table.column(0).to_pylist() if value is not None]
    return replace(
        found, attribute=found.attribute.model_copy(update={"hierarchy": propose(sorted(values))})
    )


def _column(counted: _Counted, found: Guess, proposed: _Proposed) -> ColumnProfile:
    profile = found.profile
    records = max(1, profile.records)
    own = found.attribute.hierarchy
    if own is None and not profile.others:
        own = proposed(profile.values)
    small = profile.values[:: -(-len(profile.values) // SMALL_SAMPLE) or 1]
    kinds = [each.kind for each in identifiers([(profile.name, small)])]
    kept = Kept(
        profile.name, profile.distinct, profile.present, counted.unique, is_prose(profile.values)
    )
    return ColumnProfile(
        name=profile.name,
        type=counted.type,
        distinct=profile.distinct,
        missing=profile.missing,
        unique=counted.unique,
        histogram=counted.bars,
        distinction=(profile.distinct + bool(profile.missing)) / records,
        separation=counted.separation,
        role=found.attribute.role,
        reason=found.reason,
        attribute=attribute_mapping(found.attribute),
        hierarchy=None if own is None else written(own),
        warnings=tuple(cautions_of(kept)),
        identifier=kinds[0] if kinds else "",
    )
