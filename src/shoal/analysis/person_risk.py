"""The risk of a table where a person may have several records: a class hides by its persons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from shoal.measure.persons import tally

if TYPE_CHECKING:
    from shoal.analysis.released import Measured
    from shoal.engines.base import Source
    from shoal.values import Ints


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
