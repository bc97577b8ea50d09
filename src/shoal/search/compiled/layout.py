"""A problem in the form that the compiled search reads: hierarchies, costs and tuples as arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from shoal.privacy.k_anonymity import KAnonymity
from shoal.search.compiled.class_loss import class_loss_of
from shoal.search.compiled.demands import BITS, DIFFERENT, demands_of, is_known
from shoal.search.compiled.release import is_of_release, people_of, release_of
from shoal.search.compiled.sensitive import values_of
from shoal.search.objective import CellObjective, LevelObjective

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shoal.encode.table import Table
    from shoal.search.compiled.class_loss import CompiledClassLoss
    from shoal.search.compiled.demands import CompiledDemand
    from shoal.search.compiled.release import Release
    from shoal.search.compiled.sensitive import Values
    from shoal.search.problem import Problem
    from shoal.values import Bools, Ints

MOST_RECORDS = 2**31 - 1
"""Records are counted in 32 bits; a larger k is the same as this one, which no class reaches."""

MOST_CELLS = 64_000_000
"""The most cells of a tally, for memory. All hierarchies, padded to the highest and widest, may
have a quarter of it."""


def fits(problem: Problem) -> bool:
    """Whether the compiled search can solve a problem.

    Its models must be those of this package, its loss one of cells or levels or a class loss of
    this package, its weights small enough for 32 bits, and its tallies for memory.
    """
    if not all(is_known(model) or is_of_release(model) for model in problem.models):
        return False
    table, objective = problem.table, problem.objective
    if any(is_of_release(model) for model in problem.models) and table.persons is not None:
        return False
    people = 0 if table.population is None else int(table.population.weights.sum())
    classes = min(table.tuples, table.records // 2) + 3
    widest = max(len(attribute.groups[0]) for attribute in table.attributes) + 1
    highest = max(attribute.limit for attribute in table.attributes)
    return (
        (
            isinstance(objective, CellObjective | LevelObjective)
            or (class_loss_of(problem) is not None and classes * widest <= MOST_CELLS)
        )
        and max(table.records, people) < MOST_RECORDS
        and len(table.attributes) * (highest + 1) * widest <= MOST_CELLS // 4
        and widest * sum(_sizes(problem).values()) <= MOST_CELLS
    )


def _sizes(problem: Problem) -> dict[str, int]:
    """How many values each sensitive attribute has."""
    histograms = problem.table.histograms
    return {name: len(histogram.reference.values) for name, histogram in histograms.items()}


CELLS_PER_TUPLE = 16
"""Cells of a tally for each tuple. Where there would be more, most are empty, so classes are
tallied one by one."""

LIST_FROM = 4096
"""Levels are priced by small classes alone (small.h) in boxes of so many tuples."""


class Tables(NamedTuple):
    """What does not change during a search; `j` is an attribute, `l` a level, `g` a group there.

    `bottom[j]` is the lowest level. `group[j, l, code]` are the hierarchies, `groups[j, l]` counts
    groups and `member[j, l, g]` is a code in a group; `are_codes[j]` says that the groups of level
    0 are the codes. `base[j, l]` is what attribute `j` costs at a level with nothing suppressed.
    `charge[j, l, g]` is what a suppressed record of a group costs above that, at least: 1 minus its
    dearest cell; when costs are `exact` it is just that. The cost of a node is the sum over the
    attributes, of log(1 + priority * cost) when `geometric`. Where persons are counted, those of
    tuple `t` of the table are `person[i]`, for `i` from `persons_from[t]` to below
    `persons_from[t + 1]`.
    """

    bottom: NDArray[np.int64]
    group: NDArray[np.uint32]
    groups: NDArray[np.int64]
    member: NDArray[np.uint32]
    are_codes: NDArray[np.bool_]
    base: NDArray[np.float64]
    charge: NDArray[np.float64]
    priority: NDArray[np.float64]
    least_values: NDArray[np.int64]
    persons_from: NDArray[np.int64]
    person: NDArray[np.int32]
    k: int
    limit: int
    geometric: bool
    exact: bool


@dataclass(frozen=True, eq=False)
class Prepared:
    """A problem as the C code reads it; `cells_per_tuple` limits the size of tallies.

    Small classes are listed in boxes of at least `list_from` tuples.

    `assigned` is empty where no persons are counted. After the tuples of the table come those of
    people of the population who are in no record: their weight is 0.
    """

    tables: Tables
    codes: np.ndarray
    weights: np.ndarray
    assigned: np.ndarray
    masks: np.ndarray
    values: Values | None
    release: Release | None
    class_loss: CompiledClassLoss | None
    top: Ints
    cells_per_tuple: int
    list_from: int


def prepare(
    problem: Problem, cells_per_tuple: int = CELLS_PER_TUPLE, list_from: int = LIST_FROM
) -> Prepared:
    """Arrange the table, the hierarchies and the costs for the C code.

    Where persons are counted, the C code only knows which sensitive values a class has: a class
    with too few different ones is removed whole. All else is left to exact checks.
    """
    table = problem.table
    attributes = table.attributes
    levels = max(attribute.limit for attribute in attributes) + 1
    codes = max(len(attribute.groups[0]) for attribute in attributes)
    shape = (len(attributes), levels, codes)
    group, member = np.zeros(shape, np.uint32), np.zeros(shape, np.uint32)
    groups = np.ones(shape[:2], np.int64)
    base, charge = np.zeros(shape[:2]), np.zeros(shape)
    are_codes, exact = np.zeros(len(attributes), np.bool_), True
    for j, attribute in enumerate(attributes):
        occurs = table.records_of[j] > 0
        are_codes[j] = np.array_equal(attribute.groups[0], np.arange(len(attribute.groups[0])))
        for level in range(attribute.limit + 1):
            own = attribute.groups[level]
            group[j, level, : len(own)] = own
            groups[j, level] = int(own.max()) + 1
            member[j, level, own[::-1]] = np.arange(len(own))[::-1]
            base[j, level], dearest, cheapest = _costs(problem, j, level, occurs)
            charge[j, level, : len(dearest)] = dearest
            exact = exact and bool((np.abs(dearest - cheapest) <= 1e-15).all())
    demands, sizes = demands_of(problem), _sizes(problem)
    masked = [each for each in demands if each.different > 1 and sizes[each.attribute] <= BITS]
    plain = all(each.kind == DIFFERENT and each in masked for each in demands)
    objective = problem.objective
    assigned, persons_from, person = _persons(table)
    people = people_of(problem)
    release = release_of(problem, people)
    further = 0 if people is None else people.codes.shape[1]
    sizes_are_enough = table.persons is not None or (plain and release is None)
    tables = Tables(
        np.array(problem.lattice.bottom, np.int64),
        group,
        groups,
        member,
        are_codes,
        base,
        charge,
        np.array([attribute.priority for attribute in attributes]),
        np.array([demand.different for demand in masked], np.int64),
        persons_from,
        person,
        min(
            max((m.k for m in problem.models if isinstance(m, KAnonymity)), default=1), MOST_RECORDS
        ),
        problem.limit,
        isinstance(objective, CellObjective) and objective.aggregate == "geometric",
        exact and plain and release is None,
    )
    return Prepared(
        tables,
        np.array(
            table.codes if people is None else np.hstack((table.codes, people.codes)), np.uint32
        ),
        np.pad(table.weights.astype(np.int32), (0, further)),
        assigned,
        np.array([_masks(problem, demand, further) for demand in masked], np.uint64).reshape(
            len(masked), table.tuples + further
        ),
        None if sizes_are_enough else values_of(problem, demands, further),
        release,
        class_loss_of(problem),
        np.array(problem.lattice.top, np.int64),
        cells_per_tuple,
        list_from,
    )


def _persons(table: Table) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The persons assigned to each tuple, where the persons of a tuple begin, and the persons.

    A person is assigned to the first of their tuples.
    """
    persons = table.persons
    if persons is None:
        return np.zeros(0, np.int32), np.zeros(0, np.int64), np.zeros(0, np.int32)
    first = persons.tuple_of[np.unique(persons.person, return_index=True)[1]]
    order = np.argsort(persons.tuple_of, kind="stable")
    return (
        np.bincount(first, minlength=table.tuples).astype(np.int32),
        np.searchsorted(persons.tuple_of[order], np.arange(table.tuples + 1)),
        persons.person[order].astype(np.int32),
    )


def _costs(
    problem: Problem, j: int, level: int, occurs: Bools
) -> tuple[float, np.ndarray, np.ndarray]:
    """What a level costs with nothing suppressed, and what a suppressed record of each group costs
    above that: at least, and at most, of the codes that occur. All 0 for a class loss."""
    objective, table = problem.objective, problem.table
    groups = table.attributes[j].groups[level]
    none = np.zeros(int(groups.max()) + 1)
    if isinstance(objective, LevelObjective):
        return table.attributes[j].priority * objective.costs[j][level], none, none
    if not isinstance(objective, CellObjective):
        return 0.0, none, none
    priorities = [attribute.priority for attribute in table.attributes]
    scale = 1.0 if objective.aggregate == "geometric" else priorities[j] / sum(priorities)
    left = 1.0 - objective.costs[j][level]
    low, high = np.ones(int(groups.max()) + 1), np.zeros(int(groups.max()) + 1)
    np.minimum.at(low, groups[occurs], left[occurs])
    np.maximum.at(high, groups[occurs], left[occurs])
    high = np.maximum(low, high)
    unit = scale / table.records
    return scale * objective.floors[j][level], low * unit, high * unit


def _masks(problem: Problem, demand: CompiledDemand, further: int) -> np.ndarray:
    """The sensitive values of each tuple, as bits; `further` tuples have none."""
    histogram = problem.table.histograms[demand.attribute]
    masks = np.zeros(problem.table.tuples + further, np.uint64)
    owner = np.repeat(np.arange(problem.table.tuples), np.diff(histogram.starts))
    np.bitwise_or.at(masks, owner, np.uint64(1) << histogram.values.astype(np.uint64))
    return masks
