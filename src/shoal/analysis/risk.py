"""How likely are people recognised in a table? Measured from its class sizes alone.

Three attackers (El Emam): the prosecutor knows that a person is in the table and succeeds with 1 /
class size; the journalist does not know it and succeeds with 1 / class size in the population; the
marketer wants many people and recognises, on average, one per class.

Where a person may have several records, a class hides a person among its persons. The last part of
this file measures that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np
import pyarrow.compute as pc

from shoal.analysis.keys import Combinations, minimal_keys, small_sets
from shoal.analysis.population import Sample, estimate
from shoal.errors import BadData
from shoal.measure.persons import tally

if TYPE_CHECKING:
    import pyarrow as pa

    from shoal.analysis.attribute_disclosure import AttributeDisclosure
    from shoal.analysis.identifiers import Identifier
    from shoal.analysis.keys import Identifying, Keys
    from shoal.analysis.population import Estimates
    from shoal.analysis.released import Measured
    from shoal.engines.base import Source
    from shoal.values import Caution, Ints


THRESHOLD = 0.2
"""A record whose risk is above this counts as at risk: one in a class below 5."""

LIMITS = (0.001, 0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 1 / 3, 0.5, 1.0)
"""Upper ends of the ranges of the risk distribution."""


@dataclass(frozen=True)
class Attacker:
    """The risk of the records: the highest, the average, the share of records above a threshold.

    A marketer attacks all records at once, so only the average has a meaning there.
    """

    highest: float | None
    average: float
    records_above: float | None


@dataclass(frozen=True)
class Range:
    """The share of records whose risk is above `low` and at most `high`."""

    low: float
    high: float
    records: float


@dataclass(frozen=True)
class Population:
    """The size of the population, the share of it in the table, and its estimated uniques."""

    size: int
    fraction: float
    uniques: Estimates


@dataclass(frozen=True)
class Risk:
    """The risk of one table; shares are of its records.

    `persons` is the same by persons where they are known, `sensitive` what classes disclose,
    `warnings` what other columns do; None where that cannot be counted any more.
    """

    name: str
    quasi_identifiers: tuple[str, ...]
    records: int
    classes: int
    smallest_class: int
    largest_class: int
    average_class: float
    sample_uniques: int
    threshold: float
    prosecutor: Attacker
    journalist: Attacker
    marketer: Attacker
    distribution: tuple[Range, ...]
    population: Population | None
    attributes: tuple[Identifying, ...]
    keys: Keys
    identifiers: tuple[Identifier, ...] = ()
    persons: PersonRisk | None = None
    sensitive: tuple[AttributeDisclosure, ...] = ()
    warnings: tuple[Caution, ...] | None = ()


@dataclass(frozen=True)
class Demands:
    """What to measure: the threshold, the population, how large sets of columns, which keys."""

    threshold: float = THRESHOLD
    fraction: float | None = None
    population: int | None = None
    largest_set: int = 2
    key_distinction: float = 1.0


def risk_of(
    source: Source,
    quasi_identifiers: Sequence[str],
    missing: Sequence[str] = (),
    *,
    demands: Demands = Demands(),  # noqa: B008 frozen
    people: Source | None = None,
    without_blank: bool = False,
) -> Risk:
    """Measure a table. `people` is a table of the population with the same columns.

    Missing equals missing. `without_blank` leaves out the records without any quasi-identifier:
    those that a release marks as suppressed.
    """
    counted = source.count_by(quasi_identifiers, missing)
    if without_blank:
        counted = some_known(counted, quasi_identifiers)
    found = Combinations(counted)
    sizes = found.records
    records = int(sizes.sum())
    if not records:
        raise BadData(
            f"{source.name} has no records", code="no-records", hint="see that it is the right one"
        )
    outside = sizes if people is None else _sizes_outside(source, people, found, missing)
    return Risk(
        name=source.name,
        quasi_identifiers=found.names,
        records=records,
        classes=len(sizes),
        smallest_class=int(sizes.min()),
        largest_class=int(sizes.max()),
        average_class=records / len(sizes),
        sample_uniques=int((sizes == 1).sum()),
        threshold=demands.threshold,
        prosecutor=_prosecutor(sizes, demands.threshold),
        journalist=_journalist(sizes, outside, demands.threshold),
        marketer=Attacker(None, float((sizes / outside).sum() / records), None),
        distribution=_distribution(sizes),
        population=_population(sizes, demands, source.name),
        attributes=small_sets(found, demands.largest_set),
        keys=minimal_keys(found, demands.key_distinction),
    )


def some_known(counted: pa.Table, quasi_identifiers: Sequence[str]) -> pa.Table:
    """The combinations with at least one quasi-identifier."""
    known = [counted[name].is_valid() for name in quasi_identifiers]
    return counted.filter(reduce(pc.or_, known))


def _prosecutor(sizes: Ints, threshold: float) -> Attacker:
    """Highest 1 / smallest class; average classes / records."""
    return Attacker(
        highest=1 / int(sizes.min()),
        average=len(sizes) / int(sizes.sum()),
        records_above=_share_above(sizes, sizes, threshold),
    )


def _journalist(sizes: Ints, outside: Ints, threshold: float) -> Attacker:
    """The same with the sizes of the classes in the population; the average is the greater of
    classes / people in them and the mean risk of a record."""
    return Attacker(
        highest=1 / int(outside.min()),
        average=max(len(sizes) / int(outside.sum()), float((sizes / outside).sum() / sizes.sum())),
        records_above=_share_above(sizes, outside, threshold),
    )


def _share_above(sizes: Ints, outside: Ints, threshold: float) -> float:
    """The share of records whose class has fewer people than 1 / threshold."""
    return float(sizes[outside * threshold < 1 - 1e-12].sum() / sizes.sum())


def _distribution(sizes: Ints) -> tuple[Range, ...]:
    risks, records = 1 / sizes, int(sizes.sum())
    ranges, low = [], 0.0
    for high in LIMITS:
        inside = sizes[(risks > low + 1e-12) & (risks <= high + 1e-12)]
        ranges.append(Range(low, high, float(inside.sum() / records)))
        low = high
    return tuple(ranges)


def _population(sizes: Ints, demands: Demands, name: str) -> Population | None:
    """The estimates for the population that was stated, or None."""
    records = int(sizes.sum())
    size = demands.population
    if size is None and demands.fraction is not None:
        size = round(records / demands.fraction)
    if size is None:
        return None
    if size < records:
        raise BadData(
            f"a population of {size:,} cannot have the {records:,} records of {name}",
            code="population-too-small",
            hint="give the number of people that the table was drawn from",
        )
    numbers = dict(
        zip(*(each.tolist() for each in np.unique(sizes, return_counts=True)), strict=True)
    )
    return Population(size, records / size, estimate(Sample(numbers, size)))


def _sizes_outside(
    source: Source, people: Source, found: Combinations, missing: Sequence[str]
) -> Ints:
    """The number of people in the population of each class of the table, in its order."""
    everybody = Combinations(people.count_by(found.names, missing))
    number = dict(zip(everybody.rows(), everybody.records.tolist(), strict=True))
    outside = np.array([number.get(row, 0) for row in found.rows()], dtype=np.int64)
    fewer = int((outside < found.records).sum())
    if fewer:
        raise BadData(
            f"{people.name} has fewer people than {source.name} in {fewer:,} of {len(outside):,} "
            "classes, so it is not the population of it",
            code="population-too-small",
            hint="give a table with everybody in it, spelled in the same way",
        )
    return outside


@dataclass(frozen=True)
class PersonRisk:
    """The prosecutor's risk by persons: 1 / persons in the class.

    `persons` are those of the table, `alone` those who have a class of their own. The average is
    over the persons of each class; `records_above` is the share of records whose class has too few.
    """

    columns: tuple[str, ...]
    persons: int
    alone: int
    smallest_class: int
    highest: float
    average: float
    records_above: float


def risk_by_persons(
    source: Source,
    quasi_identifiers: Sequence[str],
    person: Sequence[str],
    missing: Sequence[str],
    threshold: float,
) -> PersonRisk:
    """The persons of each class of a table that has the columns by which they are known."""
    found = tally(source, quasi_identifiers, person, missing=missing)
    return _risk(person, found.records, found.persons, (found.everybody, found.alone), threshold)


def released_risk_by_persons(found: Measured, threshold: float) -> PersonRisk | None:
    """The persons of each class of a release, counted in its source; None where none are.

    A release has no column of a person, so its classes are looked up in the source.
    """
    persons, classes = found.table.persons, found.classes
    if persons is None:
        return None
    members, class_of = classes.counts.members[None], classes.class_of[persons.tuple_of]
    released = persons.person[classes.kept[class_of]]
    lonely = persons.person[classes.kept[class_of] & (members[class_of] == 1)]
    return _risk(
        found.prepared.definition.person,
        classes.counts.sizes[classes.kept],
        members[classes.kept],
        (len(np.unique(released)), len(np.unique(lonely))),
        threshold,
    )


def _risk(
    person: Sequence[str],
    records: Ints,
    persons: Ints,
    everybody_and_alone: tuple[int, int],
    threshold: float,
) -> PersonRisk:
    """From the records and persons of each class."""
    everybody, alone = everybody_and_alone
    few = persons * threshold < 1 - 1e-12
    return PersonRisk(
        columns=tuple(person),
        persons=everybody,
        alone=alone,
        smallest_class=int(persons.min()),
        highest=1 / int(persons.min()),
        average=len(persons) / int(persons.sum()),
        records_above=float(records[few].sum() / records.sum()),
    )
