"""The distinct tuples of a source: read at once where they fit, else from higher levels up.

Where demands need it, the table of the population that the records are a part of is counted too.
Both tables are opened here as the definition says.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow.compute as pc

from shoal.collapse.large import Large, joined_values, look_at, too_many_tuples
from shoal.encode.rows import column_of
from shoal.encode.table import (
    Raised,
    Table,
    attribute_of,
    encode,
    encode_population,
    fill_hierarchies,
    with_proposals,
)
from shoal.engines.opening import check_names, open_source
from shoal.engines.process import half_of_memory
from shoal.errors import BadData
from shoal.search.problem import partition

if TYPE_CHECKING:
    import pyarrow as pa

    from shoal.definition.model import Definition
    from shoal.encode.table import Table
    from shoal.engines.base import Source


BYTES_OF_A_TUPLE, BYTES_OF_A_CELL = 256, 32
"""About what a tuple takes: its counts and classes in each thread, and each of its cells."""

FALLBACK = 2**32
"""Bytes of memory to assume where the system does not report it."""


@dataclass(frozen=True, eq=False)
class Collapsed:
    """What was read: the definition with a hierarchy for every quasi-identifier, the tuples, and
    the distinct values of each quasi-identifier."""

    definition: Definition
    table: Table
    values: Mapping[str, Collection[str]]


def collapse(
    definition: Definition,
    source: Source,
    population: Source | None = None,
    *,
    domain: Mapping[str, Mapping[str, int]] | None = None,
) -> Collapsed:
    """Read the tuples of a source, and of the population that it is a part of.

    Where there are more than the budget, counts of few columns show which levels no solution can
    use, and tuples are counted from the levels above those. What is left out of the lattice is not
    safe, so the optimum is the same. Hierarchies are made for the values of both, and for those of
    the `domain`: values of quasi-identifiers with their records in the table that the source was
    selected from. So a selection changes no level and no label.
    """
    names, missing = definition.quasi_identifiers, definition.missing.values
    most = budget(definition)
    counted = source.count_by(definition.counted, missing, at_most=most)
    if not counted.num_rows:
        raise BadData(
            f"{source.name} has no records",
            code="no-records",
            hint="check that it is the right one",
        )
    others = dict(domain or {}) if population is None else values_of(definition, population)
    if counted.num_rows > most:
        collapsed = _raised(look_at(definition, source, most, others))
    elif not others:
        filled = fill_hierarchies(definition, counted)
        return Collapsed(filled, encode(filled, counted), distinct_values(counted, names))
    else:
        values = {
            name: {**column_of(counted, name).counts, **others.get(name, {})} for name in names
        }
        filled = with_proposals(definition, values)
        attributes = [attribute_of(name, filled.attributes[name], values[name]) for name in names]
        collapsed = Collapsed(filled, encode(filled, counted, attributes), values)
    if population is None:
        return collapsed
    table = with_population(definition, collapsed.table, source, population, most)
    return replace(collapsed, table=table)


def distinct_values(counted: pa.Table, names: Sequence[str]) -> dict[str, frozenset[str]]:
    """The values of each of these columns in what `count_by` gave, missing ones left out."""
    return {
        name: frozenset(pc.unique(counted.column(name)).drop_null().to_pylist()) for name in names
    }


def memory_of(definition: Definition) -> int:
    """The bytes that tuples may take, and the search with them.

    The engine may use half of the memory, or what the definition says; tuples may use as much.
    """
    return definition.engine.memory_limit or half_of_memory() or FALLBACK


def budget(definition: Definition) -> int:
    """How many tuples may be read: those the definition allows, else what fits into memory."""
    if definition.engine.tuples is not None:
        return definition.engine.tuples
    memory, cells = memory_of(definition), len(definition.counted)
    return max(memory // (BYTES_OF_A_TUPLE + BYTES_OF_A_CELL * cells), 1)


def _raised(large: Large) -> Collapsed:
    """The tuples from the lowest levels that a solution can use."""
    bottom = large.bottom()
    counted = large.count(bottom)
    if counted.num_rows > large.most:
        raise too_many_tuples(large, bottom)
    table = replace(
        encode(large.definition, counted, large.attributes),
        removed=large.removed,
        raised=Raised(bottom, large.records_of, large.merged(bottom)),
    )
    return Collapsed(large.definition, table, large.values)


def open_records(
    definition: Definition, on_progress: Callable[[float], None] | None = None, spark: Any = None
) -> Source:
    """The records that a definition reads.

    `on_progress` gets the share of a long query that is done. `spark` is the session for what is in
    Spark, else one is made.
    """
    return open_source(
        definition.source.options(),
        expect=set(definition.attributes),
        resources=definition.engine.resources(on_progress),
        spark=spark,
    )


@contextmanager
def open_population(definition: Definition) -> Iterator[Source | None]:
    """The table of the population, where something is demanded against it."""
    if definition.population is None:
        yield None
        return
    names = definition.quasi_identifiers
    options, resources = definition.population.source.options(), definition.engine.resources()
    with closing(open_source(options, expect=set(names), resources=resources)) as source:
        check_names(source, names)
        yield source


def values_of(definition: Definition, population: Source) -> Mapping[str, Mapping[str, int]]:
    """The values of each quasi-identifier in the population, with their records."""
    return {
        name: column_of(population.count_by([name], definition.missing.values), name).counts
        for name in definition.quasi_identifiers
    }


def with_population(
    definition: Definition, table: Table, source: Source, population: Source, most: int
) -> Table:
    """The table with its population; an error where the records are no part of it.

    Its tuples are counted from the lowest levels of the table up. Under basic match, people with a
    missing quasi-identifier match nobody, and are left out like such records.
    """
    names = definition.quasi_identifiers
    counted = population.count_by(
        names,
        definition.missing.values,
        generalized={
            attribute.name: joined_values(attribute, level)
            for attribute, level in zip(table.attributes, table.bottom, strict=True)
        },
        complete=names if definition.missing.match == "basic" else (),
        at_most=most,
    )
    if counted.num_rows > most:
        raise BadData(
            f"the population {population.name} has more than {most:,} distinct combinations of "
            "quasi-identifiers, and no more may be read",
            code="too-many-tuples",
            hint="raise the lowest levels with `from`, or allow more with `engine: {tuples: ...}`",
        )
    whole = replace(table, population=encode_population(table.attributes, counted))
    _refuse_smaller(whole, source, population)
    return whole


def _refuse_smaller(table: Table, source: Source, population: Source) -> None:
    """Refuse a population that the records cannot be a part of."""
    counts = partition(table, (), table.bottom).counts
    assert counts.population is not None  # it was just added  # noqa: S101
    lacking = counts.sizes > counts.population
    if lacking.any():
        raise BadData(
            f"the population {population.name} is smaller than {source.name}: "
            f"{int(np.count_nonzero(lacking)):,} of {len(lacking):,} combinations of "
            "quasi-identifiers have more records in the source",
            code="population-too-small",
            hint="give a population that has every record of the source, with values spelled alike",
        )
