"""Small random problems for hypothesis: rows with missing cells, nested hierarchies, demands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

from oracle import Ladder, Row
from shoal.encode.hierarchy import Hierarchy
from shoal.encode.persons import persons_of
from shoal.encode.rows import merge_histogram
from shoal.encode.table import Attribute, Table, groups_with_missing
from shoal.loss.base import Loss
from shoal.loss.builtin import Iyengar
from shoal.privacy.base import PrivacyModel
from shoal.privacy.k_anonymity import KAnonymity
from shoal.search.objective import objective_of
from shoal.search.problem import Problem
from shoal.values import Reference


@dataclass(frozen=True)
class Case:
    """A table with its hierarchies and demands."""

    rows: tuple[Row, ...]
    ladders: tuple[Ladder, ...]
    limits: tuple[int, ...]
    priorities: tuple[Fraction, ...]
    k: int
    suppression: int

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(f"q{j}" for j in range(len(self.ladders)))


@st.composite
def ladders(draw: st.DrawFn) -> Ladder:
    """A nested hierarchy over a few values: each level merges groups of the one below."""
    values = [f"v{i}" for i in range(draw(st.integers(1, 5)))]
    steps = {value: [value] for value in values}
    groups = {value: i for i, value in enumerate(values)}
    for level in range(1, draw(st.integers(0, 3)) + 1):
        merged = {group: draw(st.integers(0, 2)) for group in sorted(set(groups.values()))}
        groups = {value: merged[group] for value, group in groups.items()}
        for value in values:
            steps[value].append(f"l{level}g{groups[value]}")
    if draw(st.booleans()):
        for value in values:
            steps[value].append("*")
    return Ladder({value: tuple(labels) for value, labels in steps.items()})


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """A problem small enough for exhaustive plain Python."""
    hierarchies = tuple(draw(st.lists(ladders(), min_size=1, max_size=3)))
    cells = [st.sampled_from([*ladder.steps, None]) for ladder in hierarchies]
    rows = tuple(draw(st.lists(st.tuples(*cells), min_size=1, max_size=14)))
    priority = st.sampled_from([Fraction(1), Fraction(1, 2), Fraction(1, 4)])
    return Case(
        rows,
        hierarchies,
        tuple(draw(st.integers(0, ladder.height)) for ladder in hierarchies),
        tuple(draw(priority) for _ in hierarchies),
        draw(st.integers(2, 4)),
        draw(st.integers(0, 6)),
    )


def table_of(case: Case, quantifiers: Sequence[tuple[float, ...] | None] = ()) -> Table:
    """The rows of a case, encoded; `quantifiers` are the information losses of its attributes."""
    attributes = []
    for j, (name, ladder) in enumerate(zip(case.names, case.ladders, strict=True)):
        hierarchy = Hierarchy.from_rows(name, list(ladder.steps.values()), str)
        attributes.append(
            Attribute(
                name,
                hierarchy,
                case.limits[j],
                float(case.priorities[j]),
                quantifiers[j] if quantifiers else None,
                groups_with_missing(hierarchy),
            )
        )
    tuples = Counter(case.rows)
    codes = tuple(
        np.array(
            [
                attribute.missing_code
                if row[j] is None
                else attribute.hierarchy.labels[0].index(str(row[j]))
                for row in tuples
            ],
            dtype=np.int64,
        )
        for j, attribute in enumerate(attributes)
    )
    weights = np.array(list(tuples.values()), dtype=np.int64)
    return Table(tuple(attributes), codes, weights, {}, 0)


def problem_of(case: Case) -> Problem:
    """The case as a problem: k-anonymity at the least of Iyengar's loss."""
    table = table_of(case)
    objective = objective_of(table, Iyengar(), "mean")
    return Problem(table, (KAnonymity(case.k),), objective, case.suppression)


def sensitive_problem(
    case: Case,
    values: Sequence[int],
    models: Sequence[PrivacyModel],
    loss: Loss,
    aggregate: str = "mean",
) -> Problem:
    """The case with a sensitive attribute `s`: a value from 0 to 3 for each row, -1 missing."""
    table = table_of(case)
    number = {row: i for i, row in enumerate(Counter(case.rows))}
    told = [i for i in range(len(case.rows)) if values[i] >= 0]
    codes = np.array([values[i] for i in told], dtype=np.int64)
    reference = Reference(
        ("a", "b", "c", "d"),
        np.bincount(codes, minlength=4),
        (np.arange(4), np.array([0, 0, 1, 1]), np.zeros(4, dtype=np.int64)),
    )
    histogram = merge_histogram(
        np.array([number[case.rows[i]] for i in told], dtype=np.int64),
        codes,
        np.ones(len(told), dtype=np.int64),
        table.tuples,
        reference,
    )
    table = replace(table, histograms={"s": histogram})
    objective = objective_of(table, loss, aggregate)
    return Problem(table, (KAnonymity(case.k), *models), objective, case.suppression)


def person_problem(
    case: Case,
    persons: Sequence[int],
    values: Sequence[int],
    models: Sequence[PrivacyModel] = (),
    loss: Loss | None = None,
    aggregate: str = "mean",
) -> Problem:
    """The case with a person and a value of `s` for each row, -1 for a missing value."""
    table = table_of(case)
    number = {row: i for i, row in enumerate(Counter(case.rows))}
    tuple_of = np.array([number[row] for row in case.rows], dtype=np.int64)
    person = np.unique(persons, return_inverse=True)[1].astype(np.int64)
    ones = np.ones(len(person), dtype=np.int64)
    found = persons_of((person, int(person.max()) + 1), tuple_of, table.tuples, ones)
    value = np.array([4 if each < 0 else each for each in values], dtype=np.int64)
    found, counts = found.with_values("s", value, 5)
    reference = Reference(
        ("a", "b", "c", "d"),
        counts[:4].astype(np.int64),
        (np.arange(4), np.array([0, 0, 1, 1]), np.zeros(4, dtype=np.int64)),
    )
    held = found.held["s"]
    told = held.value < 4
    histogram = merge_histogram(
        held.tuple_of[told],
        held.value[told],
        np.ones(int(told.sum()), dtype=np.int64),
        table.tuples,
        reference,
    )
    table = replace(table, histograms={"s": histogram}, persons=found)
    objective = objective_of(table, loss or Iyengar(), aggregate)
    return Problem(table, (KAnonymity(case.k), *models), objective, case.suppression)
