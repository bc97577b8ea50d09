"""Classes that count by persons: every search finds what plain Python says is best."""

from __future__ import annotations

import itertools
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import models_oracle as plain
from problems import Case, cases, person_problem
from shoal.events import Proved
from shoal.loss.base import Loss
from shoal.loss.builtin import ClassSize, Discernibility, Iyengar, NonUniformEntropy, Weighted
from shoal.privacy.alpha import AlphaAnonymity
from shoal.privacy.base import PrivacyModel
from shoal.privacy.beta_likeness import BetaLikeness
from shoal.privacy.delta_disclosure import DeltaDisclosure
from shoal.privacy.distinct_diversity import DistinctDiversity
from shoal.privacy.entropy_diversity import EntropyDiversity
from shoal.privacy.recursive_diversity import RecursiveDiversity
from shoal.privacy.t_closeness import TCloseness
from shoal.search.incumbent import Limits
from shoal.search.strategies import Strategy
from shoal.search.strategies.bfs import BranchAndBound
from shoal.search.strategies.box import BoxSearch
from shoal.search.strategies.exhaustive import Exhaustive
from shoal.search.strategies.flash import Flash
from shoal.search.strategies.ola import Ola
from shoal.values import Node

TREE = ((0, 1, 2, 3), (0, 0, 1, 1), (0, 0, 0, 0))
DEMANDS: dict[str, tuple[PrivacyModel, plain.Judge]] = {
    "distinct": (DistinctDiversity("s", 2), plain.distinct(2)),
    "entropy": (EntropyDiversity("s", 1.7), plain.entropy(1.7)),
    "recursive": (RecursiveDiversity("s", 1.5, 2), plain.recursive(Fraction(3, 2), 2)),
    "equal": (TCloseness("s", 0.3), plain.closeness(Fraction(3, 10), 4, plain.equal_distance)),
    "tree": (
        TCloseness("s", 0.3, "hierarchical"),
        plain.closeness(Fraction(3, 10), 4, plain.tree_distance(TREE)),
    ),
    "alpha": (AlphaAnonymity("s", 0.6), plain.alpha(Fraction(3, 5))),
    "beta": (BetaLikeness("s", 0.8), plain.beta(Fraction(4, 5), 4, False)),
    "delta": (DeltaDisclosure("s", 1.2), plain.delta(1.2, 4)),
}
LOSSES: tuple[tuple[Loss, str], ...] = (
    (Iyengar(), "mean"),
    (Iyengar(), "geometric"),
    (NonUniformEntropy(), "mean"),
    (Weighted(), "mean"),
    (Discernibility(), "mean"),
    (ClassSize(), "mean"),
)
COMPILED, GENERAL = BoxSearch(), BoxSearch(in_numpy=True)
BY_CLASS = BoxSearch(room=0)
STRATEGIES: tuple[Strategy, ...] = (GENERAL, COMPILED, BY_CLASS, Flash(), BranchAndBound(), Ola())
PERSONS = st.lists(st.integers(0, 5), min_size=14, max_size=14)
VALUES = st.lists(st.integers(-1, 3), min_size=14, max_size=14)


def kept_rows(
    case: Case, node: Node, persons: list[int], values: list[int], judges: list[plain.Judge]
) -> list[int]:
    """The rows that may be released at a node: each class has k persons, and values that do."""
    table = [value for _, value in {*zip(persons, values, strict=False)} if value >= 0]
    classes: dict[tuple[str | None, ...], list[int]] = {}
    for i, row in enumerate(case.rows):
        cells = zip(case.ladders, row, node, strict=True)
        labels = tuple(ladder.label(cell, level) for ladder, cell, level in cells)
        classes.setdefault(labels, []).append(i)
    kept = []
    for members in classes.values():
        pairs = {(persons[i], values[i]) for i in members}
        held = [value for _, value in pairs if value >= 0]
        enough = len({persons[i] for i in members}) >= case.k
        if enough and all(judge(held, table) for judge in judges):
            kept += members
    return kept


@pytest.mark.slow
@given(cases(), PERSONS, VALUES, st.lists(st.sampled_from(sorted(DEMANDS)), max_size=2))
@settings(max_examples=200)
def test_a_node_keeps_the_classes_that_plain_python_keeps(
    case: Case, persons: list[int], values: list[int], demands: list[str]
) -> None:
    persons, values = persons[: len(case.rows)], values[: len(case.rows)]
    models = [DEMANDS[name][0] for name in demands]
    judges = [DEMANDS[name][1] for name in demands]
    problem = person_problem(case, persons, values, models)
    for node in itertools.product(*(range(limit + 1) for limit in case.limits)):
        kept = kept_rows(case, node, persons, values, judges)
        assert problem.partition(node).suppressed == len(case.rows) - len(kept)


@pytest.mark.slow
@pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda each: type(each).__name__)
@given(
    cases(),
    PERSONS,
    VALUES,
    st.lists(st.sampled_from(sorted(DEMANDS)), max_size=1),
    st.sampled_from(LOSSES),
)
@settings(max_examples=120)
def test_every_proved_answer_is_that_of_the_exhaustive_search(
    strategy: Strategy,
    case: Case,
    persons: list[int],
    values: list[int],
    demands: list[str],
    loss: tuple[Loss, str],
) -> None:
    persons, values = persons[: len(case.rows)], values[: len(case.rows)]
    models = [DEMANDS[name][0] for name in demands]
    problem = person_problem(case, persons, values, models, *loss)
    *_, truth = Exhaustive().search(problem, Limits())
    *_, last = strategy.search(problem, Limits(threads=1))
    assert last.best is None or problem.check(last.best.node) == last.best
    if isinstance(strategy, BoxSearch):
        assert isinstance(last, Proved)
    if isinstance(last, Proved):
        assert last.best == truth.best


@pytest.mark.slow
@given(cases(), PERSONS, VALUES)
@settings(max_examples=60)
def test_with_one_record_each_persons_are_records(
    case: Case, persons: list[int], values: list[int]
) -> None:
    number = len(case.rows)
    problem = person_problem(case, list(range(number)), values[:number])
    for node in itertools.product(*(range(limit + 1) for limit in case.limits)):
        counts = problem.partition(node).counts
        assert counts.members[None].tolist() == counts.sizes.tolist()
