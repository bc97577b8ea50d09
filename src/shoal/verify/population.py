"""The classes of a release in the table of the population, counted there afresh.

The population is generalized to the levels of the release, by the verifier's own reading of the
hierarchies.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from shoal.errors import UserError
from shoal.measure.classes import encoded, numbered
from shoal.verify.demands import Unjudged
from shoal.verify.persons import generalizations, levels_of_release

if TYPE_CHECKING:
    from shoal.definition.model import Definition
    from shoal.engines.base import Source
    from shoal.measure.classes import ClassTable
    from shoal.values import Ints


@dataclass(frozen=True, eq=False)
class People:
    """The records of the population in each class, and its classes that are not released."""

    records: Ints
    absent: int


def count_population(
    definition: Definition,
    found: ClassTable,
    levels: Mapping[str, int] | None,
    values: Mapping[str, Collection[str]] | None,
    population: Source | None,
) -> People:
    """The population of each class of a release; Unjudged where it cannot be counted.

    `levels` are those that the release claims, else they are inferred from its labels. `values` are
    those of the source, which the hierarchies must cover too.
    """
    if population is None or values is None:
        raise Unjudged("the population or the source cannot be read, or has changed")
    names, missing = definition.quasi_identifiers, definition.missing.values
    try:
        known = {
            name: {
                *values[name],
                *population.count_by([name], missing)[name].drop_null().to_pylist(),
            }
            for name in names
        }
        counted = population.count_by(
            names,
            missing,
            generalized=generalizations(
                definition, levels_of_release(definition, found, levels, known), known
            ),
            complete=names if definition.missing.match == "basic" else (),
        )
    except UserError as error:
        raise Unjudged(f"the population cannot be counted: {error.what}") from error
    return _matched(found, counted)


def _matched(found: ClassTable, counted: pa.Table) -> People:
    """The records of each class of the release, by its labels."""
    width, classes = counted.num_columns - 1, found.classes
    both = [
        pa.chunked_array([*found.table.column(i).chunks, *counted.column(i).chunks], pa.string())
        for i in range(width)
    ]
    numbers, rows = numbered([encoded(column)[0] for column in both])
    weights = np.asarray(counted.column(width), dtype=np.int64)
    people = np.bincount(numbers[classes:], weights=weights, minlength=len(rows)).astype(np.int64)
    released = numbers[:classes]
    absent = np.count_nonzero(people) - np.count_nonzero(people[released])
    return People(people[released], int(absent))
