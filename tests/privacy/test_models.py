from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import models_oracle as plain
from shoal.privacy.alpha import AlphaAnonymity
from shoal.privacy.base import PrivacyModel
from shoal.privacy.beta_likeness import BetaLikeness
from shoal.privacy.delta_disclosure import DeltaDisclosure
from shoal.privacy.distinct_diversity import DistinctDiversity
from shoal.privacy.entropy_diversity import EntropyDiversity
from shoal.privacy.k_anonymity import KAnonymity
from shoal.privacy.recursive_diversity import RecursiveDiversity
from shoal.privacy.t_closeness import TCloseness
from shoal.values import Counts, Histogram, Reference

DOMAIN = 5
LEVELS = ((0, 1, 2, 3, 4), (0, 0, 1, 1, 2), (0, 0, 0, 0, 1), (0, 0, 0, 0, 0))
TWO_TREES = LEVELS[:3]

Case = tuple[PrivacyModel, plain.Judge, bool]


def half(model: PrivacyModel, judge: plain.Judge, exact: bool = False) -> Case:
    return (model, judge, exact)


CASES: dict[str, Case] = {
    "distinct 2": half(DistinctDiversity("s", 2), plain.distinct(2), True),
    "distinct 3": half(DistinctDiversity("s", 3), plain.distinct(3), True),
    "entropy 2": half(EntropyDiversity("s", 2), plain.entropy(2)),
    "entropy 2.6": half(EntropyDiversity("s", 2.6), plain.entropy(2.6), True),
    "entropy 3": half(EntropyDiversity("s", 3), plain.entropy(3)),
    "recursive 1 2": half(RecursiveDiversity("s", 1, 2), plain.recursive(Fraction(1), 2), True),
    "recursive .5 2": half(
        RecursiveDiversity("s", 0.5, 2), plain.recursive(Fraction(1, 2), 2), True
    ),
    "recursive 3 3": half(RecursiveDiversity("s", 3, 3), plain.recursive(Fraction(3), 3), True),
    "equal": half(
        TCloseness("s", 0.25), plain.closeness(Fraction(1, 4), DOMAIN, plain.equal_distance)
    ),
    "ordered": half(
        TCloseness("s", 0.125, "ordered"),
        plain.closeness(Fraction(1, 8), DOMAIN, plain.ordered_distance),
    ),
    "hierarchical": half(
        TCloseness("s", 0.25, "hierarchical"),
        plain.closeness(Fraction(1, 4), DOMAIN, plain.tree_distance(LEVELS)),
    ),
    "alpha": half(AlphaAnonymity("s", 0.5), plain.alpha(Fraction(1, 2))),
    "alpha .3": half(AlphaAnonymity("s", 0.3), plain.alpha(Fraction(3, 10))),
    "beta": half(BetaLikeness("s", 0.5), plain.beta(Fraction(1, 2), DOMAIN, False)),
    "enhanced beta": half(BetaLikeness("s", 1.5, True), plain.beta(Fraction(3, 2), DOMAIN, True)),
    "delta": half(DeltaDisclosure("s", 0.7), plain.delta(0.7, DOMAIN)),
}

classes_of_values = st.lists(
    st.lists(st.integers(0, DOMAIN - 1), min_size=1, max_size=9), min_size=1, max_size=4
)


def counts_of(classes: list[list[int]], levels: tuple[tuple[int, ...], ...] = LEVELS) -> Counts:
    """Classes, given as lists of values, as a model sees them."""
    starts, values, counts = [0], [], []
    for each in classes:
        for value in sorted(set(each)):
            values.append(value)
            counts.append(each.count(value))
        starts.append(len(values))
    everyone = [value for each in classes for value in each]
    reference = Reference(
        tuple("abcde"),
        np.array([everyone.count(value) for value in range(DOMAIN)]),
        tuple(np.array(level) for level in levels),
    )
    histogram = Histogram(np.array(starts), np.array(values), np.array(counts), reference)
    return Counts(np.array([len(each) for each in classes]), {"s": histogram})


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
@given(classes=classes_of_values)
@settings(max_examples=60)
def test_a_model_agrees_with_plain_python(name: str, classes: list[list[int]]) -> None:
    model, judge, _ = CASES[name]
    table = [value for each in classes for value in each]
    found = model.satisfied(counts_of(classes)).tolist()
    assert found == [judge(each, table) for each in classes]


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
@given(classes=classes_of_values)
@settings(max_examples=60)
def test_least_removal_is_never_above_the_truth(name: str, classes: list[list[int]]) -> None:
    model, judge, exact = CASES[name]
    table = [value for each in classes for value in each]
    found = model.least_removal(counts_of(classes)).tolist()
    for each, removed in zip(classes, found, strict=True):
        truth = plain.least_removal(each, table, judge)
        assert 0 <= removed <= truth
        assert removed == truth or not exact


@pytest.mark.parametrize("name", CASES)
@given(classes=classes_of_values)
@settings(max_examples=60)
def test_a_model_is_closed_under_union(name: str, classes: list[list[int]]) -> None:
    model = CASES[name][0]
    assert model.closed_under_union
    counts = counts_of(classes)
    good = [each for each, ok in zip(classes, model.satisfied(counts), strict=True) if ok]
    union = [value for each in good for value in each]
    rest = [value for each in classes for value in each if each not in good]
    if isinstance(model, EntropyDiversity):
        model = EntropyDiversity("s", model.l - 1e-9)  # sums of floats may differ in the last bit
    if good:
        assert model.satisfied(counts_of([union, rest] if rest else [union]))[0]


REACHED: dict[str, Callable[[float], PrivacyModel]] = {
    "distinct": lambda v: DistinctDiversity("s", int(v)),
    "entropy": lambda v: EntropyDiversity("s", v * 0.9999),
    "recursive": lambda v: RecursiveDiversity("s", v * 1.0001, 2),
    "equal": lambda v: TCloseness("s", v),
    "ordered": lambda v: TCloseness("s", v, "ordered"),
    "hierarchical": lambda v: TCloseness("s", v, "hierarchical"),
    "alpha": lambda v: AlphaAnonymity("s", v),
    "beta": lambda v: BetaLikeness("s", v),
    "delta": lambda v: DeltaDisclosure("s", v * 1.0001),
}
START = {"distinct": 2.0, "entropy": 2.0, "alpha": 0.5}


@pytest.mark.parametrize("name", REACHED)
@given(classes=classes_of_values)
@settings(max_examples=40)
def test_what_all_classes_reach_is_a_demand_that_all_of_them_meet(
    name: str, classes: list[list[int]]
) -> None:
    counts = counts_of(classes)
    value = REACHED[name](START.get(name, 1.0)).reached(counts)
    try:
        demand = REACHED[name](value)
    except (ValueError, OverflowError):
        return
    if value < float("inf"):
        assert demand.satisfied(counts).all()


def test_hierarchical_distance_adds_a_root_above_several_trees() -> None:
    classes = [[0, 0], [4, 4]]
    three = TCloseness("s", 1.0, "hierarchical").reached(counts_of(classes, TWO_TREES))
    assert three == pytest.approx(0.5)
    assert TCloseness("s", 1.0, "hierarchical").reached(counts_of(classes)) == pytest.approx(0.5)


def test_k_anonymity_counts_records() -> None:
    counts = counts_of([[0, 0, 1], [1, 2]])
    model = KAnonymity(3)
    assert model.satisfied(counts).tolist() == [True, False]
    assert model.least_removal(counts).tolist() == [0, 2]
    assert model.reached(counts) == 2


@pytest.mark.parametrize(
    "make",
    [
        lambda: KAnonymity(1),
        lambda: DistinctDiversity("s", 1),
        lambda: EntropyDiversity("s", 1),
        lambda: RecursiveDiversity("s", 0, 2),
        lambda: RecursiveDiversity("s", 1, 1),
        lambda: TCloseness("s", 1.5),
        lambda: TCloseness("s", 0.5, "crow"),
        lambda: AlphaAnonymity("s", 0),
        lambda: BetaLikeness("s", 0),
        lambda: DeltaDisclosure("s", 0),
    ],
)
def test_a_senseless_parameter_is_refused(make: object) -> None:
    with pytest.raises(ValueError, match="must be"):
        make()  # type: ignore[operator]
