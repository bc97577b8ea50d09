"""All warnings of a run or of a check, counted by the engine that has the data."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import partial
from math import inf
from typing import TYPE_CHECKING

from shoal.arrow_arrays import to_numpy
from shoal.cautions.kept import Hidden, distinct_values, examine_kept
from shoal.definition.column_meaning import Sound, alike
from shoal.errors import Refused, quoted
from shoal.values import Caution

if TYPE_CHECKING:
    from collections.abc import Mapping

    from shoal.cautions.recoded import Recoded
    from shoal.definition.model import Definition
    from shoal.encode.table import Table
    from shoal.engines.base import Source


MOST_KEPT = 100
"""So many kept columns are examined,"""
MOST_CELLS = 30_000
"""and in wide tables fewer: this divided by the number of columns, since each takes longer."""
AT_ONCE = 10
"""Columns that are read together, so that a file is parsed once for all of them."""


def examine_release(
    definition: Definition,
    source: Source,
    table: Table,
    levels: Sequence[Sequence[int]],
    recoded: Recoded | None = None,
) -> tuple[Caution, ...]:
    """What a release discloses beyond its labels, column by column.

    `levels` are the released levels of each quasi-identifier: one, or several in local recoding.
    `recoded` says which label each record has then. Counted in the source: without `recoded`,
    suppressed records are among the numbers.
    """
    kept, most = definition.names("keep", "sensitive"), how_many(definition.attributes)
    missing, records = definition.missing.values, table.records + table.removed
    tuples = inf if table.raised is not None else table.tuples + table.removed
    recoded = recoded if table.raised is None else None
    above = [sorted((x for x in each if x > 0), reverse=True) for each in levels]
    hidden = [
        Hidden.of(attribute, *each)
        for attribute, each in zip(table.attributes, above, strict=True)
        if each
    ]
    identifiers = () if definition.person else definition.names("identifier")
    persons: dict[str, int] = {}
    found: list[Caution] = []
    examined = (*kept[:most], *identifiers)
    for once, names in in_batches(source, definition.quasi_identifiers, examined):
        for name in names:
            if name in identifiers:
                persons |= persons_of(once, name, definition, table)
                continue
            column = examine_kept(
                once, name, hidden, missing, records=records, tuples=tuples, recoded=recoded
            )
            found += [not_comparable(name, records)] if column is None else column[1]
    found += repeated_identifiers(persons, records)
    return (*found, *not_examined(kept[most:]))


def examine_table(
    source: Source,
    quasi_identifiers: Sequence[str],
    missing: Sequence[str],
    records: int,
    person: Sequence[str] = (),
) -> tuple[Caution, ...]:
    """What the other columns of a table disclose as they are, without a definition.

    An identifier of persons that repeats is named where no `person` is given.
    """
    columns = [column.name for column in source.columns()]
    others = [name for name in columns if name not in (*quasi_identifiers, *person)]
    most = how_many(columns)
    found: list[Caution] = []
    for once, names in in_batches(source, (), others[:most]):
        for name in names:
            column = examine_kept(once, name, (), missing, records=records)
            if column is None:
                found.append(not_comparable(name, records))
                continue
            kept, cautions = column
            if Sound(name).number_of_person and not person and repeats(kept.distinct, records):
                remedy = f"`--person {name}`, or leave it out"
                found.append(repeated(name, kept.distinct, records, remedy))
            found += cautions
    return (*found, *not_examined(others[most:]))


def in_batches(
    source: Source, beside: Sequence[str], names: Sequence[str]
) -> Iterator[tuple[Source, Sequence[str]]]:
    """A few names at a time, with a source for queries about them and the columns `beside`."""
    for first in range(0, len(names), AT_ONCE):
        batch = names[first : first + AT_ONCE]
        columns = tuple(dict.fromkeys((*beside, *batch)))
        with source.parsed_once(columns) as once:
            yield once, batch


def refuse_if_strict(definition: Definition, cautions: Sequence[Caution]) -> None:
    """A strict definition releases nothing that has a warning."""
    if definition.strict and cautions:
        lines = "".join(f"\n  {each.code}: {each.text}" for each in cautions)
        number = "1 warning" if len(cautions) == 1 else f"{len(cautions)} warnings"
        raise Refused(
            f"the definition is strict, and nothing was released because of {number}{lines}",
            code="strict",
            hint="do what each says, or leave out `strict` to be warned only",
        )


def how_many(columns: Collection[object]) -> int:
    """How many kept columns of a table with these columns are examined."""
    return max(1, min(MOST_KEPT, MOST_CELLS // max(1, len(columns))))


def not_examined(rest: Sequence[str]) -> Iterator[Caution]:
    """A warning for columns that were too many to examine."""
    if rest:
        text = (
            f"{len(rest):,} kept columns were not looked at, since there are so many: "
            f"{quoted(rest, 5)}; keep fewer columns"
        )
        yield Caution("kept-unseen", None, text, 0)


def not_comparable(name: str, records: int) -> Caution:
    """A warning for a column of lists or the like, whose values were not counted."""
    text = f"{name!r} was not looked at, since its values cannot be compared as text; drop it"
    return Caution("kept-unseen", name, text, records)


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
    sizes = to_numpy(counted.column(1)).tolist()
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
