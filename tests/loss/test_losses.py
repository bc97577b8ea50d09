"""The loss of every node of small random tables, by every loss, against plain Python."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracle import Cell, Ladder
from problems import Case, cases, table_of
from shoal.loss.base import CellLoss, ClassLoss
from shoal.loss.builtin import (
    ClassSize,
    Discernibility,
    Iyengar,
    NonUniformEntropy,
    Precision,
    Weighted,
)
from shoal.privacy.k_anonymity import KAnonymity
from shoal.search.incumbent import Limits
from shoal.search.objective import Objective, objective_of
from shoal.search.problem import Problem
from shoal.search.strategies.exhaustive import Exhaustive

Node = tuple[int, ...]
CellCost = Callable[[Ladder, list[Cell], Cell, int], float]
"""What a kept cell costs: its hierarchy, its column, its value and the level."""


def iyengar(ladder: Ladder, column: list[Cell], value: Cell, level: int) -> float:
    return float(ladder.iyengar(value, level))


def precision(ladder: Ladder, column: list[Cell], value: Cell, level: int) -> float:
    return 0.0 if value is None or ladder.height == 0 else level / ladder.height


def entropy(ladder: Ladder, column: list[Cell], value: Cell, level: int) -> float:
    if value is None:
        return 0.0
    rarest = min(count for each, count in Counter(column).items() if each is not None)
    most = math.log2(len(column) / rarest)
    released = ladder.label(value, level)
    alike = sum(1 for each in column if ladder.label(each, level) == released)
    own = sum(1 for each in column if ladder.label(each, 0) == ladder.label(value, 0))
    return math.log2(alike / own) / most if most else 0.0


CELL_LOSSES: dict[str, tuple[CellLoss, CellCost]] = {
    "iyengar": (Iyengar(), iyengar),
    "precision": (Precision(), precision),
    "entropy": (NonUniformEntropy(), entropy),
}


def kept_rows(case: Case, node: Node) -> tuple[list[bool], Counter[tuple[Cell, ...]]]:
    """Which rows are released at a node, and the sizes of the released classes."""
    labels = [tuple(map(Ladder.label, case.ladders, row, node)) for row in case.rows]
    sizes = Counter(labels)
    kept = [sizes[each] >= case.k for each in labels]
    return kept, Counter(itertools.compress(labels, kept))


def attribute_losses(case: Case, node: Node, cost: CellCost) -> list[float]:
    """The mean cost of the cells of each attribute; a suppressed one costs 1."""
    kept, _ = kept_rows(case, node)
    return [
        sum(
            cost(ladder, column, value, level) if stays else 1.0
            for value, stays in zip(column, kept, strict=True)
        )
        / len(column)
        for ladder, column, level in zip(
            case.ladders, [list(each) for each in zip(*case.rows, strict=True)], node, strict=True
        )
    ]


def mean(losses: list[float], priorities: tuple[Fraction, ...]) -> float:
    total = sum(priorities)
    return sum(float(p / total) * loss for p, loss in zip(priorities, losses, strict=True))


def geometric(losses: list[float], priorities: tuple[Fraction, ...]) -> float:
    product = 1.0
    for priority, loss in zip(priorities, losses, strict=True):
        product *= 1 + float(priority) * loss
    return float(product ** (1 / len(losses)) - 1)


def nodes(case: Case) -> Iterator[Node]:
    return itertools.product(*(range(ladder.height + 1) for ladder in case.ladders))


def compare(case: Case, objective: Objective, expected: Callable[[Node], float]) -> None:
    """The loss of every node is as expected, and the bound is below it and never falls."""
    problem = Problem(table_of(case), (KAnonymity(case.k),), objective, limit=0)
    for node in nodes(case):
        found = objective.measure(node, problem.partition(node))
        assert found == pytest.approx(expected(node), abs=1e-12)
        bound = objective.lower_bound(node)
        assert bound <= found + 1e-12
        for j, level in enumerate(node):
            if level < case.ladders[j].height:
                above = (*node[:j], level + 1, *node[j + 1 :])
                assert objective.lower_bound(above) >= bound - 1e-12


@pytest.mark.slow
@pytest.mark.parametrize("name", CELL_LOSSES)
@pytest.mark.parametrize("join", [mean, geometric])
@given(case=cases())
@settings(max_examples=50)
def test_a_loss_of_cells_agrees_with_plain_python(
    name: str, join: Callable[[list[float], tuple[Fraction, ...]], float], case: Case
) -> None:
    loss, cost = CELL_LOSSES[name]
    objective = objective_of(table_of(case), loss, join.__name__)
    compare(case, objective, lambda node: join(attribute_losses(case, node, cost), case.priorities))


@st.composite
def cases_with_quantifiers(draw: st.DrawFn) -> tuple[Case, list[tuple[float, ...] | None]]:
    """A case, and for some of its attributes a rising loss for each level."""
    case = draw(cases())
    shares = st.integers(0, 10).map(lambda tenths: tenths / 10)
    quantifiers = [
        draw(
            st.none()
            | st.lists(shares, min_size=ladder.height + 1, max_size=ladder.height + 1).map(
                lambda losses: tuple(sorted(losses))
            )
        )
        for ladder in case.ladders
    ]
    return case, quantifiers


@pytest.mark.slow
@given(cases_with_quantifiers())
@settings(max_examples=100)
def test_weighted_loss_is_the_sum_of_priorities_times_quantifiers(
    drawn: tuple[Case, list[tuple[float, ...] | None]],
) -> None:
    case, quantifiers = drawn

    def expected(node: Node) -> float:
        total = 0.0
        for j, level in enumerate(node):
            given_losses, height = quantifiers[j], case.ladders[j].height
            share = given_losses[level] if given_losses else level / max(height, 1)
            total += float(case.priorities[j]) * share
        return total

    compare(case, objective_of(table_of(case, quantifiers), Weighted(), "mean"), expected)


def dearer(case: Case, node: Node) -> Fraction:
    """What priorities make of a loss of classes: 1 where all are equal."""
    more = Fraction(0)
    for ladder, priority, level in zip(case.ladders, case.priorities, node, strict=True):
        if ladder.height:
            share = (priority - min(case.priorities)) / sum(case.priorities)
            more += share * Fraction(level, ladder.height)
    return 1 + more


@pytest.mark.slow
@given(cases())
@settings(max_examples=100)
def test_discernibility_charges_each_record_the_size_of_its_class(case: Case) -> None:
    def expected(node: Node) -> float:
        kept, released = kept_rows(case, node)
        paid = sum(size * size for size in released.values()) + len(kept) * kept.count(False)
        return float(dearer(case, node) * Fraction(paid, len(kept) ** 2))

    compare(case, objective_of(table_of(case), Discernibility(), "mean"), expected)


@pytest.mark.slow
@given(cases())
@settings(max_examples=100)
def test_class_size_is_records_per_released_class(case: Case) -> None:
    def expected(node: Node) -> float:
        _, released = kept_rows(case, node)
        return float(dearer(case, node) * Fraction(len(case.rows), len(released) or 1))

    compare(case, objective_of(table_of(case), ClassSize(), "mean"), expected)


@pytest.mark.parametrize("loss", [Discernibility(), ClassSize()])
@pytest.mark.parametrize("dear", [0, 1])
def test_of_two_equal_columns_the_dear_one_stays_specific(loss: ClassLoss, dear: int) -> None:
    ladder = Ladder({"a": ("a", "*"), "b": ("b", "*")})
    rows = tuple((x, y) for x in "ab" for y in "ab")
    priorities = tuple(Fraction(2 if j == dear else 1) for j in range(2))
    case = Case(rows, (ladder, ladder), (1, 1), priorities, 2, 0)
    table = table_of(case)
    problem = Problem(table, (KAnonymity(2),), objective_of(table, loss, "mean"), 0)
    *_, last = Exhaustive().search(problem, Limits())
    assert last.best is not None
    assert last.best.node[dear] == 0
    assert last.best.node[1 - dear] == 1


@pytest.mark.slow
@given(cases(), st.sampled_from([Discernibility(), ClassSize()]))
@settings(max_examples=50)
def test_equal_priorities_change_no_loss_of_classes(case: Case, loss: ClassLoss) -> None:
    equal = replace(case, priorities=(Fraction(3),) * len(case.ladders))
    table = table_of(equal)
    objective = objective_of(table, loss, "mean")
    problem = Problem(table, (KAnonymity(case.k),), objective, limit=0)
    for node in nodes(case):
        partition = problem.partition(node)
        sizes = partition.counts.sizes[partition.kept]
        plain = loss.class_loss(sizes, partition.suppressed, table.records)
        assert objective.measure(node, partition) == plain


@pytest.mark.parametrize("values", ["ab", "a"])
def test_a_hierarchy_of_one_level_loses_nothing_by_any_loss_of_cells(values: str) -> None:
    ladder = Ladder({value: (value,) for value in values})
    rows = (*((value,) for value in values * 2), (None,), (None,))
    case = Case(rows, (ladder,), (0,), (Fraction(1),), 2, 0)
    for loss, _ in CELL_LOSSES.values():
        objective = objective_of(table_of(case), loss, "mean")
        partition = Problem(table_of(case), (KAnonymity(2),), objective, limit=0).partition((0,))
        assert objective.measure((0,), partition) == 0.0
