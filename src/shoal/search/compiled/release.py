"""Demands on the population and on all released classes together: `Release` in release.h."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from shoal.encode.rows import number_rows
from shoal.privacy.population import DeltaPresence, KMap
from shoal.privacy.risk import AverageRisk, RecordsAbove
from shoal.search.compiled.memory import most_classes
from shoal.search.compiled.structures import Arrays, Layout, field

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shoal.privacy.base import PrivacyModel
    from shoal.search.compiled.layout import Prepared
    from shoal.search.problem import Problem

MOST_BINS = 1024
"""The most bins in which classes are counted by size. An average risk of 1 / this or more has a bin
for each size."""

RELEASE = Layout(
    "Release",
    ("k_map", "presences", "aboves", "bins", "width"),
    (
        field("people", np.int32, "people"),
        field("most_share", np.float64, "presences"),
        field("least_share", np.float64, "presences"),
        field("average", np.float64, "one"),
        field("threshold", np.float64, "aboves"),
        field("share", np.float64, "aboves"),
        field("cheapest", np.uint32, "attributes", "levels", "widest"),
        field("people_of", np.int32, "two", "widest"),
        field("room_of", np.int64, "classes"),
        field("room", np.int64, "levels", "widest"),
        field("classes", np.int64, "levels"),
        field("records", np.int64, "levels"),
        field("bin_classes", np.int64, "levels", "bins"),
        field("bin_records", np.int64, "levels", "bins"),
        field("small", np.int64, "levels", "aboves"),
        field("large", np.int64, "levels", "aboves"),
        field("refused", np.bool_, "levels"),
    ),
)
"""The fields of `Release` in release.h, in their order."""


class Release(NamedTuple):
    """The demands, and the people of each tuple; `people` is empty without a population."""

    k_map: int
    presences: tuple[DeltaPresence, ...]
    average: float | None
    aboves: tuple[RecordsAbove, ...]
    people: NDArray[np.int32]


class People(NamedTuple):
    """The population by tuples: those of the table, and people who are in no record.

    `people` are those of each tuple of the table, then those of each further tuple, whose codes are
    `codes[j]`.
    """

    people: NDArray[np.int64]
    codes: NDArray[np.int64]


def is_of_release(model: PrivacyModel) -> bool:
    """Whether a model is one of these."""
    return type(model) in {KMap, DeltaPresence, AverageRisk, RecordsAbove}


def release_of(problem: Problem, people: People | None) -> Release | None:
    """The demands of a problem; None if there are none."""
    models = problem.models
    if not any(is_of_release(model) for model in models):
        return None
    counted = np.zeros(0, np.int64) if people is None else people.people
    return Release(
        max((model.k for model in models if isinstance(model, KMap)), default=0),
        tuple(model for model in models if isinstance(model, DeltaPresence)),
        min((model.average for model in models if isinstance(model, AverageRisk)), default=None),
        tuple(model for model in models if isinstance(model, RecordsAbove)),
        counted.astype(np.int32),
    )


def people_of(problem: Problem) -> People | None:
    """The population by the tuples of the table and further ones; None if nobody asks for it."""
    table = problem.table
    if table.population is None or not any(
        isinstance(model, KMap | DeltaPresence) for model in problem.models
    ):
        return None
    pairs = list(zip(table.codes, table.population.codes, strict=True))
    columns = [np.concatenate(pair) for pair in pairs]
    numbers, total = number_rows(columns, [len(each.groups[0]) for each in table.attributes])
    everybody = np.bincount(numbers[table.tuples :], table.population.weights, total)
    people = everybody[numbers[: table.tuples]]
    everybody[numbers[: table.tuples]] = 0
    others = np.flatnonzero(everybody)
    row_of = np.zeros(total, np.int64)
    row_of[numbers[table.tuples :]] = np.arange(len(table.population.weights))
    codes = np.array([column[row_of[others]] for column in table.population.codes], np.int64)
    return People(np.concatenate((people, everybody[others])).astype(np.int64), codes)


def release_of_thread(prepared: Prepared) -> tuple[Any, Arrays] | None:
    """The structure of one thread, and the arrays that it points to, which must outlive it.

    None where there are no such demands.
    """
    release = prepared.release
    if release is None:
        return None
    attributes, levels, widest = prepared.tables.charge.shape
    sizes_to_drop = 0 if release.average is None else math.ceil(1 / release.average)
    width = max(1, math.ceil(sizes_to_drop / MOST_BINS))
    sizes = {
        "k_map": release.k_map,
        "presences": len(release.presences),
        "aboves": len(release.aboves),
        "bins": math.ceil(sizes_to_drop / width),
        "width": width,
        "people": len(release.people),
        "attributes": attributes,
        "levels": levels,
        "widest": widest,
        "classes": most_classes(prepared),
        "one": 1,
        "two": 2,
    }
    arrays = RELEASE.allocate(
        sizes,
        {
            "people": release.people,
            "most_share": [model.most for model in release.presences],
            "least_share": [model.least for model in release.presences],
            "average": [release.average or 0.0],
            "threshold": [model.threshold for model in release.aboves],
            "share": [model.share for model in release.aboves],
            "cheapest": _cheapest(prepared),
        },
    )
    return RELEASE.fill(sizes, arrays), arrays


def _cheapest(prepared: Prepared) -> NDArray[np.int64]:
    """The groups of each attribute and level by rising charge; what is no group comes last."""
    tables = prepared.tables
    numbers = np.arange(tables.charge.shape[2])
    is_group = numbers < tables.groups[:, :, None]
    return np.argsort(np.where(is_group, tables.charge, np.inf), axis=2, kind="stable")
