"""All warnings of a run, asked of the engine that has the data."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.cautions.kept import MOST_VALUES, Kept, cautions_of, look_at
from shoal.cautions.persons import repeated, repeated_identifiers, repeats
from shoal.cautions.telling import Told, told
from shoal.definition.column_words import Sound
from shoal.errors import Refused, quoted
from shoal.values import Caution

if TYPE_CHECKING:
    from shoal.definition.model import Definition
    from shoal.encode.table import Attribute, Table
    from shoal.engines.base import Source
    from shoal.values import Node

MOST_KEPT = 100
"""So many kept columns are looked at,"""
MOST_CELLS = 30_000
"""and in wide tables fewer: this divided by the number of columns, since each look takes longer."""
MOST_COMBINATIONS = 2_000_000
"""Up to so many combinations of all generalized quasi-identifiers with a kept column are read."""


@dataclass(frozen=True)
class Hidden:
    """A quasi-identifier that is released above level 0: the label of each of its values."""

    name: str
    values: pa.Array
    labels: np.ndarray

    @classmethod
    def of(cls, attribute: Attribute, level: int) -> Hidden:
        """The attribute at a level."""
        leaves, labels = attribute.hierarchy.labels[0], attribute.hierarchy.groups[level]
        return cls(attribute.name, pa.array(leaves, pa.string()), labels)


def look(definition: Definition, source: Source, table: Table, node: Node) -> tuple[Caution, ...]:
    """What the release at a node tells beyond its labels, column by column.

    Counted in the source: suppressed records are among the numbers.
    """
    kept, most = definition.names("keep", "sensitive"), how_many(definition.attributes)
    missing, records = definition.missing.values, table.records + table.removed
    hidden = [
        Hidden.of(attribute, level)
        for attribute, level in zip(table.attributes, node, strict=True)
        if level > 0
    ]
    found: list[Caution] = []
    for name in kept[:most]:
        column = look_at(source, name, missing, records)
        if column is None:
            found.append(not_comparable(name, records))
            continue
        found += cautions_of(column)
        found += _telling(source, column, hidden, missing, _combinations(table, column))
    if not definition.person:
        found += repeated_identifiers(definition, source, table)
    return (*found, *not_looked_at(kept[most:]))


def look_at_table(
    source: Source,
    quasi_identifiers: Sequence[str],
    missing: Sequence[str],
    records: int,
    person: Sequence[str] = (),
) -> tuple[Caution, ...]:
    """What the other columns of a table tell as they stand, without a definition.

    A number of persons that repeats is named where no `person` is given.
    """
    columns = [column.name for column in source.columns()]
    others = [name for name in columns if name not in (*quasi_identifiers, *person)]
    most = how_many(columns)
    found: list[Caution] = []
    for name in others[:most]:
        column = look_at(source, name, missing, records)
        if column is None:
            found.append(not_comparable(name, records))
            continue
        if Sound(name).number_of_person and not person and repeats(column.distinct, records):
            remedy = f"`--person {name}`, or leave it out"
            found.append(repeated(name, column.distinct, records, remedy))
        found += cautions_of(column)
    return (*found, *not_looked_at(others[most:]))


def refuse_if_strict(definition: Definition, cautions: Sequence[Caution]) -> None:
    """A strict definition releases nothing that is warned of."""
    if definition.strict and cautions:
        lines = "".join(f"\n  {each.code}: {each.text}" for each in cautions)
        number = "1 warning" if len(cautions) == 1 else f"{len(cautions)} warnings"
        raise Refused(
            f"the definition is strict, and nothing was released because of {number}{lines}",
            code="strict",
            hint="do what each says, or leave out `strict` to be warned only",
        )


def how_many(columns: Collection[object]) -> int:
    """How many kept columns of a table with these columns are looked at."""
    return max(1, min(MOST_KEPT, MOST_CELLS // max(1, len(columns))))


def not_looked_at(rest: Sequence[str]) -> Iterator[Caution]:
    """Too many columns to look at all of them: said, not passed over."""
    if rest:
        text = (
            f"{len(rest):,} kept columns were not looked at, since there are so many: "
            f"{quoted(rest, 5)}; keep fewer columns"
        )
        yield Caution("kept-unseen", None, text, 0)


def not_comparable(name: str, records: int) -> Caution:
    """A column of lists or the like, whose values nobody counted."""
    text = f"{name!r} was not looked at, since its values cannot be compared as text; drop it"
    return Caution("kept-unseen", name, text, records)


def _telling(
    source: Source, column: Kept, hidden: Sequence[Hidden], missing: Sequence[str], most: float
) -> Iterator[Caution]:
    """Whether a column tells quasi-identifiers more finely than they are released.

    There are at most so many combinations of all of them.
    """
    if not 1 < column.distinct <= MOST_VALUES or not hidden:
        return
    found = {
        each.name: seen
        for each, pairs in _pairs(source, column.name, hidden, missing, most)
        if (seen := _told(each, pairs)) is not None
    }
    if not found:
        return
    parts = [f"{name!r} ({_numbers(seen)})" for name, seen in found.items()]
    yield Caution(
        "kept-tells-more",
        column.name,
        f"{column.name!r} tells more than is released of {', '.join(parts)}: "
        "drop it, or make it a quasi-identifier",
        max(seen.records for seen in found.values()),
    )


def _numbers(seen: Told) -> str:
    records = "1 record" if seen.records == 1 else f"{seen.records:,} records"
    return f"{records}, the value itself of {seen.exactly:,}"


def _combinations(table: Table, column: Kept) -> float:
    """At most so many combinations a column has with the quasi-identifiers; removed records were
    not counted with the tuples, and the tuples of a raised table are not those of the source."""
    if table.raised is not None:
        return inf
    return table.tuples * (column.distinct + 1) + table.removed


def _pairs(
    source: Source, kept: str, hidden: Sequence[Hidden], missing: Sequence[str], most: float
) -> Iterator[tuple[Hidden, pa.Table]]:
    """For each quasi-identifier its pairs with the kept column, with their records.

    One question for all of them where there are not too many combinations, else one for each; one
    with too many pairs is left out: the column cannot tell much of it.
    """
    if most <= MOST_COMBINATIONS:
        joint = source.count_by((*(each.name for each in hidden), kept), missing)
        for each in hidden:
            number = joint.column_names[-1]
            yield each, joint.group_by([each.name, kept]).aggregate([(number, "sum")])
        return
    for each in hidden:
        pairs = source.count_by((each.name, kept), missing, at_most=MOST_COMBINATIONS)
        if pairs.num_rows <= MOST_COMBINATIONS:
            yield each, pairs


def _told(hidden: Hidden, pairs: pa.Table) -> Told | None:
    """What the pairs tell; records without one of the two values tell nothing."""
    pairs = pairs.filter(pc.and_(pairs.column(0).is_valid(), pairs.column(1).is_valid()))
    if not pairs.num_rows:
        return None
    values = np.asarray(pc.index_in(pairs.column(0), value_set=hidden.values), np.int64)
    kept = np.asarray(pc.dictionary_encode(pairs.column(1)).combine_chunks().indices, np.int64)
    return told(hidden.labels[values], values, kept, np.asarray(pairs.column(2), np.int64))
