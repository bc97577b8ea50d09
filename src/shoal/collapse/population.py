"""The population that the records of a source are a part of, counted for the search."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from shoal.collapse.large import joined_values
from shoal.encode.rows import column_of
from shoal.encode.table import encode_population
from shoal.engines.opening import check_names, open_source
from shoal.errors import BadData
from shoal.search.problem import partition

if TYPE_CHECKING:
    from shoal.definition.model import Definition
    from shoal.encode.table import Table
    from shoal.engines.base import Source


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
