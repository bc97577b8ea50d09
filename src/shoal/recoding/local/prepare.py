"""A problem in the form that the compiled local recoding reads: paths, whole costs, persons.

All costs are whole numbers of `UNIT`s of a record that keeps nothing, rounded down. So a bound that
is computed from them is never above the true one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.privacy.k_anonymity import KAnonymity
from shoal.privacy.risk import RISK_TOLERANCE, AverageRisk, RecordsAbove
from shoal.search.compiled.demands import ENTROPY, EQUAL, SHARES, demands_of
from shoal.search.compiled.sensitive import values_of
from shoal.search.objective import CellObjective

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shoal.encode.table import Table
    from shoal.search.compiled.sensitive import Values
    from shoal.search.problem import Problem

    Floats = NDArray[np.float64]

UNIT = 2**30
"""What a record costs that keeps nothing (local.h)."""

FORBIDDEN = 2**34
"""What a label costs that an attribute may not have (local.h)."""

PATH_BITS = 63
"""The most bits of a path; with one more, a path could not be shifted out of its 64 bits."""

MOST_LEVELS = 254
"""The highest level that is distinguished; one more means a label that is forbidden."""

ROUNDING = 2.0**-40
"""Products of costs are lowered by this share before they are rounded down, so that a rounding
error of the product never raises them."""


@dataclass(frozen=True)
class Step:
    """The bits of a path that tell apart the groups of a level within a group of the one above."""

    level: int
    shift: int
    bits: int


@dataclass(frozen=True, eq=False)
class Paths:
    """The codes of one attribute as paths from the highest level down, and their steps."""

    of_code: NDArray[np.uint64]
    steps: tuple[Step, ...]
    lowest: int

    @property
    def bits(self) -> int:
        return sum(step.bits for step in self.steps)

    def level_of_bit(self) -> NDArray[np.uint8]:
        """The level at which two paths meet whose highest different bit is `b - 1`; 0: equal."""
        levels = np.full(65, self.lowest, np.uint8)
        for step in self.steps:
            levels[step.shift + 1 : step.shift + step.bits + 1] = step.level + 1
        return levels


def paths_of(table: Table, j: int, lowest: int) -> Paths:
    """The paths of an attribute, from its limit down to the lowest level of the lattice."""
    attribute = table.attributes[j]
    occurring = np.unique(table.codes[j])
    parent = np.zeros(len(occurring), np.int64)
    fields: list[tuple[int, NDArray[np.int64], int]] = []
    for level in range(attribute.limit, lowest - 1, -1):
        group = attribute.groups[level][occurring]
        pairs, numbers = np.unique(np.stack([parent, group]), axis=1, return_inverse=True)
        first = np.searchsorted(pairs[0], pairs[0])
        rank = (np.arange(pairs.shape[1]) - first)[numbers.reshape(-1)]
        fields.append((level, rank, int(rank.max(initial=0)).bit_length()))
        parent = numbers.reshape(-1)
    path, shift, steps = np.zeros(len(attribute.groups[0]), np.uint64), 0, []
    for level, rank, bits in reversed(fields):
        if shift + bits <= PATH_BITS and bits:
            path[occurring] |= rank.astype(np.uint64) << np.uint64(shift)
        steps.append(Step(level, shift, bits))
        shift += bits
    return Paths(path, tuple(reversed(steps)), lowest)


@dataclass(frozen=True, eq=False)
class Costs:
    """Cell costs of all attributes, flat: `cost[start[j] + level * codes[j] + code]`."""

    start: NDArray[np.int64]
    codes: NDArray[np.int64]
    cost: NDArray[np.int64]


def costs_of(problem: Problem, shares: Floats, *, by_label: bool) -> Costs:
    """Costs where attribute `j` counts `shares[j]`, with a forbidden level above the limits.

    `by_label` gives all codes of a label the mean cost of its records. Else every code has its own,
    which is what a bound needs.
    """
    table, objective = problem.table, problem.objective
    assert isinstance(objective, CellObjective)  # noqa: S101
    parts: list[NDArray[np.int64]] = []
    for j, attribute in enumerate(table.attributes):
        occurs = table.records_of[j] > 0
        for level in range(attribute.limit + 1):
            cost = objective.costs[j][level].astype(np.float64)
            if by_label:
                cost = _by_label(cost, attribute.groups[level], table.records_of[j], occurs)
            parts.append(np.floor(cost * shares[j] * UNIT * (1 - ROUNDING)).astype(np.int64))
        parts.append(np.full(len(attribute.groups[0]), FORBIDDEN, np.int64))
    codes = np.array([len(each.groups[0]) for each in table.attributes], np.int64)
    lengths = codes * np.array([each.limit + 2 for each in table.attributes])
    return Costs(np.cumsum(lengths) - lengths, codes, np.concatenate(parts))


def _by_label(cost: Floats, group: Any, records: Any, occurs: Any) -> Floats:
    """The mean cost of the records of each label; exactly their cost where all have the same."""
    groups = int(group.max()) + 1
    low, high = np.full(groups, np.inf), np.full(groups, -np.inf)
    np.minimum.at(low, group[occurs], cost[occurs])
    np.maximum.at(high, group[occurs], cost[occurs])
    total = np.bincount(group, records, groups)
    mean = np.bincount(group, records * cost, groups) / np.maximum(total, 1)
    same: Floats = np.where(low == high, low, mean)[group]
    return same


@dataclass(frozen=True, eq=False)
class Held:
    """The persons of each tuple, and where there are demands on values, their values: for each
    distinct pair of person and value of a tuple the value and the number of the pair."""

    persons_from: NDArray[np.int64]
    person: NDArray[np.int32]
    held_from: NDArray[np.int64]
    held_value: NDArray[np.int32]
    held_pair: NDArray[np.int32]


def held_of(problem: Problem, values: Values | None) -> Held:
    """Empty where records are counted."""
    none, empty = np.zeros(0, np.int64), np.zeros(0, np.int32)
    persons, tuples = problem.table.persons, problem.table.tuples
    if persons is None:
        return Held(none, empty, none, empty, empty)
    order = np.argsort(persons.tuple_of, kind="stable")
    persons_from = np.searchsorted(persons.tuple_of[order], np.arange(tuples + 1))
    person = persons.person[order].astype(np.int32)
    if values is None:
        return Held(persons_from, person, none, empty, empty)
    demands, owner, value, pair = demands_of(problem), [], [], []
    starts = {d.attribute: int(values.first[i]) for i, d in enumerate(demands)}
    for name, start in starts.items():
        held, known = persons.held[name], len(problem.table.histograms[name].reference.values)
        counts = held.value < known
        owner.append(held.tuple_of[counts])
        value.append(held.value[counts] + start)
        pair.append(held.person[counts])
    tuple_of, numbers = np.concatenate(owner), np.concatenate(value)
    pairs = np.unique(np.stack([np.concatenate(pair), numbers]), axis=1, return_inverse=True)[1]
    order = np.argsort(tuple_of, kind="stable")
    return Held(
        persons_from,
        person,
        np.searchsorted(tuple_of[order], np.arange(tuples + 1)),
        numbers[order].astype(np.int32),
        pairs.reshape(-1)[order].astype(np.int32),
    )


@dataclass(frozen=True)
class Together:
    """Demands on all classes together: at most `most_groups` of them, and at most `most_small`
    records in those of fewer than `small`.

    They hold for the fewest records that may be released, so they hold whatever is suppressed.
    Groups of `packed` records meet them by their sizes alone.
    """

    packed: int
    most_groups: int
    small: int
    most_small: int


def together(problem: Problem, k: int) -> Together:
    """What the models of the table ask for; no bound where there is none."""
    records, none = problem.table.records - problem.limit, 2**62
    most_groups, small, most_small, packed = none, 0, none, k
    for model in problem.models:
        if isinstance(model, AverageRisk):
            most_groups = min(most_groups, _share(model.average, records))
            packed = max(packed, math.ceil(1 / model.average - RISK_TOLERANCE))
        if isinstance(model, RecordsAbove):
            enough = math.ceil((1 - RISK_TOLERANCE) / model.threshold)
            allowed = _share(model.share, records)
            small, most_small = max(small, enough), min(most_small, allowed)
            packed = max(packed, enough)
    return Together(packed, most_groups, small, most_small)


def _share(share: float, records: int) -> int:
    """The largest whole number that is within a share of the records, as the models count."""
    most = share * records
    return math.floor(most + RISK_TOLERANCE * max(most, 1.0))


@dataclass(frozen=True, eq=False)
class Prepared:
    """Everything about a problem that does not change."""

    problem: Problem
    paths: tuple[Paths, ...]
    k: int
    together: Together
    values: Values | None
    held: Held

    @property
    def path(self) -> NDArray[np.uint64]:
        """The paths of all tuples, `path[t, j]`."""
        codes = self.problem.table.codes
        return np.stack([p.of_code[c] for p, c in zip(self.paths, codes, strict=True)], axis=1)

    @property
    def codes(self) -> NDArray[np.int64]:
        """The codes of all tuples, `codes[t, j]`."""
        return np.stack(self.problem.table.codes, axis=1)

    @property
    def level_of_bit(self) -> NDArray[np.uint8]:
        """The level at which paths meet, `level_of_bit[j, b]`, as `Paths.level_of_bit` says."""
        return np.stack([each.level_of_bit() for each in self.paths])

    @property
    def shift(self) -> NDArray[np.int64]:
        """How many bits of a path are below a level, `shift[j, level]`."""
        levels = max(each.limit for each in self.problem.table.attributes) + 1
        found = np.zeros((len(self.paths), levels), np.int64)
        for j, paths in enumerate(self.paths):
            for step in paths.steps:
                found[j, step.level] = min(step.shift, 63)
        return found


def strict(values: Values) -> Values:
    """The demands a little stronger than the models ask for, by more than any rounding error.

    The compiled tests of classes have larger tolerances than the models (removal.h). They would let
    a class pass on the very limit that its model refuses.
    """
    number, close = values.number.copy(), values.kind >= EQUAL
    number[values.kind == ENTROPY] += 4e-12
    number[values.kind == SHARES] -= 2e-12
    number[close] -= 2e-9
    return values._replace(number=number, least=values.least * (1 + 1e-8))


def prepare(problem: Problem) -> Prepared:
    """The problem as the compiled code needs it."""
    demands = demands_of(problem)
    values = strict(values_of(problem, demands)) if demands else None
    paths = tuple(
        paths_of(problem.table, j, lowest) for j, lowest in enumerate(problem.lattice.bottom)
    )
    k = max((each.k for each in problem.models if isinstance(each, KAnonymity)), default=1)
    held = held_of(problem, values)
    return Prepared(problem, paths, k, together(problem, k), values, held)
